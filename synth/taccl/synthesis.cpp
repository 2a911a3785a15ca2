// Idea: the stages know nothing of each other but their results, so that each can be tried on
// several of the one before, and the replay on the network itself decides. Paths may also come from
// TACOS or from optimal flows on the logical topology: what those leave is ordered and joined as
// TACCL does it.
#include "synth/taccl/synthesis.hpp"

#include "sim/compact_schedule.hpp"
#include "sim/engines/engine.hpp"
#include "synth/chunk_choice.hpp"
#include "synth/inversion.hpp"
#include "synth/list.hpp"
#include "synth/scheduling/kept_order.hpp"
#include "synth/scheduling/list_scheduling.hpp"
#include "synth/taccl/contiguity.hpp"
#include "synth/taccl/logical_topology.hpp"
#include "synth/taccl/ordering.hpp"
#include "synth/taccl/routing.hpp"
#include "synth/tacos/multicasts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tutti {

namespace {

/// A collective that copies, on the logical topology in one direction.
struct Half {
  LogicalTopology logical;
  Collective copied;
  bool is_inverted = false;
};

class SketchSynthesis {
public:
  SketchSynthesis(const Topology& network, const Collective& collective, const Sketch& sketch,
                  const TacclSettings& settings, const SynthesisOptions& options,
                  const WorkLimit& limit)
      : network_(network), collective_(collective), sketch_(sketch), settings_(settings),
        options_(options), limit_(limit), logical_(logical_topology(network, sketch)) {}

  SketchAnswer run() {
    make_halves();
    if (halves_.empty()) return std::move(best_);
    if (settings_.is_hasty) attempt(RouteSource::taccl, settings_.slack.value_or(0));
    for (const RouteSource source : settings_.routes) {
      if (!best_.schedule && !best_.why_not.empty()) break; // out of reach for all
      attempt(source, settings_.slack.value_or(0));
      if (!settings_.slack && source == RouteSource::taccl && slack_matters()) attempt(source, 1);
    }
    return std::move(best_);
  }

private:
  void make_halves() {
    const CollectivePart& part = collective_.parts.front();
    if (part.kind == CollectiveKind::all_reduce) {
      const Collective gather = make_collective(
          network_, {CollectiveKind::all_gather, part.size, part.group, 0, part.chunks_per_shard});
      halves_.push_back({reversed(logical_), gather, true});
      halves_.push_back({logical_, gather, false});
    } else if (part.kind == CollectiveKind::custom && reduces(collective_)) {
      const std::optional<Multicasts> custom = as_multicasts(network_, collective_);
      if (!custom) best_.why_not = std::string(no_multicasts);
      if (custom && custom->reductions)
        halves_.push_back({reversed(logical_), *custom->reductions, true});
      if (custom && custom->copies) halves_.push_back({logical_, *custom->copies, false});
    } else if (reduces(collective_)) {
      halves_.push_back({reversed(logical_), inverted(collective_), true});
    } else {
      halves_.push_back({logical_, collective_, false});
    }
  }

  void attempt(RouteSource source, double slack) {
    if (is_done()) return;
    std::vector<Routes> routes;
    for (const Half& half : halves_) {
      const RoutingProblem problem{&half.logical, &half.copied, options_.model, sketch_.chunk,
                                   slack};
      std::optional<Routes> found =
          source == RouteSource::taccl ? own_routes(problem) : foreign_routes(source, problem);
      if (!found) return;
      routes.push_back(*std::move(found));
    }
    std::optional<SketchAnswer> made = schedule(source, routes);
    if (!made) return;
    reorder(*made);
    if (!best_.schedule || made->replayed < best_.replayed) best_ = *std::move(made);
  }

  /// Not where all NPUs are ends of each chunk, so that none is too far away.
  [[nodiscard]] bool slack_matters() const {
    const Collective& copied = halves_.front().copied;
    for (std::uint32_t c = 0; c < copied.chunks.size(); ++c) {
      std::vector<NodeId> ends;
      std::ranges::set_union(copied.sources(ChunkId{c}), copied.destinations(ChunkId{c}),
                             std::back_inserter(ends));
      if (ends.size() < network_.npu_count()) return true;
    }
    return false;
  }

