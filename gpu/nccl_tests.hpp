// The programs of nccl-tests, where NCCL's library itself can't be loaded.
#pragma once

#include "runtime/nccl_times.hpp"

#include <string_view>
#include <vector>

namespace tutti::gpu {

/// Out of what nccl-tests prints: the out-of-place time of each size.
[[nodiscard]] std::vector<runtime::NcclTiming> read_nccl_tests(std::string_view output);

} // namespace tutti::gpu
