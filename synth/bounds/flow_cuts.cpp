// A super source feeds each gate, links carry `ratio` times their bandwidth, and LEMON's Preflow
// says whether everything reaches the target; if not, the sink's side of a minimum cut gives the
// next ratio (Dinkelbach's iteration). Targets follow one another with the ratio of the best so
// far, so most need one flow only.

#include "synth/bounds/flow_cuts.hpp"

#include "synth/bounds/capacity.hpp"

#define LEMON_ONLY_TEMPLATES // nothing of its library is linked
#include <lemon/preflow.h>
#include <lemon/static_graph.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace tutti::bounds {

namespace {

constexpr std::int64_t largest_total = std::int64_t{1} << 61;
constexpr std::size_t kept = 8; ///< sets

/// Where data enters the network: a node, or a set of nodes (by its id, after all nodes) that all
/// hold it.
using Gate = std::uint32_t;

struct Supply {
  Gate gate = 0;
  std::int64_t bytes = 0;
};

/// What flows to a target: all supplies listed for any of its sets, but for those it has already.
struct Commodities {
  std::vector<std::vector<Supply>> by_set;    ///< [set of targets]
  std::vector<std::vector<SetId>> sets_of;    ///< [node]: which of these sets it is in
  std::vector<NodeId> targets;                ///< nodes that are in some, ascending
  std::vector<std::vector<NodeId>> gate_sets; ///< [gate - nodes]: nodes that hold it together
};

/// Bytes per bandwidth, as a fraction: the time that a cut needs.
struct CutTime {
  std::int64_t bytes = 0;
  std::int64_t bandwidth = 1;
};

/// One supply for each gate, in order.
void add_up(std::vector<Supply>& supplies) {
  std::sort(supplies.begin(), supplies.end(),
            [](const Supply& a, const Supply& b) { return a.gate < b.gate; });
  std::size_t count = 0;
  for (const Supply& supply : supplies) {
    if (count > 0 && supplies[count - 1].gate == supply.gate)
      supplies[count - 1].bytes += supply.bytes;
    else
      supplies[count++] = supply;
  }
  supplies.resize(count);
}

/// Fills what follows from `by_set`.
void complete(Commodities& commodities, const Collective& collective, std::uint32_t node_count) {
  commodities.sets_of.resize(node_count);
  for (SetId s = 0; s < commodities.by_set.size(); ++s) {
    if (commodities.by_set[s].empty()) continue;
    add_up(commodities.by_set[s]);
    for (const NodeId node : collective.sets[s]) commodities.sets_of[node.value].push_back(s);
  }
  for (std::uint32_t v = 0; v < node_count; ++v)
    if (!commodities.sets_of[v].empty()) commodities.targets.emplace_back(v);
}

/// From sources to those who want: chunks that don't reduce; for a chunk that reduces and is wanted
/// by several, the contribution of one, which stands for all: some data must leave each set that it
/// is in for anyone outside who wants it.
Commodities plain_commodities(const Collective& collective, std::span<const ChunkClass> classes,
                              std::uint32_t node_count) {
  Commodities result;
  result.by_set.resize(collective.sets.size());
  std::map<SetId, Gate> gates;
  for (const ChunkClass& c : classes) {
    const std::vector<NodeId>& held = collective.sets[c.sources];
    const std::size_t destinations = collective.sets[c.destinations].size();
    if (c.by_pairs) // those of a target itself are left out (collect())
      for (const NodeId from : held)
        result.by_set[c.destinations].push_back({from.value, c.chunks * c.size.count});
    if (c.by_pairs || destinations == 0 || (c.reduces && held.size() > 1 && destinations == 1))
      continue;
    Gate gate = held.front().value;
    if (!c.reduces && held.size() > 1) {
      const auto next = node_count + static_cast<Gate>(result.gate_sets.size());
      const auto [at, added] = gates.emplace(c.sources, next);
      if (added) result.gate_sets.push_back(held);
      gate = at->second;
    }
    result.by_set[c.destinations].push_back({gate, c.chunks * c.size.count});
  }
  complete(result, collective, node_count);
  return result;
}

/// From who wants to those who contribute or are the only source, on the reversed network: chunks
/// that one node wants; for a chunk that reduces and is wanted by several, one who wants it.
Commodities inverted_commodities(const Collective& collective, std::span<const ChunkClass> classes,
                                 std::uint32_t node_count) {
  Commodities result;
  result.by_set.resize(collective.sets.size());
  for (const ChunkClass& c : classes) {
    const std::vector<NodeId>& wanted = collective.sets[c.destinations];
    if (c.by_pairs) {
      for (const NodeId to : wanted)
        result.by_set[c.sources].push_back({to.value, c.chunks * c.size.count});
      continue;
    }
    const bool one_holds = collective.sets[c.sources].size() == 1;
    const bool reduces = c.reduces && !one_holds;
    if (wanted.size() == 1 ? reduces || one_holds : reduces && !wanted.empty())
      result.by_set[c.sources].push_back({wanted.front().value, c.chunks * c.size.count});
  }
  complete(result, collective, node_count);
  return result;
}

/// Can the links of a group be counted once: does each of its senders reach each of its receivers?
bool joins_all(const Topology& topology, std::span<const LinkId> links) {
  std::set<NodeId> from, to;
  std::set<std::pair<NodeId, NodeId>> pairs;
  for (const LinkId id : links) {
    const Link& link = topology.link(id);
    from.insert(link.from);
    to.insert(link.to);
    pairs.emplace(link.from, link.to);
  }
  std::size_t both = 0; // no node needs a link to itself
  for (const NodeId node : from) both += to.contains(node) ? 1 : 0;
  return pairs.size() == from.size() * to.size() - both;
}

/// The network with a super source, ready for flows to any target. Node ids: those of the topology,
/// the sets of sources (both are gates), the two ends of each group, the source.
class CutNetwork {
public:
  /// Pre: the gates of `commodities` are nodes of `topology`. `reversed`: works on its reversal.
  CutNetwork(const Topology& topology, const Commodities& commodities, bool reversed);

