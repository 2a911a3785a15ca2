// Why: bounds of a collective that begins at once say little where one NPU joins late and all wait
// for what it has. Idea: what follows a join is a bound of the usual kinds, of this one node, so
// that the time of the join is added to it; the worst of these sums counts.

#include "synth/bounds/late_start.hpp"

#include "sim/error.hpp"
#include "sim/feasibility.hpp"
#include "sim/members.hpp"
#include "synth/bounds/cut_bounds.hpp"
#include "synth/bounds/least_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace tutti {

namespace bounds {

namespace {

void require_one_per_node(const Topology& topology, std::span<const Time> starts) {
  if (!starts.empty() && starts.size() != topology.node_count())
    throw InputError(
        fmt::format("{} start times are given for {} nodes", starts.size(), topology.node_count()));
}

NodeCut cut_around(NodeId node, std::span<const Demand> leaving) {
  return {BoundKind::out_cut, node, leaving[node.value]};
}

std::vector<Joining> joining_of(const Problem& problem, std::span<const Demand> leaving,
                                std::span<const NodeId> nodes) {
  PathsFrom paths(problem);
  std::vector<Joining> joining;
  for (const NodeId node : nodes)
    joining.push_back({node, cut_around(node, leaving).time(problem), paths.slowest(node)});
  return joining;
}

/// Errors: InputError where it is over 26 days.
Time end_of(const Joining& joining, Time start) {
  const std::int64_t after = std::max(joining.by_cut.ps, joining.by_path.time);
  if (after >= never || start.ps >= never - after) throw InputError(too_long);
  return start + Time{after};
}

/// The late one that ends last; of several the one that joins last, then the first. Or null.
const Joining* worst_of(std::span<const Joining> joining, std::span<const Time> starts) {
  const Joining* worst = nullptr;
  std::pair<Time, Time> latest; // end, start
  for (const Joining& each : joining) {
    const Time start = starts[each.node.value];
    if (start <= Time{}) continue;
    const std::pair times(end_of(each, start), start);
    if (times <= latest) continue;
    latest = times;
    worst = &each;
  }
  return worst;
}

Bound late_bound(const Problem& problem, std::span<const Demand> leaving, const Joining& joining,
                 Time start) {
  const std::string joins =
      fmt::format("{} joins at {}", problem.name(joining.node), short_text(start));
  Bound bound{start, BoundKind::late_start, joins, {}, {}};
  if (end_of(joining, start) > start) {
    bound = joining.by_path.time > joining.by_cut.ps
                ? path_bound(problem, joining.by_path)
                : cut_around(joining.node, leaving).bound(problem, joining.by_cut);
    bound.time = end_of(joining, start);
    bound.kind = BoundKind::late_start;
    bound.certificate = fmt::format("{}; {}", joins, bound.certificate);
  }
  bound.proof.source = joining.node;
  return bound;
}

} // namespace

std::optional<Bound> late_start(const Problem& problem, std::span<const Demand> leaving,
                                std::span<const Time> starts) {
  require_one_per_node(problem.topology, starts);
  if (std::ranges::all_of(starts, [](Time start) { return start <= Time{}; })) return std::nullopt;
  std::vector<NodeId> late = members_of(problem.collective);
  std::erase_if(late, [&](NodeId node) { return starts[node.value] <= Time{}; });
  std::ranges::stable_sort(late,
                           [&](NodeId a, NodeId b) { return starts[a.value] > starts[b.value]; });
  const std::vector<Joining> joining = joining_of(problem, leaving, late);
  const Joining* worst = worst_of(joining, starts);
  if (worst == nullptr) return std::nullopt;
  return late_bound(problem, leaving, *worst, starts[worst->node.value]);
}

} // namespace bounds

namespace {

using namespace bounds;

Problem problem_of(const Topology& topology, const Collective& collective, const TimeModel& model,
                   Chunking chunking) {
  require_feasible(topology, collective);
  std::vector<ChunkClass> classes = chunk_classes(collective);
  if (chunking == Chunking::any) classes = cut_at_will(std::move(classes));
  Margins least = margins(topology, collective, classes, model);
  return {topology, collective, model, std::move(classes), std::move(least)};
}

std::vector<Demand> leaving_of(const Problem& problem) {
  return node_demands(problem.collective, problem.classes, problem.topology.node_count()).out;
}

Bound nobody_late() {
  return {Time{}, BoundKind::late_start, "all are there from the beginning", {}, {}};
}

} // namespace

LateStartBounds::LateStartBounds(const Topology& topology, const Collective& collective,
                                 const TimeModel& model, Chunking chunking)
    : problem_(problem_of(topology, collective, model, chunking)), leaving_(leaving_of(problem_)),
      joining_(joining_of(problem_, leaving_, members_of(problem_.collective))) {}

Time LateStartBounds::time(std::span<const Time> starts) const {
  require_one_per_node(problem_.topology, starts);
  if (starts.empty()) return {};
  const Joining* worst = worst_of(joining_, starts);
  return worst == nullptr ? Time{} : end_of(*worst, starts[worst->node.value]);
}

Bound LateStartBounds::bound(std::span<const Time> starts) const {
  require_one_per_node(problem_.topology, starts);
  const Joining* worst = starts.empty() ? nullptr : worst_of(joining_, starts);
  if (worst == nullptr) return nobody_late();
  return late_bound(problem_, leaving_, *worst, starts[worst->node.value]);
}

Bound late_start_bound(const Topology& topology, const Collective& collective,
                       const TimeModel& model, std::span<const Time> starts, Chunking chunking) {
  const Problem problem = problem_of(topology, collective, model, chunking);
  return late_start(problem, leaving_of(problem), starts).value_or(nobody_late());
}

} // namespace tutti
