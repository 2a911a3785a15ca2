// Optimal flows: Shapley, "Algorithmic Techniques for Optimal Collective Communication" (2025). The
// fluid optimum (fluid/optimum.hpp: as fast as any schedule can be for large data, and of those
// with the least traffic), checked, then cut into chunks that follow one another (its Theorem 4).
// Left to choose, it takes as many chunks per shard as the rule for all synthesizers
// (synth/chunk_choice.hpp). Cost: some hundredths of a second for networks with symmetries (1,024
// GPUs: seconds), without them some seconds for 128 NPUs and, where no limit of time is given,
// never more than a fixed amount of work; then that of the replays.

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/out_of_reach.hpp"
#include "sim/renumbering.hpp"
#include "sim/work_limit.hpp"
#include "synth/bounds/demand.hpp"
#include "synth/bounds/flow_cuts.hpp"
#include "synth/bounds/price_bound.hpp"
#include "synth/chunk_choice.hpp"
#include "synth/direct_paths.hpp"
#include "synth/flows/fluid/check.hpp"
#include "synth/flows/fluid/optimum.hpp"
#include "synth/flows/fluid/program.hpp"
#include "synth/flows/rounding/fluid_steps.hpp"
#include "synth/flows/rounding/traffic_weights.hpp"
#include "synth/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Without a limit of time: FluidOptions::most_work, a minute or two.
constexpr std::uint64_t usual_work = 40'000'000'000;

/// From the cuts that maximum flows find.
double best_cut_seconds(const Topology& topology, const Collective& collective,
                        const FlowProblem& problem) {
  double best = 0;
  const auto cuts = bounds::flow_cuts(topology, collective, bounds::chunk_classes(collective)).sets;
  for (const bounds::NodeSet& inside : cuts) best = std::max(best, cut_seconds(problem, inside));
  return best;
}

/// The least traffic of any fluid schedule that takes no longer than `seconds`, by the linear
/// program (Shapley 2025, LP (4.2), merged by symmetries); nothing where that is too large, or its
/// least time is shorter.
std::optional<double> least_traffic(const FlowProblem& problem, const std::vector<double>& weights,
                                    double seconds, const WorkLimit& limit) {
  constexpr std::size_t most_columns = 5000;
  constexpr double alike = 1e-6;
  if (weights.empty()) return std::nullopt;
  FlowProgramOptions options;
  options.most_columns = most_columns;
  options.weights = weights;
  const FlowProgramAnswer answer = solve_flow_program(problem, options, limit);
  if (answer.status != SolverStatus::optimal || answer.seconds < seconds * (1 - alike))
    return std::nullopt;
  return answer.traffic;
}

Time rounded_down(double seconds) {
  return Time{static_cast<std::int64_t>(std::floor(seconds * ps_per_s))};
}

/// A number of chunks per shard, and the schedule in these.
struct Cut {
  std::uint32_t chunks_per_shard = 1;
  PlannedSteps steps;
  Time time; ///< of its replay, where there is something to compare it with
};

/// Whether the first is faster by more than 1 %.
bool is_worth_it(Time one, Time other) {
  return 1.01 * static_cast<double>(one.ps) < static_cast<double>(other.ps);
}

/// Whether data is in so many chunks already that neither finer ones nor plans for parts of the
/// network are worth what they take.
bool is_fine(const Collective& collective) {
  constexpr std::size_t many = 50'000;
  return collective.parts.front().kind == CollectiveKind::all_to_all &&
         collective.chunks.size() > many;
}

/// Makes schedules from trees and sees how fast they are.
class Cutting {
public:
  /// `compares`: the best of one set of trees will be compared with another's. `bound`: no
  /// schedule is faster.
  Cutting(const Topology& topology, const Collective& collective, const FlowProblem& problem,
          const SynthesisOptions& options, std::span<const FlowAutomorphism> symmetry,
          bool compares, Time bound)
      : topology_(topology), collective_(collective), problem_(problem), symmetry_(symmetry),
        model_(options.model), bound_(bound),
        chooses_(options.choose_chunks && collective.parts.front().kind != CollectiveKind::custom &&
                 !is_fine(collective)),
        compares_(compares) {
    model_.discipline = Discipline::fifo;
  }

