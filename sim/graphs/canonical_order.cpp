// Why: ties by id make a plan depend on how a file lists its rows. Idea: refine an ordered
// partition of the nodes by what their links lead to, until neighbours tell no more apart
// (Weisfeiler and Leman 1968); then set one node of the first tie before the others and refine
// again, until all are distinguished. Which one: the one whose numbering of the whole network comes
// out least, as canonical labelling does (McKay, "Practical graph isomorphism", 1981); numberings
// that come out equal show a symmetry, and what it exchanges need not be tried again.
//
// That order is canonical, but mixes machines: ranks follow from rank 0 outwards. So NPUs are
// grouped by ever slower links (single linkage), each group as a whole, in the order of its least
// rank: the GPUs of a server side by side, servers in order, as people number them.

#include "sim/graphs/canonical_order.hpp"

#include "sim/graphs/disjoint_sets.hpp"
#include "sim/hash.hpp"
#include "sim/random.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// Looks at edges: for the first tie, where all numberings count, and for all later ones.
constexpr std::uint64_t most_work = 8'000'000, most_later_work = 1'000'000;
/// Links, times those that may be odd.
constexpr std::uint64_t most_pairs = 200'000;

/// Position of each value among the different ones, ascending.
template <typename Value> std::vector<std::uint32_t> dense(const std::vector<Value>& values) {
  std::vector<std::uint32_t> order(values.size()), place(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](auto a, auto b) { return values[a] < values[b]; });
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && values[order[i - 1]] < values[order[i]]) ++next;
    place[order[i]] = next;
  }
  return place;
}

/// What can be seen of a link by itself, fast ones first.
std::vector<std::uint32_t> link_classes(const Topology& topology) {
  std::vector<std::tuple<std::int64_t, std::int64_t, int, std::string>> seen;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    seen.emplace_back(-link.bandwidth.bytes_per_second, link.latency.ps, link.dimension,
                      topology.part_of(LinkId{l}));
  }
  return dense(seen);
}

/// What refinement works on: nodes and shared groups, joined by links and memberships.
struct Graph {
  struct Edge {
    std::uint32_t label, to;
  };
  std::vector<std::uint32_t> colours; ///< to begin with, dense
  std::vector<std::uint32_t> begin;   ///< [vertex], of edges
  std::vector<Edge> edges;

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(colours.size()); }
  [[nodiscard]] std::span<const Edge> of(std::uint32_t vertex) const {
    return std::span(edges).subspan(begin[vertex], begin[vertex + 1] - begin[vertex]);
  }
};

std::vector<std::uint32_t> colours(const Topology& topology, std::span<const std::uint32_t> marks,
                                   bool by_coordinates) {
  using Seen = std::tuple<int, std::vector<int>, std::array<std::int64_t, 6>>;
  std::vector<Seen> seen;
  for (std::uint32_t v = 0; v < topology.node_count(); ++v) {
    const Node& node = topology.node(NodeId{v});
    const std::span<const int> at = topology.coordinate(NodeId{v});
    std::vector<int> coordinates;
    if (by_coordinates) coordinates.assign(at.rbegin(), at.rend());
    seen.emplace_back(node.kind == NodeKind::npu ? 0 : 1, std::move(coordinates),
                      std::array<std::int64_t, 6>{marks[v], static_cast<std::int64_t>(node.kind),
                                                  node.can.store, node.can.copy, node.can.reduce,
                                                  node.reduce_rate.bytes_per_second});
  }
  for (const SharedGroup& group : topology.groups())
    seen.emplace_back(2, std::vector<int>{},
                      std::array<std::int64_t, 6>{group.bandwidth.bytes_per_second,
                                                  static_cast<std::int64_t>(group.links.size())});
  return dense(seen);
}

/// An edge, and the link that makes it.
struct Joined {
  std::uint32_t from;
  Graph::Edge edge;
  std::uint32_t link;
};

std::vector<Joined> joined_by_links(const Topology& topology,
                                    const std::vector<std::uint32_t>& classes) {
  std::vector<Joined> joined;
  enum : std::uint32_t { out, in, starts_in_group, ends_in_group, group_start, group_end, kinds };
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const std::uint32_t from = topology.link(LinkId{l}).from.value,
                        to = topology.link(LinkId{l}).to.value, label = classes[l] * kinds;
    joined.push_back({from, {label + out, to}, l});
    joined.push_back({to, {label + in, from}, l});
    for (const std::uint32_t g : topology.groups_of(LinkId{l})) {
      const std::uint32_t group = topology.node_count() + g;
      joined.push_back({from, {label + starts_in_group, group}, l});
      joined.push_back({to, {label + ends_in_group, group}, l});
      joined.push_back({group, {label + group_start, from}, l});
      joined.push_back({group, {label + group_end, to}, l});
    }
  }
  return joined;
}

