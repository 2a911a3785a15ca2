// Times NCCL through its own API: one process drives all GPUs, five calls warm up, and the mean of
// twenty calls issued back to back counts.

#include "runtime/nccl_times.hpp"

#include "runtime/cuda/resources.cuh"
#include "sim/error.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace tutti::runtime {

namespace {

constexpr int nccl_warmups = 5, nccl_repetitions = 20;
constexpr int nccl_success = 0, nccl_float32 = 7, nccl_sum = 0;

void check_nccl(const NcclFunctions& nccl, int result, const char* doing) {
  if (result != nccl_success)
    throw std::runtime_error(std::string("NCCL, ") + doing + ": " + nccl.error_string(result));
}

/// A communicator for each GPU, which end together.
class NcclCommunicators {
public:
  NcclCommunicators(const NcclFunctions& nccl, int gpus)
      : nccl_(nccl), all_(static_cast<std::size_t>(gpus)) {
    std::vector<int> devices;
    for (int gpu = 0; gpu < gpus; ++gpu) devices.push_back(gpu);
    check_nccl(nccl_, nccl_.comm_init_all(all_.data(), gpus, devices.data()),
               "making communicators");
  }
  ~NcclCommunicators() {
    for (const NcclFunctions::Communicator one : all_) (void)nccl_.comm_destroy(one);
  }
  NcclCommunicators(const NcclCommunicators&) = delete;
  NcclCommunicators& operator=(const NcclCommunicators&) = delete;

  [[nodiscard]] NcclFunctions::Communicator of(std::size_t gpu) const { return all_[gpu]; }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

private:
  const NcclFunctions& nccl_;
  std::vector<NcclFunctions::Communicator> all_;
};

/// One GPU's buffers and stream.
struct NcclRank {
  Stream stream;
  DeviceArray<std::byte> send, receive;
};

class NcclCollective {
public:
  NcclCollective(const NcclFunctions& nccl, const NcclCommunicators& group, bool reduces,
                 Bytes size)
      : nccl_(nccl), group_(group), reduces_(reduces) {
    const auto bytes = static_cast<std::size_t>(size.count);
    count_ = bytes / sizeof(float) / (reduces ? 1 : group.size()); // that each sends
    for (std::size_t gpu = 0; gpu < group.size(); ++gpu) {
      const OnDevice current(static_cast<int>(gpu));
      ranks_.push_back({make_stream(), DeviceArray<std::byte>(count_ * sizeof(float)),
                        DeviceArray<std::byte>(bytes)});
    }
  }

  double time() {
    for (int i = 0; i < nccl_warmups; ++i) issue();
    finish();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < nccl_repetitions; ++i) issue();
    finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
           nccl_repetitions;
  }

private:
  void issue() {
    check_nccl(nccl_, nccl_.group_start(), "beginning a group");
    for (std::size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
      const NcclRank& rank = ranks_[gpu];
      check_nccl(nccl_,
                 reduces_
                     ? nccl_.all_reduce(rank.send.data(), rank.receive.data(), count_, nccl_float32,
                                        nccl_sum, group_.of(gpu), rank.stream.get())
                     : nccl_.all_gather(rank.send.data(), rank.receive.data(), count_, nccl_float32,
                                        group_.of(gpu), rank.stream.get()),
                 "issuing a collective");
    }
    check_nccl(nccl_, nccl_.group_end(), "ending a group");
  }

  void finish() {
    for (std::size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
      const OnDevice current(static_cast<int>(gpu));
      check_cuda(cudaDeviceSynchronize(), "running a collective of NCCL's");
    }
  }

  const NcclFunctions& nccl_;
  const NcclCommunicators& group_;
  bool reduces_;
  std::size_t count_ = 0;
  std::vector<NcclRank> ranks_;
};

} // namespace

std::vector<NcclTiming> nccl_times(const NcclFunctions& nccl, std::string_view collective, int gpus,
                                   const std::vector<Bytes>& sizes) {
  const bool reduces = collective == "all_reduce";
  if (!reduces && collective != "all_gather")
    throw InputError("NCCL is timed for all_reduce and all_gather, not for " +
                     std::string(collective));
  const NcclCommunicators group(nccl, gpus);
  std::vector<NcclTiming> timings;
  for (const Bytes size : sizes) {
    try {
      timings.push_back({size, NcclCollective(nccl, group, reduces, size).time()});
    } catch (const InputError&) { // too little memory
    }
  }
  return timings;
}

} // namespace tutti::runtime
