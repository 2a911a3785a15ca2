// How long NCCL takes for a collective, as nccl-tests times it.
#pragma once

#include "sim/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::gpu {

struct NcclTiming {
  Bytes size; ///< as nccl-tests counts it
  double seconds = 0;
};

/// By libnccl over GPUs 0 to gpus - 1, float32: calls one after another, the host's time from the
/// first to the end of the last over their number, out of place.
/// `collective`: "all_reduce" or "all_gather". A size that GPUs lack the memory for has no timing.
/// Errors: InputError for another collective; std::runtime_error, CudaError.
[[nodiscard]] std::vector<NcclTiming> nccl_times(const class NcclLibrary& nccl,
                                                 std::string_view collective, int gpus,
                                                 const std::vector<Bytes>& sizes);

/// Out of what nccl-tests prints: the out-of-place time of each size.
[[nodiscard]] std::vector<NcclTiming> read_nccl_tests(std::string_view output);

} // namespace tutti::gpu
