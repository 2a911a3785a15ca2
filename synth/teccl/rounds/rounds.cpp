// Each round is as long as the size of its program lets; only what begins in it is decided, what
// follows is decided anew. The greedy plan of the whole is kept beside, and is the answer if
// shorter.
#include "synth/teccl/rounds/rounds.hpp"

#include "synth/teccl/bounds/fewest_epochs.hpp"
#include "synth/teccl/needed_sends.hpp"
#include "synth/teccl/rounds/greedy.hpp"
#include "synth/teccl/rounds/ledger.hpp"
#include "synth/teccl/rounds/round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace tutti {

namespace {

// Rounds are no longer than this, however small their programs.
constexpr std::uint32_t most_round_epochs = 16;

class EpochRounds {
public:
  EpochRounds(const EpochProblem& problem, const RoundSettings& settings, const WorkLimit& limit)
      : problem_(&problem), settings_(&settings), limit_(&limit),
        paths_(switch_paths(problem.network)), distances_(paths_) {
    for (const Lane& lane : problem.network.lanes) beyond_ = std::max(beyond_, lane.delay);
    for (const auto& paths : paths_)
      for (const SwitchPath& path : paths)
        follow_ = std::max(follow_, path.delay - problem.network.lane(path.lanes.back()).delay);
  }

  [[nodiscard]] RoundsAnswer run() {
    RoundsAnswer result;
    const EpochPlan greedy = greedy_plan(*problem_, distances_, paths_, {}, Epoch{0}, no_epoch);
    result.greedy_epochs = epochs_of(*problem_, greedy);
    std::string stopped = "limit reached";
    try {
      stopped = decide(result);
    } catch (const LimitReached&) { // within a round
    }
    result.rounds_epochs = epochs_of(*problem_, plan_);
    const bool by_rounds = result.rounds_epochs &&
                           (!result.greedy_epochs || *result.rounds_epochs < *result.greedy_epochs);
    EpochAnswer& answer = result.answer;
    answer.method = by_rounds ? "rounds" : "greedy";
    if (!by_rounds && !result.greedy_epochs) {
      answer.method = stopped;
      return result;
    }
    answer.status = EpochStatus::feasible;
    answer.plan = without_useless(*problem_, by_rounds ? plan_ : greedy);
    answer.objective = worth(answer.plan);
    return result;
  }

private:
  // Says why it ended where some demand isn't met.
  std::string decide(RoundsAnswer& result) {
    Epoch begin;
    while (const std::size_t unmet = unmet_demands()) {
      if (limit_->reached()) return "limit reached";
      if (result.rounds == settings_->most_rounds)
        return fmt::format("{} deliveries left after {} rounds", unmet, result.rounds);
      if (begin > busy_until_)
        return fmt::format("no progress: {} deliveries left from epoch {} on", unmet, begin.value);
      const std::uint32_t epochs = take_round(begin, result);
      begin += epochs;
      ++result.rounds;
      result.epochs_per_round = std::max(result.epochs_per_round, epochs);
    }
    return {};
  }

  [[nodiscard]] std::size_t unmet_demands() const {
    const EpochLedger ledger(*problem_, plan_);
    std::size_t unmet = 0;
    for (std::uint32_t chunk = 0; chunk < problem_->chunks.size(); ++chunk)
      for (const std::uint32_t destination : problem_->chunks[chunk].destinations)
        if (ledger.arrival(ChunkId{chunk}, NodeId{destination}) == no_epoch) ++unmet;
    return unmet;
  }

  [[nodiscard]] EpochHorizon horizon(Epoch begin, std::uint32_t epochs) const {
    return {begin, begin + epochs + follow_, plan_, beyond_, false};
  }

  [[nodiscard]] bool fits(Epoch begin, std::uint32_t epochs) const {
    return sends_of_horizon(*problem_, horizon(begin, epochs)) <= settings_->most_columns;
  }

  // Returns how many epochs are decided now.
  std::uint32_t take_round(Epoch begin, RoundsAnswer& result) {
    std::uint32_t epochs = settings_->epochs.value_or(1);
    const bool solvable = fits(begin, epochs);
    if (!settings_->epochs)
      while (solvable && epochs < most_round_epochs && fits(begin, epochs + 1)) ++epochs;
    const EpochHorizon ahead = horizon(begin, epochs);
    EpochPlan plan = greedy_plan(*problem_, distances_, paths_, plan_, begin, ahead.end);
    if (solvable) {
      EpochPlan better =
          EpochRound(*problem_, distances_, ahead).improved(plan, settings_->most_nodes, *limit_);
      if (better != plan) ++result.improved;
      plan = std::move(better);
    }
    for (const EpochSend& send : plan)
      if (send.epoch < begin + epochs) {
        plan_.push_back(send);
        busy_until_ = std::max(busy_until_, send.epoch + 2 * problem_->network.reach());
      }
    return epochs;
  }

  // By the paper's objective.
  [[nodiscard]] double worth(const EpochPlan& plan) const {
    const EpochLedger ledger(*problem_, plan);
    const Epoch last{epochs_of(*problem_, plan).value_or(0)};
    const EpochReward reward = reward_of(EpochObjective::paper);
    double sum = 0;
    for (std::uint32_t chunk = 0; chunk < problem_->chunks.size(); ++chunk)
      for (const std::uint32_t destination : problem_->chunks[chunk].destinations)
        for (Epoch k = ledger.arrival(ChunkId{chunk}, NodeId{destination}); k <= last; ++k)
          sum += reward(ChunkId{chunk}, NodeId{destination}, k);
    return sum;
  }

  const EpochProblem* problem_;
  const RoundSettings* settings_;
  const WorkLimit* limit_;
  std::vector<std::vector<SwitchPath>> paths_;
  EpochDistances distances_;
  std::uint32_t beyond_ = 0; // the longest delay
  std::uint32_t follow_ = 0; // the longest from the start of a path to its last lane
  EpochPlan plan_;           // what the rounds have decided
  Epoch busy_until_;         // later, what isn't possible now won't be
};

} // namespace

RoundsAnswer epoch_rounds(const EpochProblem& problem, const RoundSettings& settings,
                          const WorkLimit& limit) {
  const auto begin = std::chrono::steady_clock::now();
  RoundsAnswer result;
  if (fewest_epochs(problem)) {
    result = EpochRounds(problem, settings, limit).run();
  } else {
    result.answer.status = EpochStatus::infeasible;
    result.answer.method = "distances";
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  result.answer.seconds = seconds.count();
  return result;
}

} // namespace tutti
