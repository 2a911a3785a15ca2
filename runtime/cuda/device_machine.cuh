// The interpreter's machine on a GPU: a block's thread 0 waits and signals for all of it.
//
// Memory order, by PTX's model: what a block's threads wrote comes before the barrier, the barrier
// before thread 0's fence, the fence before its relaxed store of a flag. Who loads the flag, fences
// and passes a barrier sees it. Fences and flags are of system scope where a connection of the run
// crosses GPUs, else of the GPU's: a fence of system scope waits for the bus, too.
#pragma once

#include "runtime/cuda/interpreter.hpp"
#include "runtime/cuda/move.hpp"
#include "runtime/cuda/timed_run.hpp"

#include <cuda/atomic>

namespace tutti::runtime {

/// A block's next steps, in its shared memory: a fence empties the L1 cache, and each step would
/// come from afar again.
struct StepsAhead {
  static constexpr std::uint32_t steps = 16, words_each = sizeof(PlannedStep) / sizeof(Vector);
  Vector words[steps * words_each];
};

template <typename T, Combine combine> class DeviceMachine {
public:
  /// `crosses_devices`: connections do. `stop`: in the host's memory; nonzero ends all waits.
  /// `ahead`: the block's own.
  __device__ DeviceMachine(bool crosses_devices, std::uint32_t* stop, StepsAhead& ahead)
      : crosses_devices_(crosses_devices), stop_(stop), ahead_(ahead) {}

  __device__ const PlannedStep& step(const PlannedStep* steps, std::uint32_t count,
                                     std::uint32_t at) {
    if (at % StepsAhead::steps == 0) {
      __syncthreads(); // the leader may still be at the step before
      const std::uint32_t left = (count - at) * StepsAhead::words_each;
      const auto* from = reinterpret_cast<const Vector*>(steps + at);
      for (std::uint32_t i = threadIdx.x; i < left && i < sizeof ahead_.words / sizeof(Vector);
           i += blockDim.x)
        ahead_.words[i] = from[i];
      __syncthreads();
    }
    return reinterpret_cast<const PlannedStep*>(ahead_.words)[at % StepsAhead::steps];
  }

  __device__ bool leader() const { return threadIdx.x == 0; }
  __device__ bool together(bool ok) { return __syncthreads_and(!leader() || ok) != 0; }

  __device__ bool await_least(std::uint32_t* counter, std::uint32_t least) {
    return spin([&] { return load(counter) >= least; }) && acquire();
  }
  __device__ bool await_flag(std::uint64_t* flag, std::uint64_t& value) {
    return spin([&] { return (value = load(flag)) != 0; }) && acquire();
  }
  __device__ bool await_time(std::uint64_t ns) {
    return spin([&] { return now() >= ns; });
  }

  /// The clock of the whole GPU, in ns. It ticks every 32 ns on some cards, once a microsecond on
  /// others.
  __device__ std::uint64_t now() const {
    std::uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
  }
  __device__ std::uint64_t claim(std::uint64_t* clock, std::uint64_t from, std::uint64_t span) {
    Device<std::uint64_t> free(*clock);
    std::uint64_t seen = free.load(cuda::memory_order_relaxed), start = 0;
    do start = seen < from ? from : seen;
    while (!free.compare_exchange_weak(seen, start + span, cuda::memory_order_relaxed));
    return start;
  }

  __device__ std::uint32_t add_one(std::uint32_t* counter) {
    return cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*counter).fetch_add(
        1, cuda::memory_order_relaxed);
  }

  __device__ void publish(bool elsewhere) { fence(elsewhere && crosses_devices_); }
  template <typename Flag> __device__ void set(Flag* flag, Flag value) {
    if (crosses_devices_)
      System<Flag>(*flag).store(value, cuda::memory_order_relaxed);
    else
      Device<Flag>(*flag).store(value, cuda::memory_order_relaxed);
  }

  __device__ void move(const Operands& data) {
    tutti::runtime::move<T, combine>(data, threadIdx.x, blockDim.x);
  }

private:
  template <typename Flag> using System = cuda::atomic_ref<Flag, cuda::thread_scope_system>;
  template <typename Flag> using Device = cuda::atomic_ref<Flag, cuda::thread_scope_device>;

  /// Reading `stop` crosses the bus: now and then is enough for a watchdog.
  static constexpr std::uint32_t spins_between_looks = 4096;

  template <typename Flag> __device__ Flag load(Flag* flag) const {
    return crosses_devices_ ? System<Flag>(*flag).load(cuda::memory_order_relaxed)
                            : Device<Flag>(*flag).load(cuda::memory_order_relaxed);
  }
  template <typename Condition> __device__ bool spin(Condition condition) {
    for (std::uint32_t spins = 1; !condition(); ++spins)
      if (spins % spins_between_looks == 0 &&
          System<std::uint32_t>(*stop_).load(cuda::memory_order_relaxed) != 0)
        return false;
    return true;
  }
  __device__ bool acquire() const {
    fence(crosses_devices_);
    return true;
  }
  __device__ static void fence(bool across) {
    if (across)
      cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
    else
      cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
  }

  bool crosses_devices_;
  std::uint32_t* stop_;
  StepsAhead& ahead_;
};

} // namespace tutti::runtime
