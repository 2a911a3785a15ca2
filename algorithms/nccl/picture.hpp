// What NCCL, or RCCL, makes of a machine, for people.
#pragma once

#include "sim/topology.hpp"

#include <string>
#include <vector>

namespace tutti::nccl {

/// A line of it.
struct PictureRow {
  std::string what; ///< "rings", "all_reduce"
  std::string says; ///< "8 channels of 48 GB/s ..."
};

/// By its defaults. Empty where the network doesn't say what its GPUs are; else one row "problem"
/// where NCCL has no such nodes. Cost: the search for channels.
[[nodiscard]] std::vector<PictureRow> picture_of(const Topology& topology);

} // namespace tutti::nccl