Graph graph_of(const Topology& topology, const std::vector<std::uint32_t>& classes,
               std::vector<std::uint32_t> colours) {
  const std::vector<Joined> joined = joined_by_links(topology, classes);
  Graph graph;
  graph.colours = std::move(colours);
  graph.begin.resize(graph.size() + std::size_t{1});
  for (const Joined& one : joined) ++graph.begin[one.from + std::size_t{1}];
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  graph.edges.resize(joined.size());
  std::vector<std::uint32_t> next(graph.begin.begin(), graph.begin.end() - 1);
  for (const Joined& one : joined) graph.edges[next[one.from]++] = one.edge;
  return graph;
}

/// An ordered partition of the vertices into cells. A vertex's rank is where its cell begins.
class Partition {
public:
  explicit Partition(const Graph& graph) : graph_(&graph), order_(graph.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t v) { return graph.colours[v]; });
    rank_.resize(graph.size());
    place_.resize(graph.size());
    size_.resize(graph.size());
    for (std::uint32_t i = 0, start = 0; i < order_.size(); ++i) {
      if (graph.colours[order_[i]] != graph.colours[order_[start]]) start = i;
      rank_[order_[i]] = start;
      place_[order_[i]] = i;
      ++size_[start];
    }
    touched_ = order_;
    is_touched_.assign(graph.size(), true);
  }

  [[nodiscard]] std::uint32_t rank(std::uint32_t vertex) const { return rank_[vertex]; }
  [[nodiscard]] std::span<const std::uint32_t> order() const { return order_; }

  /// The first cell of several from `begin` on; empty where there is none.
  [[nodiscard]] std::span<const std::uint32_t> tie(std::uint32_t& begin) const {
    while (begin < order_.size() && size_[begin] == 1) ++begin;
    if (begin == order_.size()) return {};
    return std::span(order_).subspan(begin, size_[begin]);
  }

  /// Sets a vertex before the rest of its cell.
  void set_apart(std::uint32_t vertex) {
    const std::uint32_t start = rank_[vertex], end = start + size_[start];
    put(vertex, start);
    size_[start + 1] = end - start - 1;
    size_[start] = 1;
    for (std::uint32_t i = start + 1; i < end; ++i) rank_[order_[i]] = start + 1;
    touch_neighbours(vertex);
  }

  /// Splits cells until all of a cell have the same links to the same cells. Returns the number of
  /// edges that were looked at.
  std::uint64_t refine() {
    std::uint64_t work = 0;
    while (!touched_.empty()) {
      std::vector<std::uint32_t> now = std::exchange(touched_, {});
      for (const std::uint32_t v : now) is_touched_[v] = false;
      std::erase_if(now, [&](std::uint32_t v) { return size_[rank_[v]] == 1; });
      std::ranges::sort(now, {}, [&](std::uint32_t v) { return std::pair(rank_[v], place_[v]); });
      std::vector<std::span<const std::uint32_t>> cells; // what of each is touched
      for (std::size_t begin = 0, end = 0; begin < now.size(); begin = end) {
        while (end < now.size() && rank_[now[end]] == rank_[now[begin]]) ++end;
        cells.push_back(std::span(now).subspan(begin, end - begin));
      }
      // All look at the ranks of before, then all cells are split.
      std::vector<std::vector<Seen>> seen(cells.size());
      for (std::size_t c = 0; c < cells.size(); ++c) work += look(cells[c], seen[c]);
      for (std::vector<Seen>& cell : seen) split(cell);
    }
    return work;
  }

