// `k_ary_tree:KxN`: the K-ary N-tree (Petrini and Vanneschi 1997), a fat tree of K^N NPUs for any
// K: N levels of K^(N-1) switches, each with K links down and, below the top level, K up; full
// bisection bandwidth. 8x2 is what is called leaf and spine. Bandwidth and latency may differ per
// level, the NPUs' first. Switches can't store, copy or reduce.
//
// NPU i depends on switch i / K of level 0. A switch of level l and one of level l + 1 are linked
// where their numbers agree in all digits to the base K but that of weight K^l. Switch numbers:
// level by level from the NPUs. Links: level by level, each up before its down. No coordinates: a
// tree has no dimensions to route by.
#include "topologies/families.hpp"
#include "topologies/parts.hpp"

#include <cstddef>
#include <utility>

namespace tutti::topologies {

Topology k_ary_tree(const TopologySpec& spec) {
  require_numbers(spec, 2);
  refuse_unidirectional(spec);
  const std::int64_t k = spec.shape[0];
  const auto levels = static_cast<std::size_t>(spec.shape[1]);
  std::int64_t per_level = 1; // switches
  for (std::size_t level = 1; level < levels; ++level) {
    per_level *= k;
    require_npus(per_level * k);
  }
  const std::int64_t npus = per_level * k;
  require_npus(npus);
  std::vector<Link> values = link_values(spec, levels);
  for (Link& link : values) link.dimension = -1;

  TopologyParts parts = npus_only(spec, npus);
  const std::int64_t first =
      add_switches(parts, per_level * static_cast<std::int64_t>(levels)).value;
  const auto connect = [&](std::int64_t below, std::int64_t above, std::size_t level) {
    parts.add_duplex(between(NodeId{static_cast<std::uint32_t>(below)},
                             NodeId{static_cast<std::uint32_t>(above)}, values[level]));
  };
  for (std::int64_t npu = 0; npu < npus; ++npu) connect(npu, first + npu / k, 0);
  std::int64_t weight = 1; // of the digit in which a link's ends may differ
  std::int64_t below = first;
  for (std::size_t level = 1; level < levels; ++level, weight *= k, below += per_level)
    for (std::int64_t number = 0; number < per_level; ++number) {
      const std::int64_t without_digit = number - number / weight % k * weight;
      for (std::int64_t digit = 0; digit < k; ++digit)
        connect(below + number, below + per_level + without_digit + digit * weight, level);
    }
  return Topology(std::move(parts));
}

} // namespace tutti::topologies
