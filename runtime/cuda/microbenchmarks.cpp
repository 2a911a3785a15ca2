// What the machine is, by CUDA's own word, and two costs that no run shows: a tick of the GPU's
// timer, and the launch of a kernel that does nothing.

#include "runtime/microbenchmarks.hpp"

#include "runtime/cuda/devices.cuh"
#include "runtime/cuda/kernels.cuh"
#include "runtime/cuda/resources.cuh"
#include "runtime/cuda/timer_kernel.cuh"
#include "runtime/executor.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace tutti::runtime {

namespace {

GpuFacts facts_of(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "asking for what a GPU is");
  return {properties.name, properties.major, properties.minor, properties.multiProcessorCount,
          properties.totalGlobalMem};
}

} // namespace

GpuMachine gpu_machine() {
  if (const auto why = why_no_cuda()) throw InputError(*why);
  GpuMachine machine;
  check_cuda(cudaDriverGetVersion(&machine.driver), "asking for the driver's version");
  check_cuda(cudaRuntimeGetVersion(&machine.runtime), "asking for the runtime's version");
  const int count = device_count();
  for (int device = 0; device < count; ++device) machine.gpus.push_back(facts_of(device));
  machine.peers = peers(count).size();
  return machine;
}

std::uint64_t timer_tick() {
  if (const auto why = why_no_cuda()) throw InputError(*why);
  std::uint32_t count = 256, most_looks = 1'000'000; // a look takes some ns, a tick 1 us at most
  const OnDevice current(0);
  const DeviceArray<std::uint64_t> values(count);
  std::uint64_t* data = values.data();
  void* arguments[] = {&data, &count, &most_looks};
  check_cuda(cudaLaunchKernel(reinterpret_cast<const void*>(timer_kernel()), dim3(1), dim3(1),
                              arguments, 0, nullptr),
             "reading the GPU's timer");
  std::vector<std::uint64_t> found(count);
  values.read(found, 0);
  std::uint64_t tick = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t i = 1; i < count; ++i)
    if (found[i] > found[i - 1]) tick = std::min(tick, found[i] - found[i - 1]);
  if (found.back() == 0) throw InputError("the GPU's timer stands still");
  return tick;
}

double launch_seconds() {
  using Clock = std::chrono::steady_clock;
  if (const auto why = why_no_cuda()) throw InputError(*why);
  const OnDevice current(0);
  const Kernels kernels = kernels_for(ElementType::float32, Combine::sum);
  Operands nothing;
  void* arguments[] = {&nothing};
  Execution launches;
  for (int i = 0; i < 101; ++i) {
    const auto begin = Clock::now();
    check_cuda(cudaLaunchKernel(reinterpret_cast<const void*>(kernels.move_step), dim3(1), dim3(32),
                                arguments, 0, nullptr),
               "launching a kernel that does nothing");
    check_cuda(cudaDeviceSynchronize(), "launching a kernel that does nothing");
    launches.seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return launches.median_seconds();
}

} // namespace tutti::runtime
