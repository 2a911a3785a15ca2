// Every bound here is one call of least_time() for the links that cross and what must cross them;
// the shapes differ in which node sets are tried (single nodes, given sets, parts, all parts at
// once) and in how the certificate names them.

#include "synth/bounds/cut_bounds.hpp"

#include "synth/bounds/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace tutti::bounds {

namespace {

/// A demand and the links of which each of its chunks must cross one.
struct Crossing {
  std::vector<LinkId> links;
  Demand demand;
};

/// Links for which `crosses(link)`.
template <typename Crosses>
std::vector<LinkId> links_where(const Topology& topology, Crosses crosses) {
  std::vector<LinkId> links;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (crosses(topology.link(LinkId{l}))) links.emplace_back(l);
  return links;
}

/// 0 where nothing has to cross.
Time crossing_time(const Problem& problem, const Crossing& crossing) {
  if (crossing.demand.chunks == 0) return Time{0};
  return least_time(problem.topology, problem.model, problem.margins, crossing.links,
                    crossing.demand);
}

std::string certificate(const Problem& problem, const std::string& where,
                        const Crossing& crossing) {
  return fmt::format("{}: {}", where, describe(problem.topology, crossing.links, crossing.demand));
}

Crossing crossing_of(const Problem& problem, const NodeCut& cut) {
  const auto links = cut.kind == BoundKind::in_cut ? problem.topology.in_links(cut.node)
                                                   : problem.topology.out_links(cut.node);
  return {{links.begin(), links.end()}, cut.demand};
}

/// The side of the cut that data enters.
NodeSet entered_side(const Problem& problem, const NodeCut& cut) {
  const bool in = cut.kind == BoundKind::in_cut;
  NodeSet inside(problem.topology.node_count(), !in);
  inside[cut.node.value] = in;
  return inside;
}

/// `npu0, npu1, npu2 and 61 more`
std::string names(const Problem& problem, const std::vector<NodeId>& nodes) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (std::size_t i = 0; i < nodes.size() && i < shown; ++i)
    text += (i == 0 ? "" : ", ") + problem.name(nodes[i]);
  return nodes.size() > shown ? fmt::format("{} and {} more", text, nodes.size() - shown) : text;
}

/// `all deliveries between 8 groups, one of them npu0, npu1`
std::string between(const Problem& problem, const Parts& parts) {
  std::size_t groups = 0; // those with NPUs, which have the lowest ids
  const std::vector<NodeId>* example = nullptr;
  for (const std::vector<NodeId>& nodes : parts.nodes) {
    groups += nodes.front().value < problem.topology.npu_count() ? 1 : 0;
    if (example == nullptr && nodes.size() > 1) example = &nodes;
  }
  return fmt::format("all deliveries between {} groups{}", groups,
                     example ? ", one of them " + names(problem, *example) : "");
}

} // namespace

Parts::Parts(const Problem& problem, Partition parted)
    : partition(std::move(parted)), nodes(partition.parts),
      quotient(bounds::quotient(problem.collective, problem.classes, partition)),
      demands(node_demands(quotient, problem.classes, partition.parts)) {
  for (std::uint32_t v = 0; v < partition.part_of.size(); ++v)
    nodes[partition.part_of[v]].emplace_back(v);
}

std::vector<NodeSet> distinct_sets(const std::vector<WorstCuts>& worst) {
  std::vector<WorstCuts::Cut> cuts;
  for (const WorstCuts& some : worst)
    for (const WorstCuts::Cut& cut : some.cuts())
      if (std::none_of(cuts.begin(), cuts.end(),
                       [&](const WorstCuts::Cut& other) { return other.inside == cut.inside; }))
        cuts.push_back(cut);
  std::stable_sort(cuts.begin(), cuts.end(), [](const WorstCuts::Cut& a, const WorstCuts::Cut& b) {
    return a.time > b.time;
  });
  std::vector<NodeSet> sets;
  for (WorstCuts::Cut& cut : cuts) sets.push_back(std::move(cut.inside));
  return sets;
}

NamedCut named(const Problem& problem, const NodeSet& set, bool leaves) {
  const auto size = static_cast<std::size_t>(std::count(set.begin(), set.end(), true));
  const bool flip = size > set.size() - size;
  NamedCut result;
  for (std::uint32_t v = 0; v < set.size(); ++v)
    if (set[v] != flip) result.nodes.emplace_back(v);
  result.text = (leaves != flip ? "out of " : "into ") + names(problem, result.nodes);
  return result;
}

Time NodeCut::time(const Problem& problem) const {
  return crossing_time(problem, crossing_of(problem, *this));
}

Bound NodeCut::bound(const Problem& problem, Time time) const {
  return {time,
          kind,
          certificate(problem, fmt::format("{} of {}", to_text(kind), problem.name(node)),
                      crossing_of(problem, *this)),
          {node},
          {.inside = entered_side(problem, *this)}};
}

std::optional<Bound> node_cut(const Problem& problem, BoundKind kind, const Parts& nodes,
                              WorstCuts& worst_cuts) {
  const std::vector<Demand>& demands =
      kind == BoundKind::in_cut ? nodes.demands.in : nodes.demands.out;
  Time worst;
  NodeId at;
  for (std::uint32_t v = 0; v < problem.topology.node_count(); ++v) {
    const NodeCut cut{kind, NodeId{v}, demands[v]};
    const Time time = cut.time(problem);
    worst_cuts.offer(time, [&] { return entered_side(problem, cut); });
    if (time <= worst) continue;
    worst = time;
    at = NodeId{v};
  }
  if (!at.valid()) return std::nullopt;
  return NodeCut{kind, at, demands[at.value]}.bound(problem, worst);
}

