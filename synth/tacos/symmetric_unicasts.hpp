// All-to-All on networks with symmetry: planned for one NPU of each orbit, and done by all.
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tutti {

struct SymmetricPlan {
  std::optional<Schedule> schedule;
  std::optional<CompactSchedule> compact; ///< instead, from compact_from transfers on
  Time makespan;            ///< of a replay, if all chunks are as large as the largest
  std::size_t symmetry = 1; ///< elements of the group
  std::uint64_t transfers = 0;
  std::uint64_t orders = 0; ///< that were tried

  static constexpr std::uint64_t compact_from = std::uint64_t{1} << 22;
};

/// Balanced routes (route_balancing.hpp) of what one NPU of each orbit sends, in an order that is
/// best for these; all images do the same at the same time.
/// Nothing where the collective isn't an All-to-All, links share bandwidth, nodes don't store or
/// copy, or no symmetry moves all nodes; and where the limit comes first. Pre: fifo; all can reach
/// all. Deterministic by options.seed. Cost: for n NPUs in r orbits 0.1 to 0.4 s for n = 1,000 to
/// find the symmetry, and about a second at most for r n routes and their orders; then a few ns a
/// transfer. Memory: 4 bytes a transfer (8 in a list), 4 for each element and node.
[[nodiscard]] std::optional<SymmetricPlan> symmetric_unicasts(const Topology& topology,
                                                              const Collective& collective,
                                                              const SynthesisOptions& options,
                                                              const WorkLimit& limit);

} // namespace tutti
