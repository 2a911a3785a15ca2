// Why: a fluid schedule is expanded from few trees by a group in which no element but the identity
// fixes a source or a sink, so that images share the load evenly. Commuting groups of this kind are
// looked for first (translations of tori, rails and nodes); where they are smaller than could be,
// small groups are searched through as a whole.
//
// bliss finds the automorphisms of a coloured graph, at a cost that grows with its vertices.
// Everything that must be kept is a vertex with a colour (nodes, links, groups, demands, sets), but
// a link is a plain arc where the classes of its ends tell its bandwidth, which most links are. To
// commute with given permutations, each adds a layer of images.
//
// In a FlowGroup nodes, resources and demands are points of one permutation domain, so that keeping
// a demand or a node is one stabilizer. Groups of up to 64 elements are listed, whose stabilizers
// are picked from the list; larger ones go by generators (symmetry/stabilizer.hpp). Weights of
// links are kept by a fictitious resource for each value.

#include "synth/flows/fluid/symmetry.hpp"

#include "synth/symmetry/automorphisms.hpp"
#include "synth/symmetry/commuting_group.hpp"
#include "synth/symmetry/semiregular.hpp"
#include "synth/symmetry/stabilizer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

// Up to here elements are listed, and stabilizers picked from the list.
constexpr std::size_t most_listed = 64;

/// Adds a resource for each weight, of a bandwidth that no other has.
void add_weight_resources(FlowNetwork& network, std::span<const double> weights) {
  std::map<double, std::vector<std::uint32_t>> links;
  for (std::uint32_t l = 0; l < weights.size(); ++l) links[weights[l]].push_back(l);
  if (links.size() < 2) return;
  std::int64_t bandwidth = 0;
  for (auto& [weight, some] : links) {
    for (const std::uint32_t l : some) network.resources_of[l].push_back(network.resource_count());
    network.resources.push_back({--bandwidth, std::move(some)});
  }
}

void append_block(Permutation& all, const Permutation& block, std::uint32_t begin,
                  std::uint32_t end) {
  for (std::uint32_t i = 0; i < end - begin; ++i) all.push_back(begin + block[i]);
}

std::vector<std::uint32_t> block_of(const std::vector<std::uint32_t>& all, std::uint32_t begin,
                                    std::uint32_t end) {
  std::vector<std::uint32_t> part(all.begin() + begin, all.begin() + end);
  for (std::uint32_t& each : part) each -= begin;
  return part;
}

std::vector<FlowAutomorphism> automorphisms_keeping(const FlowProblem& problem,
                                                    std::span<const double> weights) {
  FlowProblem weighted = problem;
  add_weight_resources(weighted.network, weights);
  return flow_automorphisms(weighted);
}

/// A flow problem as a coloured graph, and its symmetries as permutations of everything in it.
/// "Whole" permutations are of nodes, those that are ends of demands (a source or a sink) first;
/// then links, shared groups and demands. The problem must outlive it.
class FlowGraph {
public:
  explicit FlowGraph(const FlowProblem& problem);

  [[nodiscard]] std::size_t ends() const { return ends_; } ///< nodes that are ends
  [[nodiscard]] std::uint32_t place_of(std::uint32_t node) const { return place_[node]; }
  [[nodiscard]] std::size_t size() const { return demands_ + problem_.demands.size(); }

  /// Generators of the group of all whole permutations that are symmetries, exchange only nodes of
  /// the same mark (`marks` [place of a node]), and commute on nodes with all in `commuting`; none
  /// that move neither a node nor a link. Errors: LimitReached.
  [[nodiscard]] std::vector<Permutation> generators(const std::vector<std::uint32_t>& marks,
                                                    std::span<const Permutation> commuting,
                                                    const WorkLimit& limit) const;

  [[nodiscard]] FlowAutomorphism decoded(const Permutation& whole) const;
  [[nodiscard]] Permutation encoded(const FlowAutomorphism& one) const;

private:
  void find_plain_links();
  [[nodiscard]] ColouredGraph graph(const std::vector<std::uint32_t>& marks,
                                    std::span<const Permutation> commuting) const;
  [[nodiscard]] Permutation whole(const Permutation& of_vertices) const;

  const FlowProblem& problem_;
  std::uint32_t nodes_, groups_, demands_;     // how many; where these begin in whole permutations
  std::vector<std::uint32_t> place_, node_at_; // [node]; [place]
  std::vector<std::uint32_t> classes_;         // [place]: what tells nodes apart at first sight
  std::size_t ends_ = 0;
  // Links that are only arcs, as their ends' classes tell all about them: ((from, to), link).
  std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>> plain_;
  std::vector<std::uint32_t> others_;        // links that are vertices, ascending
  std::vector<std::uint32_t> vertex_of_set_; // of one node: the node's
  std::vector<FlowSet> crowds_;              // sets of several nodes
  // Vertices: nodes by place, others_, groups, demands, crowds_, images of what to commute with.
  std::uint32_t group_vertices_, demand_vertices_, crowd_vertices_;
};

