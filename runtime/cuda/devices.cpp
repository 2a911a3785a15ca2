// Which GPUs there are, whether they can be used, and what they copy.
#include "runtime/cuda/devices.cuh"

#include "runtime/cuda/kernels.cuh"
#include "runtime/cuda/resources.cuh"
#include "runtime/executor.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tutti::runtime {

namespace {

/// Bytes of each of the two buffers that are copied; even the least are more than any cache.
constexpr std::size_t most_copied = std::size_t{1} << 30, least_copied = std::size_t{1} << 28;

/// Bytes of each buffer on the current device: at most a quarter of its free memory. Errors:
/// InputError where its memory is taken.
std::size_t copied_bytes() {
  const DeviceMemory memory = device_memory();
  if (memory.free / 4 >= least_copied) return std::min(most_copied, memory.free / 4);
  throw InputError("too little memory on GPU 0 to measure what it copies: of " +
                   std::to_string(memory.all) + " bytes " + std::to_string(memory.free) +
                   " are free, " + std::to_string(4 * least_copied) + " are needed");
}

/// "12.4"
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Why GPUs can't be counted.
std::string why_uncounted(cudaError_t error) {
  (void)cudaGetLastError();
  int driver = 0, runtime = 0;
  const bool known = cudaDriverGetVersion(&driver) == cudaSuccess &&
                     cudaRuntimeGetVersion(&runtime) == cudaSuccess;
  (void)cudaGetLastError();
  if (error == cudaErrorInsufficientDriver && known)
    return driver == 0 ? "no GPU: no driver is installed"
                       : "no GPU that can be used: its driver knows CUDA " + version_text(driver) +
                             ", this build needs " + version_text(runtime);
  return (error == cudaErrorNoDevice ? "no GPU: " : "no GPU that can be used: ") +
         std::string(cudaGetErrorString(error));
}

bool reaches(int from, int to) {
  int can = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can, from, to), "asking which GPUs reach each other");
  return can != 0;
}

void let_reach(int from, int to) {
  const OnDevice current(from);
  const cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled)
    (void)cudaGetLastError();
  else
    check_cuda(error, "letting GPU " + std::to_string(from) + " reach GPU " + std::to_string(to));
}

std::string device_name(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "asking for a GPU's name");
  return properties.name;
}

} // namespace

int device_count() {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "counting GPUs");
  return count;
}

std::vector<int> peers(int count) {
  std::vector<int> taken;
  for (int device = 0; device < count; ++device)
    if (std::ranges::all_of(
            taken, [&](int other) { return reaches(device, other) && reaches(other, device); }))
      taken.push_back(device);
  return taken;
}

std::optional<std::string> why_no_cuda() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess)
    return why_uncounted(error);
  if (count == 0) return "no GPU: the driver knows none";
  int cooperative = 0;
  cudaError_t error = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
  if (error == cudaSuccess && cooperative == 0)
    return "no GPU that can keep all blocks of a kernel resident at once";
  cudaFuncAttributes attributes{};
  const Kernels kernels = kernels_for(ElementType::float32, Combine::sum);
  if (error == cudaSuccess)
    error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels.run_blocks));
  if (error == cudaSuccess) return std::nullopt;
  (void)cudaGetLastError();
  const bool no_code =
      error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction;
  return (no_code ? "no GPU that this build has code for: " : "no GPU that can be used: ") +
         std::string(cudaGetErrorString(error));
}

Devices choose_devices(std::uint32_t ranks, bool one_clock) {
  if (const auto why = why_no_cuda()) throw InputError(*why);
  std::vector<int> taken;
  if (!one_clock) taken = peers(device_count());
  Devices devices;
  if (ranks < 2 || taken.size() < ranks) {
    devices.of_rank.assign(ranks, 0);
    devices.distinct = {0};
    devices.name = device_name(0);
    return devices;
  }
  taken.resize(ranks);
  for (const int from : taken)
    for (const int to : taken)
      if (from != to) let_reach(from, to);
  devices.of_rank = devices.distinct = taken;
  devices.name = std::to_string(ranks) + " x " + device_name(taken.front());
  return devices;
}

double device_copy_rate() {
  if (const auto why = why_no_cuda()) throw InputError(*why);
  const OnDevice current(0);
  const std::size_t bytes = copied_bytes();
  const DeviceArray<std::byte> from(bytes), to(bytes);
  const Stream stream = make_stream();
  const Event begin = make_event(), end = make_event();
  std::vector<float> milliseconds;
  for (int run = 0; run < 6; ++run) {
    check_cuda(cudaEventRecord(begin.get(), stream.get()), "timing a copy");
    check_cuda(
        cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream.get()),
        "copying within the GPU");
    check_cuda(cudaEventRecord(end.get(), stream.get()), "timing a copy");
    check_cuda(cudaEventSynchronize(end.get()), "copying within the GPU");
    float time = 0;
    check_cuda(cudaEventElapsedTime(&time, begin.get(), end.get()), "timing a copy");
    if (run > 0) milliseconds.push_back(time); // the first finds nothing ready
  }
  std::ranges::sort(milliseconds);
  return static_cast<double>(bytes) / (milliseconds[milliseconds.size() / 2] * 1e-3);
}

} // namespace tutti::runtime
