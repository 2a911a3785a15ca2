// Every kind of bound is a relaxation of its own; see sim/bounds/ for what they stand on:
// demand.hpp (what must pass), capacity.hpp (how fast links can carry it), least_times.hpp (how
// long one chunk needs at least), cuts.hpp and flow_cuts.hpp (where to cut), partition.hpp (many cuts
// at once). None assumes anything of the schedule
// but that it moves these chunks whole.
#include "sim/bounds.hpp"

#include "sim/bounds/capacity.hpp"
#include "sim/bounds/cuts.hpp"
#include "sim/bounds/demand.hpp"
#include "sim/bounds/flow_cuts.hpp"
#include "sim/bounds/least_times.hpp"
#include "sim/bounds/partition.hpp"
#include "sim/error.hpp"
#include "sim/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
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
constexpr std::uint64_t search_limit = 10'000'000;

/// Where not every holder's search can be afforded: from any only holder to the node that was found
/// to be farthest, in one search for each of the largest sizes.
void consider_other_holders(const Problem& problem, Way& worst) {
  LeastTimes times(problem.topology, problem.model, Direction::to_sources);
  const NodeId to = worst.to;
  Bytes size;
  int sizes = 4;
  for (const ChunkClass& c : problem.classes) {
    const auto& held = problem.collective.sets[c.held_by];
    const auto& wanted = problem.collective.sets[c.wanted_by];
    if (c.reduces || held.size() != 1 || !std::binary_search(wanted.begin(), wanted.end(), to))
      continue;
    if (c.size != size) {
      if (sizes-- == 0) return;
      times.set_size(size = c.size);
      times.search(std::span(&to, 1));
    }
    consider(worst, times.complete(held[0]), c, held[0], to);
  }
}

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
      if (searches-- == 0) {
        consider_other_holders(problem, worst);
        break;
      }
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
  if (way.time >= never) throw InputError(too_long);
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

/// A partition with what must enter and leave its parts.
struct Parts {
  Partition partition;
  std::vector<std::vector<NodeId>> nodes; ///< [part]
  Collective quotient;                    ///< its sets, with parts as nodes
  NodeDemands demands;                    ///< [part]

  Parts(const Problem& problem, Partition parted)
      : partition(std::move(parted)), nodes(partition.parts),
        quotient(bounds::quotient(problem.collective, partition)),
        demands(node_demands(quotient, problem.classes, partition.parts)) {
    for (std::uint32_t v = 0; v < partition.part_of.size(); ++v)
      nodes[partition.part_of[v]].emplace_back(v);
  }

  [[nodiscard]] std::uint32_t of(NodeId node) const { return partition.part_of[node.value]; }
};

