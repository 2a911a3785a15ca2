// Why: a plan for a thousand nodes that all do the same need be made for one of them only. Idea:
// the network as a coloured graph, in which links of the most common kind are plain arcs and others
// have a vertex of their own; bliss finds its automorphisms, and commuting ones that fix no node
// are collected from these (commuting_group.hpp). An element that fixes no node fixes no link, so
// that a link's image is found at the image of its sender: the out-links of each node are listed in
// the order of those of the first node of its orbit.

#include "synth/symmetry/network_symmetry.hpp"

#include "synth/symmetry/automorphisms.hpp"
#include "synth/symmetry/commuting_group.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// Links from one node to another, all that tells them apart, sorted.
struct Bundle {
  std::uint32_t from = 0, to = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> kinds; // latency, bandwidth
};

std::vector<Bundle> bundles_of(const Topology& topology) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Bundle> by_ends;
  for (const Link& link : topology.links()) {
    Bundle& bundle = by_ends[{link.from.value, link.to.value}];
    bundle.from = link.from.value;
    bundle.to = link.to.value;
    bundle.kinds.emplace_back(link.latency.ps, link.bandwidth.bytes_per_second);
  }
  std::vector<Bundle> bundles;
  for (auto& [ends, bundle] : by_ends) {
    std::ranges::sort(bundle.kinds);
    bundles.push_back(std::move(bundle));
  }
  return bundles;
}

/// The network as a graph: nodes, then bundles that aren't of the most common kind.
class NetworkGraph {
public:
  NetworkGraph(const Topology& topology, std::span<const std::uint32_t> marks)
      : topology_(topology), marks_(marks), bundles_(bundles_of(topology)) {
    std::map<std::vector<std::pair<std::int64_t, std::int64_t>>, std::uint32_t> kinds;
    for (const Bundle& bundle : bundles_) ++kinds[bundle.kinds];
    std::uint32_t most = 0, next = 0;
    for (auto& [kind, count] : kinds) {
      if (count > most) common_ = next;
      most = std::max(most, count);
      count = next++;
    }
    for (const Bundle& bundle : bundles_) kind_.push_back(kinds.at(bundle.kinds));
  }

  /// Generators of all symmetries of the nodes that commute with these.
  [[nodiscard]] std::vector<Permutation> generators(std::span<const Permutation> commuting,
                                                    const WorkLimit& limit) const {
    std::vector<Permutation> found =
        automorphism_generators(graph(commuting), AutomorphismSearch::by_parts, limit);
    for (Permutation& one : found) one.resize(topology_.node_count());
    return found;
  }

private:
  [[nodiscard]] ColouredGraph graph(std::span<const Permutation> commuting) const {
    enum Kind : std::uint8_t { node, bundle, image };
    std::vector<std::array<std::uint32_t, 3>> keys; // [vertex]
    ColouredGraph graph;
    const auto next = [&] { return static_cast<std::uint32_t>(keys.size()); };
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) {
      const Abilities can = topology_.node(NodeId{n}).can;
      keys.push_back({node, marks_[n], (can.store ? 1U : 0U) + (can.copy ? 2U : 0U)});
    }
    for (std::size_t b = 0; b < bundles_.size(); ++b) {
      if (kind_[b] == common_) {
        graph.arcs.emplace_back(bundles_[b].from, bundles_[b].to);
        continue;
      }
      graph.arcs.emplace_back(bundles_[b].from, next());
      graph.arcs.emplace_back(next(), bundles_[b].to);
      keys.push_back({bundle, kind_[b], 0});
    }
    for (std::uint32_t c = 0; c < commuting.size(); ++c)
      for (std::uint32_t n = 0; n < topology_.node_count(); ++n) {
        if (commuting[c][n] == n) continue;
        graph.arcs.emplace_back(n, next());
        graph.arcs.emplace_back(next(), commuting[c][n]);
        keys.push_back({image, c, 0});
      }
    std::map<std::array<std::uint32_t, 3>, std::uint32_t> colours;
    for (const auto& key : keys) colours.emplace(key, 0);
    for (std::uint32_t colour = 0; auto& [key, its] : colours) its = colour++;
    for (const auto& key : keys) graph.colours.push_back(colours.at(key));
    return graph;
  }

  const Topology& topology_;
  std::span<const std::uint32_t> marks_;
  std::vector<Bundle> bundles_;
  std::vector<std::uint32_t> kind_; // [bundle]
  std::uint32_t common_ = 0;
};

/// Lists each node's out-links in the order of those of its orbit's first node.
void find_images(const Topology& topology, NetworkSymmetry& made) {
  std::vector<std::uint32_t> element(topology.node_count()); // that takes the first one here
  made.first.resize(topology.node_count());
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    if (made.first[n].valid()) continue;
    for (std::uint32_t e = 0; e < made.elements.size(); ++e) {
      made.first[made.elements[e][n]] = NodeId{n};
      element[made.elements[e][n]] = e;
    }
  }
  made.begin.resize(topology.node_count() + std::size_t{1});
  made.out_links.resize(topology.link_count());
  made.place.resize(topology.link_count());
  made.orbit.resize(topology.link_count());
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, LinkId>;
  const auto sorted = [&](std::uint32_t node, const Permutation* taken_by) {
    std::vector<Key> keys;
    for (const LinkId id : topology.out_links(NodeId{node})) {
      const Link& link = topology.link(id);
      keys.emplace_back(taken_by != nullptr ? (*taken_by)[link.to.value] : link.to.value,
                        link.latency.ps, link.bandwidth.bytes_per_second, id);
    }
    std::ranges::sort(keys);
    return keys;
  };
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const NodeId first = made.first[n];
    const auto own = sorted(n, nullptr), those = sorted(first.value, &made.elements[element[n]]);
    const std::uint32_t begin = made.begin[n];
    const auto all = topology.out_links(first);
    made.begin[n + 1] = begin + static_cast<std::uint32_t>(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      const LinkId id = std::get<LinkId>(own[i]), of_first = std::get<LinkId>(those[i]);
      const auto place =
          static_cast<std::uint32_t>(std::ranges::lower_bound(all, of_first) - all.begin());
      made.out_links[begin + place] = id;
      made.place[id.value] = place;
      made.orbit[id.value] = of_first.value;
    }
  }
}

} // namespace

NetworkSymmetry network_symmetry(const Topology& topology, std::span<const std::uint32_t> marks,
                                 const WorkLimit& limit) {
  constexpr std::size_t most_images = 50'000'000;
  const std::size_t nodes = topology.node_count();
  const NetworkGraph graph(topology, marks);
  const std::vector<Permutation> generators = graph.generators({}, limit);
  const CommutingGroup group = semiregular_commuting_group(
      generators, nodes, std::max<std::size_t>(1, most_images / nodes),
      [&](std::span<const Permutation> some) { return graph.generators(some, limit); });
  NetworkSymmetry made;
  made.elements = elements(group, nodes);
  find_images(topology, made);
  return made;
}

} // namespace tutti
