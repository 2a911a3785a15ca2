#include "synth/teccl/one_shot/program.hpp"

#include "synth/solvers/integer_program.hpp"
#include "synth/teccl/fault.hpp"
#include "synth/teccl/needed_sends.hpp"
#include "tests/catch.hpp"
#include "tests/synth/teccl/exhaustive_epochs.hpp"
#include "tests/synth/teccl/samples.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace one_shot_program_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

const SynthesisOptions no_limit;
constexpr std::uint64_t most_choices = 40'000;

IntegerSolution solved(const LinearProgram& program) {
  return solve_integer(program, WorkLimit(no_limit));
}

double reward_of_plan(const EpochProblem& problem, const EpochPlan& plan, Epoch begin, Epoch end,
                      const EpochReward& reward) {
  double sum = 0;
  for (const EpochSend& send : plan) {
    const Lane& lane = problem.network.lane(send.lane);
    if (!std::ranges::binary_search(problem.chunks[send.chunk.value].destinations, lane.to))
      continue;
    for (Epoch k = std::max(send.epoch + lane.delay, begin); k <= end; ++k)
      sum += reward(send.chunk, NodeId{lane.to}, k);
  }
  return sum;
}

EpochProblem from_first_to_last(EpochProblem problem, std::uint32_t chunks) {
  for (std::uint32_t i = 0; i < chunks; ++i)
    problem.chunks.push_back({{0}, {problem.network.node_count() - 1}});
  return problem;
}

/// What columns say of sends, nodes and epochs: the same as the plan that they stand for.
void check_holdings(const EpochProblem& problem, const EpochProgram& program, const EpochPlan& plan,
                    std::span<const double> columns, Epoch end) {
  for (std::uint32_t c = 0; c < problem.chunks.size(); ++c)
    for (std::uint32_t v = 0; v < problem.network.node_count(); ++v) {
      if (!problem.network.stores[v]) continue;
      for (Epoch k; k <= end; ++k) {
        bool there = std::ranges::binary_search(problem.chunks[c].sources, v);
        for (const EpochSend& send : plan) {
          const Lane& lane = problem.network.lane(send.lane);
          there =
              there || (send.chunk == ChunkId{c} && lane.to == v && send.epoch + lane.delay <= k);
        }
        const std::optional<std::uint32_t> column = program.holds(ChunkId{c}, NodeId{v}, k);
        CHECK(there ==
              (column ? columns[*column] > 0.5 : program.always_holds(ChunkId{c}, NodeId{v}, k)));
      }
    }
}

} // namespace

TEST_CASE("the best plan of an epoch program is the best of all", "[heavy]") {
  Random random(11);
  int plans = 0, none = 0, switched = 0, buffered = 0;
  for (int i = 0; i < 150; ++i) {
    const EpochProblem problem = random_epochs(random);
    const EpochReward reward =
        reward_of(i % 2 == 0 ? EpochObjective::paper : EpochObjective::public_code);
    for (std::uint32_t epochs = 0; epochs <= 6; ++epochs) {
      CAPTURE(i, epochs);
      const EpochContestResult expected =
          best_reward(problem, {.epochs = epochs, .reward = reward}, most_choices);
      if (!expected.decided) break;
      const EpochProgram program(problem, {.end = Epoch{epochs}}, reward);
      const IntegerSolution solution = solved(program.program());
      if (!expected.best) {
        ++none;
        CHECK(solution.status == SolverStatus::infeasible);
        continue;
      }
      ++plans;
      switched += problem.network.stores.back() ? 0 : 1;
      buffered += problem.buffer_limit ? 1 : 0;
      REQUIRE(solution.status == SolverStatus::optimal);
      CHECK(-solution.objective == Approx(*expected.best).margin(1e-6));
      const EpochPlan plan = program.plan(solution.columns);
      CHECK(epoch_fault(problem, plan) == "");
      CHECK(reward_of_plan(problem, plan, Epoch{0}, Epoch{epochs}, reward) ==
            Approx(*expected.best).margin(1e-6));
      check_holdings(problem, program, plan, solution.columns, Epoch{epochs});
      const auto columns = program.columns(without_useless(problem, plan));
      REQUIRE(columns);
      CHECK(satisfies(program.program(), *columns, program.program().row_count()));
      CHECK(program.plan(*columns) == without_useless(problem, plan));
    }
  }
  CHECK(plans > 100);
  CHECK(none > 100);
  CHECK(switched > 30);
  CHECK(buffered > 20);
}