/// All deliveries to parts where they can happen, over the links from others into these.
std::optional<Bound> total_work(const Problem& problem, BoundKind kind, const Parts& parts,
                                const std::string& what) {
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

  Demand into_npus; // what enters each, added up: needs no word on what others can do
  for (std::uint32_t p = 0; p < parts.partition.parts; ++p)
    if (npus[p]) into_npus.add(parts.demands.in[p]);

  const auto into = [&](const NodeSet& receivers, const Demand& demand) {
    return Passage{links_where(topology,
                               [&](const Link& link) {
                                 const std::uint32_t to = parts.of(link.to);
                                 return receivers[to] && parts.of(link.from) != to;
                               }),
                   demand};
  };
  const Passage to_npus = into(npus, into_npus);
  const Passage to_active = into(active, deliveries(parts.quotient, problem.classes));
  const Time npu_time = passing_time(problem, to_npus),
             active_time = passing_time(problem, to_active);
  if (npu_time.ps == 0 && active_time.ps == 0) return std::nullopt;
  const bool by_npus = npu_time > active_time;
  const std::string where =
      by_npus || active == npus ? what : what + " and nodes that copy or reduce";
  return Bound{std::max(npu_time, active_time),
               kind,
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
  const auto size =
      static_cast<std::size_t>(std::count(worst_set->begin(), worst_set->end(), true));
  const bool flip = size > worst_set->size() - size; // name the fewer nodes
  if (flip) worst_leaves = !worst_leaves;
  std::vector<NodeId> inside;
  for (std::uint32_t v = 0; v < worst_set->size(); ++v)
    if ((*worst_set)[v] != flip) inside.emplace_back(v);
  const std::string where = (worst_leaves ? "out of " : "into ") + names(problem, inside);
  return Bound{worst, kind, certificate(problem, where, worst_passage), inside};
}

/// The worst part of two nodes or more, into it or out of it.
std::optional<Bound> part_cut(const Problem& problem, BoundKind kind, const Parts& parts) {
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
  const auto passage = [&](std::uint32_t part, bool leaves) {
    return Passage{leaves ? out[part] : in[part],
                   leaves ? parts.demands.out[part] : parts.demands.in[part]};
  };
  for (std::uint32_t part = 0; part < count; ++part)
    for (const bool leaves : {true, false}) {
      if (parts.nodes[part].size() < 2) continue;
      const Time time = passing_time(problem, passage(part, leaves));
      if (time <= worst) continue;
      worst = time;
      worst_part = part;
      worst_leaves = leaves;
    }
  if (worst.ps == 0) return std::nullopt;
  const std::vector<NodeId>& inside = parts.nodes[worst_part];
  const std::string where = (worst_leaves ? "out of " : "into ") + names(problem, inside);
  return Bound{worst, kind, certificate(problem, where, passage(worst_part, worst_leaves)), inside};
}

/// Keeps the better one, the first of equals.
void keep_best(std::optional<Bound>& best, std::optional<Bound> bound) {
  if (bound && (!best || bound->time > best->time)) best = std::move(bound);
}

/// What work between the parts is called: `all deliveries between 8 groups, one of them npu0, npu1`.
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

/// Cuts around the parts of each partition, and the work between them (in `work`). Where all that
/// is large, of the first partitions only.
std::optional<Bound> part_cuts(const Problem& problem, BoundKind kind,
                               std::vector<Partition> partitions, std::optional<Bound>& work) {
  constexpr std::size_t visits = 20'000'000; // of nodes, links, chunk classes, members of sets
  std::size_t each =
      problem.topology.node_count() + problem.topology.link_count() + problem.classes.size();
  for (const std::vector<NodeId>& set : problem.collective.sets) each += set.size();
  std::optional<Bound> best;
  for (std::size_t i = 0; i < partitions.size() && i <= visits / each; ++i) {
    const Parts parts(problem, std::move(partitions[i]));
    keep_best(best, part_cut(problem, kind, parts));
    keep_best(work, total_work(problem, BoundKind::work_between, parts, between(problem, parts)));
  }
  return best;
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
  case BoundKind::dimension_cut: return "dimension cut";
  case BoundKind::max_flow_cut: return "max-flow cut";
  case BoundKind::work_between: return "work between";
  }
  return "";
}

std::vector<Bound> lower_bounds(const Topology& topology, const Collective& collective,
                                const TimeModel& model) {
  require_reachable(topology, collective);
  const Problem problem{topology, collective, model, chunk_classes(collective),
                        margins(topology, collective, model)};
  Partition alone{std::vector<std::uint32_t>(topology.node_count()), topology.node_count()};
  std::iota(alone.part_of.begin(), alone.part_of.end(), 0U);
  const Parts nodes(problem, std::move(alone));
  std::vector<Bound> found{latency_path(problem)};
  const auto add = [&](std::optional<Bound> bound) {
    if (bound) found.push_back(std::move(*bound));
  };
  add(node_cut(problem, BoundKind::in_cut, nodes.demands.in));
  add(node_cut(problem, BoundKind::out_cut, nodes.demands.out));
  add(total_work(problem, BoundKind::total_work, nodes, "all deliveries to NPUs"));
  add(set_cut(problem, BoundKind::balanced_cut, halves(topology, collective)));
  std::optional<Bound> work;
  add(part_cuts(problem, BoundKind::cluster_cut, clusters(topology), work));
  auto by_dimension = part_cuts(problem, BoundKind::dimension_cut, dimension_parts(topology), work);
  keep_best(by_dimension,
            set_cut(problem, BoundKind::dimension_cut, dimension_halves(topology, collective)));
  add(std::move(by_dimension));
  add(set_cut(problem, BoundKind::max_flow_cut,
              flow_cuts(topology, collective, problem.classes).sets));
  add(std::move(work));
  return found;
}

Bound lower_bound(const Topology& topology, const Collective& collective, const TimeModel& model) {
  return best_of(lower_bounds(topology, collective, model));
}

const Bound& best_of(const std::vector<Bound>& bounds) {
  return *std::max_element(bounds.begin(), bounds.end(),
                           [](const Bound& a, const Bound& b) { return a.time < b.time; });
}

} // namespace tutti
