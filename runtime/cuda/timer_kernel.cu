// Where the timer of the GPU is read over the same machine that the interpreter runs on.

#include "runtime/cuda/timer_kernel.cuh"

#include "runtime/cuda/device_machine.cuh"

namespace tutti::runtime {

namespace {

__global__ void read_timer(std::uint64_t* values, std::uint32_t count, std::uint32_t most_looks) {
  __shared__ StepsAhead none;
  if (threadIdx.x != 0) return;
  watch_timer(DeviceMachine<float, Combine::sum>(false, nullptr, none), values, count, most_looks);
}

} // namespace

TimerKernel timer_kernel() { return read_timer; }

} // namespace tutti::runtime