  /// The work of a flow to the target, counted in nodes and arcs: as often as each is looked at.
  [[nodiscard]] std::uint64_t work_of_flow(NodeId target) const;
  [[nodiscard]] bool too_large() const { return too_large_; }

  /// The nodes of the topology from which not all can get to the target if a byte takes `ratio` per
  /// bandwidth; what they hold of it takes more, by bandwidth out of them: `ratio` is set to that.
  /// Nothing where all can.
  std::optional<NodeSet> stuck(std::span<const Supply> supplies, NodeId target, CutTime& ratio);

private:
  enum class Kind : std::uint8_t { link, supply, unlimited };
  struct Arc {
    std::uint32_t from = 0, to = 0;
    Kind kind = Kind::link;
    std::int64_t bandwidth = 0; ///< of a link or a group
  };
  /// Each link counts in one group, the slowest, as in capacity.hpp.
  void add_links(const Topology& topology, bool reversed, std::uint32_t first_end);
  void merge_parallel();

  std::uint32_t node_count_;
  std::uint32_t source_ = 0;
  std::vector<Arc> arcs_;          // ascending by from
  std::uint32_t first_supply_ = 0; // arcs out of the source: one for each gate, in order
  bool too_large_ = false;
  lemon::StaticDigraph graph_;
};

CutNetwork::CutNetwork(const Topology& topology, const Commodities& commodities, bool reversed)
    : node_count_(topology.node_count()) {
  std::uint32_t next = node_count_;
  for (const std::vector<NodeId>& set : commodities.gate_sets) {
    for (const NodeId node : set) arcs_.push_back({next, node.value, Kind::unlimited, 0});
    ++next;
  }
  add_links(topology, reversed, next);
  source_ = next + 2 * static_cast<std::uint32_t>(topology.groups().size());
  const auto gates = node_count_ + static_cast<std::uint32_t>(commodities.gate_sets.size());
  for (Gate gate = 0; gate < gates; ++gate) arcs_.push_back({source_, gate, Kind::supply, 0});
  merge_parallel();
  first_supply_ = static_cast<std::uint32_t>(arcs_.size()) - gates;

  std::int64_t common = 0; // smaller numbers, with the same ratios
  int128 total = 0;
  for (const Arc& arc : arcs_) {
    common = std::gcd(common, arc.bandwidth);
    total += arc.bandwidth;
  }
  for (Arc& arc : arcs_) arc.bandwidth /= std::max<std::int64_t>(common, 1);
  too_large_ = total > largest_total;

  std::vector<std::pair<int, int>> ends;
  for (const Arc& arc : arcs_)
    ends.emplace_back(static_cast<int>(arc.from), static_cast<int>(arc.to));
  graph_.build(static_cast<int>(source_) + 1, ends.begin(), ends.end());
}

/// Preflows are pushed level by level, and back where they get stuck. What that takes for each node
/// and arc grows with the square of the levels where these are many: next to nothing on a torus of
/// 32 x 32, 300 times as much on a ring of as many NPUs.
std::uint64_t CutNetwork::work_of_flow(NodeId target) const {
  constexpr std::uint64_t few = 32;
  std::vector<std::vector<std::uint32_t>> before(source_ + 1);
  for (const Arc& arc : arcs_)
    if (arc.from != source_) before[arc.to].push_back(arc.from);
  std::vector<bool> seen(source_ + 1);
  std::vector<std::uint32_t> level{target.value};
  seen[target.value] = true;
  std::uint64_t levels = 0;
  for (; !level.empty(); ++levels) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t node : level)
      for (const std::uint32_t from : before[node])
        if (!seen[from]) {
          seen[from] = true;
          next.push_back(from);
        }
    level = std::move(next);
  }
  return (arcs_.size() + source_) * std::max<std::uint64_t>(1, (levels * levels) / (few * few));
}

