// SCCL: Cai et al., "Synthesizing Optimal Collective Algorithms" (PPoPP 2021). k-synchronous
// schedules between latency- and bandwidth-optimal, with proofs (see sccl/frontier.hpp). Here: the
// point of the frontier that is fastest for the collective's size, by the native engine's replay,
// or the one instance that the settings ask for. Cost: a second or so for machines of 8 to 16 NPUs;
// what grows is the number of chunks x links x steps.
#include "synth/list.hpp"
#include "synth/sccl/frontier.hpp"
#include "synth/scheduling/kept_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace tutti {

namespace {

Collective cut(const Topology& topology, const CollectivePart& part,
               std::uint32_t chunks_per_shard) {
  return make_collective(topology, spec_of(part, chunks_per_shard));
}

/// Whether K chunks per shard are those of one, each cut into K.
bool is_cut_evenly(const CollectivePart& part) {
  return part.kind != CollectiveKind::custom && !has_shares(part.kind);
}

/// The collective with one chunk per shard, or as it is.
Collective uncut(const Topology& topology, const Collective& collective) {
  const CollectivePart& part = collective.parts.front();
  return is_cut_evenly(part) ? cut(topology, part, 1) : collective;
}

class PointChoice {
public:
  PointChoice(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options)
      : topology_(topology), collective_(collective), model_(options.model) {
    model_.discipline = Discipline::fifo;
  }

  /// The point that is fastest, and how fast; of equal ones the one with the fewest steps.
  struct Choice {
    const FrontierPoint* point = nullptr;
    Schedule schedule; ///< the point's, with what keeps its order where switches would change it
    Time time;
  };
  [[nodiscard]] Choice fastest(const Frontier& frontier) const {
    Choice best{nullptr, Schedule(topology_.link_count()), {}};
    for (const FrontierPoint& point : frontier.points) {
      if (!fits(point.chunks_per_shard)) continue;
      KeptOrder kept =
          with_kept_plan(topology_, recut(point.chunks_per_shard), point.schedule, model_);
      if (best.point == nullptr || kept.completion < best.time)
        best = {&point, std::move(kept.schedule), kept.completion};
    }
    return best;
  }

  /// The collective that a schedule of so many chunks per shard speaks of.
  [[nodiscard]] Collective recut(std::uint32_t chunks_per_shard) const {
    const CollectivePart& part = collective_.parts.front();
    return is_cut_evenly(part) ? cut(topology_, part, chunks_per_shard) : collective_;
  }

private:
  [[nodiscard]] bool fits(std::uint32_t chunks_per_shard) const { // no chunk below a byte
    return collective_.smallest_chunk().count >= std::int64_t{chunks_per_shard};
  }

  const Topology& topology_;
  const Collective& collective_;
  TimeModel model_;
};

std::string point_text(const Frontier& frontier, const FrontierPoint& point) {
  std::string text = fmt::format("{} chunks, {} steps, {} rounds ({}", point.chunks, point.steps,
                                 point.rounds, to_text(point.proof));
  if (point.latency_optimal) text += ", latency-optimal";
  if (point.bandwidth_optimal) text += ", bandwidth-optimal";
  if (!frontier.in_class.empty()) text += ", as " + frontier.in_class;
  return text + ")";
}

bool is_open(const FrontierTrial& trial) { return trial.answer == "timed_out"; }

std::string why_none(const Frontier& frontier, const FrontierRequest& request) {
  if (frontier.timed_out) return "no schedule within the limit";
  if (std::ranges::any_of(frontier.trials, is_open))
    return frontier.trials.back().method == "too large"
               ? "too large for sccl; --set largest=N allows more"
               : "not decided; --set effort=N allows more";
  if (!request.rounds) return "no schedule with these chunks and steps: " + frontier.stop;
  const std::string by = frontier.trials.empty() ? "distances" : frontier.trials.back().method;
  return fmt::format("no schedule{} in {} steps and {} rounds exists: proven by {}",
                     frontier.in_class.empty() ? "" : " of " + frontier.in_class, *request.steps,
                     *request.rounds, by);
}

/// Status without points. Infeasible: no schedule has the steps and rounds that were asked
/// for, which is proven by distances or by a solver; not so within a class of schedules, which
/// all those of an All-Reduce here are, nor of steps alone, for which there may be more rounds.
Status status_without(const Frontier& frontier, const FrontierRequest& request) {
  if (frontier.timed_out) return Status::timed_out;
  const bool by_distances = frontier.trials.empty() && (request.steps || request.most_steps);
  const bool by_solver = request.rounds && std::ranges::none_of(frontier.trials, is_open);
  return frontier.in_class.empty() && (by_distances || by_solver) ? Status::infeasible
                                                                  : Status::unsupported;
}

} // namespace

Outcome sccl(const Topology& topology, const Collective& collective,
             const SynthesisOptions& options) {
  if (std::string obstacle = frontier_obstacle(topology, collective); !obstacle.empty())
    return unsupported(std::move(obstacle));
  FrontierRequest request = frontier_request(options);
  const Collective whole = uncut(topology, collective);
  const CollectivePart& part = collective.parts.front();
  if (!is_cut_evenly(part))
    request.chunks_per_shard = 1;
  else if (!options.choose_chunks)
    request.chunks_per_shard = part.chunks_per_shard;
  request.most_chunks_per_shard =
      std::min(request.most_chunks_per_shard, whole.smallest_chunk().count);
  const Frontier frontier = synthesize_frontier(topology, whole, request, options);
  const PointChoice choice(topology, whole, options);
  const PointChoice::Choice best = choice.fastest(frontier);
  Outcome outcome;
  if (best.point == nullptr) {
    outcome.status = status_without(frontier, request);
    outcome.note = why_none(frontier, request);
    return outcome;
  }
  outcome.status = frontier.timed_out ? Status::timed_out : Status::feasible;
  outcome.schedule = best.schedule;
  outcome.parts_per_chunk = options.choose_chunks ? best.point->chunks_per_shard : 1;
  outcome.planned =
      frontier.model_time(*best.point, choice.recut(best.point->chunks_per_shard).largest_chunk());
  outcome.planned_on = point_text(frontier, *best.point);
  return outcome;
}

} // namespace tutti