std::vector<bool> ends_of_demands(const FlowProblem& problem) {
  std::vector<bool> is_end(problem.network.node_count());
  for (const FlowDemand& demand : problem.demands)
    for (const FlowSet set : {demand.sources, demand.sinks})
      for (const std::uint32_t n : problem.sets[set]) is_end[n] = true;
  return is_end;
}

/// Numbers by rank, so that equal problems get equal ones in whatever order things are met.
template <typename Key> std::vector<std::uint32_t> ranks(const std::vector<Key>& keys) {
  std::map<Key, std::uint32_t> rank_of;
  for (const Key& key : keys) rank_of.emplace(key, 0);
  for (std::uint32_t next = 0; auto& [key, rank] : rank_of) rank = next++;
  std::vector<std::uint32_t> result;
  result.reserve(keys.size());
  for (const Key& key : keys) result.push_back(rank_of.at(key));
  return result;
}

std::vector<std::int64_t> sorted_bandwidths(const FlowNetwork& network,
                                            const std::vector<std::uint32_t>& links) {
  std::vector<std::int64_t> bandwidths;
  for (const std::uint32_t l : links) bandwidths.push_back(network.resources[l].bandwidth);
  std::ranges::sort(bandwidths);
  return bandwidths;
}

FlowGraph::FlowGraph(const FlowProblem& problem)
    : problem_(problem), nodes_(problem.network.node_count()),
      groups_(nodes_ + problem.network.link_count()),
      demands_(nodes_ + problem.network.resource_count()), place_(nodes_),
      vertex_of_set_(problem.sets.size()) {
  const std::vector<bool> is_end = ends_of_demands(problem);
  for (const bool wanted : {true, false})
    for (std::uint32_t n = 0; n < nodes_; ++n)
      if (is_end[n] == wanted) {
        place_[n] = static_cast<std::uint32_t>(node_at_.size());
        node_at_.push_back(n);
      }
  ends_ = static_cast<std::size_t>(std::ranges::count(is_end, true));
  find_plain_links();
  group_vertices_ = nodes_ + static_cast<std::uint32_t>(others_.size());
  demand_vertices_ = group_vertices_ + demands_ - groups_;
  crowd_vertices_ = demand_vertices_ + static_cast<std::uint32_t>(problem.demands.size());
  for (FlowSet s = 0; s < problem.sets.size(); ++s) {
    const std::vector<std::uint32_t>& members = problem.sets[s];
    vertex_of_set_[s] = members.size() == 1
                            ? place_[members.front()]
                            : crowd_vertices_ + static_cast<std::uint32_t>(crowds_.size());
    if (members.size() != 1) crowds_.push_back(s);
  }
}

void FlowGraph::find_plain_links() {
  const FlowNetwork& network = problem_.network;
  std::vector<std::tuple<bool, bool, std::vector<std::int64_t>, std::vector<std::int64_t>>> looks;
  for (const std::uint32_t n : node_at_)
    looks.emplace_back(network.copies[n], network.reduces[n],
                       sorted_bandwidths(network, network.out_links[n]),
                       sorted_bandwidths(network, network.in_links[n]));
  classes_ = ranks(looks);
  const auto ends = [&](std::uint32_t l) {
    return std::pair(place_[network.links[l].from], place_[network.links[l].to]);
  };
  const auto kind = [&](std::uint32_t l) {
    return std::pair(classes_[ends(l).first], classes_[ends(l).second]);
  };
  constexpr std::int64_t differ = -1;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> bandwidth_of; // by kind
  for (std::uint32_t l = 0; l < network.link_count(); ++l) {
    plain_.emplace_back(ends(l), l);
    const std::int64_t bandwidth = network.resources[l].bandwidth;
    std::int64_t& common = bandwidth_of.emplace(kind(l), bandwidth).first->second;
    if (network.resources_of[l].size() > 1 || bandwidth != common) common = differ;
  }
  std::ranges::sort(plain_);
  for (std::size_t i = 1; i < plain_.size(); ++i)
    if (plain_[i].first == plain_[i - 1].first) bandwidth_of.at(kind(plain_[i].second)) = differ;
  std::erase_if(plain_,
                [&](const auto& link) { return bandwidth_of.at(kind(link.second)) == differ; });
  for (std::uint32_t l = 0; l < network.link_count(); ++l)
    if (bandwidth_of.at(kind(l)) == differ) others_.push_back(l);
}