TEST_CASE("an epoch program goes on from what has been sent, to its end or not") {
  Random random(12);
  int finished = 0, open = 0, infeasible = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const EpochProblem problem = random_epochs(random);
    const EpochReward reward = reward_of(EpochObjective::paper);
    const auto epochs = static_cast<std::uint32_t>(3 + random.below(4));
    const auto begin = static_cast<std::uint32_t>(1 + random.below(3));
    // Something that isn't the best, nor finished.
    const EpochProgram before(problem, {.end = Epoch{begin + 1}, .must_finish = false},
                              [&](ChunkId c, NodeId v, Epoch) {
                                return static_cast<double>((c.value + 2 * v.value + 3 * i) % 4);
                              });
    const IntegerSolution first = solved(before.program());
    REQUIRE(first.status == SolverStatus::optimal);
    EpochPlan past = before.plan(first.columns);
    std::erase_if(past, [&](const EpochSend& send) { return send.epoch >= Epoch{begin}; });
    const bool must_finish = i % 2 == 0;
    CAPTURE(i, epochs, begin);
    const EpochContestResult expected =
        best_reward(problem, {begin, epochs, past, must_finish, reward}, most_choices);
    if (!expected.decided) continue;
    const std::uint32_t beyond = must_finish ? 0 : 2;
    const EpochProgram program(
        problem, {Epoch{begin}, Epoch{epochs - beyond}, past, beyond, must_finish}, reward);
    const IntegerSolution solution = solved(program.program());
    if (!expected.best) {
      ++infeasible;
      CHECK(solution.status == SolverStatus::infeasible);
      continue;
    }
    REQUIRE(solution.status == SolverStatus::optimal);
    const EpochPlan sends = program.plan(solution.columns);
    EpochPlan whole = past;
    whole.insert(whole.end(), sends.begin(), sends.end());
    const double settled = reward_of_plan(problem, past, Epoch{begin}, Epoch{epochs}, reward);
    const double earned = reward_of_plan(problem, whole, Epoch{begin}, Epoch{epochs}, reward);
    CHECK(-solution.objective + settled == Approx(earned).margin(1e-6));
    if (must_finish) {
      ++finished;
      CHECK(epoch_fault(problem, whole) == "");
      CHECK(earned == Approx(*expected.best).margin(1e-6));
    } else {
      ++open;
      CHECK(earned <= *expected.best + 1e-6); // sends end two epochs earlier
    }
    const auto columns = program.columns(sends);
    CHECK((!columns || program.plan(*columns) == sends));
  }
  CHECK(finished > 15);
  CHECK(open > 25);
  CHECK(infeasible > 2);
}

TEST_CASE("arrivals after an epoch program's last send count") {
  // A lane of delay 3: sent in epoch 0 it is there at the beginning of epoch 3.
  EpochProblem problem = epoch_nodes(2);
  add_epoch_lane(problem.network, 0, 1, 3, 1);
  problem = from_first_to_last(problem, 1);
  const EpochReward reward = reward_of(EpochObjective::paper);
  const EpochProgram none(problem, {.end = Epoch{1}, .must_finish = false}, reward);
  CHECK(solved(none.program()).objective == 0);
  const EpochProgram one(problem, {.end = Epoch{1}, .beyond = 3}, reward);
  const IntegerSolution solution = solved(one.program());
  CHECK(solution.objective == Approx(-1.0 / 3 - 1.0 / 4));
  CHECK(one.plan(solution.columns) == epoch_plan({{0, 0, 0}}));
  REQUIRE(one.holds(ChunkId{0}, NodeId{1}, Epoch{3}));
  CHECK_FALSE(one.holds(ChunkId{0}, NodeId{1}, Epoch{2}));
  CHECK_FALSE(one.always_holds(ChunkId{0}, NodeId{1}, Epoch{4}));
  CHECK(one.always_holds(ChunkId{0}, NodeId{0}, Epoch{0}));
  const EpochProgram after(problem, {Epoch{1}, Epoch{4}, epoch_plan({{0, 0, 0}}), 0, true}, reward);
  CHECK(after.program().column_count() == 0); // it is under way
  CHECK(after.always_holds(ChunkId{0}, NodeId{1}, Epoch{3}));
  CHECK_FALSE(after.always_holds(ChunkId{0}, NodeId{1}, Epoch{2}));
}

TEST_CASE("limits count what was sent before the horizon") {
  // One chunk in three epochs: after one in epoch 0 the next goes in epoch 3.
  EpochProblem problem = epoch_nodes(2);
  add_epoch_lane(problem.network, 0, 1, 1, 3);
  problem = from_first_to_last(problem, 2);
  const EpochProgram program(problem, {Epoch{1}, Epoch{5}, epoch_plan({{0, 0, 0}}), 0, true},
                             reward_of(EpochObjective::paper));
  const IntegerSolution solution = solved(program.program());
  CHECK(program.plan(solution.columns) == epoch_plan({{3, 0, 1}}));
  const EpochProgram shorter(problem, {Epoch{1}, Epoch{3}, epoch_plan({{0, 0, 0}}), 0, true},
                             reward_of(EpochObjective::paper));
  CHECK(solved(shorter.program()).status == SolverStatus::infeasible);
}

