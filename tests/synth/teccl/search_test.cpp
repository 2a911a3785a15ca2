#include "synth/teccl/bounds/time_bound.hpp"
#include "synth/teccl/search.hpp"

#include "synth/teccl/bounds/fewest_epochs.hpp"
#include "synth/teccl/fault.hpp"
#include "synth/teccl/one_shot/decision.hpp"
#include "tests/catch.hpp"
#include "tests/synth/teccl/exhaustive_epochs.hpp"
#include "tests/synth/teccl/samples.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace search_test {

using namespace tutti;

namespace {

const SynthesisOptions no_limit;

// Chunks of one size go from node 0 to node 1 by one lane, one an epoch: so many epochs it takes.
EpochProblem chunks_in_a_row(std::uint32_t chunks) {
  EpochNetwork network;
  network.epoch = Time{1'000};
  network.stores = network.copies = {true, true};
  network.lanes = {{0, 1, {LinkId{0}}, 1}};
  network.limits = {{"npu0>npu1", {{LaneId{0}, 0}}, 1, 1}};
  network.out_lanes = {{LaneId{0}}, {}};
  network.in_lanes = {{}, {LaneId{0}}};
  network.limits_of = {{LimitId{0}}};
  return {{std::move(network), std::vector<TimedChunk>(chunks, {{0}, {1}})}, std::nullopt};
}

// The last chunk sent so that it is there after `epochs`, all others as early as possible.
EpochPlan plan_of(const EpochProblem& problem, std::uint32_t epochs) {
  EpochPlan plan;
  const auto chunks = static_cast<std::uint32_t>(problem.chunks.size());
  for (std::uint32_t c = 0; c + 1 < chunks; ++c) plan.push_back({Epoch{c}, LaneId{0}, ChunkId{c}});
  plan.push_back({Epoch{epochs - 1}, LaneId{0}, ChunkId{chunks - 1}});
  return plan;
}

// A solver that the test makes up: what it answers, and what it was asked.
struct MadeUp {
  std::function<EpochAnswer(std::uint32_t)> answer;
  std::vector<std::uint32_t> asked;

  EpochQuestion question() {
    return [this](std::uint32_t epochs) {
      asked.push_back(epochs);
      EpochAnswer result = answer(epochs);
      result.seconds = 0.5;
      return result;
    };
  }
};

EpochAnswer is(EpochStatus status, EpochPlan plan = {}) {
  EpochAnswer answer;
  answer.status = status;
  answer.plan = std::move(plan);
  answer.method = "made up";
  return answer;
}

EpochSearch search(const EpochProblem& problem, MadeUp& solver,
                   const std::optional<EpochPlan>& start = std::nullopt) {
  return fewest_epochs_search(problem, start, solver.question(), WorkLimit(no_limit));
}

} // namespace

TEST_CASE("Fewest epochs: the smallest K is found and proven, whatever it is") {
  const EpochProblem problem = chunks_in_a_row(3);
  for (std::uint32_t smallest = 3; smallest < 40; ++smallest)
    for (const bool with_start : {false, true}) {
      INFO("smallest " << smallest << (with_start ? ", with a plan for 40" : ""));
      MadeUp solver{[&](std::uint32_t epochs) {
                      return epochs < smallest
                                 ? is(EpochStatus::infeasible)
                                 : is(EpochStatus::feasible, plan_of(problem, epochs));
                    },
                    {}};
      const auto start = with_start ? std::optional(plan_of(problem, 40)) : std::nullopt;
      // Without a buffer limit, three epochs and what is still busy are enough: no more is asked.
      if (!with_start && smallest > 6) continue;
      const EpochSearch found = search(problem, solver, start);
      CHECK(found.epochs == smallest);
      CHECK(found.at_least == smallest);
      CHECK(found.answer.status == EpochStatus::optimal);
      CHECK(epochs_of(problem, found.answer.plan) == smallest);
      CHECK(found.questions == solver.asked.size());
      CHECK(found.answer.seconds == Approx(0.5 * found.questions));
      CHECK(found.questions <= 7);
      CHECK(*std::ranges::min_element(solver.asked) >= 3); // what limits prove isn't asked
    }
}

TEST_CASE("Fewest epochs: a plan that needs fewer epochs than were asked for lowers the end") {
  const EpochProblem problem = chunks_in_a_row(4);
  MadeUp solver{[&](std::uint32_t) { return is(EpochStatus::feasible, plan_of(problem, 4)); }, {}};
  const EpochSearch found = search(problem, solver, plan_of(problem, 20));
  CHECK(solver.asked == std::vector<std::uint32_t>{12}); // the middle of 4 and 20, and no other
  CHECK(found.epochs == 4);
  CHECK(found.answer.status == EpochStatus::optimal); // as the limit alone says
}

TEST_CASE("Fewest epochs: what is left open proves nothing") {
  const EpochProblem problem = chunks_in_a_row(3);
  // 8 have a plan, below 5 have none, and between the solver doesn't know.
  MadeUp solver{[&](std::uint32_t epochs) {
                  if (epochs >= 8) return is(EpochStatus::feasible, plan_of(problem, epochs));
                  return is(epochs < 5 ? EpochStatus::infeasible : EpochStatus::timed_out);
                },
                {}};
  const EpochSearch found = search(problem, solver, plan_of(problem, 12));
  CHECK(found.epochs == 8);
  CHECK(found.answer.status == EpochStatus::feasible);
  CHECK(found.at_least <= 5);
  CHECK(epochs_of(problem, found.answer.plan) == 8U);
}

TEST_CASE("Fewest epochs: nobody knows a plan") {
  const EpochProblem problem = chunks_in_a_row(30);
  MadeUp solver{[](std::uint32_t) { return is(EpochStatus::timed_out); }, {}};
  const EpochSearch found = search(problem, solver);
  CHECK(found.answer.status == EpochStatus::timed_out);
  CHECK(found.answer.method == "made up");
  CHECK(found.answer.plan.empty());
  CHECK(found.epochs == 0);
  CHECK(found.at_least == 30);
  CHECK(found.questions == 4); // and gives up
  CHECK(solver.asked == std::vector<std::uint32_t>{30, 31, 33, 37});
}

TEST_CASE("Fewest epochs: never a plan, as with a buffer limit that is too small") {
  const EpochProblem problem = chunks_in_a_row(2);
  MadeUp solver{[](std::uint32_t) { return is(EpochStatus::infeasible); }, {}};
  const EpochSearch found = search(problem, solver);
  CHECK(found.answer.status == EpochStatus::infeasible);
  CHECK(found.epochs == 0);
  CHECK(found.at_least == solver.asked.back() + 1);
}

TEST_CASE("Fewest epochs: someone is out of reach") {
  EpochProblem problem = chunks_in_a_row(1);
  problem.chunks.push_back({{1}, {0}}); // no lane goes back
  MadeUp solver{[](std::uint32_t) { return is(EpochStatus::timed_out); }, {}};
  const EpochSearch found = search(problem, solver);
  CHECK(found.answer.status == EpochStatus::infeasible);
  CHECK(found.answer.method == "distances");
  CHECK(found.questions == 0);
}

TEST_CASE("Fewest epochs: nothing is wanted") {
  EpochProblem problem = chunks_in_a_row(1);
  problem.chunks.front().destinations.clear();
  MadeUp solver{[](std::uint32_t) { return is(EpochStatus::optimal); }, {}};
  const EpochSearch found = search(problem, solver);
  CHECK(found.answer.status == EpochStatus::optimal);
  CHECK(found.epochs == 0);
}

TEST_CASE("Fewest epochs: a limit that is reached ends the search with the best plan so far") {
  SynthesisOptions options;
  std::uint32_t questions = 0;
  options.cancelled = [&] { return questions >= 2; };
  const EpochProblem problem = chunks_in_a_row(3);
  MadeUp solver{[&](std::uint32_t epochs) {
                  ++questions;
                  return is(EpochStatus::feasible, plan_of(problem, epochs));
                },
                {}};
  const EpochSearch found =
      fewest_epochs_search(problem, plan_of(problem, 103), solver.question(), WorkLimit(options));
  CHECK(solver.asked == std::vector<std::uint32_t>{53, 28});
  CHECK(found.epochs == 28);
  CHECK(found.answer.status == EpochStatus::feasible);
}

TEST_CASE("Fewest epochs: with a real solver, the K that trying everything finds") {
  Random random(11);
  const WorkLimit limit(no_limit);
  std::uint32_t compared = 0;
  for (int i = 0; i < 200 && compared < 25; ++i) {
    const EpochProblem problem = tutti::testing::random_epochs(random);
    const std::optional<std::uint32_t> least = fewest_epochs(problem);
    std::optional<std::uint32_t> fewest;
    for (std::uint32_t k = least.value_or(1); least && k <= 9 && !fewest; ++k) {
      const std::optional<bool> exists = tutti::testing::plan_exists(problem, k, 100'000);
      if (!exists) break;
      if (*exists) fewest = k;
    }
    if (!fewest) continue;
    ++compared;
    INFO("problem " << i);
    const EpochQuestion question = [&](std::uint32_t epochs) {
      return decide_epochs(problem, epochs, {}, limit);
    };
    const EpochSearch found = fewest_epochs_search(problem, std::nullopt, question, limit);
    CHECK(found.epochs == *fewest);
    CHECK(found.answer.status == EpochStatus::optimal);
    CHECK(epoch_fault(problem, found.answer.plan).empty());
  }
  CHECK(compared == 25);
}

namespace {

// Three NPUs, 1 GB/s and a latency of 100 ns between any two: 1 kB takes 1 us.
Topology three_npus() {
  TopologyParts parts;
  for (const char* const name : {"npu0", "npu1", "npu2"})
    parts.add_node({name, NodeKind::npu, {}, {}});
  for (const auto& [a, b] : {std::pair{0U, 1U}, std::pair{0U, 2U}, std::pair{1U, 2U}})
    parts.add_duplex({NodeId{a}, NodeId{b}, Time{100'000}, Bandwidth{1'000'000'000}});
  return Topology(std::move(parts));
}

Collective gathered(const Topology& topology, std::uint32_t chunks_per_shard) {
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_gather;
  spec.size = Bytes{3'000 * chunks_per_shard};
  spec.chunks_per_shard = chunks_per_shard;
  return make_collective(topology, spec);
}

using Coarse = std::function<EpochAnswer(const EpochProblem&, std::uint32_t)>;

// Each chunk straight to both others, as soon as the lane has room.
EpochPlan side_by_side(const EpochProblem& problem) {
  std::vector<std::uint32_t> sent(problem.network.lanes.size());
  EpochPlan plan;
  for (std::uint32_t c = 0; c < problem.chunks.size(); ++c)
    for (const LaneId lane : problem.network.out_lanes[problem.chunks[c].sources.front()]) {
      const EpochLimit& limit =
          problem.network.limits[problem.network.limits_of[lane.value].front().value];
      const std::uint32_t before = sent[lane.value]++;
      plan.push_back({Epoch{before / limit.most * limit.window}, lane, ChunkId{c}});
    }
  std::ranges::sort(plan);
  return plan;
}

} // namespace

TEST_CASE("Time bound: between what it really takes and what whole epochs make of it") {
  const Topology topology = three_npus();
  for (const std::uint32_t chunks_per_shard : {1U, 2U, 5U, 12U}) {
    INFO(chunks_per_shard << " chunks per shard");
    const Collective collective = gathered(topology, chunks_per_shard);
    std::uint32_t questions = 0;
    const Coarse solver = [&](const EpochProblem& problem, std::uint32_t epochs) {
      ++questions;
      CHECK(epochs == 3); // three times the longest way
      const EpochPlan plan = side_by_side(problem);
      CHECK(epoch_fault(problem, plan).empty());
      return epochs_of(problem, plan) <= epochs ? is(EpochStatus::feasible, plan)
                                                : is(EpochStatus::infeasible);
    };
    const auto bound =
        epoch_time_bound(topology, collective, EpochSettings{}, solver, WorkLimit(no_limit));
    REQUIRE(bound);
    CHECK(questions <= 11);
    // `pieces` chunks of 1 us one after another. An epoch takes whole chunks, and has to be long
    // enough for a third of them; the search ends with some coarser ones.
    CHECK(bound->ps >= chunks_per_shard * 1'000'000);
    CHECK(bound->ps <= (chunks_per_shard + 3) * 1'050'000);
  }
}

TEST_CASE("Time bound: doubled where even the first guess is too short") {
  const Topology topology = three_npus();
  const Collective collective = gathered(topology, 1);
  std::vector<Time> asked;
  const Coarse solver = [&](const EpochProblem& problem, std::uint32_t) {
    asked.push_back(problem.network.epoch);
    return asked.size() < 4 ? is(EpochStatus::timed_out)
                            : is(EpochStatus::feasible, side_by_side(problem));
  };
  const auto bound =
      epoch_time_bound(topology, collective, EpochSettings{}, solver, WorkLimit(no_limit));
  REQUIRE(asked.size() >= 4);
  // First half of 3 epochs * (1 us + 100 ns) * 3 nodes / 2, in three epochs each.
  CHECK(asked[0].ps == 1'000'000); // 0.83 us would be below the epochs asked for
  CHECK(asked[1].ps == 2'000'000);
  CHECK(asked[2].ps == 4'000'000);
  CHECK(asked[3].ps == 8'000'000);
  REQUIRE(bound);
  CHECK(bound->ps <= 2 * 8'000'000);
}

TEST_CASE("Time bound: nothing found, or nobody to ask") {
  const Topology topology = three_npus();
  const Collective collective = gathered(topology, 1);
  std::uint32_t questions = 0;
  const Coarse never = [&](const EpochProblem&, std::uint32_t) {
    ++questions;
    return is(EpochStatus::infeasible);
  };
  CHECK_FALSE(epoch_time_bound(topology, collective, EpochSettings{}, never, WorkLimit(no_limit)));
  CHECK(questions == 11);
  SynthesisOptions options;
  options.cancelled = [] { return true; };
  CHECK_FALSE(epoch_time_bound(topology, collective, EpochSettings{}, never, WorkLimit(options)));
  CHECK(questions == 11);
}

} // namespace search_test