  std::optional<Routes> own_routes(const RoutingProblem& problem) {
    const RoutingSymmetry symmetry =
        routing_symmetry(*problem.logical, *problem.collective, collective_.name());
    symmetry_ = static_cast<std::uint32_t>(symmetry.links.size());
    RoutingOutcome outcome = settings_.is_hasty ? route_hastily(problem, symmetry)
                                                : route(problem, symmetry, options_.seed, limit_);
    if (!outcome.routes && !best_.schedule) best_.why_not = std::move(outcome.why_not);
    return std::move(outcome.routes);
  }

  /// Trees of a schedule that was made without regard to the sketch's rules about senders; nothing
  /// where it breaks them.
  std::optional<Routes> foreign_routes(RouteSource source, const RoutingProblem& problem) {
    const Topology& logical = problem.logical->topology;
    const Collective& copied = *problem.collective;
    const SynthesisOptions plain = plain_options(options_, limit_);
    Outcome made = (source == RouteSource::tacos ? tacos : flows)(logical, copied, plain);
    if (made.compact) made.schedule = expanded(logical, copied, *made.compact);
    if (!made.schedule) return std::nullopt;
    UsableLinks usable(problem);
    std::vector<std::vector<bool>> allowed(copied.chunks.size());
    std::vector<std::vector<LinkId>> trees(copied.chunks.size());
    std::set<std::pair<ChunkId, NodeId>> reached;
    for (std::size_t i = 0; i < made.schedule->size(); ++i) {
      const Transfer transfer = (*made.schedule)[i];
      const std::uint32_t chunk = transfer.chunk.value;
      if (allowed[chunk].empty()) allowed[chunk] = usable.rules(transfer.chunk);
      for (const LinkId link : made.schedule->paths().links(transfer.path)) {
        // A path through an NPU that has the chunk, or gets it otherwise, belongs to no tree.
        if (!allowed[chunk][link.value] ||
            !reached.emplace(transfer.chunk, logical.link(link).to).second)
          return std::nullopt;
        trees[chunk].push_back(link);
      }
    }
    Routes routes = evaluated(problem, std::move(trees));
    routes.at_least = std::min(routing_bound(problem, usable), routes.time);
    routes.method = source == RouteSource::tacos ? "paths of TACOS" : "paths of optimal flows";
    return routes;
  }

  /// Stages 2 and 3; nothing where the limit comes first and there is another answer.
  std::optional<SketchAnswer> schedule(RouteSource source, const std::vector<Routes>& routes) {
    Sends sends(logical_, collective_, options_.model, sketch_.chunk);
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c) {
      if (c % 4096 == 0) require_time_for(sends);
      std::vector<SendId> last;
      for (std::size_t h = 0; h < halves_.size(); ++h) {
        const std::vector<LinkId>& tree = routes[h].trees[c];
        if (halves_[h].is_inverted)
          last = sends.add_inverted_tree(ChunkId{c}, tree, Op::reduce);
        else
          sends.add_tree(ChunkId{c}, tree, last);
      }
    }
    if (logical_.own_chunks_first) sends.put_own_chunks_first();
    std::string how;
    Time routing{}, routing_at_least{};
    std::uint32_t connections = 0;
    for (const Routes& half : routes) {
      how += (how.empty() ? "" : " and ") + half.method;
      routing += half.time;
      routing_at_least += half.at_least;
      connections = std::max(connections, half.connections);
    }
    require_time_for(sends);
    const Time ordering_at_least = ordering_bound(sends),
               planned_at_least = contiguity_bound(sends);
    require_time_for(sends);
    const bool may_join = settings_.joins_chunks && !settings_.is_hasty &&
                          options_.model.link_busy == LinkBusy::latency_and_serialization;
    std::optional<SketchAnswer> best;
    for (const OrderedSends& ordered : orderings(sends, limit_)) {
      if (is_done() || (best && is_enough(*best))) break;
      if (!best) require_time_for(sends);
      const ContiguousSends blocks = contiguous(sends, ordered, may_join, limit_);
      if (!best) require_time_for(sends);
      SketchAnswer answer;
      answer.schedule = listed(sends, blocks);
      answer.replayed = replayed(*answer.schedule);
      answer.routing = routing;
      answer.routing_at_least = routing_at_least;
      answer.ordering = ordered.makespan;
      answer.ordering_at_least = ordering_at_least;
      answer.planned = blocks.makespan;
      answer.planned_at_least = std::min(planned_at_least, blocks.makespan);
      answer.is_exact = blocks.is_optimal;
      answer.joined = sends.size() - static_cast<std::uint32_t>(blocks.blocks.size());
      answer.connections = connections;
      answer.symmetry = source == RouteSource::taccl ? symmetry_ : 1;
      answer.how = fmt::format("{}; {}", how, ordered.rule);
      if (!best || answer.replayed < best->replayed) best = std::move(answer);
    }
    return best;
  }