TEST_CASE("chunks don't feed themselves where switches pass them on without delay") {
  // Three switches in a cycle without delay, after a lane of delay 5: nothing comes before.
  for (const bool copies : {false, true}) {
    EpochProblem problem = epoch_nodes(5);
    for (const std::uint32_t v : {1U, 2U, 3U}) {
      problem.network.stores[v] = false;
      problem.network.copies[v] = copies;
    }
    add_epoch_lane(problem.network, 0, 1, 5, 1);
    for (const auto& [a, b] : std::array<std::array<std::uint32_t, 2>, 3>{{{1, 2}, {2, 3}, {3, 1}}})
      add_both(problem.network, a, b, 0, 1);
    add_epoch_lane(problem.network, 3, 4, 0, 1);
    problem = from_first_to_last(problem, 1);
    const EpochReward reward = reward_of(EpochObjective::paper);
    CHECK(solved(EpochProgram(problem, {.end = Epoch{4}}, reward).program()).status ==
          SolverStatus::infeasible);
    const EpochProgram program(problem, {.end = Epoch{6}}, reward);
    const IntegerSolution solution = solved(program.program());
    CHECK(solution.objective == Approx(-1.0 / 5 - 1.0 / 6));
    CHECK(epoch_fault(problem, program.plan(solution.columns)) == "");
    CHECK(program.columns(without_useless(problem, program.plan(solution.columns))));
  }
}

TEST_CASE("interchangeable chunks may change their places in a start") {
  EpochProblem problem = epoch_nodes(2);
  add_epoch_lane(problem.network, 0, 1, 1, 1);
  problem = from_first_to_last(problem, 3);
  const EpochProgram program(problem, {.end = Epoch{3}}, reward_of(EpochObjective::paper));
  const EpochPlan backwards = epoch_plan({{0, 0, 2}, {1, 0, 1}, {2, 0, 0}});
  const auto columns = program.columns(backwards);
  REQUIRE(columns);
  CHECK(program.plan(*columns) == epoch_plan({{0, 0, 0}, {1, 0, 1}, {2, 0, 2}}));
  CHECK_FALSE(program.columns(epoch_plan({{0, 0, 2}, {0, 0, 1}, {2, 0, 0}}))); // too many at once
  CHECK_FALSE(program.columns(epoch_plan({{0, 0, 2}, {1, 0, 1}})));            // one is missing
  CHECK_FALSE(program.columns(epoch_plan({{0, 1, 2}})));                       // no such lane
  CHECK_FALSE(program.columns(epoch_plan({{0, 0, 3}})));
}

TEST_CASE("chunks with rewards of their own aren't interchangeable") {
  EpochProblem problem = epoch_nodes(2);
  add_epoch_lane(problem.network, 0, 1, 1, 1);
  problem = from_first_to_last(problem, 2);
  const EpochProgram program(problem, {.end = Epoch{2}}, [](ChunkId chunk, NodeId, Epoch) {
    return chunk == ChunkId{1} ? 5.0 : 1.0;
  });
  const IntegerSolution solution = solved(program.program());
  CHECK(solution.objective == Approx(-11));
  CHECK(program.plan(solution.columns) == epoch_plan({{0, 0, 1}, {1, 0, 0}}));
}

TEST_CASE("a chunk isn't sent where it can be of no use") {
  // 0 > 1 > 2, and a node 3 beside from which nothing leads on.
  EpochProblem problem = epoch_nodes(4);
  add_both(problem.network, 0, 1, 1, 1);
  add_both(problem.network, 1, 2, 1, 1);
  add_epoch_lane(problem.network, 1, 3, 1, 1);
  problem.chunks.push_back({{0}, {2}});
  const EpochProgram program(problem, {.end = Epoch{3}}, reward_of(EpochObjective::paper));
  std::uint32_t sends = 0;
  for (std::uint32_t c = 0; c < program.program().column_count(); ++c)
    sends += program.program().is_integer(c) ? 1 : 0;
  CHECK(sends == 4); // 0 > 1 in epochs 0 and 1, 1 > 2 in epochs 1 and 2
  CHECK_FALSE(program.holds(ChunkId{0}, NodeId{3}, Epoch{3}));
}

} // namespace one_shot_program_test