private:
  struct Seen {
    std::uint32_t vertex = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges; // label, rank
    bool stands_for_rest = false;                               // for all that weren't touched
  };

  void put(std::uint32_t vertex, std::uint32_t place) {
    const std::uint32_t other = order_[place];
    std::swap(order_[place], order_[place_[vertex]]);
    place_[other] = place_[vertex];
    place_[vertex] = place;
  }
  void touch_neighbours(std::uint32_t vertex) {
    for (const Graph::Edge& edge : graph_->of(vertex)) {
      if (is_touched_[edge.to] || size_[rank_[edge.to]] == 1) continue;
      is_touched_[edge.to] = true;
      touched_.push_back(edge.to);
    }
  }

  /// Those of a cell that weren't touched are alike as they were before: one stands for them.
  std::uint64_t look(std::span<const std::uint32_t> touched, std::vector<Seen>& seen) const {
    for (const std::uint32_t v : touched) seen.push_back({v, {}, false});
    const std::uint32_t start = rank_[touched.front()], end = start + size_[start];
    if (touched.size() < size_[start]) {
      std::uint32_t i = start, t = 0; // both by place
      while (i < end && t < touched.size() && order_[i] == touched[t]) ++i, ++t;
      seen.push_back({order_[i], {}, true});
    }
    std::uint64_t work = 0;
    for (Seen& one : seen) {
      for (const Graph::Edge& edge : graph_->of(one.vertex))
        one.edges.emplace_back(edge.label, rank_[edge.to]);
      std::ranges::sort(one.edges);
      work += one.edges.size() + 1;
    }
    std::ranges::stable_sort(seen, {}, &Seen::edges);
    return work;
  }

  void split(const std::vector<Seen>& seen) {
    if (seen.front().edges == seen.back().edges) return;
    const std::uint32_t start = rank_[seen.front().vertex], end = start + size_[start];
    const auto rest = std::ranges::find(seen, true, &Seen::stands_for_rest);
    // Members in the order of what they see; of the same sight those that were touched first.
    std::vector<std::uint32_t> members;
    std::vector<std::uint32_t> starts{start};
    std::vector<std::uint32_t> others; // what `rest` stands for
    if (rest != seen.end()) {
      std::vector<std::uint32_t> looked;
      for (const Seen& one : seen)
        if (!one.stands_for_rest) looked.push_back(place_[one.vertex]);
      std::ranges::sort(looked);
      for (std::uint32_t i = start, k = 0; i < end; ++i) {
        if (k < looked.size() && looked[k] == i)
          ++k;
        else
          others.push_back(order_[i]);
      }
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (i > 0 && seen[i - 1].edges != seen[i].edges)
        starts.push_back(start + static_cast<std::uint32_t>(members.size()));
      if (seen[i].stands_for_rest)
        members.insert(members.end(), others.begin(), others.end());
      else
        members.push_back(seen[i].vertex);
    }
    starts.push_back(end);
    std::size_t largest = 0;
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
      size_[starts[s]] = starts[s + 1] - starts[s];
      if (size_[starts[s]] > size_[starts[largest]]) largest = s;
    }
    for (std::size_t s = 0; s + 1 < starts.size(); ++s)
      for (std::uint32_t i = starts[s]; i < starts[s + 1]; ++i) {
        const std::uint32_t v = members[i - start];
        order_[i] = v;
        place_[v] = i;
        rank_[v] = starts[s];
      }
    // Who is joined to none but the largest one sees what it saw.
    for (std::size_t s = 0; s + 1 < starts.size(); ++s)
      for (std::uint32_t i = starts[s]; i < starts[s + 1] && s != largest; ++i)
        touch_neighbours(order_[i]);
  }

  const Graph* graph_;
  std::vector<std::uint32_t> order_, place_; // vertices by cell; where each of them is
  std::vector<std::uint32_t> rank_;          // [vertex]
  std::vector<std::uint32_t> size_;          // of the cell that begins there
  std::vector<std::uint32_t> touched_;
  std::vector<bool> is_touched_;
};

class Labelling {
public:
  explicit Labelling(const Graph& graph) : graph_(graph), partition_(graph) {}

  /// Vertices in canonical order.
  std::vector<std::uint32_t> run() {
    partition_.refine();
    std::uint64_t left = most_work;
    std::uint32_t from = 0;
    for (auto tie = partition_.tie(from); !tie.empty(); tie = partition_.tie(from)) {
      partition_.set_apart(best_of(std::vector(tie.begin(), tie.end()), left));
      partition_.refine();
      left = std::min(left, most_later_work);
    }
    return {partition_.order().begin(), partition_.order().end()};
  }

private:
  struct Numbering {
    std::uint64_t hash = 0;
    std::vector<std::uint32_t> order;
  };

