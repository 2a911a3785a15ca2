// Collectives of small process groups on small networks of every kind, and what our algorithms
// reach on them: a bound above any of these times is wrong.
#pragma once

#include "sim/collective.hpp"
#include "sim/random.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::samples {

struct BoundCase {
  Topology topology;
  Collective collective;
  TimeModel model;
};

/// Texts of topologies, each with at most 16 NPUs.
[[nodiscard]] std::span<const char* const> small_networks();

/// With latencies, bandwidths, switches' abilities and shared groups drawn anew.
[[nodiscard]] Topology redrawn(const Topology& topology, Random& random);

/// A directed ring of NPUs and switches with other links.
[[nodiscard]] Topology random_network(Random& random);

/// All named collectives, one for each root, of these members.
[[nodiscard]] std::vector<CollectiveSpec> collectives_of(std::span<const NodeId> members,
                                                         Bytes size, std::uint32_t pieces);

/// Anything: one to three collectives at once, of two members or more.
[[nodiscard]] BoundCase random_bound_case(Random& random);

struct Replays {
  std::size_t count = 0;   ///< schedules that were replayed
  std::size_t reached = 0; ///< cases whose best bound is met by one
  std::string beaten;      ///< the first bound that is above a replay; empty: none
};

/// Replays what every algorithm that can makes of the case, and compares with every bound.
void compare(const BoundCase& given, Replays& replays);

} // namespace tutti::samples
