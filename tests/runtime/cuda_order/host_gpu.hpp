// What device_machine.cuh takes of CUDA, on CPU threads under ThreadSanitizer, with no more memory
// order than PTX promises: whoever relies on more has a data race here.
//
// By PTX's model a fence, and then a relaxed store, release what came before the fence; what is
// written between the two is released by neither. A relaxed load that sees the value, and then a
// fence, acquire it. A fence or flag of a GPU's scope does so for threads of that GPU only.
// ThreadSanitizer knows no fences, but vector clocks. So a thread has, beside its own, a clock that
// its fences bring up to date and its stores carry, and one that its loads collect and its fences
// take over (Lidbury, Donaldson 2017, "Dynamic race detection for C++11", section 4); each of them
// twice, for the two scopes. They are the clocks of fibers that are never more than that.
// Barriers order all that a block's threads did before and do after them. Read-modify-writes order
// nothing: less than PTX promises, and as much as the device's machine needs.
#pragma once

#include "sim/random.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <sanitizer/tsan_interface.h>

#define __device__

namespace cuda {

enum thread_scope { thread_scope_device, thread_scope_system };

// The only orders there are: the device's machine relies on no other.
struct Relaxed {};
struct AcquireRelease {};
inline constexpr Relaxed memory_order_relaxed;
inline constexpr AcquireRelease memory_order_acq_rel;

} // namespace cuda

namespace tutti::host_gpu {

/// A vector clock of ThreadSanitizer. At first that of the thread which makes it.
class Clock {
public:
  Clock() : fiber_(__tsan_create_fiber(0)) {}
  ~Clock() { __tsan_destroy_fiber(fiber_); }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  /// operation(), as of a thread that has this clock.
  template <typename Operation> auto at(const Operation& operation) const {
    void* const own = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber_, __tsan_switch_to_fiber_no_sync);
    const auto result = operation();
    __tsan_switch_to_fiber(own, __tsan_switch_to_fiber_no_sync);
    return result;
  }
  /// Brings it up to the calling thread's.
  void catch_up() {
    __tsan_release(this);
    (void)at([this] { return __tsan_acquire(this), 0; });
  }
  /// Brings the calling thread's up to it.
  void be_taken_over() {
    (void)at([this] { return __tsan_release(this), 0; });
    __tsan_acquire(this);
  }

private:
  void* fiber_;
};

/// Of a block's threads.
class Barrier {
public:
  explicit Barrier(std::uint32_t threads) : threads_(threads) {}

  /// Whether all are `ok`. Not `ordered`: threads meet, but see nothing of each other for it.
  bool meet(bool ok, bool ordered) {
    if (!ok) all_ok_.store(false, std::memory_order_relaxed);
    const std::uint32_t phase = phase_.load(std::memory_order_relaxed);
    const std::uint32_t before = ordered ? came_.fetch_add(1, std::memory_order_acq_rel)
                                         : came_.fetch_add(1, std::memory_order_relaxed);
    if (before + 1 == threads_) {
      met_ok_.store(all_ok_.exchange(true, std::memory_order_relaxed), std::memory_order_relaxed);
      came_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, ordered ? std::memory_order_release : std::memory_order_relaxed);
    } else {
      while (phase_.load(ordered ? std::memory_order_acquire : std::memory_order_relaxed) == phase)
        std::this_thread::yield();
    }
    return met_ok_.load(std::memory_order_relaxed);
  }

private:
  std::uint32_t threads_;
  std::atomic<std::uint32_t> came_ = 0, phase_ = 0;
  std::atomic<bool> all_ok_ = true, met_ok_ = true;
};

/// Flags whose two ends are on different GPUs.
using CrossingFlags = std::set<const void*>;