ColouredGraph FlowGraph::graph(const std::vector<std::uint32_t>& marks,
                               std::span<const Permutation> commuting) const {
  enum Kind : std::uint8_t { node, link, group, demand, crowd, image };
  const FlowNetwork& network = problem_.network;
  std::vector<std::array<std::int64_t, 3>> keys; // [vertex]
  keys.reserve(crowd_vertices_ + crowds_.size() + commuting.size() * nodes_);
  ColouredGraph graph;
  const auto next = [&] { return static_cast<std::uint32_t>(keys.size()); };
  for (std::uint32_t v = 0; v < nodes_; ++v) keys.push_back({node, classes_[v], marks[v]});
  for (const auto& [ends, ignored] : plain_) graph.arcs.push_back(ends);
  std::vector<std::uint32_t> vertex_of_link(network.link_count());
  for (const std::uint32_t l : others_) {
    vertex_of_link[l] = next();
    graph.arcs.emplace_back(place_[network.links[l].from], next());
    graph.arcs.emplace_back(next(), place_[network.links[l].to]);
    keys.push_back({link, network.resources[l].bandwidth, 0});
  }
  for (std::uint32_t g = network.link_count(); g < network.resource_count(); ++g) {
    for (const std::uint32_t l : network.resources[g].links)
      graph.arcs.emplace_back(vertex_of_link[l], next());
    keys.push_back({group, network.resources[g].bandwidth, 0});
  }
  for (const FlowDemand& one : problem_.demands) {
    graph.arcs.emplace_back(vertex_of_set_[one.sources], next());
    graph.arcs.emplace_back(next(), vertex_of_set_[one.sinks]);
    keys.push_back({demand, static_cast<std::int64_t>(one.kind), one.bytes});
  }
  for (const FlowSet s : crowds_) {
    for (const std::uint32_t n : problem_.sets[s]) graph.arcs.emplace_back(place_[n], next());
    keys.push_back({crowd, 0, 0});
  }
  for (std::uint32_t c = 0; c < commuting.size(); ++c)
    for (std::uint32_t v = 0; v < nodes_; ++v) {
      if (commuting[c][v] == v) continue;
      graph.arcs.emplace_back(v, next());
      graph.arcs.emplace_back(next(), commuting[c][v]);
      keys.push_back({image, c, 0});
    }
  graph.colours = ranks(keys);
  return graph;
}

Permutation FlowGraph::whole(const Permutation& of_vertices) const {
  Permutation result(size());
  std::copy_n(of_vertices.begin(), nodes_, result.begin());
  for (const auto& [ends, l] : plain_) {
    const std::pair to(of_vertices[ends.first], of_vertices[ends.second]);
    result[nodes_ + l] =
        nodes_ + (to == ends ? l : std::ranges::lower_bound(plain_, std::pair(to, 0U))->second);
  }
  for (std::uint32_t i = 0; i < others_.size(); ++i)
    result[nodes_ + others_[i]] = nodes_ + others_[of_vertices[nodes_ + i] - nodes_];
  for (std::uint32_t v = group_vertices_; v < crowd_vertices_; ++v) // groups and demands
    result[groups_ + v - group_vertices_] = groups_ + of_vertices[v] - group_vertices_;
  return result;
}

std::vector<Permutation> FlowGraph::generators(const std::vector<std::uint32_t>& marks,
                                               std::span<const Permutation> commuting,
                                               const WorkLimit& limit) const {
  std::vector<Permutation> found;
  for (const Permutation& one :
       automorphism_generators(graph(marks, commuting), AutomorphismSearch::by_parts, limit)) {
    Permutation made = whole(one);
    bool moves = false;
    for (std::uint32_t i = 0; i < groups_ && !moves; ++i) moves = made[i] != i;
    if (moves) found.push_back(std::move(made));
  }
  return found;
}

FlowAutomorphism FlowGraph::decoded(const Permutation& whole) const {
  const auto block = [&](std::size_t begin, std::size_t end) {
    Permutation part;
    part.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i)
      part.push_back(whole[i] - static_cast<std::uint32_t>(begin));
    return part;
  };
  Permutation nodes(nodes_);
  for (std::uint32_t n = 0; n < nodes_; ++n) nodes[n] = node_at_[whole[place_[n]]];
  return {std::move(nodes), block(nodes_, groups_), block(nodes_, demands_),
          block(demands_, size())};
}

