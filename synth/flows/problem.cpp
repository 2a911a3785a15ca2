// Chunks are gathered by what tells demands apart: kind, sources and destinations. An All-to-All
// would make N (N - 1) demands; those from one source with equal bytes are one demand to a set of
// sinks, and equal sets are stored once, so that it makes N.

#include "synth/flows/problem.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// Gives each set of nodes a number, the same to equal ones.
class NumberedSets {
public:
  explicit NumberedSets(std::vector<std::vector<std::uint32_t>>& sets) : sets_(sets) {}

  FlowSet of(const std::vector<std::uint32_t>& set) {
    const auto [at, added] = numbers_.emplace(set, static_cast<FlowSet>(sets_.size()));
    if (added) sets_.push_back(set);
    return at->second;
  }

private:
  std::vector<std::vector<std::uint32_t>>& sets_;
  std::map<std::vector<std::uint32_t>, FlowSet> numbers_;
};

/// Nothing where nobody needs it.
std::optional<FlowKind> kind_of(const Collective& collective, const Chunk& chunk) {
  const std::vector<NodeId>&held = collective.sets[chunk.sources],
        &wanted = collective.sets[chunk.destinations];
  if (chunk.reduces && held.size() > 1) {
    if (wanted.empty()) return std::nullopt;
    return wanted.size() == 1 ? FlowKind::combine : FlowKind::both;
  }
  if (std::ranges::includes(held, wanted)) return std::nullopt;
  return wanted.size() == 1 ? FlowKind::paths : FlowKind::spread;
}

std::vector<std::uint32_t> numbers(const std::vector<NodeId>& nodes) {
  std::vector<std::uint32_t> result;
  result.reserve(nodes.size());
  for (const NodeId node : nodes) result.push_back(node.value);
  return result;
}

/// Builds the demands of one collective.
class Demands {
public:
  Demands(const Collective& collective, FlowProblem& problem)
      : collective_(collective), problem_(problem), sets_(problem.sets) {}

  void add_all() {
    problem_.demand_of.resize(collective_.chunks.size(), FlowProblem::none);
    for (std::uint32_t p = 0; p < collective_.parts.size(); ++p) add_part(p);
  }

private:
  /// Chunks from the same sources for the same node: (sources, destinations) -> chunks.
  using Bundle = std::vector<std::uint32_t>;

  /// The bytes of bundles.
  struct Amounts {
    std::int64_t least = INT64_MAX, most = 0;
    std::size_t chunks = 0; ///< of one, at most

    void add(std::int64_t bytes, std::size_t cut) {
      least = std::min(least, bytes);
      most = std::max(most, bytes);
      chunks = std::max(chunks, cut);
    }
    /// All would be alike if their buffer divided: each chunk may be a byte more.
    [[nodiscard]] bool rounded() const { return most - least <= static_cast<std::int64_t>(chunks); }
  };

  void add_part(std::uint32_t p) {
    const CollectivePart& part = collective_.parts[p];
    std::map<std::tuple<FlowKind, SetId, SetId>, Bundle> bundles;
    for (std::uint32_t i = 0; i < part.chunk_count; ++i) {
      const std::uint32_t c = part.first.value + i;
      const Chunk& chunk = collective_.chunks[c];
      if (const auto kind = kind_of(collective_, chunk))
        bundles[{*kind, chunk.sources, chunk.destinations}].push_back(c);
    }
    const bool named = part.kind != CollectiveKind::custom;
    std::map<FlowKind, Amounts> amounts;
    for (const auto& [ends, chunks] : bundles)
      amounts[std::get<0>(ends)].add(bytes(chunks), chunks.size());
    std::map<std::pair<SetId, std::int64_t>, std::vector<const decltype(bundles)::value_type*>>
        paths; // by sources and bytes
    for (const auto& bundle : bundles) {
      const auto& [ends, chunks] = bundle;
      const auto& [kind, sources, destinations] = ends;
      const Amounts& all = amounts.at(kind);
      const std::int64_t amount = named && all.rounded() ? all.least : bytes(chunks);
      if (kind == FlowKind::paths)
        paths[{sources, amount}].push_back(&bundle);
      else
        add(kind, sources, sets_.of(numbers(collective_.sets[destinations])), amount, {&chunks});
    }
    for (const auto& [from, group] : paths) add_paths(part, from.first, from.second, group);
  }

