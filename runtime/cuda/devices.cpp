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

/// Bytes of each of the two buffers; more than any cache.
constexpr std::size_t copied_bytes = std::size_t{1} << 30;

bool reaches(int from, int to) {
  int can = 0;
  check_cuda(cudaDeviceCanAccessPeer(&can, from, to), "asking which GPUs reach each other");
  return can != 0;
}

/// GPUs that all reach each other: each, by number, that does so with those taken before.
std::vector<int> peers(int count) {
  std::vector<int> taken;
  for (int device = 0; device < count; ++device)
    if (std::ranges::all_of(
            taken, [&](int other) { return reaches(device, other) && reaches(other, device); }))
      taken.push_back(device);
  return taken;
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

int device_count() {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "counting GPUs");
  return count;
}

} // namespace

std::optional<std::string> why_no_cuda() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    (void)cudaGetLastError();
    return std::string("no GPU: ") + cudaGetErrorString(error);
  }
  if (count == 0) return "no GPU: the driver knows none";
  int cooperative = 0;
  check_cuda(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0),
             "asking what the GPU can do");
  if (cooperative == 0) return "no GPU that can keep all blocks of a kernel resident at once";
  cudaFuncAttributes attributes{};
  const Kernels kernels = kernels_for(ElementType::float32, Combine::sum);
  const cudaError_t error =
      cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels.run_blocks));
  if (error == cudaSuccess) return std::nullopt;
  (void)cudaGetLastError();
  return std::string("no GPU that this build has code for: ") + cudaGetErrorString(error);
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
  const DeviceArray<std::byte> from(copied_bytes), to(copied_bytes);
  const Stream stream = make_stream();
  const Event begin = make_event(), end = make_event();
  std::vector<float> milliseconds;
  for (int run = 0; run < 6; ++run) {
    check_cuda(cudaEventRecord(begin.get(), stream.get()), "timing a copy");
    check_cuda(cudaMemcpyAsync(to.data(), from.data(), copied_bytes, cudaMemcpyDeviceToDevice,
                               stream.get()),
               "copying within the GPU");
    check_cuda(cudaEventRecord(end.get(), stream.get()), "timing a copy");
    check_cuda(cudaEventSynchronize(end.get()), "copying within the GPU");
    float time = 0;
    check_cuda(cudaEventElapsedTime(&time, begin.get(), end.get()), "timing a copy");
    if (run > 0) milliseconds.push_back(time); // the first finds nothing ready
  }
  std::ranges::sort(milliseconds);
  return static_cast<double>(copied_bytes) / (milliseconds[milliseconds.size() / 2] * 1e-3);
}

} // namespace tutti::runtime
