// What a sketch makes of a network, counted: for `tutti sketch` and `tutti show --sketch`.
#pragma once

#include "sim/topology.hpp"
#include "synth/taccl/logical_topology.hpp"
#include "synth/taccl/sketch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// By how much links between machines are slower than their paths.
struct SplitRange {
  double least = 1, most = 1;
};

struct SketchSummary {
  std::uint32_t machines = 1, npus_of_machine = 0;
  std::uint32_t links_within = 0, links_between = 0; ///< of the logical topology
  std::uint32_t switched_links = 0;                  ///< those within that come from hyperedges
  std::string connections; ///< between machines: "8 senders to 8 receivers"; empty: none
  std::string policy;      ///< "uc-min", joined by + for several hyperedges; empty: no hyperedge
  /// Offset and size. If rotations were found: only those that generate a group which acts freely
  /// on the NPUs, as the routing of an All-Gather uses.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rotations;
  /// Elements of the group that they generate; none above 4,096.
  std::optional<std::size_t> symmetry;
  std::optional<SplitRange> split; ///< none: no link is between machines
};

/// Pre: the logical topology is the sketch's.
/// Cost: O(links + rotations * elements * NPUs).
[[nodiscard]] SketchSummary summarize(const Sketch& sketch, const LogicalTopology& logical);

} // namespace tutti