  /// In the collective's chunks; or, where it is left to choose, in as many
  /// chunks per shard as choose_chunks() takes. All calls together count as tries of one choice.
  /// Errors: LimitReached before there is one.
  [[nodiscard]] Cut best(std::span<const FlowTree> trees, const WorkLimit& limit) {
    if (!chooses_) return timed(collective_, cut(collective_, problem_, trees, 1, limit), limit);
    std::map<std::uint32_t, Recut> made;
    const auto make = [&](std::uint32_t chunks_per_shard) -> std::optional<ChunkedSchedule> {
      try {
        const Recut& kept =
            made.emplace(chunks_per_shard, recut(trees, chunks_per_shard, limit)).first->second;
        return ChunkedSchedule{&kept.whole, &kept.cut.steps.schedule, nullptr};
      } catch (const LimitReached&) {
        if (chunks_per_shard == 1) throw;
        is_cut_short_ = true;
        return std::nullopt;
      }
    };
    const ChunkChoice choice = choose_chunks(
        topology_, model_,
        [this](std::uint32_t chunks_per_shard) { return whole(chunks_per_shard); }, make, tried_,
        {}, {}, bound_);
    tried_ += choice.tried_transfers;
    if (choice.left_out > 0) ended_by_count_ = choice;
    Recut& chosen = made.at(choice.chunks);
    return timed(chosen.whole, std::move(chosen.cut), limit);
  }

  /// Whether no other is faster by more than 1 %.
  [[nodiscard]] bool is_at_bound(const Cut& one) const { return !is_worth_it(bound_, one.time); }
  /// Whether the limit ended a choice of chunks.
  [[nodiscard]] bool is_cut_short() const { return is_cut_short_; }
  /// A choice that the count of transfers ended, if any.
  [[nodiscard]] const ChunkChoice& ended_by_count() const { return ended_by_count_; }

private:
  struct Recut {
    Collective whole;
    Cut cut;
  };

  [[nodiscard]] Collective whole(std::uint32_t chunks_per_shard) const {
    const CollectivePart& part = collective_.parts.front();
    if (chunks_per_shard == part.chunks_per_shard)
      return collective_; // which shards are longer, too
    return make_collective(topology_, spec_of(part, chunks_per_shard));
  }

  [[nodiscard]] Recut recut(std::span<const FlowTree> trees, std::uint32_t chunks_per_shard,
                            const WorkLimit& limit) const {
    Collective made = whole(chunks_per_shard);
    Cut cut_so = cut(made, flow_problem(topology_, made), trees, chunks_per_shard, limit);
    return {std::move(made), std::move(cut_so)};
  }

  [[nodiscard]] Cut cut(const Collective& made, const FlowProblem& problem,
                        std::span<const FlowTree> trees, std::uint32_t chunks_per_shard,
                        const WorkLimit& limit) const {
    return {chunks_per_shard,
            planned_steps(topology_, made, problem, trees, model_, limit, symmetry_),
            {}};
  }

  /// With its time, where there will be another to compare.
  [[nodiscard]] Cut timed(const Collective& made, Cut one, const WorkLimit& limit) const {
    try {
      if (compares_)
        one.time = run_native(topology_, made, one.steps.schedule, model_, {.watch = limit.watch()})
                       .completion;
    } catch (const LimitReached&) { // nothing is compared any more
    }
    return one;
  }

  const Topology& topology_;
  const Collective& collective_;
  const FlowProblem& problem_;
  std::span<const FlowAutomorphism> symmetry_;
  TimeModel model_;
  Time bound_;
  bool chooses_, compares_, is_cut_short_ = false;
  std::uint64_t tried_ = 0; // transfers
  ChunkChoice ended_by_count_;
};

/// The trees of a fluid schedule, and what is cut from them.
struct CutFlow {
  std::vector<FlowTree> trees;
  FluidVerdict verdict;
  Cut cut;
};

/// Errors: LimitReached; logic_error where the fluid schedule is incorrect.
CutFlow cut_flow(const FlowProblem& problem, const FluidSolution& fluid,
                 std::span<const double> weights, Cutting& cutting, const WorkLimit& limit) {
  std::vector<FlowTree> trees = expanded(problem, fluid, limit);
  const FluidVerdict verdict = check_fluid(problem, trees, weights, limit);
  if (!verdict.fault.empty())
    throw std::logic_error("an incorrect fluid schedule: " + verdict.fault);
  Cut cut = cutting.best(trees, limit);
  return {std::move(trees), verdict, std::move(cut)};
}

/// The fluid schedule cut into chunks or, where `compares`, the one with fewer hops in a row if its
/// chunks are faster. Errors: LimitReached before there is one.
CutFlow best_cut_flow(const FlowProblem& problem, FluidSolution& fluid,
                      std::span<const double> weights, Cutting& cutting, bool compares,
                      const WorkLimit& limit) {
  CutFlow best = cut_flow(problem, fluid, weights, cutting, limit);
  if (!compares || limit.reached() || cutting.is_at_bound(best.cut)) return best;
  std::swap(fluid.trees, fluid.direct_trees);
  try {
    CutFlow direct = cut_flow(problem, fluid, weights, cutting, limit);
    if (!limit.reached() && is_worth_it(direct.cut.time, best.cut.time)) return direct;
  } catch (const LimitReached&) { // the first
  }
  return best;
}

