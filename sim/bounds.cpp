// Every kind of bound is a relaxation of its own; see sim/bounds/ for what they stand on:
// demand.hpp (what must pass), capacity.hpp (how fast links can carry it), least_times.hpp (how
// long one chunk needs at least), cuts.hpp (where to cut). None assumes anything of the schedule
// but that it moves these chunks whole.
#include "sim/bounds.hpp"

#include "sim/bounds/capacity.hpp"
#include "sim/bounds/cuts.hpp"
#include "sim/bounds/demand.hpp"
#include "sim/bounds/least_times.hpp"
#include "sim/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace tutti {

namespace {

using namespace bounds;

/// What all kinds look at.
struct Problem {
  const Topology& topology;
  const Collective& collective;
  const TimeModel& model;
  std::vector<ChunkClass> classes;
  Margins margins;

  [[nodiscard]] const std::string& name(NodeId node) const { return topology.node(node).name; }
};

/// The slowest way that some chunk must go, as found by one search.
struct Way {
  std::int64_t time = 0;
  const ChunkClass* chunk_class = nullptr;
  NodeId from, to; ///< `from` is not set where the chunk has several holders
};

void consider(Way& worst, std::int64_t time, const ChunkClass& c, NodeId from, NodeId to) {
  if (time > worst.time) worst = {time, &c, from, to};
}

/// The largest chunks first. Dense networks have short ways and dear searches: stop after this many
/// links were looked at, since fewer searches are still a bound.
constexpr std::uint64_t search_limit = 50'000'000;

/// A chunk that doesn't reduce: from the nearest holder to the farthest of those who want it.
Way slowest_copy(const Problem& problem, std::uint64_t searches) {
  Way worst;
  LeastTimes times(problem.topology, problem.model, Direction::from_sources);
  const ChunkClass* searched = nullptr;
  Bytes size;
  for (const ChunkClass& c : problem.classes) {
    const auto& held = problem.collective.sets[c.held_by];
    const auto& wanted = problem.collective.sets[c.wanted_by];
    if (c.reduces || wanted.empty()) continue;
    if (c.size != size) times.set_size(size = c.size);
    if (searched == nullptr || searched->size != c.size || searched->held_by != c.held_by) {
      if (searches-- == 0) break;
      times.search(held);
      searched = &c;
    }
    for (const NodeId node : wanted)
      consider(worst, times.complete(node), c, held.size() == 1 ? held[0] : NodeId{}, node);
  }
  return worst;
}

/// A chunk that reduces: from the farthest contributor to each of those who want it.
Way slowest_contribution(const Problem& problem, std::uint64_t searches) {
  Way worst;
  LeastTimes times(problem.topology, problem.model, Direction::to_sources);
  Bytes size;
  for (const ChunkClass& c : problem.classes) {
    if (!c.reduces) continue;
    if (c.size != size) times.set_size(size = c.size);
    for (const NodeId wanter : problem.collective.sets[c.wanted_by]) {
      if (searches-- == 0) return worst;
      times.search(std::span(&wanter, 1));
      for (const NodeId node : problem.collective.sets[c.held_by])
        consider(worst, times.complete(node), c, node, wanter);
    }
  }
  return worst;
}

Bound latency_path(const Problem& problem) {
  const std::uint64_t searches = 1 + search_limit / (1 + problem.topology.link_count());
  const Way copy = slowest_copy(problem, searches);
  const Way contribution = slowest_contribution(problem, searches);
  const Way& way = contribution.time > copy.time ? contribution : copy;
  if (way.chunk_class == nullptr)
    return {Time{0}, BoundKind::latency_path, "nothing has to move", {}};
  return {Time{way.time},
          BoundKind::latency_path,
          fmt::format("latency path of chunk {} ({}) from {} to {}: at least {}",
                      way.chunk_class->first.value, to_text(way.chunk_class->size),
                      way.from.valid() ? problem.name(way.from) : "its nearest holder",
                      problem.name(way.to), short_text(Time{way.time})),
          {}};
}

/// A demand and the links of which each of its chunks must cross one.
struct Passage {
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

/// 0 where nothing has to pass.
Time passing_time(const Problem& problem, const Passage& passage) {
  if (passage.demand.chunks == 0) return Time{0};
  return least_time(problem.topology, problem.model, problem.margins, passage.links,
                    passage.demand);
}

std::string certificate(const Problem& problem, const std::string& where, const Passage& passage) {
  return fmt::format("{}: {}", where, describe(problem.topology, passage.links, passage.demand));
}

/// The worst node. `kind` is in_cut or out_cut.
std::optional<Bound> node_cut(const Problem& problem, BoundKind kind,
                              std::span<const Demand> demands) {
  const bool in = kind == BoundKind::in_cut;
  const auto passage = [&](NodeId node) {
    const auto links = in ? problem.topology.in_links(node) : problem.topology.out_links(node);
    return Passage{{links.begin(), links.end()}, demands[node.value]};
  };
  Time worst;
  NodeId at;
  for (std::uint32_t v = 0; v < problem.topology.node_count(); ++v)
    if (const Time time = passing_time(problem, passage(NodeId{v})); time > worst) {
      worst = time;
      at = NodeId{v};
    }
  if (!at.valid()) return std::nullopt;
  return Bound{
      worst,
      kind,
      certificate(problem, fmt::format("{} of {}", to_text(kind), problem.name(at)), passage(at)),
      {at}};
}

/// All deliveries, over the links into the nodes where they can happen.
std::optional<Bound> total_work(const Problem& problem, const NodeDemands& demands) {
  const Topology& topology = problem.topology;
  NodeSet active(topology.node_count()), npus(topology.node_count());
  for (std::uint32_t v = 0; v < topology.node_count(); ++v) {
    const Node& node = topology.node(NodeId{v});
    npus[v] = node.kind == NodeKind::npu;
    active[v] = npus[v] || node.can.copy || node.can.reduce;
  }
  for (const std::vector<NodeId>& set : problem.collective.sets) // others may hold or want, too
    for (const NodeId node : set) active[node.value] = true;

  Demand into_npus; // what enters each, added up: needs no word on what others can do
  for (std::uint32_t v = 0; v < topology.node_count(); ++v)
    if (npus[v]) into_npus.add(demands.in[v]);

  const auto into = [&](const NodeSet& receivers, const Demand& demand) {
    return Passage{
        links_where(topology, [&](const Link& link) { return receivers[link.to.value]; }), demand};
  };
  const Passage to_npus = into(npus, into_npus);
  const Passage to_active = into(active, deliveries(problem.collective, problem.classes));
  const Time npu_time = passing_time(problem, to_npus),
             active_time = passing_time(problem, to_active);
  if (npu_time.ps == 0 && active_time.ps == 0) return std::nullopt;
  const bool by_npus = npu_time > active_time;
  const std::string where = by_npus || active == npus
                                ? "all deliveries to NPUs"
                                : "all deliveries to NPUs and nodes that copy or reduce";
  return Bound{std::max(npu_time, active_time),
               BoundKind::total_work,
               certificate(problem, where, by_npus ? to_npus : to_active),
               {}};
}

/// `npu0, npu1, npu2 and 61 more`
std::string names(const Problem& problem, const std::vector<NodeId>& nodes) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (std::size_t i = 0; i < nodes.size() && i < shown; ++i)
    text += (i == 0 ? "" : ", ") + problem.name(nodes[i]);
  return nodes.size() > shown ? fmt::format("{} and {} more", text, nodes.size() - shown) : text;
}

/// The worst of the sets, out of it or into it.
std::optional<Bound> set_cut(const Problem& problem, BoundKind kind,
                             const std::vector<NodeSet>& sets) {
  Time worst;
  const NodeSet* worst_set = nullptr;
  bool worst_leaves = false;
  Passage worst_passage;
  for (const NodeSet& set : sets)
    for (const bool leaves : {true, false}) {
      Passage passage;
      passage.demand = demand_across(problem.collective, problem.classes, set, leaves);
      passage.links = links_where(problem.topology, [&](const Link& link) {
        return set[link.from.value] == leaves && set[link.to.value] != leaves;
      });
      const Time time = passing_time(problem, passage);
      if (time <= worst) continue;
      worst = time;
      worst_set = &set;
      worst_leaves = leaves;
      worst_passage = std::move(passage);
    }
  if (worst_set == nullptr) return std::nullopt;
  std::vector<NodeId> inside;
  for (std::uint32_t v = 0; v < worst_set->size(); ++v)
    if ((*worst_set)[v]) inside.emplace_back(v);
  const std::string where = (worst_leaves ? "out of " : "into ") + names(problem, inside);
  return Bound{worst, kind, certificate(problem, where, worst_passage), inside};
}

} // namespace