  /// Whose numbering is the least; the first by id where the work that is left ends before.
  std::uint32_t best_of(std::vector<std::uint32_t> tied, std::uint64_t& left) const {
    std::ranges::sort(tied);
    std::optional<Numbering> best;
    std::uint32_t chosen = tied.front();
    DisjointSets exchanged(graph_.size());
    std::vector<std::uint32_t> tried;
    for (const std::uint32_t candidate : tied) {
      if (left == 0) return best ? chosen : tied.front();
      const auto is_like = [&](std::uint32_t other) {
        return exchanged.find(other) == exchanged.find(candidate);
      };
      if (std::ranges::any_of(tried, is_like)) continue;
      tried.push_back(candidate);
      Numbering made = numbered_from(candidate, left);
      if (best && made.hash == best->hash) {
        for (std::size_t i = 0; i < made.order.size(); ++i)
          exchanged.join(best->order[i], made.order[i]);
      } else if (!best || made.hash < best->hash) {
        best = std::move(made);
        chosen = candidate;
      }
    }
    return chosen;
  }

  /// Further ties go by id.
  Numbering numbered_from(std::uint32_t vertex, std::uint64_t& left) const {
    Partition all = partition_;
    all.set_apart(vertex);
    std::uint64_t work = graph_.edges.size() + all.refine();
    std::uint32_t from = 0;
    for (auto tie = all.tie(from); !tie.empty(); tie = all.tie(from)) {
      all.set_apart(*std::ranges::min_element(tie));
      work += all.refine() + tie.size();
    }
    left -= std::min(left, work);
    Fingerprint hash;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const std::uint32_t v : all.order()) {
      hash.add(graph_.colours[v]);
      edges.clear();
      for (const Graph::Edge& edge : graph_.of(v))
        edges.emplace_back(edge.label, all.rank(edge.to));
      std::ranges::sort(edges);
      for (const auto& [label, to] : edges) hash.add((std::uint64_t{label} << 32) | to);
    }
    return {hash.value(), {all.order().begin(), all.order().end()}};
  }

  const Graph& graph_;
  Partition partition_;
};

/// Nodes by rank, regrouped: those that fast links join side by side. What joins NPUs counts first,
/// then what joins switches.
std::vector<NodeId> machine_by_machine(const Topology& topology, const std::vector<NodeId>& nodes,
                                       const std::vector<std::uint32_t>& classes) {
  std::vector<std::uint32_t> rank(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) rank[nodes[i].value] = i;
  std::vector<std::tuple<bool, std::uint32_t, std::uint32_t, std::uint32_t>> joins; // ranks
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    const bool is_inner = std::min(link.from, link.to).value >= topology.npu_count();
    joins.emplace_back(is_inner, classes[l], rank[link.from.value], rank[link.to.value]);
  }
  std::ranges::sort(joins);
  DisjointSets sets(nodes.size());
  std::vector<std::vector<std::uint32_t>> members(nodes.size()); // ranks, at the set's least
  for (std::uint32_t i = 0; i < nodes.size(); ++i) members[i] = {i};
  for (std::size_t begin = 0, end = 0; begin < joins.size(); begin = end) {
    const auto is_alike = [&](const auto& join) {
      return std::get<0>(join) == std::get<0>(joins[begin]) &&
             std::get<1>(join) == std::get<1>(joins[begin]);
    };
    std::vector<std::uint32_t> before; // the sets that these links join
    for (; end < joins.size() && is_alike(joins[end]); ++end) {
      before.push_back(sets.find(std::get<2>(joins[end])));
      before.push_back(sets.find(std::get<3>(joins[end])));
    }
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (std::size_t i = begin; i < end; ++i)
      sets.join(std::get<2>(joins[i]), std::get<3>(joins[i]));
    for (const std::uint32_t set : before) {
      const std::uint32_t whole = sets.find(set);
      if (whole == set) continue;
      members[whole].insert(members[whole].end(), members[set].begin(), members[set].end());
      members[set] = {};
    }
  }
  std::vector<NodeId> regrouped;
  for (const std::vector<std::uint32_t>& set : members)
    for (const std::uint32_t i : set) regrouped.push_back(nodes[i]);
  std::stable_partition(regrouped.begin(), regrouped.end(),
                        [&](NodeId node) { return node.value < topology.npu_count(); });
  return regrouped;
}