std::string planned_text(const FluidSolution& fluid, std::size_t trees, const PlannedSteps& steps) {
  std::string text = steps.picture(fmt::format("{} trees", trees));
  if (fluid.symmetry.size() > 1) text += fmt::format(", {}-fold symmetry", fluid.symmetry.size());
  if (fluid.status == Status::optimal) return text + ", optimal";
  return text +
         fmt::format(", at most {:.2g} above the optimum", fluid.seconds / fluid.bound_seconds - 1);
}

/// A fact between the functions below: work is used up, or no part of the network can be better.
constexpr const char* is_last_word = "is_last_word";

Outcome fluid_flows(const Topology& topology, const Collective& collective,
                    const SynthesisOptions& options) {
  const WorkLimit limit(options);
  const FlowProblem problem = flow_problem(topology, collective);
  Outcome outcome;
  if (problem.demands.empty()) {
    outcome.status = Status::optimal;
    outcome.schedule.emplace(topology.link_count());
    return outcome;
  }
  FluidOptions fluid_options;
  fluid_options.mirrored = find_yes(options, "mirrored").value_or(true);
  const std::string* const given = find_setting(options, "traffic");
  const std::string traffic = given == nullptr ? "auto" : *given;
  fluid_options.weights = traffic_weights(topology, traffic == "auto" ? "npu" : traffic);
  if (options.limit_seconds <= 0) fluid_options.most_work = usual_work;
  fluid_options.bound_seconds = best_cut_seconds(topology, collective, problem);
  FluidSolution fluid;
  std::optional<CutFlow> best;
  bool is_cut_short = false;
  ChunkChoice ended_by_count;
  try {
    fluid = fluid_optimum(problem, fluid_options, limit);
    const bool compares = traffic == "auto" && !fluid.direct_trees.empty();
    Cutting cutting(topology, collective, problem, options, fluid.symmetry, compares,
                    rounded_down(fluid.bound_seconds));
    if (!fluid.trees.empty())
      best = best_cut_flow(problem, fluid, fluid_options.weights, cutting, compares, limit);
    is_cut_short = cutting.is_cut_short();
    ended_by_count = cutting.ended_by_count();
  } catch (const LimitReached&) { // what is proven stays
  } catch (const OutOfReach& none) {
    return unsupported(none.what());
  }
  outcome.bound =
      rounded_down(fluid.bound_seconds > 0 ? fluid.bound_seconds : fluid_options.bound_seconds);
  if (!best) {
    outcome.status = Status::timed_out;
    outcome.note =
        "no schedule within the limit; none can take less than " + short_text(*outcome.bound);
    return outcome;
  }
  const FluidVerdict& verdict = best->verdict;
  outcome.status = fluid.status == Status::timed_out ? Status::timed_out : Status::feasible;
  const PlannedSteps& steps = best->cut.steps;
  outcome.planned = steps.planned.value_or(
      Time{static_cast<std::int64_t>(std::ceil(verdict.seconds * ps_per_s))});
  outcome.planned_on = planned_text(fluid, best->trees.size(), steps);
  outcome.facts = {
      {"fluid_seconds", verdict.seconds},
      {"fluid_bound_seconds", fluid.bound_seconds},
      {"symmetry", static_cast<double>(std::max<std::size_t>(fluid.symmetry.size(), 1))},
      {"columns", static_cast<double>(fluid.columns)}};
  if (!fluid_options.weights.empty()) outcome.facts["traffic_gb"] = verdict.traffic / 1e9;
  if (traffic != "auto")
    if (const auto least = least_traffic(problem, fluid_options.weights, verdict.seconds, limit))
      outcome.facts["traffic_bound_gb"] = *least / 1e9;
  outcome.schedule = std::move(best->cut.steps.schedule);
  outcome.parts_per_chunk = best->cut.chunks_per_shard;
  if (fluid.is_cut_short) {
    outcome.note = "the best of a fixed amount of work; --limit 600s tries on";
    outcome.facts[is_last_word] = 1;
  }
  const std::int64_t least = outcome.bound->ps;
  if (steps.planned && steps.planned->ps <= least + least / (is_fine(collective) ? 20 : 200))
    outcome.facts[is_last_word] = 1;
  note_what_was_left_out(ended_by_count, outcome);
  if (is_cut_short) mark_cut_short(outcome);
  return outcome;
}

} // namespace

Outcome flows(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  if (needs_direct_paths(topology, collective)) return direct_paths(topology, collective, options);
  // A fixed amount of work is for the whole network, not for each part of it, which can't help
  // where 0.5 % are left over the bound. Traffic is that of all links, none of them left out.
  Outcome found = options.settings.contains("traffic")
                      ? fluid_flows(topology, collective, options)
                      : planned_by_structure(fluid_flows, topology, collective, options,
                                             [](const Outcome& whole) {
                                               return !whole.facts.contains(is_last_word);
                                             });
  found.facts.erase(is_last_word);
  return or_direct_paths(std::move(found), topology, collective, options);
}

} // namespace tutti