  [[nodiscard]] Schedule listed(const Sends& sends, const ContiguousSends& blocks) const {
    Schedule made(network_.link_count());
    made.reserve(sends.size());
    std::vector<PathId> path(logical_.paths.size());
    for (const std::vector<SendId>& block : blocks.blocks)
      for (const SendId id : block) {
        const Send& send = sends[id];
        PathId& known = path[send.link.value];
        if (!known.valid()) known = made.paths().intern(logical_.paths[send.link.value]);
        made.push({send.chunk, known, send.op, false, id != block.front()});
      }
    return made;
  }

  /// Keeps to the order of stage 3 by dependencies where queues alone are slower. Errors:
  /// LimitReached where there are many.
  [[nodiscard]] Time replayed(Schedule& schedule) const {
    if (options_.model.discipline != Discipline::fifo) return {};
    const WorkLimit limit = schedule.size() > most_sends ? limit_ : WorkLimit();
    if (!needs_kept_order(network_, schedule))
      return run_native(network_, collective_, schedule, options_.model, {.watch = limit.watch()})
          .completion;
    KeptOrder kept = with_kept_plan(network_, collective_, std::move(schedule), options_.model,
                                    nullptr, {}, limit);
    schedule = std::move(kept.schedule);
    return kept.completion;
  }

  /// The same transfers in the order that list scheduling by the engines' own rules gives them,
  /// where that is faster and no rule of the sketch speaks of order.
  void reorder(SketchAnswer& answer) {
    if (answer.joined > 0 || logical_.own_chunks_first || is_enough(answer) ||
        options_.model.discipline != Discipline::fifo)
      return;
    Timed listed =
        list_scheduled(network_, collective_, *answer.schedule, options_.model, {}, limit_);
    if (listed.makespan >= answer.replayed) return;
    answer.replayed = listed.makespan;
    answer.planned = listed.planned;
    answer.schedule = std::move(listed.schedule);
    answer.how += ", then by list scheduling";
  }

  [[nodiscard]] bool is_enough(const SketchAnswer& answer) const {
    return settings_.is_hasty || limit_.reached() || answer.replayed <= settings_.enough;
  }
  /// After the limit only what is quick goes on to a schedule. Errors: LimitReached.
  void require_time_for(const Sends& sends) const {
    if (!settings_.is_hasty && sends.size() > most_sends) limit_.require();
  }
  [[nodiscard]] bool is_done() const { return best_.schedule && is_enough(best_); }

  static constexpr std::uint32_t most_sends = 100'000; ///< that are quick, whatever the limit says

  const Topology& network_;
  const Collective& collective_;
  const Sketch& sketch_;
  const TacclSettings& settings_;
  const SynthesisOptions& options_;
  const WorkLimit& limit_;
  LogicalTopology logical_;
  std::vector<Half> halves_;
  SketchAnswer best_;
  std::uint32_t symmetry_ = 1;
};

} // namespace

SynthesisOptions plain_options(const SynthesisOptions& options, const WorkLimit& limit) {
  SynthesisOptions plain = with_rest(options, limit);
  plain.settings.clear();
  plain.progress = nullptr;
  plain.choose_chunks = false;
  return plain;
}

SketchAnswer synthesize_by_sketch(const Topology& network, const Collective& collective,
                                  const Sketch& sketch, const TacclSettings& settings,
                                  const SynthesisOptions& options, const WorkLimit& limit) {
  require_fitting(sketch, network);
  return SketchSynthesis(network, collective, sketch, settings, options, limit).run();
}

} // namespace tutti
