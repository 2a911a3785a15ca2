// Small multicast problems are solved in one shot, small unicast ones by flows and then search;
// large ones by rounds, or by flows where nothing is copied. A plan to start from is never lost: it
// is the answer wherever nothing better is found in time.
#include "synth/teccl/synthesis.hpp"

#include "sim/error.hpp"
#include "synth/teccl/bounds/fewest_epochs.hpp"
#include "synth/teccl/bounds/time_bound.hpp"
#include "synth/teccl/flows/flows.hpp"
#include "synth/teccl/flows/integral_plan.hpp"
#include "synth/teccl/one_shot/decision.hpp"
#include "synth/teccl/one_shot/optimum.hpp"
#include "synth/teccl/placing.hpp"
#include "synth/teccl/rounds/rounds.hpp"
#include "synth/teccl/schedule.hpp"
#include "synth/teccl/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tutti {

namespace {

constexpr std::string_view no_time = "no time for more";

bool has_plan(const EpochAnswer& answer) {
  return answer.status == EpochStatus::optimal || answer.status == EpochStatus::feasible;
}

class EpochPlanning {
public:
  EpochPlanning(const Topology& topology, const Collective& collective,
                const TecclSettings& settings, const WorkLimit& limit)
      : topology_(topology), collective_(collective), settings_(settings), limit_(limit),
        epochs_(settings.epoch_count),
        problem_(epoch_problem(topology, collective, settings.epochs)) {
    problem_.buffer_limit = settings.buffer_limit;
    problem_.limit = &limit_;
    require_epochs_of_some_length();
    result_.epoch = problem_.network.epoch;
  }

  EpochSynthesis run(const std::optional<Schedule>& start) {
    try {
      if (start) start_from(*start);
      if (const std::string why_not = search(); !why_not.empty()) return without_plan(why_not);
    } catch (const LimitReached&) {
      result_.answer.method = no_time;
      take_start_where_better();
    }
    if (!has_plan(result_.answer) && limit_.reached()) take_start_where_better();
    if (!has_plan(result_.answer)) return without_plan(result_.answer.method);
    result_.schedule = as_schedule(problem_, result_.answer.plan, topology_.link_count());
    return std::move(result_);
  }

private:
  /// Why there is no plan where that is plain at once; else empty.
  [[nodiscard]] std::string search() {
    if (settings_.method == TecclMethod::flows && !suits_flows())
      return "flows are for chunks with one source and one destination each (All-to-All, Gather, "
             "Scatter)";
    const std::optional<std::uint32_t> least = fewest_epochs(problem_);
    if (!least) return "an NPU is out of reach by the lanes of this switch model";
    result_.at_least = *least;
    if (settings_.epochs_by_bound) epochs_ = bound_by_algorithm_1();
    if (epochs_ && *epochs_ < *least) {
      result_.answer.status = EpochStatus::infeasible;
      return fmt::format("distances and bandwidths need {}", *least);
    }
    switch (method()) {
    case TecclMethod::flows: by_flows(); break;
    case TecclMethod::rounds: by_rounds(); break;
    case TecclMethod::program: in_one_shot(); break;
    case TecclMethod::automatic: by_flows_and_search(); break;
    }
    return {};
  }

  /// What a failure leaves may have chunks that one node wants and several have.
  [[nodiscard]] bool suits_flows() const {
    return problem_.is_unicast() &&
           std::ranges::all_of(problem_.chunks, [](const TimedChunk& chunk) {
             return chunk.destinations.empty() || chunk.sources.size() == 1;
           });
  }

  void require_epochs_of_some_length() const {
    constexpr std::uint32_t most = 1000;
    const std::uint32_t reach = problem_.network.reach();
    if (reach <= most) return;
    const Time longer{problem_.network.epoch.ps * (reach / most + 1)};
    throw InputError(fmt::format("a chunk is under way for {} epochs of {}: epochs of {} would do",
                                 reach, to_text(problem_.network.epoch), to_text(longer)));
  }

  void start_from(const Schedule& schedule) {
    constexpr std::uint32_t most_epochs = 1'000'000;
    start_ = as_plan(problem_, schedule, Epoch{most_epochs});
    if (start_) start_epochs_ = epochs_of(problem_, *start_);
  }

  [[nodiscard]] EpochAnswer decided(const EpochProblem& problem, std::uint32_t epochs) const {
    return decide_epochs(problem, epochs, settings_.effort, limit_);
  }

  /// Nothing where it finds no plan.
  [[nodiscard]] std::optional<std::uint32_t> bound_by_algorithm_1() const {
    const auto question = [&](const EpochProblem& problem, std::uint32_t epochs) {
      return decided(problem, epochs);
    };
    const std::optional<Time> time =
        epoch_time_bound(topology_, collective_, settings_.epochs, question, limit_);
    if (!time) return std::nullopt;
    const std::int64_t epoch = problem_.network.epoch.ps;
    return static_cast<std::uint32_t>((time->ps + epoch - 1) / epoch);
  }

  /// In how many epochs there is a plan, as far as is known before the work begins.
  [[nodiscard]] std::uint32_t enough_epochs() {
    if (epochs_) return *epochs_;
    if (!start_epochs_ && !enough_) enough_ = bound_by_algorithm_1();
    return start_epochs_.value_or(enough_.value_or(2 * result_.at_least));
  }

  /// Variables of one shot in so many epochs, before any is left out.
  [[nodiscard]] std::uint64_t size(std::uint32_t epochs) const {
    return std::uint64_t{problem_.chunks.size()} * problem_.network.lanes.size() * epochs;
  }