void CutNetwork::add_links(const Topology& topology, bool reversed, std::uint32_t first_end) {
  const auto add = [&](std::uint32_t from, std::uint32_t to, Bandwidth rate) {
    if (reversed) std::swap(from, to);
    arcs_.push_back({from, to, Kind::link, rate.bytes_per_second});
  };
  std::vector<std::vector<LinkId>> members(topology.groups().size());
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    if (const std::uint32_t group = slowest_group(topology, LinkId{l}); group != no_group)
      members[group].emplace_back(l);
    else
      add(link.from.value, link.to.value, topology.effective_bandwidth(LinkId{l}));
  }
  for (std::size_t g = 0; g < members.size(); ++g) {
    const bool together = members[g].size() > 1 && joins_all(topology, members[g]);
    const std::uint32_t in = first_end + 2 * static_cast<std::uint32_t>(g), out = in + 1;
    for (const LinkId id : members[g]) {
      const Link& link = topology.link(id);
      const Bandwidth rate = topology.effective_bandwidth(id);
      add(link.from.value, together ? in : link.to.value, rate);
      if (together) add(out, link.to.value, rate);
    }
    if (together) add(in, out, topology.groups()[g].bandwidth);
  }
}

/// One arc for each pair of ends, in order.
void CutNetwork::merge_parallel() {
  const auto ends = [](const Arc& arc) { return std::pair(arc.from, arc.to); };
  std::sort(arcs_.begin(), arcs_.end(),
            [&](const Arc& a, const Arc& b) { return ends(a) < ends(b); });
  std::size_t count = 0;
  for (const Arc& arc : arcs_) {
    if (count > 0 && ends(arcs_[count - 1]) == ends(arc))
      arcs_[count - 1].bandwidth += arc.bandwidth;
    else
      arcs_[count++] = arc;
  }
  arcs_.resize(count);
}

