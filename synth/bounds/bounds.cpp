// Every kind of bound is a relaxation of its own; see what they stand on:
// demand.hpp (what must pass), capacity.hpp (how fast links can carry it), least_times.hpp (how
// long one chunk needs at least), spreading.hpp (what follows behind a cut), cuts.hpp and
// flow_cuts.hpp (where to cut), partition.hpp (many cuts at once), closed_forms.hpp (what a member
// can send and receive), timed_cuts.hpp (what comes from afar), flow_prices.hpp (what all paths
// pay), late_start.hpp (what begins late). None assumes anything of the schedule but that it moves
// these chunks whole or, for bounds of any schedule, not even that.

#include "synth/bounds/bounds.hpp"

#include "sim/feasibility.hpp"
#include "synth/bounds/closed_forms.hpp"
#include "synth/bounds/cut_bounds.hpp"
#include "synth/bounds/cuts.hpp"
#include "synth/bounds/flow_cuts.hpp"
#include "synth/bounds/flow_prices.hpp"
#include "synth/bounds/late_start.hpp"
#include "synth/bounds/latency_path.hpp"
#include "synth/bounds/pair_cuts.hpp"
#include "synth/bounds/partition.hpp"
#include "synth/bounds/problem.hpp"
#include "synth/bounds/spreading.hpp"
#include "synth/bounds/timed_cuts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace tutti {

namespace {

using namespace bounds;

/// Keeps the better one, the first of equals.
void keep_best(std::optional<Bound>& best, std::optional<Bound> bound) {
  if (bound && (!best || bound->time > best->time)) best = std::move(bound);
}

/// Cuts around the parts of each partition, and the work between them (in `between`); of the first
/// partitions only, where they are large.
std::optional<Bound> part_cuts(const Problem& problem, BoundKind kind,
                               const std::vector<Partition>& partitions,
                               std::optional<Bound>& between, WorstCuts& worst) {
  constexpr std::uint64_t visits = 20'000'000; // of nodes, links, chunk classes, members of sets
  std::size_t each =
      problem.topology.node_count() + problem.topology.link_count() + problem.classes.size();
  for (const std::vector<NodeId>& set : problem.collective.sets) each += set.size();
  std::optional<Bound> best;
  for (std::size_t i = 0; i < partitions.size() && i <= problem.within(visits) / each; ++i) {
    const Parts parts(problem, partitions[i]);
    keep_best(best, part_cut(problem, kind, parts, worst));
    keep_best(between, work(problem, BoundKind::work_between, parts));
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
  case BoundKind::spreading_cut: return "spreading cut";
  case BoundKind::timed_cut: return "cut over time";
  case BoundKind::closed_form: return "closed form";
  case BoundKind::flow_prices: return "flow prices";
  case BoundKind::late_start: return "late-start";
  }
  return "";
}

namespace {

/// What doesn't depend on how the data is cut: computed once for both kinds of bounds.
struct Shared {
  std::vector<NodeSet> halves, dimension_halves, flow_cuts; ///< flow cuts: and cuts of pairs
  std::vector<Partition> clusters, dimension_parts;
  std::optional<FlowPrices> prices;
  std::vector<TimedFlowPrices> later_prices;

