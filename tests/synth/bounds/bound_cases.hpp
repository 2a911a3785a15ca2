// Collectives of small process groups on small networks of every kind, and what our algorithms
// reach on them: a bound above any of these times is wrong.
#pragma once

#include "sim/collective.hpp"
#include "sim/random.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::samples {

struct BoundCase {
  Topology topology;
  Collective collective;
  TimeModel model;
  std::vector<Time> starts = {}; ///< per node, or empty: when it joins
};

/// Texts of topologies, each with at most 16 NPUs.
[[nodiscard]] std::span<const char* const> small_networks();

/// With latencies, bandwidths, switches' abilities and shared groups drawn anew.
[[nodiscard]] Topology redrawn(const Topology& topology, Random& random);

/// A directed ring of NPUs and switches with other links.
[[nodiscard]] Topology random_network(Random& random);

/// All named collectives, one for each root, of these members.
[[nodiscard]] std::vector<CollectiveSpec>
collectives_of(std::span<const NodeId> members, Bytes size, std::uint32_t chunks_per_shard);

/// Anything: one to three collectives at once, of two members or more.
[[nodiscard]] BoundCase random_bound_case(Random& random);

/// Some members (or all, or others, too) join late, by times that matter beside the collective's.
[[nodiscard]] BoundCase with_late_starts(BoundCase given, Random& random);

/// Of every kind, with the prices of flows.
[[nodiscard]] std::vector<Bound> all_bounds(const BoundCase& given, Chunking chunking);

struct Replay {
  std::string_view algorithm;
  Time time;
  Time rounding;   ///< an engine may end earlier by so much: of doubles
  TimeModel model; ///< bounding_model()
};

/// What every algorithm that can makes of the case; all of it verified.
[[nodiscard]] std::vector<Replay> replays_of(const BoundCase& given);

struct Replays {
  std::size_t count = 0;   ///< schedules that were replayed
  std::size_t reached = 0; ///< cases whose best bound at these chunks is met by one
  /// The first bound, of any schedule or at these chunks, that is above a replay; the first of any
  /// schedule that is above the one at these chunks. Empty: none.
  std::string beaten, disordered;
};

/// Compares all replays of the case with every bound.
void compare(const BoundCase& given, Replays& replays);

} // namespace tutti::samples