  [[nodiscard]] TecclMethod method() {
    if (settings_.method != TecclMethod::automatic) return settings_.method;
    if (size(result_.at_least) <= settings_.largest && size(enough_epochs()) <= settings_.largest)
      return suits_flows() && !epochs_ ? TecclMethod::automatic : TecclMethod::program;
    return suits_flows() ? TecclMethod::flows : TecclMethod::rounds;
  }

  [[nodiscard]] bool starts_within(std::uint32_t epochs) const {
    return start_epochs_ && *start_epochs_ <= epochs;
  }

  /// For what needs no copies and is small: flows often prove that fewer epochs than their plan
  /// takes don't do; where they don't, there may be a better plan.
  void by_flows_and_search() {
    by_flows();
    if (!has_plan(result_.answer)) {
      take(searched());
      return;
    }
    if (const auto fewest = fewest_flow_epochs(problem_, result_.at_least, limit_))
      result_.at_least = std::max(result_.at_least, *fewest);
    if (result_.epochs == result_.at_least) return;
    take_start(result_.answer.plan);
    take(searched());
  }

  /// The fewest epochs in which satisfiability finds a plan.
  [[nodiscard]] EpochAnswer searched() {
    EpochSearch search = fewest_epochs_search(
        problem_, start_,
        [&](std::uint32_t k) {
          if (k >= result_.at_least) return decided(problem_, k);
          EpochAnswer answer;
          answer.status = EpochStatus::infeasible;
          return answer;
        },
        limit_);
    result_.at_least = std::max(result_.at_least, search.at_least);
    return std::move(search.answer);
  }

  void in_one_shot() {
    std::uint32_t epochs = epochs_.value_or(0);
    if (epochs == 0) {
      take(searched());
      if (!has_plan(result_.answer)) return;
      epochs = result_.epochs;
      take_start(result_.answer.plan);
    }
    EpochAnswer best = epoch_optimum(problem_, epochs, settings_.objective,
                                     starts_within(epochs) ? start_ : std::nullopt,
                                     {settings_.nodes, settings_.gap}, limit_);
    if (best.status == EpochStatus::infeasible)
      result_.at_least = std::max(result_.at_least, epochs + 1);
    take(std::move(best));
  }

  void by_rounds() {
    RoundsAnswer rounds = epoch_rounds(problem_, settings_.rounds, limit_);
    result_.rounds = rounds.rounds;
    take(std::move(rounds.answer));
    take_start_where_better();
  }

  void by_flows() {
    const std::uint32_t epochs = enough_epochs();
    const EpochFlows flows = epoch_flows(problem_, epochs, limit_);
    EpochAnswer answer;
    answer.method = "linear program";
    if (flows.status == SolverStatus::stopped)
      answer.method = limit_.reached() ? "no time for the linear program"
                                       : "linear program too large (longer epochs: --set epoch=)";
    if (flows.status == SolverStatus::optimal) {
      answer.plan = integral_plan(problem_, flows);
      if (!answer.plan.empty() || flows.parts.empty())
        answer.status = EpochStatus::feasible;
      else
        answer.method += ", where some chunk can't go whole on any path of its flow";
      answer.at_most = flows.reward;
    } else if (flows.status == SolverStatus::infeasible) {
      answer.status = EpochStatus::infeasible;
      result_.at_least = std::max(result_.at_least, epochs + 1);
    }
    take(std::move(answer));
    take_start_where_better();
  }

  void take(EpochAnswer answer) {
    if (!has_plan(answer) && has_plan(result_.answer)) return;
    result_.answer = std::move(answer);
    if (const auto epochs = epochs_of(problem_, result_.answer.plan)) result_.epochs = *epochs;
  }

  void take_start(const EpochPlan& plan) {
    start_ = plan;
    start_epochs_ = epochs_of(problem_, plan);
  }

  void take_start_where_better() {
    if (!start_epochs_ || (has_plan(result_.answer) && result_.epochs <= *start_epochs_)) return;
    if (epochs_ && *start_epochs_ > *epochs_) return;
    result_.answer.status = EpochStatus::feasible;
    result_.answer.plan = *start_;
    result_.answer.method += ", TACOS's plan was better";
    result_.epochs = *start_epochs_;
  }

  EpochSynthesis without_plan(const std::string& reason) {
    const std::string count = epochs_ ? fmt::format("in {} epochs", *epochs_) : "found";
    result_.why_not = fmt::format("no plan {} of {}: {}", count, to_text(result_.epoch), reason);
    if (start_epochs_)
      result_.why_not += fmt::format("; {} epochs are enough (TACOS's plan)", *start_epochs_);
    if (settings_.buffer_limit)
      result_.why_not += fmt::format("; with at most {} chunks kept for others by a node",
                                     *settings_.buffer_limit);
    return std::move(result_);
  }

  const Topology& topology_;
  const Collective& collective_;
  const TecclSettings& settings_;
  const WorkLimit& limit_;
  std::optional<std::uint32_t> epochs_; ///< K, where it is given
  std::optional<std::uint32_t> enough_; ///< by Algorithm 1, where there is nothing to start from
  EpochProblem problem_;
  std::optional<EpochPlan> start_;
  std::optional<std::uint32_t> start_epochs_;
  EpochSynthesis result_;
};

} // namespace

EpochSynthesis synthesize_epochs(const Topology& topology, const Collective& collective,
                                 const TecclSettings& settings,
                                 const std::optional<Schedule>& start, const WorkLimit& limit) {
  if (limit.reached()) {
    EpochSynthesis nothing;
    nothing.answer.method = nothing.why_not = no_time;
    return nothing;
  }
  return EpochPlanning(topology, collective, settings, limit).run(start);
}

} // namespace tutti
