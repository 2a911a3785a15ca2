// All that nvcc has to compile of the interpreter: for each element type and combination, kernels
// that run the templates of the headers over DeviceMachine. Tests run the same templates without a
// GPU.

#include "runtime/cuda/kernels.cuh"

#include "runtime/cuda/device_machine.cuh"
#include "runtime/cuda/wrong_elements.hpp"
#include "runtime/data.hpp"
#include "runtime/with_type.hpp"

namespace tutti::runtime {

namespace {

template <typename T, Combine combine>
__global__ void __launch_bounds__(most_threads)
    run_blocks(RunView run, StartBarrier start, std::uint32_t first, std::uint32_t* stop) {
  __shared__ StepsAhead ahead;
  DeviceMachine<T, combine> machine(run.crosses_devices, stop, ahead);
  perform_timed(machine, run, start, first + blockIdx.x);
}

template <typename T, Combine combine>
__global__ void __launch_bounds__(most_threads) move_step(Operands data) {
  move<T, combine>(data, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}

template <typename T, Combine combine>
__global__ void __launch_bounds__(most_threads)
    count_wrong(const std::byte* output, const ExpectedChunk* chunks, std::uint32_t count,
                const std::uint32_t* contributors, unsigned long long* wrong) {
  unsigned long long own = 0;
  for (std::uint32_t c = blockIdx.x; c < count; c += gridDim.x) {
    const ExpectedChunk chunk = chunks[c];
    own += wrong_elements<T, combine>(output, chunk, contributors + chunk.first_contributor,
                                      blockIdx.y * std::uint64_t{blockDim.x} + threadIdx.x,
                                      std::uint64_t{gridDim.y} * blockDim.x);
  }
  if (own != 0) atomicAdd(wrong, own);
}

} // namespace

Kernels kernels_for(ElementType type, Combine combine) {
  return with_type(type, combine, [](auto zero, auto how) -> Kernels {
    using T = decltype(zero);
    return {run_blocks<T, how()>, move_step<T, how()>, count_wrong<T, how()>};
  });
}

} // namespace tutti::runtime
