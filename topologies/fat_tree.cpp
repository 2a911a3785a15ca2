// `fat_tree:K`: the K-ary fat tree (Al-Fares et al. 2008; K even): K pods of K/2 edge and K/2
// aggregation switches, K/2 NPUs on every edge switch, (K/2)^2 core switches: K^3/4 NPUs at full
// bisection bandwidth. Bandwidth and latency may differ for NPU-edge, edge-aggregation and
// aggregation-core. Switches can't store, copy or reduce.
//
//   core          (K/2)^2: number c is linked to aggregation switch c / (K/2) of every pod
//   aggregation   K/2 a pod, each linked to every edge switch of its pod
//   edge          K/2 a pod
//   NPUs          NPU i depends on edge switch i / (K/2); pod = i / (K/2)^2
//
// Switch numbers: edge, aggregation (both pod by pod), core. Links: level by level from the NPUs,
// each up before its down. No coordinates: a tree has no dimensions to route by.
#include "sim/error.hpp"
#include "topologies/families.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace tutti::topologies {

Topology fat_tree(const TopologySpec& spec) {
  require_numbers(spec, 1);
  refuse_unidirectional(spec);
  const std::int64_t k = spec.shape[0], half = k / 2;
  if (k % 2 != 0) throw InputError(fmt::format("{} is not even", k));
  require_npus(k > 1000 ? most_npus + 1 : half * half * k);
  const std::int64_t npus = half * half * k, per_level = half * k;
  std::vector<Link> values = link_values(spec, 3);
  for (Link& link : values) link.dimension = -1;

  TopologyParts parts = npus_only(spec, npus);
  const std::int64_t edge = add_switches(parts, 2 * per_level + half * half).value;
  const std::int64_t aggregation = edge + per_level, core = aggregation + per_level;
  const auto connect = [&](std::int64_t below, std::int64_t above, std::size_t level) {
    parts.add_duplex(between(NodeId{static_cast<std::uint32_t>(below)},
                             NodeId{static_cast<std::uint32_t>(above)}, values[level]));
  };
  for (std::int64_t npu = 0; npu < npus; ++npu) connect(npu, edge + npu / half, 0);
  for (std::int64_t e = 0; e < per_level; ++e)
    for (std::int64_t a = 0; a < half; ++a) connect(edge + e, aggregation + e / half * half + a, 1);
  for (std::int64_t a = 0; a < per_level; ++a)
    for (std::int64_t c = 0; c < half; ++c) connect(aggregation + a, core + a % half * half + c, 2);
  return Topology(std::move(parts));
}

} // namespace tutti::topologies
