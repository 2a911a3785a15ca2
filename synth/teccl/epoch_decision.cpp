#include "synth/teccl/epoch_decision.hpp"

#include "synth/teccl/epoch_clauses.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr std::size_t most_groups = 4;
constexpr std::int64_t share_of_groups = 8; // what keeps a symmetry gets one part in so many

EpochAnswer decided(const EpochProblem& problem, std::uint32_t epochs, const EpochEffort& effort,
                    const WorkLimit& limit) {
  EpochAnswer answer;
  const std::optional<std::uint32_t> fewest = fewest_epochs(problem);
  if (!fewest || epochs < *fewest) {
    answer.status = EpochStatus::infeasible;
    answer.method = "distances and limits";
    return answer;
  }
  std::vector<ChunkSymmetry> groups;
  if (effort.symmetric) groups = free_symmetries(problem, most_groups);
  for (const ChunkSymmetry& group : groups) {
    SatisfiedEpochs found =
        satisfied_epochs(problem, epochs, group, effort.conflicts / share_of_groups + 1, limit);
    if (found.answer != SatAnswer::sat) continue;
    answer.status = EpochStatus::feasible;
    answer.plan = without_useless(problem, found.plan);
    answer.method = fmt::format("{}-fold symmetric SAT", group.size());
    return answer;
  }
  SatisfiedEpochs found = satisfied_epochs(problem, epochs, {}, effort.conflicts, limit);
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