std::optional<NodeSet> CutNetwork::stuck(std::span<const Supply> supplies, NodeId target,
                                         CutTime& ratio) {
  int128 total = 0;
  for (const Supply& supply : supplies) total += static_cast<int128>(supply.bytes);
  total *= ratio.bandwidth;
  int shift = 0; // rounded, what is supplied gets less and arcs get more
  while (total >> shift > largest_total) ++shift;

  lemon::StaticDigraph::ArcMap<std::int64_t> capacity(graph_, 0);
  std::int64_t supplied = 0;
  for (const Supply& supply : supplies) {
    const auto scaled =
        static_cast<std::int64_t>((static_cast<int128>(supply.bytes) * ratio.bandwidth) >> shift);
    capacity[graph_.arc(static_cast<int>(first_supply_ + supply.gate))] = scaled;
    supplied += scaled;
  }
  const int128 rounding = (int128{1} << shift) - 1;
  for (std::uint32_t a = 0; a < first_supply_; ++a) {
    const int128 scaled =
        (static_cast<int128>(arcs_[a].bandwidth) * ratio.bytes + rounding) >> shift;
    capacity[graph_.arc(static_cast<int>(a))] =
        arcs_[a].kind == Kind::unlimited
            ? supplied
            : static_cast<std::int64_t>(std::min<int128>(scaled, supplied));
  }
  lemon::Preflow<lemon::StaticDigraph, lemon::StaticDigraph::ArcMap<std::int64_t>> flow(
      graph_, capacity, graph_.node(static_cast<int>(source_)),
      graph_.node(static_cast<int>(target.value)));
  flow.runMinCut();
  if (flow.flowValue() >= supplied) return std::nullopt;

  const auto left = [&](std::uint32_t node) { // on the source's side
    return flow.minCut(graph_.node(static_cast<int>(node)));
  };
  int128 bytes = 0, bandwidth = 0;
  for (const Supply& supply : supplies)
    if (left(supply.gate)) bytes += supply.bytes;
  for (const Arc& arc : arcs_)
    if (arc.kind == Kind::link && left(arc.from) && !left(arc.to)) bandwidth += arc.bandwidth;
  if (bandwidth == 0) return std::nullopt; // nobody can leave it: not a matter of time
  const auto common =
      std::gcd(static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(bandwidth));
  ratio = {static_cast<std::int64_t>(bytes) / common,
           static_cast<std::int64_t>(bandwidth) / common};
  NodeSet set(node_count_);
  for (std::uint32_t v = 0; v < node_count_; ++v) set[v] = left(v);
  return set;
}

/// Everything that must flow to the target; empty where it has all.
void collect(const Commodities& commodities, NodeId target, std::uint32_t node_count,
             std::vector<Supply>& supplies) {
  supplies.clear();
  const auto has = [&](Gate gate) {
    if (gate < node_count) return gate == target.value;
    const std::vector<NodeId>& sources = commodities.gate_sets[gate - node_count];
    return std::binary_search(sources.begin(), sources.end(), target);
  };
  for (const SetId s : commodities.sets_of[target.value])
    for (const Supply& supply : commodities.by_set[s])
      if (!has(supply.gate)) supplies.push_back(supply);
  if (commodities.sets_of[target.value].size() > 1) add_up(supplies);
}

} // namespace

FlowCuts flow_cuts(const Topology& topology, const Collective& collective,
                   std::span<const ChunkClass> classes, std::uint64_t most_work) {
  FlowCuts result;
  int128 total = 0;
  for (const ChunkClass& c : classes) {
    const std::size_t pairs =
        c.by_pairs ? collective.sets[c.sources].size() * collective.sets[c.destinations].size() : 1;
    total += static_cast<int128>(c.chunks) * c.size.count * static_cast<std::int64_t>(pairs);
  }
  if (total > largest_total) return {{}, false};

  CutTime ratio;
  for (const bool reversed : {false, true}) {
    const Commodities commodities =
        reversed ? inverted_commodities(collective, classes, topology.node_count())
                 : plain_commodities(collective, classes, topology.node_count());
    if (commodities.targets.empty()) continue;
    CutNetwork network(topology, commodities, reversed);
    if (network.too_large()) return {{}, false};
    const std::size_t all = commodities.targets.size();
    const std::size_t tried = std::clamp<std::size_t>(
        most_work / 2 / network.work_of_flow(commodities.targets.front()), 1, all);
    result.exhaustive = result.exhaustive && tried == all;
    std::vector<Supply> supplies;
    for (std::size_t i = 0; i < tried; ++i) {
      const NodeId target = commodities.targets[i * all / tried];
      collect(commodities, target, topology.node_count(), supplies);
      if (supplies.empty()) continue;
      while (auto set = network.stuck(supplies, target, ratio)) {
        if (reversed) set->flip(); // data must leave the others
        result.sets.push_back(std::move(*set));
        if (result.sets.size() > kept) result.sets.erase(result.sets.begin());
      }
    }
  }
  return result;
}

} // namespace tutti::bounds