std::optional<Bound> work(const Problem& problem, BoundKind kind, const Parts& parts) {
  const Topology& topology = problem.topology;
  NodeSet active(parts.partition.parts), npus(parts.partition.parts);
  for (std::uint32_t v = 0; v < topology.node_count(); ++v) {
    const Node& node = topology.node(NodeId{v});
    const std::uint32_t part = parts.of(NodeId{v});
    if (node.kind == NodeKind::npu) npus[part] = true;
    if (node.kind == NodeKind::npu || node.can.copy || node.can.reduce) active[part] = true;
  }
  for (const std::vector<NodeId>& set : parts.quotient.sets) // others may hold or want, too
    for (const NodeId part : set) active[part.value] = true;

  Demand entries; // added up: needs no word on what others can do
  NodeSet entered(parts.partition.parts);
  for (std::uint32_t p = 0; p < parts.partition.parts; ++p) {
    if (!npus[p] || parts.demands.in[p].chunks == 0) continue;
    entries.add(parts.demands.in[p]);
    entered[p] = true;
  }

  const auto into = [&](const NodeSet& receivers, const Demand& demand) {
    return Crossing{links_where(topology,
                                [&](const Link& link) {
                                  const std::uint32_t to = parts.of(link.to);
                                  return receivers[to] && parts.of(link.from) != to;
                                }),
                    demand};
  };
  const Crossing to_entered = into(entered, entries);
  const Crossing to_active = into(active, deliveries(parts.quotient, problem.classes));
  const Time entered_time = crossing_time(problem, to_entered),
             active_time = crossing_time(problem, to_active);
  if (entered_time.ps == 0 && active_time.ps == 0) return std::nullopt;
  const bool by_entries = entered_time > active_time;
  std::string where =
      kind == BoundKind::total_work ? "all deliveries to NPUs" : between(problem, parts);
  if (by_entries && entered != npus) where += ", into those that lack any";
  if (!by_entries && active != npus) where += " and nodes that copy or reduce";
  return Bound{std::max(entered_time, active_time),
               kind,
               certificate(problem, where, by_entries ? to_entered : to_active),
               {},
               {.part_of = parts.partition.part_of}};
}

std::optional<Bound> set_cut(const Problem& problem, BoundKind kind,
                             const std::vector<NodeSet>& sets, WorstCuts& worst_cuts) {
  Time worst;
  const NodeSet* worst_set = nullptr;
  bool worst_leaves = false;
  Crossing worst_crossing;
  for (const NodeSet& set : sets)
    for (const bool leaves : {true, false}) {
      Crossing crossing;
      crossing.demand = demand_across(problem.collective, problem.classes, set, leaves);
      crossing.links = links_where(problem.topology, [&](const Link& link) {
        return set[link.from.value] == leaves && set[link.to.value] != leaves;
      });
      const Time time = crossing_time(problem, crossing);
      worst_cuts.offer(time, [&] {
        NodeSet inside = set;
        if (leaves) inside.flip();
        return inside;
      });
      if (time <= worst) continue;
      worst = time;
      worst_set = &set;
      worst_leaves = leaves;
      worst_crossing = std::move(crossing);
    }
  if (worst_set == nullptr) return std::nullopt;
  NamedCut cut = named(problem, *worst_set, worst_leaves);
  NodeSet inside = *worst_set;
  if (worst_leaves) inside.flip();
  return Bound{worst,
               kind,
               certificate(problem, cut.text, worst_crossing),
               std::move(cut.nodes),
               {.inside = std::move(inside)}};
}

std::optional<Bound> part_cut(const Problem& problem, BoundKind kind, const Parts& parts,
                              WorstCuts& worst_cuts) {
  const Topology& topology = problem.topology;
  const std::uint32_t count = parts.partition.parts;
  std::vector<std::vector<LinkId>> in(count), out(count);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const std::uint32_t from = parts.of(topology.link(LinkId{l}).from),
                        to = parts.of(topology.link(LinkId{l}).to);
    if (from == to) continue;
    out[from].emplace_back(l);
    in[to].emplace_back(l);
  }
  Time worst;
  std::uint32_t worst_part = 0;
  bool worst_leaves = false;
  const auto crossing = [&](std::uint32_t part, bool leaves) {
    return Crossing{leaves ? out[part] : in[part],
                    leaves ? parts.demands.out[part] : parts.demands.in[part]};
  };
  for (std::uint32_t part = 0; part < count; ++part)
    for (const bool leaves : {true, false}) {
      if (parts.nodes[part].size() < 2) continue;
      const Time time = crossing_time(problem, crossing(part, leaves));
      worst_cuts.offer(time, [&] {
        NodeSet inside(topology.node_count(), leaves);
        for (const NodeId node : parts.nodes[part]) inside[node.value] = !leaves;
        return inside;
      });
      if (time <= worst) continue;
      worst = time;
      worst_part = part;
      worst_leaves = leaves;
    }
  if (worst.ps == 0) return std::nullopt;
  const std::vector<NodeId>& inside = parts.nodes[worst_part];
  const std::string where = (worst_leaves ? "out of " : "into ") + names(problem, inside);
  NodeSet entered(topology.node_count(), worst_leaves);
  for (const NodeId node : inside) entered[node.value] = !worst_leaves;
  return Bound{worst,
               kind,
               certificate(problem, where, crossing(worst_part, worst_leaves)),
               inside,
               {.inside = std::move(entered)}};
}

} // namespace tutti::bounds
