// What a topology is made of, counted: for `tutti show`.
#pragma once

#include "sim/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Links of one kind: between the same kinds of nodes, with the same values.
struct LinkClass {
  NodeKind from = NodeKind::npu, to = NodeKind::npu;
  std::int8_t dimension = -1;
  Bandwidth bandwidth;
  Time latency;
  std::uint32_t count = 0;
};

struct DegreeRange {
  std::uint32_t least = 0, most = 0;
};

/// Hops on the shortest path between the NPUs furthest apart.
struct Diameter {
  std::uint32_t hops = 0;
  NodeId from, to;
};

struct TopologySummary {
  std::uint32_t npus = 0, switches = 0, memories = 0, links = 0;
  std::vector<LinkClass> classes;          ///< by order of the first link of each
  DegreeRange npu_out_links, npu_in_links; ///< over the NPUs
  /// None above 4,096 NPUs, where it would take minutes, or where some NPU can't reach another.
  std::optional<Diameter> diameter;
  /// "npu3 can't reach npu7", or empty where every NPU reaches every other (as far as was looked).
  std::string unreachable;
};

/// Cost: O(links * classes + NPUs * links).
[[nodiscard]] TopologySummary summarize(const Topology& topology);

/// "1 switch", "2 switches"
[[nodiscard]] std::string counted(std::size_t number, std::string_view one,
                                  std::string_view several);

} // namespace tutti
