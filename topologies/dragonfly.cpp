// `dragonfly:AxG`: G groups of A NPUs; NPU id = A * group + index. A group is fully connected
// (first bandwidth and latency); any two groups are joined by one link each way (second). Group i
// numbers its ports to the groups i+1, i+2, ... (mod G) as 0, 1, ... G-2 and gives port p to its
// NPU p mod A, so that the numbers of ports of two NPUs differ by one at most. With G = A + 1 every
// NPU has one: TACOS's 4x5 and 7x8 (Won et al. 2024, Fig. 16 and 17). After Kim et al. 2008
// (routers = NPUs, relative arrangement). No coordinates: dimension-order routing makes no sense
// here. Links: within the groups by sender, then receiver; then by pair of groups i < j, from i to
// j before j to i.
#include "topologies/families.hpp"
#include "topologies/parts.hpp"

#include <cstddef>
#include <utility>

namespace tutti::topologies {

Topology dragonfly(const TopologySpec& spec) {
  require_numbers(spec, 2);
  refuse_unidirectional(spec);
  const std::int64_t npus = npu_product(spec), size = spec.shape[0], groups = spec.shape[1];
  const std::int64_t links = npus * (size - 1) + groups * (groups - 1);
  require_links(links);
  std::vector<Link> values = link_values(spec, 2);
  for (Link& link : values) link.dimension = -1;

  TopologyParts parts = npus_only(spec, npus);
  parts.links.reserve(static_cast<std::size_t>(links));
  const auto npu = [&](std::int64_t group, std::int64_t index) {
    return NodeId{static_cast<std::uint32_t>(group * size + index)};
  };
  for (std::int64_t group = 0; group < groups; ++group)
    for (std::int64_t from = 0; from < size; ++from)
      for (std::int64_t to = 0; to < size; ++to)
        if (from != to) parts.add_link(between(npu(group, from), npu(group, to), values[0]));
  for (std::int64_t i = 0; i < groups; ++i)
    for (std::int64_t j = i + 1; j < groups; ++j) {
      const std::int64_t port_i = j - i - 1, port_j = groups - (j - i) - 1;
      parts.add_duplex(between(npu(i, port_i % size), npu(j, port_j % size), values[1]));
    }
  return Topology(std::move(parts));
}

} // namespace tutti::topologies
