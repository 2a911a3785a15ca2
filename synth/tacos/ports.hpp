// Matching of links and chunks where switches are used as they are; see ports.cpp.
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

struct PortProblem {
  const Topology& topology;
  const Collective& collective;         ///< copied chunks; participants hold and want them
  std::span<const NodeId> participants; ///< NPUs; sources are among them
  LinkBusy link_busy = LinkBusy::serialization;
  std::uint64_t seed = 0;       ///< whom each in-link asks first: its nearest for 0, else random
  std::uint32_t candidates = 1; ///< chunks that a link chooses among
  const WorkLimit& limit;
};

struct PortMatches {
  Schedule schedule; ///< in order of start
  Time makespan;     ///< the last arrival; all chunks are taken as the largest
};

/// Copies over the given paths, one for each pair of neighbours: a link, or a path between two
/// participants through what is no participant. Each participant gets each chunk that it wants
/// once. Nothing where the limit is reached first, or the paths don't bring all that is wanted.
/// Cost: O(chunks * participants * paths into an NPU) at most.
[[nodiscard]] std::optional<PortMatches>
match_at_ports(const PortProblem& problem, const std::vector<std::vector<LinkId>>& paths);

} // namespace tutti
