#include "synth/teccl/one_shot/clauses.hpp"
#include "synth/teccl/one_shot/decision.hpp"

#include "synth/teccl/bounds/fewest_epochs.hpp"
#include "synth/teccl/fault.hpp"
#include "tests/catch.hpp"
#include "tests/synth/teccl/exhaustive_epochs.hpp"
#include "tests/synth/teccl/samples.hpp"

#include <algorithm>
#include <array>

namespace decision_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

EpochAnswer decide(const EpochProblem& problem, std::uint32_t epochs, bool symmetric = true) {
  const SynthesisOptions options;
  EpochEffort effort;
  effort.symmetric = symmetric;
  return decide_epochs(problem, epochs, effort, WorkLimit(options));
}

void check_answer(const EpochProblem& problem, std::uint32_t epochs, const EpochAnswer& answer) {
  if (answer.status != EpochStatus::feasible) {
    CHECK(answer.plan.empty());
    return;
  }
  CHECK(epoch_fault(problem, answer.plan) == "");
  const std::optional<std::uint32_t> taken = epochs_of(problem, answer.plan);
  REQUIRE(taken);
  CHECK(*taken <= epochs);
}

/// `infeasible` and `feasible` follow each other: K is the smallest.
void check_fewest(const EpochProblem& problem, std::uint32_t epochs) {
  CAPTURE(epochs);
  const EpochAnswer fewer = decide(problem, epochs - 1);
  CHECK(fewer.status == EpochStatus::infeasible);
  CHECK(fewer.plan.empty());
  for (const bool symmetric : {false, true}) {
    const EpochAnswer answer = decide(problem, epochs, symmetric);
    CHECK(answer.status == EpochStatus::feasible);
    check_answer(problem, epochs, answer);
  }
}

/// A star around node `members`.
EpochProblem star(std::uint32_t members, bool copies, std::uint32_t delay_out) {
  EpochProblem problem = epoch_nodes(members + 1);
  problem.network.stores[members] = false;
  problem.network.copies[members] = copies;
  for (std::uint32_t n = 0; n < members; ++n) {
    add_epoch_lane(problem.network, n, members, 1, 1);
    add_epoch_lane(problem.network, members, n, delay_out, 1);
  }
  return problem;
}

} // namespace

