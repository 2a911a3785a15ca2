// Symmetric questions are small and mostly answered at once if at all, so each gets a small share
// of the conflicts, twice, before the question without symmetry gets all of them.
#include "synth/teccl/one_shot/decision.hpp"

#include "synth/teccl/bounds/fewest_epochs.hpp"
#include "synth/teccl/needed_sends.hpp"
#include "synth/teccl/one_shot/clauses.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr std::size_t most_groups = 4;
// A question that keeps a symmetry gets one part in so many of the conflicts: a plan is often found
// at once with one group, where another takes long.
constexpr std::array<std::int64_t, 2> shares{128, 8};

/// A plan that keeps one of the groups, perhaps.
EpochAnswer symmetric_plan(const EpochProblem& problem, std::uint32_t epochs,
                           std::vector<ChunkSymmetry> groups, const EpochEffort& effort,
                           const WorkLimit& limit) {
  EpochAnswer answer;
  for (const std::int64_t share : shares) {
    std::vector<ChunkSymmetry> open;
    for (ChunkSymmetry& group : groups) {
      const SatisfiedEpochs found =
          satisfied_epochs(problem, epochs, group, effort.conflicts / share + 1, limit);
      if (found.answer == SatAnswer::unknown) open.push_back(std::move(group));
      if (found.answer != SatAnswer::sat) continue;
      answer.status = EpochStatus::feasible;
      answer.plan = without_useless(problem, found.plan);
      answer.method = fmt::format("{}-fold symmetric SAT", group.size());
      return answer;
    }
    groups = std::move(open);
  }
  return answer;
}

EpochAnswer decided(const EpochProblem& problem, std::uint32_t epochs, const EpochEffort& effort,
                    const WorkLimit& limit) {
  EpochAnswer answer;
  const std::optional<std::uint32_t> fewest = fewest_epochs(problem);
  if (!fewest || epochs < *fewest) {
    answer.status = EpochStatus::infeasible;
    answer.method = "distances and limits";
    return answer;
  }
  if (effort.symmetric) {
    answer = symmetric_plan(problem, epochs, free_symmetries(problem, most_groups), effort, limit);
    if (answer.status == EpochStatus::feasible) return answer;
  }
  const SatisfiedEpochs found = satisfied_epochs(problem, epochs, {}, effort.conflicts, limit);
  answer.method = "SAT";
  answer.status = found.answer == SatAnswer::sat     ? EpochStatus::feasible
                  : found.answer == SatAnswer::unsat ? EpochStatus::infeasible
                                                     : EpochStatus::timed_out;
  if (found.answer == SatAnswer::sat) answer.plan = without_useless(problem, found.plan);
  return answer;
}

} // namespace

EpochAnswer decide_epochs(const EpochProblem& problem, std::uint32_t epochs,
                          const EpochEffort& effort, const WorkLimit& limit) {
  const auto start = std::chrono::steady_clock::now();
  EpochAnswer answer = decided(problem, epochs, effort, limit);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

} // namespace tutti
