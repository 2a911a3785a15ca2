#include "synth/flows/flow_symmetry.hpp"

#include "synth/solvers/automorphisms.hpp"
#include "synth/solvers/commuting_group.hpp"
#include "synth/solvers/semiregular.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

/// Which nodes are a source or a sink of a demand.
std::vector<bool> ends(const FlowProblem& problem) {
  std::vector<bool> is_end(problem.network.node_count());
  for (const FlowDemand& demand : problem.demands)
    for (const FlowSet set : {demand.sources, demand.sinks})
      for (const std::uint32_t n : problem.sets[set]) is_end[n] = true;
  return is_end;
}

/// The problem as vertices of one graph: nodes, those that are ends of demands first; links; shared
/// groups; demands; sets of several nodes.
class Encoding {
public:
  explicit Encoding(const FlowProblem& problem)
      : problem_(problem), links_(problem.network.node_count()),
        groups_(links_ + problem.network.link_count()),
        demands_(links_ + problem.network.resource_count()),
        sets_(demands_ + static_cast<std::uint32_t>(problem.demands.size())), vertex_of_(links_),
        vertex_of_set_(problem.sets.size()) {
    const std::vector<bool> is_end = ends(problem);
    for (const bool wanted : {true, false})
      for (std::uint32_t n = 0; n < links_; ++n)
        if (is_end[n] == wanted) {
          vertex_of_[n] = static_cast<std::uint32_t>(node_at_.size());
          node_at_.push_back(n);
        }
    points_ = static_cast<std::size_t>(std::ranges::count(is_end, true));
    for (FlowSet s = 0; s < problem.sets.size(); ++s) {
      const std::vector<std::uint32_t>& members = problem.sets[s];
      if (members.size() != 1) crowds_.push_back(s);
      vertex_of_set_[s] = members.size() == 1
                              ? vertex_of_[members.front()]
                              : sets_ + static_cast<std::uint32_t>(crowds_.size()) - 1;
    }
  }

  /// Of nodes that are ends; they are the first vertices.
  [[nodiscard]] std::size_t points() const { return points_; }
  [[nodiscard]] std::uint32_t vertex_of(std::uint32_t node) const { return vertex_of_[node]; }

  /// `marks` [vertex of a node]: only nodes with the same mark may be exchanged. Every permutation
  /// of `commuting` becomes arcs of its own, which only what commutes with it on nodes keeps.
  [[nodiscard]] ColouredGraph graph(const std::vector<std::uint32_t>& marks,
                                    std::span<const Permutation> commuting = {}) const {
    enum Kind : std::uint8_t { node, link, group, demand, set, image };
    using Key = std::array<std::int64_t, 4>;
    const FlowNetwork& network = problem_.network;
    std::vector<Key> keys;
    keys.reserve(sets_ + crowds_.size() + commuting.size() * links_);
    ColouredGraph graph;
    for (std::uint32_t v = 0; v < links_; ++v)
      keys.push_back({node, network.copies[node_at_[v]], network.reduces[node_at_[v]], marks[v]});
    for (std::uint32_t l = 0; l < network.link_count(); ++l) {
      keys.push_back({link, network.resources[l].bandwidth});
      graph.arcs.emplace_back(vertex_of_[network.links[l].from], links_ + l);
      graph.arcs.emplace_back(links_ + l, vertex_of_[network.links[l].to]);
    }
    for (std::uint32_t g = network.link_count(); g < network.resource_count(); ++g) {
      keys.push_back({group, network.resources[g].bandwidth});
      for (const std::uint32_t l : network.resources[g].links)
        graph.arcs.emplace_back(links_ + l, links_ + g);
    }
    for (std::uint32_t d = 0; d < problem_.demands.size(); ++d) {
      const FlowDemand& one = problem_.demands[d];
      keys.push_back({demand, static_cast<std::int64_t>(one.kind), one.bytes});
      graph.arcs.emplace_back(vertex_of_set_[one.sources], demands_ + d);
      graph.arcs.emplace_back(demands_ + d, vertex_of_set_[one.sinks]);
    }
    for (const FlowSet s : crowds_) {
      for (const std::uint32_t n : problem_.sets[s])
        graph.arcs.emplace_back(vertex_of_[n], static_cast<std::uint32_t>(keys.size()));
      keys.push_back({set});
    }
    for (std::uint32_t c = 0; c < commuting.size(); ++c)
      for (std::uint32_t v = 0; v < links_; ++v) {
        if (commuting[c][v] == v) continue;
        graph.arcs.emplace_back(v, static_cast<std::uint32_t>(keys.size()));
        graph.arcs.emplace_back(static_cast<std::uint32_t>(keys.size()), commuting[c][v]);
        keys.push_back({image, c});
      }
    std::map<Key, std::uint32_t> colours;
    for (const Key& key : keys) colours.emplace(key, 0);
    for (std::uint32_t next = 0; auto& [key, colour] : colours) colour = next++;
    for (const Key& key : keys) graph.colours.push_back(colours.at(key));
    return graph;
  }