std::string_view to_text(BoundKind kind) {
  switch (kind) {
  case BoundKind::latency_path: return "latency path";
  case BoundKind::in_cut: return "in-cut";
  case BoundKind::out_cut: return "out-cut";
  case BoundKind::total_work: return "total work";
  case BoundKind::balanced_cut: return "balanced cut";
  case BoundKind::cluster_cut: return "cluster cut";
  }
  return "";
}

std::vector<Bound> lower_bounds(const Topology& topology, const Collective& collective,
                                const TimeModel& model) {
  require_reachable(topology, collective);
  const Problem problem{topology, collective, model, chunk_classes(collective),
                        margins(topology, collective, model)};
  const NodeDemands demands = node_demands(collective, problem.classes, topology.node_count());
  std::vector<Bound> found{latency_path(problem)};
  const auto add = [&](std::optional<Bound> bound) {
    if (bound) found.push_back(std::move(*bound));
  };
  add(node_cut(problem, BoundKind::in_cut, demands.in));
  add(node_cut(problem, BoundKind::out_cut, demands.out));
  add(total_work(problem, demands));
  add(set_cut(problem, BoundKind::balanced_cut, halves(topology, collective)));
  add(set_cut(problem, BoundKind::cluster_cut, clusters(topology)));
  return found;
}

Bound lower_bound(const Topology& topology, const Collective& collective, const TimeModel& model) {
  const std::vector<Bound> found = lower_bounds(topology, collective, model);
  return *std::max_element(found.begin(), found.end(),
                           [](const Bound& a, const Bound& b) { return a.time < b.time; });
}

} // namespace tutti