/// A thread of a block: made by a thread itself, before it does anything else.
class Thread {
public:
  /// `flags`: it waits and signals for its block.
  Thread(Barrier& block, const CrossingFlags& crossing, bool flags, std::uint64_t seed)
      : block_(block), crossing_(crossing), random_(seed) {
    if (flags) clocks_ = std::vector<Clocks>(crossing.empty() ? 1 : 2);
  }
  /// Whoever joins the thread finds done what it did at its clocks, too.
  ~Thread() {
    for (Clocks& of_scope : clocks_) {
      of_scope.released.be_taken_over();
      of_scope.loaded.be_taken_over();
    }
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  bool meet(bool ok) {
    const bool ordered = unordered_barrier_ == 0 || --unordered_barrier_ != 0;
    return block_.meet(ok, ordered);
  }
  void fence(cuda::thread_scope scope) {
    dawdle();
    if (!has_fences_) return;
    for (std::size_t s = 0; s < clocks_.size() && s <= scope; ++s)
      clocks_[s].loaded.be_taken_over();
    for (std::size_t s = 0; s < clocks_.size() && s <= scope; ++s) clocks_[s].released.catch_up();
  }
  template <typename T> void store(T& flag, T value, cuda::thread_scope scope) {
    dawdle();
    const cuda::thread_scope reach = reach_of(flag);
    if (scope < reach)
      std::atomic_ref(flag).store(value, std::memory_order_relaxed);
    else
      (void)clocks_[reach].released.at(
          [&] { return std::atomic_ref(flag).store(value, std::memory_order_release), 0; });
  }
  template <typename T> T load(T& flag, cuda::thread_scope scope) {
    std::this_thread::yield(); // it may be asked again and again
    const cuda::thread_scope reach = reach_of(flag);
    if (scope < reach) return std::atomic_ref(flag).load(std::memory_order_relaxed);
    return clocks_[reach].loaded.at(
        [&] { return std::atomic_ref(flag).load(std::memory_order_acquire); });
  }

  /// What tests take away: fences, or the order that a barrier makes (1: the next; 0: none).
  void set_fences(bool there) { has_fences_ = there; }
  void set_unordered_barrier(std::uint32_t which) { unordered_barrier_ = which; }

private:
  struct Clocks {
    Clock released, loaded;
  };

  template <typename T> [[nodiscard]] cuda::thread_scope reach_of(const T& flag) const {
    return crossing_.contains(&flag) ? cuda::thread_scope_system : cuda::thread_scope_device;
  }
  /// So that blocks overtake each other elsewhere with another seed.
  void dawdle() {
    if (random_.below(4) == 0) std::this_thread::yield();
  }

  Barrier& block_;
  const CrossingFlags& crossing_;
  Random random_;
  std::vector<Clocks> clocks_; ///< [scope]; of the system's only where a flag crosses
  bool has_fences_ = true;
  std::uint32_t unordered_barrier_ = 0;
};

/// The one that runs.
inline thread_local Thread* self = nullptr;

} // namespace tutti::host_gpu

namespace cuda {

template <typename T, thread_scope scope> class atomic_ref {
public:
  explicit atomic_ref(T& value) : value_(value) {}

  T load(Relaxed) const { return tutti::host_gpu::self->load(value_, scope); }
  void store(T value, Relaxed) const { tutti::host_gpu::self->store(value_, value, scope); }
  T fetch_add(T value, Relaxed) const {
    return std::atomic_ref(value_).fetch_add(value, std::memory_order_relaxed);
  }
  bool compare_exchange_weak(T& expected, T desired, Relaxed) const {
    return std::atomic_ref(value_).compare_exchange_weak(expected, desired,
                                                         std::memory_order_relaxed);
  }

private:
  T& value_;
};

inline void atomic_thread_fence(AcquireRelease, thread_scope scope) {
  tutti::host_gpu::self->fence(scope);
}

} // namespace cuda

struct IndexInGrid {
  unsigned x = 0;
};
inline thread_local IndexInGrid threadIdx, blockDim;

inline void __syncthreads() { (void)tutti::host_gpu::self->meet(true); }
inline int __syncthreads_and(int ok) { return tutti::host_gpu::self->meet(ok != 0) ? 1 : 0; }