  /// Generators, as permutations of the vertices up to the demands; none that move neither a node
  /// nor a link.
  [[nodiscard]] std::vector<Permutation> generators(const ColouredGraph& graph) const {
    std::vector<Permutation> found = automorphism_generators(graph);
    for (Permutation& one : found) one.resize(sets_);
    std::erase_if(found, [&](const Permutation& one) {
      for (std::uint32_t v = 0; v < groups_; ++v)
        if (one[v] != v) return false;
      return true;
    });
    return found;
  }

  [[nodiscard]] Permutation identity() const {
    Permutation whole(sets_);
    std::iota(whole.begin(), whole.end(), 0U);
    return whole;
  }

  [[nodiscard]] FlowAutomorphism decoded(const Permutation& whole) const {
    FlowAutomorphism one;
    one.nodes.resize(links_);
    for (std::uint32_t n = 0; n < links_; ++n) one.nodes[n] = node_at_[whole[vertex_of_[n]]];
    one.links = block(whole, links_, groups_);
    one.resources = block(whole, links_, demands_);
    one.demands = block(whole, demands_, sets_);
    return one;
  }

  [[nodiscard]] Permutation encoded(const FlowAutomorphism& one) const {
    Permutation whole;
    whole.reserve(sets_);
    for (const std::uint32_t n : node_at_) whole.push_back(vertex_of_[one.nodes[n]]);
    for (const std::uint32_t image : one.resources) whole.push_back(links_ + image);
    for (const std::uint32_t image : one.demands) whole.push_back(demands_ + image);
    return whole;
  }

private:
  static Permutation block(const Permutation& whole, std::uint32_t begin, std::uint32_t end) {
    Permutation part(whole.begin() + begin, whole.begin() + end);
    for (std::uint32_t& image : part) image -= begin;
    return part;
  }

  const FlowProblem& problem_;
  std::uint32_t links_, groups_, demands_, sets_; // where these begin
  std::vector<std::uint32_t> vertex_of_, node_at_;
  std::vector<std::uint32_t> vertex_of_set_; // of one node: the node's
  std::vector<FlowSet> crowds_;              // sets of several nodes
  std::size_t points_ = 0;
};

/// The largest group of few elements: where there are no large commuting ones, as in small groups
/// without.
std::vector<Permutation> semiregular_among_few(std::span<const Permutation> generators,
                                               std::size_t points) {
  constexpr std::size_t most_elements = 4096, most_work = 4'000'000;
  const std::size_t elements = std::min(most_elements, most_work / generators.front().size());
  std::vector<std::vector<Permutation>> groups =
      semiregular_subgroups(generators, points, elements, 1);
  return groups.empty() ? std::vector<Permutation>{} : std::move(groups.front());
}

std::vector<Permutation> semiregular_group(const FlowProblem& problem, const Encoding& encoding,
                                           const std::vector<Permutation>& generators) {
  constexpr std::size_t most_numbers = 500'000'000 / sizeof(std::uint32_t);
  const std::size_t size = generators.front().size(), points = encoding.points(),
                    numbers = size + problem.network.link_count(),
                    most = std::max<std::size_t>(1, most_numbers / numbers);
  const std::vector<std::uint32_t> marks =
      orbits(generators, problem.network.node_count()); // of vertices
  const auto centralizer = [&](std::span<const Permutation> group) {
    return encoding.generators(encoding.graph(marks, group));
  };
  const CommutingGroup commuting =
      semiregular_commuting_group(generators, points, most, centralizer);
  if (commuting.order() < std::min(most, most_semiregular_elements(generators, points))) {
    std::vector<Permutation> other = semiregular_among_few(generators, points);
    if (other.size() > commuting.order()) return other;
  }
  return elements(commuting, size);
}

} // namespace

std::vector<FlowAutomorphism> flow_automorphisms(const FlowProblem& problem,
                                                 std::span<const std::uint32_t> fixed) {
  const Encoding encoding(problem);
  std::vector<std::uint32_t> marks(problem.network.node_count());
  for (std::uint32_t next = 1; const std::uint32_t n : fixed) marks[encoding.vertex_of(n)] = next++;
  std::vector<FlowAutomorphism> found;
  for (const Permutation& one : encoding.generators(encoding.graph(marks)))
    found.push_back(encoding.decoded(one));
  return found;
}

std::vector<FlowAutomorphism> free_flow_symmetry(const FlowProblem& problem,
                                                 std::span<const FlowAutomorphism> generators) {
  const Encoding encoding(problem);
  std::vector<Permutation> wholes;
  for (const FlowAutomorphism& one : generators) wholes.push_back(encoding.encoded(one));
  std::vector<Permutation> group;
  if (!wholes.empty() && encoding.points() > 0)
    group = semiregular_group(problem, encoding, wholes);
  std::vector<FlowAutomorphism> symmetry;
  for (const Permutation& element : group) symmetry.push_back(encoding.decoded(element));
  if (symmetry.empty()) symmetry.push_back(encoding.decoded(encoding.identity()));
  return symmetry;
}

} // namespace tutti