  template <typename Group>
  void add_paths(const CollectivePart& part, SetId sources, std::int64_t amount,
                 const Group& group) {
    std::vector<std::uint32_t> sinks;
    std::vector<const Bundle*> chunks;
    for (const auto* bundle : group) {
      sinks.push_back(collective_.sets[std::get<2>(bundle->first)].front().value);
      chunks.push_back(&bundle->second);
    }
    // All-to-All: everyone's set of sinks is the whole group, one set instead of many.
    if (sinks.size() + 1 == part.group.size() && collective_.sets[sources].size() == 1)
      sinks.push_back(collective_.sets[sources].front().value);
    std::ranges::sort(sinks);
    add(FlowKind::paths, sources, sets_.of(sinks), amount, chunks);
  }

  void add(FlowKind kind, SetId sources, FlowSet sinks, std::int64_t amount,
           const std::vector<const Bundle*>& bundles) {
    const auto demand = static_cast<std::uint32_t>(problem_.demands.size());
    for (const Bundle* chunks : bundles)
      for (const std::uint32_t c : *chunks) problem_.demand_of[c] = demand;
    problem_.demands.push_back({kind, sets_.of(numbers(collective_.sets[sources])), sinks, amount});
  }

  [[nodiscard]] std::int64_t bytes(const Bundle& chunks) const {
    std::int64_t sum = 0;
    for (const std::uint32_t c : chunks) sum += collective_.chunks[c].size.count;
    return sum;
  }

  const Collective& collective_;
  FlowProblem& problem_;
  NumberedSets sets_;
};

} // namespace

FlowNetwork flow_network(const Topology& topology) {
  FlowNetwork network;
  network.out_links.resize(topology.node_count());
  network.in_links.resize(topology.node_count());
  for (const Node& node : topology.nodes()) {
    network.copies.push_back(node.can.copy);
    network.reduces.push_back(node.can.reduce);
  }
  const std::uint32_t links = topology.link_count();
  network.resources_of.resize(links);
  for (std::uint32_t l = 0; l < links; ++l) {
    const Link& link = topology.link(LinkId{l});
    network.links.push_back({link.from.value, link.to.value});
    network.out_links[link.from.value].push_back(l);
    network.in_links[link.to.value].push_back(l);
    network.resources.push_back({link.bandwidth.bytes_per_second, {l}});
    network.resources_of[l].push_back(l);
    for (const std::uint32_t g : topology.groups_of(LinkId{l}))
      network.resources_of[l].push_back(links + g);
  }
  for (const SharedGroup& group : topology.groups()) {
    FlowNetwork::Resource& resource =
        network.resources.emplace_back(FlowNetwork::Resource{group.bandwidth.bytes_per_second, {}});
    for (const LinkId link : group.links) resource.links.push_back(link.value);
    std::ranges::sort(resource.links);
  }
  return network;
}

FlowNetwork reversed(const FlowNetwork& network) {
  FlowNetwork reversed_network = network;
  for (FlowNetwork::Link& link : reversed_network.links) std::swap(link.from, link.to);
  std::swap(reversed_network.in_links, reversed_network.out_links);
  std::swap(reversed_network.copies, reversed_network.reduces);
  return reversed_network;
}

FlowProblem flow_problem(const Topology& topology, const Collective& collective) {
  FlowProblem problem;
  problem.network = flow_network(topology);
  Demands(collective, problem).add_all();
  return problem;
}

} // namespace tutti
