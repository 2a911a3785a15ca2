#include "synth/teccl/one_shot/optimum.hpp"

#include "synth/teccl/fault.hpp"
#include "tests/catch.hpp"
#include "tests/synth/teccl/exhaustive_epochs.hpp"
#include "tests/synth/teccl/samples.hpp"

#include <algorithm>
#include <array>

namespace optimum_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

const SynthesisOptions no_limit;

EpochAnswer optimum(const EpochProblem& problem, std::uint32_t epochs,
                    const std::optional<EpochPlan>& start = std::nullopt,
                    std::int64_t most_nodes = -1,
                    EpochObjective objective = EpochObjective::paper) {
  return epoch_optimum(problem, epochs, objective, start, {most_nodes, 0}, WorkLimit(no_limit));
}

/// 1/k + ... + 1/epochs: what a chunk is worth that comes for epoch k.
double worth(std::uint32_t k, std::uint32_t epochs) {
  double sum = 0;
  for (; k <= epochs; ++k) sum += 1.0 / k;
  return sum;
}

/// Two of them, large chunks: an epoch is a transmission of the slow link from each to the other.
EpochProblem ndv2x2() {
  EpochProblem problem = epoch_nodes(16);
  for (const std::uint32_t first : {0U, 8U}) {
    for (const auto& [a, b] : two_links) add_both(problem.network, first + a, first + b, 1, 1, 4);
    for (const auto& [a, b] : one_link) add_both(problem.network, first + a, first + b, 1, 1, 2);
  }
  add_epoch_lane(problem.network, 8, 1, 1, 1);
  add_epoch_lane(problem.network, 0, 9, 1, 1);
  add_gathered_chunks(problem, 16, 1);
  return problem;
}

} // namespace

TEST_CASE("epoch_optimum's plans are correct, and as good as any") {
  Random random(21);
  int optimal = 0, infeasible = 0;
  for (int i = 0; i < 60; ++i) {
    const EpochProblem problem = random_epochs(random);
    const EpochObjective objective =
        i % 2 == 0 ? EpochObjective::paper : EpochObjective::public_code;
    const std::uint32_t epochs = 2 + static_cast<std::uint32_t>(i) % 4;
    CAPTURE(i);
    const EpochContestResult expected =
        best_reward(problem, {.epochs = epochs, .reward = reward_of(objective)}, 40'000);
    if (!expected.decided) continue;
    const EpochAnswer answer = optimum(problem, epochs, std::nullopt, -1, objective);
    if (!expected.best) {
      ++infeasible;
      CHECK(answer.status == EpochStatus::infeasible);
      CHECK(answer.plan.empty());
      CHECK_FALSE(answer.objective);
      continue;
    }
    ++optimal;
    CHECK(answer.status == EpochStatus::optimal);
    CHECK(epoch_fault(problem, answer.plan) == "");
    CHECK(epochs_of(problem, answer.plan).value() <= epochs);
    CHECK(answer.objective.value() == Approx(*expected.best).margin(1e-6));
    CHECK(answer.at_most.value() >= *expected.best - 1e-6);
    CHECK(answer.at_most.value() <= *expected.best + 1e-4);
  }
  CHECK(optimal > 20);
  CHECK(infeasible > 5);
}

TEST_CASE("epoch_optimum closes TE-CCL's All-Gather on a DGX-1", "[slow]") {
  // One chunk each over every lane as soon as possible: the four neighbours have it in 3, 3, 4 and
  // 4 epochs, the other three after two lanes, 6 epochs at the earliest.
  const EpochProblem one = dgx1_problem(1);
  const EpochAnswer answer = optimum(one, 10);
  CHECK(answer.status == EpochStatus::optimal);
  CHECK(epoch_fault(one, answer.plan) == "");
  CHECK(answer.objective.value() <= 8 * (2 * worth(3, 10) + 2 * worth(4, 10) + 3 * worth(6, 10)));
  // Three chunks each: 21 come to everyone, 3 an epoch at most, the first for epoch 3.
  const EpochProblem three = dgx1_problem(3);
  CHECK(optimum(three, 9).status == EpochStatus::infeasible);
  const EpochAnswer full = optimum(three, 10);
  CHECK(full.status == EpochStatus::optimal);
  CHECK(epoch_fault(three, full.plan) == "");
  CHECK(epochs_of(three, full.plan) == 10U);
}

TEST_CASE("epoch_optimum closes two NDv2, where the bound is by hand", "[slow]") {
  // Inside: four neighbours in 1 epoch, three others in 2. From the other half one chunk an epoch,
  // in epochs 1 to 8 to one node, to four of its neighbours an epoch later, then to three others.
  const EpochProblem problem = ndv2x2();
  double bound = 16 * (4 * worth(1, 10) + 3 * worth(2, 10));
  for (std::uint32_t k = 1; k <= 8; ++k)
    bound += 2 * (worth(k, 10) + 4 * worth(k + 1, 10) + 3 * worth(k + 2, 10));
  const EpochAnswer answer = optimum(problem, 10);
  CHECK(answer.status == EpochStatus::optimal);
  CHECK(epoch_fault(problem, answer.plan) == "");
  CHECK(answer.objective.value() == Approx(bound));
  CHECK(optimum(problem, 9).status == EpochStatus::infeasible);
}

TEST_CASE("epoch_optimum never loses its start, and says what it can't prove") {
  const EpochProblem problem = ndv2x2();
  const SynthesisOptions at_once = [] {
    SynthesisOptions options;
    options.cancelled = [] { return true; };
    return options;
  }();
  const EpochProblem small = dgx1_problem(1);
  const EpochAnswer best = optimum(small, 10);
  const EpochAnswer kept =
      epoch_optimum(small, 10, EpochObjective::paper, best.plan, {}, WorkLimit(at_once));
  CHECK(kept.status == EpochStatus::feasible);
  CHECK(kept.objective.value() == Approx(*best.objective));
  CHECK(kept.at_most.value() >= *best.objective - 1e-6);
  CHECK(epoch_fault(small, kept.plan) == "");
  const EpochAnswer nothing =
      epoch_optimum(problem, 10, EpochObjective::paper, std::nullopt, {}, WorkLimit(at_once));
  CHECK(nothing.status == EpochStatus::timed_out);
  CHECK(nothing.plan.empty());
  CHECK_FALSE(nothing.objective);
  REQUIRE(nothing.at_most);
}

} // namespace optimum_test