TEST_CASE("decide_epochs answers as trying everything does", "[heavy]") {
  Random random(1);
  int yes = 0, no = 0;
  for (int i = 0; i < 200; ++i) {
    const EpochProblem problem = random_epochs(random);
    for (std::uint32_t epochs = 0; epochs <= 6; ++epochs) {
      CAPTURE(i, epochs);
      const std::optional<bool> expected = plan_exists(problem, epochs, 50'000);
      if (!expected) break;
      ++(*expected ? yes : no);
      const std::optional<std::uint32_t> fewest = fewest_epochs(problem);
      if (*expected) CHECK((fewest && *fewest <= epochs));
      const SynthesisOptions options;
      const SatisfiedEpochs clauses = satisfied_epochs(problem, epochs, {}, -1, WorkLimit(options));
      CHECK(clauses.answer == (*expected ? SatAnswer::sat : SatAnswer::unsat));
      if (*expected) CHECK(epoch_fault(problem, clauses.plan) == "");
      const EpochAnswer answer = decide(problem, epochs, i % 2 == 0);
      CHECK(answer.status == (*expected ? EpochStatus::feasible : EpochStatus::infeasible));
      check_answer(problem, epochs, answer);
      if (*expected) break;
    }
  }
  CHECK(yes > 80);
  CHECK(no > 200);
}

TEST_CASE("decide_epochs: distances say how many epochs it takes at least") {
  SECTION("nothing is wanted") {
    const EpochProblem problem = epoch_nodes(1);
    CHECK(decide(problem, 0).status == EpochStatus::feasible);
  }
  SECTION("three lanes of 1, 2 and 4 epochs one after another") {
    EpochProblem problem = epoch_nodes(4);
    for (std::uint32_t n = 0; n < 3; ++n) add_epoch_lane(problem.network, n, n + 1, 1U << n, 1);
    problem.chunks = {{{0}, {3}}};
    check_fewest(problem, 7);
  }
  SECTION("nobody can reach it") {
    EpochProblem problem = epoch_nodes(2);
    add_epoch_lane(problem.network, 1, 0, 1, 1);
    problem.chunks = {{{0}, {1}}};
    CHECK(decide(problem, 50).status == EpochStatus::infeasible);
  }
}

TEST_CASE("decide_epochs: what a node lacks comes over its lanes one after another") {
  SECTION(
      "five chunks over a lane that takes one in three epochs: 0, 3, .., 12, and 4 on the way") {
    EpochProblem problem = epoch_nodes(2);
    add_epoch_lane(problem.network, 0, 1, 4, 3);
    problem.chunks.assign(5, {{0}, {1}});
    check_fewest(problem, 16);
  }
  SECTION("two in any three epochs: 0, 0, 3, 3, 6") {
    EpochProblem problem = epoch_nodes(2);
    add_epoch_lane(problem.network, 0, 1, 1, 3, 2);
    problem.chunks.assign(5, {{0}, {1}});
    check_fewest(problem, 7);
  }
  SECTION("a circle of five, All-Gather in one direction: four chunks into each") {
    EpochProblem problem = epoch_nodes(5);
    for (std::uint32_t n = 0; n < 5; ++n) add_epoch_lane(problem.network, n, (n + 1) % 5, 1, 1);
    add_gathered_chunks(problem, 5, 1);
    check_fewest(problem, 4);
  }
}

TEST_CASE("decide_epochs: a narrow place between two clusters") {
  // Two circles of four, quick both ways; one lane from 0 to 4, one from 5 to 1. Each takes four
  // chunks, entering it in epochs 0, 5, 10 and 15; the last is there for epoch 22, and needs two
  // more to the opposite corner.
  EpochProblem problem = epoch_nodes(8);
  for (const std::uint32_t first : {0U, 4U})
    for (std::uint32_t n = 0; n < 4; ++n)
      add_both(problem.network, first + n, first + (n + 1) % 4, 1, 1);
  add_epoch_lane(problem.network, 0, 4, 7, 5);
  add_epoch_lane(problem.network, 5, 1, 7, 5);
  add_gathered_chunks(problem, 8, 1);
  CHECK(fewest_epochs(problem) == 24U);
  check_fewest(problem, 24);
}

TEST_CASE("decide_epochs: switches copy or don't, and keep nothing") {
  SECTION("a copy for each of three in one go") {
    EpochProblem problem = star(4, true, 0);
    problem.chunks = {{{0}, {1, 2, 3}}};
    check_fewest(problem, 1);
  }
  SECTION("without copies, sources double: two after one epoch, the rest after two") {
    EpochProblem problem = star(4, false, 0);
    problem.chunks = {{{0}, {1, 2, 3}}};
    check_fewest(problem, 2);
  }
  SECTION("two chunks for one: they can't wait in the switch, but can at their sources") {
    EpochProblem problem = star(3, true, 1);
    problem.chunks = {{{0}, {2}}, {{1}, {2}}};
    check_fewest(problem, 3);
  }
  SECTION("switches in a circle without delay don't make a chunk out of nothing") {
    EpochProblem problem = epoch_nodes(4); // 0 holds, 1 and 2 are the circle, 3 wants
    for (const std::uint32_t node : {1U, 2U}) problem.network.stores[node] = false;
    add_epoch_lane(problem.network, 0, 1, 1, 4);
    add_both(problem.network, 1, 2, 0, 1);
    add_epoch_lane(problem.network, 2, 3, 0, 1);
    problem.chunks.assign(2, {{0}, {3}});
    check_fewest(problem, 5); // sent in epochs 0 and 4
  }
  SECTION("nor do three in a ring") {
    EpochProblem problem = epoch_nodes(5); // 0 holds, 1, 2 and 3 are the ring, 4 wants
    for (const std::uint32_t node : {1U, 2U, 3U}) {
      problem.network.stores[node] = false;
      add_epoch_lane(problem.network, node, node % 3 + 1, 0, 1);
    }
    add_epoch_lane(problem.network, 0, 1, 1, 4);
    add_epoch_lane(problem.network, 3, 4, 0, 1);
    problem.chunks.assign(2, {{0}, {4}});
    check_fewest(problem, 5);
  }
}

TEST_CASE("decide_epochs: a node that may keep nothing for others passes nothing on") {
  EpochProblem problem = epoch_nodes(3);
  add_epoch_lane(problem.network, 0, 1, 1, 1);
  add_epoch_lane(problem.network, 1, 2, 1, 1);
  add_epoch_lane(problem.network, 0, 2, 5, 2);
  problem.chunks.assign(2, {{0}, {2}});
  check_fewest(problem, 3); // both by node 1
  problem.buffer_limit = 1; // each is there for one epoch only
  check_fewest(problem, 3);
  problem.buffer_limit = 0; // both directly: 0, 2, and 5 on the way
  check_fewest(problem, 7);
}

TEST_CASE("decide_epochs: DGX-1, All-Gather") {
  // Opposite corners are two lanes apart, of 3 and 4 epochs.
  check_fewest(dgx1_problem(1), 7);
}

TEST_CASE("Symmetric plans are plans, and keep their group") {
  Random random(3);
  int found = 0, none = 0;
  const auto check = [&](const EpochProblem& problem, std::uint32_t epochs,
                         std::optional<bool> exists) {
    const SynthesisOptions options;
    for (const ChunkSymmetry& group : free_symmetries(problem, 4)) {
      const SatisfiedEpochs answer =
          satisfied_epochs(problem, epochs, group, 100'000, WorkLimit(options));
      ++(answer.answer == SatAnswer::sat ? found : none);
      if (answer.answer != SatAnswer::sat) continue;
      CHECK(exists != false);
      CHECK(epoch_fault(problem, answer.plan) == "");
      CHECK(epochs_of(problem, answer.plan).value_or(UINT32_MAX) <= epochs);
      for (const ChunkAutomorphism& one : group) {
        EpochPlan moved;
        for (const EpochSend& send : answer.plan)
          moved.push_back({send.epoch, LaneId{one.lanes[send.lane.value]},
                           ChunkId{one.chunks[send.chunk.value]}});
        std::ranges::sort(moved);
        CHECK(moved == answer.plan);
      }
    }
  };
  for (int i = 0; i < 100; ++i) {
    const EpochProblem problem = random_circle(random);
    for (std::uint32_t epochs = 1; epochs <= 6; ++epochs) {
      CAPTURE(i, epochs);
      check(problem, epochs, plan_exists(problem, epochs, 20'000));
    }
  }
  CHECK(found > 200);
  CHECK(none > 200);
  // Two chunks each: a group of 4 leaves four with clauses of their own.
  const EpochProblem problem = dgx1_problem(2);
  REQUIRE_FALSE(free_symmetries(problem, 4).empty());
  CHECK(free_symmetries(problem, 4).front().size() == 4);
  const int before = found;
  check(problem, 11, {});
  CHECK(found > before);
}

TEST_CASE("decide_epochs gives up when it has to") {
  SynthesisOptions options;
  options.cancelled = [] { return true; };
  const EpochAnswer answer = decide_epochs(dgx1_problem(2), 9, {}, WorkLimit(options));
  CHECK(answer.status == EpochStatus::timed_out);
  CHECK(answer.plan.empty());
}

} // namespace decision_test
