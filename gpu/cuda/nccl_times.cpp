// In a folder of its own, as it needs CUDA's headers, which not every build has.
#include "gpu/nccl_times.hpp"
#include "gpu/nccl_library.hpp"
#include "runtime/cuda/resources.cuh"
#include "sim/error.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace tutti::gpu {

namespace {

using runtime::DeviceArray;
using runtime::OnDevice;

constexpr int warmups = 5, repetitions = 20;

/// A communicator for each GPU, which end together.
class Communicators {
public:
  Communicators(const NcclLibrary& nccl, int gpus)
      : nccl_(nccl), all_(static_cast<std::size_t>(gpus)) {
    std::vector<int> devices;
    for (int gpu = 0; gpu < gpus; ++gpu) devices.push_back(gpu);
    nccl_.check(nccl_.comm_init_all(all_.data(), gpus, devices.data()), "making communicators");
  }
  ~Communicators() {
    for (const NcclLibrary::Communicator one : all_) (void)nccl_.comm_destroy(one);
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  [[nodiscard]] NcclLibrary::Communicator of(std::size_t gpu) const { return all_[gpu]; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

private:
  const NcclLibrary& nccl_;
  std::vector<NcclLibrary::Communicator> all_;
};

/// One GPU's buffers and stream.
struct Rank {
  runtime::Stream stream;
  DeviceArray<std::byte> send, receive;
};

class Collective {
public:
  Collective(const NcclLibrary& nccl, const Communicators& group, bool reduces, Bytes size)
      : nccl_(nccl), group_(group), reduces_(reduces) {
    const auto bytes = static_cast<std::size_t>(size.count);
    count_ = bytes / sizeof(float) / (reduces ? 1 : group.size()); // that each sends
    for (std::size_t gpu = 0; gpu < group.size(); ++gpu) {
      const OnDevice current(static_cast<int>(gpu));
      ranks_.push_back({runtime::make_stream(), DeviceArray<std::byte>(count_ * sizeof(float)),
                        DeviceArray<std::byte>(bytes)});
    }
  }

  double time() {
    for (int i = 0; i < warmups; ++i) issue();
    finish();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repetitions; ++i) issue();
    finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
           repetitions;
  }

private:
  void issue() {
    nccl_.check(nccl_.group_start(), "beginning a group");
    for (std::size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
      const Rank& rank = ranks_[gpu];
      nccl_.check(reduces_
                      ? nccl_.all_reduce(rank.send.data(), rank.receive.data(), count_,
                                         NcclLibrary::float32, NcclLibrary::sum, group_.of(gpu),
                                         rank.stream.get())
                      : nccl_.all_gather(rank.send.data(), rank.receive.data(), count_,
                                         NcclLibrary::float32, group_.of(gpu), rank.stream.get()),
                  "issuing a collective");
    }
    nccl_.check(nccl_.group_end(), "ending a group");
  }

  void finish() {
    for (std::size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
      const OnDevice current(static_cast<int>(gpu));
      runtime::check_cuda(cudaDeviceSynchronize(), "running a collective of NCCL's");
    }
  }

  const NcclLibrary& nccl_;
  const Communicators& group_;
  bool reduces_;
  std::size_t count_ = 0;
  std::vector<Rank> ranks_;
};

} // namespace

std::vector<NcclTiming> nccl_times(const NcclLibrary& nccl, std::string_view collective, int gpus,
                                   const std::vector<Bytes>& sizes) {
  const bool reduces = collective == "all_reduce";
  if (!reduces && collective != "all_gather")
    throw InputError("NCCL is timed for all_reduce and all_gather, not for " +
                     std::string(collective));
  const Communicators group(nccl, gpus);
  std::vector<NcclTiming> timings;
  for (const Bytes size : sizes) {
    try {
      timings.push_back({size, Collective(nccl, group, reduces, size).time()});
    } catch (const InputError&) { // too little memory
    }
  }
  return timings;
}

} // namespace tutti::gpu