Permutation FlowGraph::encoded(const FlowAutomorphism& one) const {
  Permutation whole;
  whole.reserve(size());
  for (const std::uint32_t n : node_at_) whole.push_back(place_[one.nodes[n]]);
  for (const std::uint32_t image : one.resources) whole.push_back(nodes_ + image);
  for (const std::uint32_t image : one.demands) whole.push_back(demands_ + image);
  return whole;
}

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

std::vector<Permutation> semiregular_group(const FlowProblem& problem, const FlowGraph& graph,
                                           const std::vector<Permutation>& generators,
                                           const WorkLimit& limit) {
  constexpr std::size_t most_numbers = 500'000'000 / sizeof(std::uint32_t);
  const std::size_t size = generators.front().size(), points = graph.ends(),
                    numbers = size + problem.network.link_count(),
                    most = std::max<std::size_t>(1, most_numbers / numbers);
  const std::vector<std::uint32_t> marks =
      orbits(generators, problem.network.node_count()); // of places
  const auto centralizer = [&](std::span<const Permutation> group) {
    return graph.generators(marks, group, limit);
  };
  const CommutingGroup commuting =
      semiregular_commuting_group(generators, points, most, centralizer);
  if (commuting.order() < most_semiregular_elements(generators, points, most)) {
    std::vector<Permutation> other = semiregular_among_few(generators, points);
    if (other.size() > commuting.order()) return other;
  }
  return elements(commuting, size);
}

} // namespace

FlowGroup::FlowGroup(const FlowProblem& problem, std::span<const FlowAutomorphism> generators)
    : resources_(problem.network.node_count()),
      links_end_(resources_ + problem.network.link_count()),
      demands_(resources_ + problem.network.resource_count()),
      end_(demands_ + static_cast<std::uint32_t>(problem.demands.size())) {
  for (const FlowAutomorphism& each : generators) {
    Permutation& all = generators_.emplace_back();
    all.reserve(end_);
    append_block(all, each.nodes, 0, resources_);
    append_block(all, each.resources, resources_, demands_);
    append_block(all, each.demands, demands_, end_);
  }
  list_elements();
}

FlowGroup::FlowGroup(const FlowProblem& problem, std::span<const double> weights)
    : FlowGroup(problem, automorphisms_keeping(problem, weights)) {}

FlowGroup FlowGroup::keeping_demand(std::uint32_t demand) const {
  return keeping(demands_ + demand);
}

FlowGroup FlowGroup::keeping_node(std::uint32_t node) const { return keeping(node); }

FlowClasses FlowGroup::classes() const {
  const std::vector<std::uint32_t> all = orbits(generators_, end_);
  return {block_of(all, 0, resources_), block_of(all, resources_, links_end_),
          block_of(all, resources_, demands_), block_of(all, demands_, end_)};
}

FlowGroup FlowGroup::keeping(std::uint32_t point) const {
  FlowGroup less = *this;
  if (order_ > 0) {
    std::erase_if(less.generators_, [&](const Permutation& each) { return each[point] != point; });
    less.order_ = std::max<std::size_t>(1, less.generators_.size());
  } else {
    less.generators_ = stabilizer(generators_, point);
    less.list_elements();
  }
  return less;
}

void FlowGroup::list_elements() {
  std::vector<Permutation> all = elements(generators_, end_, most_listed);
  order_ = all.size();
  if (order_ > 0) generators_ = std::move(all);
}

std::vector<FlowAutomorphism> flow_automorphisms(const FlowProblem& problem,
                                                 std::span<const std::uint32_t> fixed,
                                                 const WorkLimit& limit) {
  const FlowGraph graph(problem);
  std::vector<std::uint32_t> marks(problem.network.node_count());
  for (std::uint32_t next = 1; const std::uint32_t n : fixed) marks[graph.place_of(n)] = next++;
  std::vector<FlowAutomorphism> found;
  for (const Permutation& one : graph.generators(marks, {}, limit))
    found.push_back(graph.decoded(one));
  return found;
}

std::vector<FlowAutomorphism> free_flow_symmetry(const FlowProblem& problem,
                                                 std::span<const FlowAutomorphism> generators,
                                                 const WorkLimit& limit) {
  const FlowGraph graph(problem);
  std::vector<Permutation> wholes;
  for (const FlowAutomorphism& one : generators) wholes.push_back(graph.encoded(one));
  Permutation identity(graph.size());
  std::iota(identity.begin(), identity.end(), 0U);
  std::vector<Permutation> group{std::move(identity)};
  if (!wholes.empty() && graph.ends() > 0) group = semiregular_group(problem, graph, wholes, limit);
  std::vector<FlowAutomorphism> symmetry;
  symmetry.reserve(group.size());
  for (const Permutation& element : group) symmetry.push_back(graph.decoded(element));
  return symmetry;
}

} // namespace tutti