/// Links as families list them: by dimension; neighbours one step up before those one step down;
/// by node, both directions to a switch together.
class LinkOrder {
public:
  LinkOrder(const Topology& topology, const std::vector<std::uint32_t>& place,
            const std::vector<std::uint32_t>& classes,
            const std::vector<std::uint32_t>& group_place)
      : topology_(topology), place_(place), classes_(classes), group_place_(group_place),
        is_line_(topology.shape().size(), true) {
    std::vector<std::uint32_t> neighbours(topology.shape().size());
    for (std::uint32_t v = 0; v < topology.npu_count(); ++v) {
      std::ranges::fill(neighbours, 0U);
      for (const LinkId l : topology.out_links(NodeId{v}))
        if (const Link& link = topology.link(l); is_stepwise(link)) ++neighbours[dimension(link)];
      for (std::size_t d = 0; d < neighbours.size(); ++d)
        if (neighbours[d] > 2) is_line_[d] = false;
    }
  }

  [[nodiscard]] std::vector<LinkId> sorted() const {
    std::vector<std::pair<Key, LinkId>> keyed;
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
      keyed.emplace_back(key(LinkId{l}), LinkId{l});
    std::ranges::sort(keyed);
    std::vector<LinkId> links;
    for (const auto& [key, link] : keyed) links.push_back(link);
    return links;
  }

private:
  using Key = std::tuple<int, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                         std::uint32_t, std::vector<std::uint32_t>>;

  static std::size_t dimension(const Link& link) {
    return static_cast<std::size_t>(link.dimension);
  }
  /// Between NPUs, along a dimension that both have.
  [[nodiscard]] bool is_stepwise(const Link& link) const {
    return std::max(link.from, link.to).value < topology_.npu_count() && link.dimension >= 0 &&
           dimension(link) < topology_.shape().size();
  }
  [[nodiscard]] bool goes_down(const Link& link) const {
    if (!is_stepwise(link) || !is_line_[dimension(link)]) return false;
    const std::size_t d = dimension(link);
    const int from = topology_.coordinate(link.from)[d], to = topology_.coordinate(link.to)[d];
    return to != (from + 1) % topology_.shape()[d];
  }
  [[nodiscard]] Key key(LinkId id) const {
    const Link& link = topology_.link(id);
    const std::uint32_t from = place_[link.from.value], to = place_[link.to.value];
    const bool npus = std::max(link.from, link.to).value < topology_.npu_count();
    std::vector<std::uint32_t> groups;
    for (const std::uint32_t g : topology_.groups_of(id)) groups.push_back(group_place_[g]);
    std::ranges::sort(groups);
    return {link.dimension,
            goes_down(link) ? 1U : 0U,
            npus ? from : std::min(from, to),
            npus ? to : std::max(from, to),
            from < to ? 0U : 1U,
            classes_[id.value],
            std::move(groups)};
  }

  const Topology& topology_;
  const std::vector<std::uint32_t>& place_; // of nodes
  const std::vector<std::uint32_t>& classes_;
  const std::vector<std::uint32_t>& group_place_;
  std::vector<bool> is_line_; // [dimension]: nobody has more than two neighbours along it
};

/// A word of both, in this order.
std::uint64_t mixed(std::uint64_t first, std::uint64_t second) {
  return Random(first + 0x9e3779b97f4a7c15ULL * second).next();
}

/// See odd_links(). `depth`: how often neighbourhoods are refined. No order is asked for here, only
/// who is alike, and that for each link that may be odd: so what a vertex sees is a sum of hashes.
class OddLinks {
public:
  OddLinks(const Topology& topology, std::span<const std::uint32_t> marks, std::uint32_t depth)
      : topology_(topology), colours_(colours(topology, marks, false)), depth_(depth),
        classes_(link_classes(topology)), joined_(joined_by_links(topology, classes_)),
        is_left_out_(topology.link_count()) {}

