// One search of NCCL's for channels, with all that is asked of them given.
#pragma once

#include "algorithms/nccl/channels.hpp"

#include <cstdint>

namespace tutti::nccl {

/// What is asked of the channels of one search.
struct Demand {
  Pattern pattern;
  double inside, between;
  PathType type_inside, type_between;
  bool same;
  std::uint32_t cross_nic, least, most;
};

/// Improves on `best` where it finds better channels. Returns the steps that are left: 0: out of
/// steps, -1: no better channels are possible.
[[nodiscard]] std::int64_t search_once(const System& system, const Demand& demand, Channels& best,
                                       std::int64_t steps);

} // namespace tutti::nccl
