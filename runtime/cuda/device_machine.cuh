// The interpreter's machine on a GPU: a block's thread 0 waits and signals for all of it.
//
// Memory order, by PTX's model: what a block's threads wrote comes before the barrier, the barrier
// before thread 0's fence, the fence before its relaxed store of a flag. Who loads the flag, fences
// and passes a barrier sees it. Fences are of system scope where the other end may be another GPU.
#pragma once

#include "runtime/cuda/interpreter.hpp"
#include "runtime/cuda/move.hpp"
#include "runtime/cuda/timed_run.hpp"

#include <cuda/atomic>

namespace tutti::runtime {

template <typename T, Combine combine> class DeviceMachine {
public:
  /// `stop`: in the host's memory; nonzero ends all waits.
  __device__ explicit DeviceMachine(std::uint32_t* stop) : stop_(stop) {}

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

  /// Of the whole GPU. It ticks every 32 ns on some cards, once a microsecond on others.
  __device__ std::uint64_t now() const {
    std::uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
  }
  __device__ std::uint64_t claim(std::uint64_t* clock, std::uint64_t from, std::uint64_t span) {
    cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device> free(*clock);
    std::uint64_t seen = free.load(cuda::memory_order_relaxed), start = 0;
    do start = seen < from ? from : seen;
    while (!free.compare_exchange_weak(seen, start + span, cuda::memory_order_relaxed));
    return start;
  }

  __device__ std::uint32_t add_one(std::uint32_t* counter) {
    return cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*counter).fetch_add(
        1, cuda::memory_order_relaxed);
  }

  __device__ void publish(bool elsewhere) {
    if (elsewhere)
      cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
    else
      cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
  }
  template <typename Flag> __device__ void set(Flag* flag, Flag value) {
    cuda::atomic_ref<Flag, cuda::thread_scope_system>(*flag).store(value,
                                                                   cuda::memory_order_relaxed);
  }

  __device__ void move(const Operands& data) {
    tutti::runtime::move<T, combine>(data, threadIdx.x, blockDim.x);
  }

private:
  /// Reading `stop` crosses the bus: now and then is enough for a watchdog.
  static constexpr std::uint32_t spins_between_looks = 4096;

  template <typename Flag> __device__ static Flag load(Flag* flag) {
    return cuda::atomic_ref<Flag, cuda::thread_scope_system>(*flag).load(
        cuda::memory_order_relaxed);
  }
  template <typename Condition> __device__ bool spin(Condition condition) {
    for (std::uint32_t spins = 1; !condition(); ++spins)
      if (spins % spins_between_looks == 0 && load(stop_) != 0) return false;
    return true;
  }
  __device__ static bool acquire() {
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
    return true;
  }

  std::uint32_t* stop_;
};

} // namespace tutti::runtime