  [[nodiscard]] std::vector<LinkId> find() {
    constexpr int most_rounds = 3;
    std::vector<LinkId> odd;
    for (int round = 0; round < most_rounds; ++round) {
      const std::vector<LinkId> rare = rare_links();
      if (rare.size() * topology_.link_count() > most_pairs) break;
      std::vector<LinkId> best;
      std::size_t least = 2 * kind_count() / 3 + 1;
      const auto attempt = [&](std::initializer_list<LinkId> links) {
        for (const LinkId link : links) is_left_out_[link.value] = true;
        const std::size_t left = kind_count();
        for (const LinkId link : links) is_left_out_[link.value] = false;
        if (left >= least) return;
        least = left;
        best = links;
      };
      for (const LinkId link : rare) {
        attempt({link});
        for (const LinkId back : rare)
          if (link < back && is_back(link, back)) attempt({link, back});
      }
      if (best.empty()) break;
      for (const LinkId link : best) is_left_out_[link.value] = true;
      odd.insert(odd.end(), best.begin(), best.end());
    }
    return odd;
  }

private:
  /// Equal for links that are left, alike, and join vertices that are alike.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, LinkId>> kinds(std::uint32_t depth) const {
    std::vector<std::uint64_t> seen(colours_.size()), next(colours_.size());
    for (std::size_t v = 0; v < seen.size(); ++v) seen[v] = mixed(0, colours_[v]);
    std::size_t cells = cell_count(seen);
    for (std::uint32_t round = 0; round < depth; ++round) {
      for (std::size_t v = 0; v < seen.size(); ++v) next[v] = mixed(seen[v], 0);
      for (const Joined& one : joined_)
        if (!is_left_out_[one.link]) next[one.from] += mixed(seen[one.edge.to], one.edge.label);
      std::swap(seen, next);
      const std::size_t before = std::exchange(cells, cell_count(seen));
      if (cells == before) break; // a cell that is split shows
    }
    std::vector<std::pair<std::uint64_t, LinkId>> made;
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      if (is_left_out_[l]) continue;
      const Link& link = topology_.link(LinkId{l});
      std::uint64_t kind = mixed(mixed(seen[link.from.value], seen[link.to.value]), classes_[l]);
      for (const std::uint32_t g : topology_.groups_of(LinkId{l}))
        kind += mixed(seen[topology_.node_count() + g], 0);
      made.emplace_back(kind, l);
    }
    return made;
  }
  [[nodiscard]] static std::size_t cell_count(std::vector<std::uint64_t> seen) {
    std::ranges::sort(seen);
    return static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
  }
  [[nodiscard]] std::size_t kind_count() const {
    std::vector<std::uint64_t> seen;
    for (const auto& [kind, link] : kinds(depth_)) seen.push_back(kind);
    return cell_count(std::move(seen));
  }
  /// Those of which neighbours already tell that there are at most two cables.
  [[nodiscard]] std::vector<LinkId> rare_links() const {
    std::vector<std::pair<std::uint64_t, LinkId>> all = kinds(1);
    std::ranges::sort(all);
    std::vector<LinkId> rare;
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      while (end < all.size() && all[end].first == all[begin].first) ++end;
      for (std::size_t i = begin; i < end && end - begin <= 4; ++i) rare.push_back(all[i].second);
    }
    return rare;
  }
  [[nodiscard]] bool is_back(LinkId a, LinkId b) const {
    return topology_.link(a).from == topology_.link(b).to &&
           topology_.link(a).to == topology_.link(b).from && classes_[a.value] == classes_[b.value];
  }

  const Topology& topology_;
  std::vector<std::uint32_t> colours_;
  std::uint32_t depth_;
  std::vector<std::uint32_t> classes_;
  std::vector<Joined> joined_;
  std::vector<bool> is_left_out_; // [link]: odd, or tried
};

} // namespace

CanonicalOrder canonical_order(const Topology& topology, std::span<const std::uint32_t> marks) {
  const std::vector<std::uint32_t> classes = link_classes(topology);
  const Graph graph = graph_of(topology, classes, colours(topology, marks, true));
  CanonicalOrder order;
  std::vector<std::uint32_t> group_place(topology.groups().size());
  for (const std::uint32_t vertex : Labelling(graph).run()) {
    if (vertex < topology.node_count()) {
      order.nodes.emplace_back(vertex);
      continue;
    }
    const std::uint32_t group = vertex - topology.node_count();
    group_place[group] = static_cast<std::uint32_t>(order.groups.size());
    order.groups.push_back(group);
  }
  if (topology.shape().empty()) order.nodes = machine_by_machine(topology, order.nodes, classes);
  std::vector<std::uint32_t> place(topology.node_count());
  for (std::uint32_t i = 0; i < order.nodes.size(); ++i) place[order.nodes[i].value] = i;
  order.links = LinkOrder(topology, place, classes, group_place).sorted();
  return order;
}

std::vector<LinkId> odd_links(const Topology& topology, std::span<const std::uint32_t> marks) {
  // In a symmetric network all that is around tells links apart, in a random one what is next to
  // them: a node with a link more than the others.
  for (const std::uint32_t depth : {UINT32_MAX, 1U})
    if (std::vector<LinkId> odd = OddLinks(topology, marks, depth).find(); !odd.empty()) return odd;
  return {};
}

} // namespace tutti