  Shared(const Topology& topology, const Collective& collective, const TimeModel& model,
         std::span<const ChunkClass> classes, BoundEffort effort)
      : halves(bounds::halves(topology, members(topology, collective, classes))),
        dimension_halves(
            bounds::dimension_halves(topology, members(topology, collective, classes))),
        flow_cuts(bounds::flow_cuts(topology, collective, classes,
                                    effort == BoundEffort::full ? 20'000'000 : 5'000'000)
                      .sets),
        clusters(bounds::clusters(topology)), dimension_parts(bounds::dimension_parts(topology)),
        prices(tutti::flow_prices(topology, collective, effort)),
        later_prices(flow_prices_over_time(topology, collective, model, effort)) {
    std::vector<NodeSet> starts = halves;
    starts.insert(starts.end(), dimension_halves.begin(), dimension_halves.end());
    for (NodeSet& set : pair_cuts(topology, collective, classes, starts,
                                  effort == BoundEffort::full ? 100'000'000 : 10'000'000))
      flow_cuts.push_back(std::move(set));
  }
};

std::vector<Bound> bounds_of(const Topology& topology, const Collective& collective,
                             const TimeModel& model, std::vector<ChunkClass> classes,
                             const Shared& shared, BoundEffort effort,
                             std::span<const Time> starts) {
  Margins least = margins(topology, collective, classes, model);
  const Problem problem{topology, collective, model, std::move(classes), std::move(least), effort};
  Partition alone{std::vector<std::uint32_t>(topology.node_count()), topology.node_count()};
  std::iota(alone.part_of.begin(), alone.part_of.end(), 0U);
  const Parts nodes(problem, std::move(alone));
  WorstCuts ends(2);
  std::vector<Bound> found{latency_path(problem, ends)};
  const auto add = [&](std::optional<Bound> bound) {
    if (bound) found.push_back(std::move(*bound));
  };
  // of each kind, since the worst ones of one kind are often alike
  WorstCuts worst_nodes(4), worst_halves(4), worst_clusters(8), worst_parts(8), worst_flows(4);
  add(node_cut(problem, BoundKind::in_cut, nodes, worst_nodes));
  add(node_cut(problem, BoundKind::out_cut, nodes, worst_nodes));
  add(work(problem, BoundKind::total_work, nodes));
  add(set_cut(problem, BoundKind::balanced_cut, shared.halves, worst_halves));
  std::optional<Bound> between;
  add(part_cuts(problem, BoundKind::cluster_cut, shared.clusters, between, worst_clusters));
  auto by_dimension =
      part_cuts(problem, BoundKind::dimension_cut, shared.dimension_parts, between, worst_parts);
  keep_best(by_dimension,
            set_cut(problem, BoundKind::dimension_cut, shared.dimension_halves, worst_parts));
  add(std::move(by_dimension));
  add(set_cut(problem, BoundKind::max_flow_cut, shared.flow_cuts, worst_flows));
  add(std::move(between));
  const std::vector<WorstCuts> worst{worst_nodes, worst_halves, worst_clusters,
                                     worst_parts, worst_flows,  ends};
  add(spreading_cut(problem, worst));
  add(timed_cut(problem, worst));
  add(closed_form(problem));
  std::optional<Bound> by_prices;
  if (shared.prices) keep_best(by_prices, shared.prices->bound(model, problem.margins));
  for (const auto& [from, prices] : shared.later_prices)
    keep_best(by_prices, prices.bound(model, problem.margins, from));
  add(std::move(by_prices));
  add(late_start(problem, nodes.demands.out, starts));
  return found;
}

Bounds bounds_of_both(const Topology& topology, const Collective& collective,
                      const TimeModel& model, std::vector<ChunkClass> classes, BoundEffort effort,
                      std::span<const Time> starts) {
  const Shared shared(topology, collective, model, classes, effort);
  Bounds bounds;
  bounds.any = bounds_of(topology, collective, model, cut_at_will(classes), shared, effort, starts);
  bounds.given = bounds_of(topology, collective, model, std::move(classes), shared, effort, starts);
  return bounds;
}

} // namespace

const Bound& Bounds::best() const { return best_of(any); }

const Bound& Bounds::best_at_chunks() const {
  const Bound& at_chunks = best_of(given);
  return at_chunks.time > best().time ? at_chunks : best();
}

Bounds all_bounds(const Topology& topology, const Collective& collective, const TimeModel& model,
                  BoundEffort effort, std::span<const Time> starts) {
  require_feasible(topology, collective);
  return bounds_of_both(topology, collective, model, chunk_classes(collective), effort, starts);
}

Bounds all_bounds(const Topology& topology, const Outline& outline, const TimeModel& model,
                  BoundEffort effort) {
  require_feasible(topology, outline.collective);
  return bounds_of_both(topology, outline.collective, model, outline.classes, effort, {});
}

std::vector<Bound> lower_bounds(const Topology& topology, const Collective& collective,
                                const TimeModel& model, Chunking chunking, BoundEffort effort,
                                std::span<const Time> starts) {
  require_feasible(topology, collective);
  std::vector<ChunkClass> classes = chunk_classes(collective);
  if (chunking == Chunking::any) classes = cut_at_will(std::move(classes));
  const Shared shared(topology, collective, model, classes, effort);
  return bounds_of(topology, collective, model, std::move(classes), shared, effort, starts);
}

Bound lower_bound(const Topology& topology, const Collective& collective, const TimeModel& model,
                  Chunking chunking, BoundEffort effort, std::span<const Time> starts) {
  return best_of(lower_bounds(topology, collective, model, chunking, effort, starts));
}

const Bound& best_of(const std::vector<Bound>& bounds) {
  return *std::max_element(bounds.begin(), bounds.end(),
                           [](const Bound& a, const Bound& b) { return a.time < b.time; });
}

std::string beaten_bound(const Topology& topology, const Collective& collective,
                         const TimeModel& model, Time time) {
  const Bound bound = lower_bound(topology, collective, model, Chunking::given, BoundEffort::least);
  if (time >= bound.time) return {};
  return fmt::format("{} is less than the lower bound {} ({})", to_text(time), to_text(bound.time),
                     bound.certificate);
}

} // namespace tutti
