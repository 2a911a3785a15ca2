#include "synth/teccl/rounds/rounds.hpp"

#include "sim/random.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/teccl/bounds/fewest_epochs.hpp"
#include "synth/teccl/fault.hpp"
#include "synth/teccl/rounds/greedy.hpp"
#include "synth/teccl/rounds/ledger.hpp"
#include "synth/teccl/rounds/round.hpp"
#include "tests/catch.hpp"
#include "tests/synth/teccl/exhaustive_epochs.hpp"
#include "tests/synth/teccl/samples.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace rounds_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

const SynthesisOptions no_limit;

RoundsAnswer rounds(const EpochProblem& problem, std::uint32_t epochs) {
  return epoch_rounds(problem, {.epochs = epochs}, WorkLimit(no_limit));
}

RoundsAnswer greedy_rounds(const EpochProblem& problem, std::uint32_t epochs) {
  return epoch_rounds(problem, {.epochs = epochs, .most_columns = 0}, WorkLimit(no_limit));
}

bool is_feasible(const RoundsAnswer& found) { return found.answer.status == EpochStatus::feasible; }

// 0 > 1 > 2 > ..., one chunk an epoch.
EpochProblem line(std::uint32_t nodes) {
  EpochProblem problem = epoch_nodes(nodes);
  for (std::uint32_t n = 0; n + 1 < nodes; ++n) add_epoch_lane(problem.network, n, n + 1, 1, 1);
  return problem;
}

// Eight nodes, a lane each way along the edges of a cube.
EpochProblem cube(std::uint32_t chunks) {
  EpochProblem problem = epoch_nodes(8);
  for (std::uint32_t a = 0; a < 8; ++a)
    for (std::uint32_t bit = 1; bit < 8; bit *= 2)
      add_epoch_lane(problem.network, a, a ^ bit, 1, 1);
  add_gathered_chunks(problem, 8, chunks);
  return problem;
}

// TE-CCL's "Internal 1" as far as its paper says: four GPUs a chassis on a ring, 25 GB/s and 0.6 us
// both ways; two of them with 12.5 GB/s and 0.75 us to a switch between the chassis.
Topology internal1(std::uint32_t chassis) {
  TopologyParts parts;
  for (std::uint32_t n = 0; n < 4 * chassis; ++n)
    parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  const NodeId hub = parts.add_node({"hub", NodeKind::switching, {false, true, false}, {}});
  for (std::uint32_t c = 0; c < chassis; ++c) {
    for (std::uint32_t g = 0; g < 4; ++g)
      parts.add_duplex({NodeId{4 * c + g}, NodeId{4 * c + (g + 1) % 4}, Time{600'000},
                        Bandwidth{25'000'000'000}});
    for (const std::uint32_t g : {0U, 2U})
      parts.add_duplex({NodeId{4 * c + g}, hub, Time{750'000}, Bandwidth{12'500'000'000}});
  }
  return Topology(std::move(parts));
}

Collective all_gather(const Topology& topology, std::int64_t chunk_bytes) {
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_gather;
  spec.size = Bytes{chunk_bytes * topology.npu_count()};
  return make_collective(topology, spec);
}

} // namespace

TEST_CASE("Rounds: a window that spans a boundary is respected") {
  // A lane that takes a chunk every third epoch: with rounds of one epoch, each window spans three.
  EpochProblem problem = epoch_nodes(2);
  add_epoch_lane(problem.network, 0, 1, 1, 3);
  problem.chunks = {{{0}, {1}}, {{0}, {1}}, {{0}, {1}}};
  for (const std::uint32_t epochs : {1U, 2U, 3U, 4U}) {
    for (const RoundsAnswer& found : {rounds(problem, epochs), greedy_rounds(problem, epochs)}) {
      REQUIRE(is_feasible(found));
      CHECK(epoch_fault(problem, found.answer.plan).empty());
      CHECK(found.rounds_epochs == 7U); // sent in 0, 3 and 6; without windows it would be 3
    }
  }
}

TEST_CASE("Rounds: a shared limit that is used later spans a boundary, too") {
  // Both lanes need the bus two epochs after a chunk enters: one chunk in any two epochs.
  EpochProblem problem = epoch_nodes(3);
  add_epoch_lane(problem.network, 0, 1, 3, 1);
  add_epoch_lane(problem.network, 0, 2, 3, 1);
  add_epoch_limit(problem.network, {"bus", {{LaneId{0}, 2}, {LaneId{1}, 2}}, 2, 1});
  problem.chunks = {{{0}, {1, 2}}, {{0}, {1, 2}}};
  const RoundsAnswer found = rounds(problem, 1);
  REQUIRE(is_feasible(found));
  CHECK(epoch_fault(problem, found.answer.plan).empty());
  CHECK(found.rounds_epochs == 9U); // entered in 0, 2, 4 and 6
}

TEST_CASE("Rounds: what is under way at a boundary isn't sent again") {
  EpochProblem problem = epoch_nodes(2);
  add_epoch_lane(problem.network, 0, 1, 6, 1);
  add_epoch_lane(problem.network, 0, 1, 5, 1);
  problem.chunks = {{{0}, {1}}};
  const RoundsAnswer found = rounds(problem, 1);
  REQUIRE(is_feasible(found));
  CHECK(found.answer.plan == epoch_plan({{0, 1, 0}}));
  CHECK(found.rounds_epochs == 5U);
  CHECK(found.rounds == 1); // then all demands are met
}

TEST_CASE("Rounds: chunks are brought closer where nobody can be reached in a round") {
  EpochProblem problem = line(5);
  problem.chunks = {{{0}, {4}}};
  const EpochDistances distances(switch_paths(problem.network));
  const EpochRound first(problem, distances, {Epoch{0}, Epoch{1}, {}, 1, false});
  CHECK(first.improved({}, 20, WorkLimit(no_limit)) == epoch_plan({{0, 0, 0}}));
  const RoundsAnswer found = rounds(problem, 1);
  REQUIRE(is_feasible(found));
  CHECK(found.rounds_epochs == 4U);
  CHECK(found.rounds == 4);
}

TEST_CASE("Rounds: arriving is worth more than coming closer") {
  // 0 may send one chunk: 0 to node 1, its destination, or 1 to node 2, next to its destination.
  EpochProblem problem = epoch_nodes(4);
  add_epoch_lane(problem.network, 0, 1, 1, 1);
  add_epoch_lane(problem.network, 0, 2, 1, 1);
  add_epoch_lane(problem.network, 2, 3, 1, 1);
  add_epoch_limit(problem.network, {"port", {{LaneId{0}, 0}, {LaneId{1}, 0}}, 1, 1});
  problem.chunks = {{{0}, {1}}, {{0}, {3}}};
  const EpochDistances distances(switch_paths(problem.network));
  const EpochRound round(problem, distances, {Epoch{0}, Epoch{1}, {}, 1, false});
  CHECK(round.improved({}, 20, WorkLimit(no_limit)) == epoch_plan({{0, 0, 0}}));
}

TEST_CASE("Closeness falls with the distance, and is always worth less than having arrived") {
  CHECK(closeness(0) == 1);
  CHECK(closeness(1) < 0.5);
  for (std::uint32_t d = 0; d < 100; ++d) CHECK(closeness(d) > closeness(d + 1));
  CHECK(closeness(unreachable) == 0);
}

TEST_CASE("Rounds: a start that is as good is kept, a worse one isn't") {
  EpochProblem problem = line(3);
  problem.chunks = {{{0}, {1, 2}}, {{0}, {1, 2}}};
  const EpochDistances distances(switch_paths(problem.network));
  const EpochRound round(problem, distances, {Epoch{0}, Epoch{2}, {}, 1, false});
  const EpochPlan best = epoch_plan({{0, 0, 0}, {1, 0, 1}, {1, 1, 0}}),
                  other = epoch_plan({{0, 0, 1}, {1, 0, 0}, {1, 1, 1}});
  CHECK(round.improved(best, 20, WorkLimit(no_limit)) == best);
  CHECK(round.improved(other, 20, WorkLimit(no_limit)) == other); // chunks exchanged
  CHECK(round.improved(epoch_plan({{1, 0, 0}}), 20, WorkLimit(no_limit)).size() == 3);
}

TEST_CASE("Rounds: say so where nothing comes closer") {
  EpochProblem problem = line(3);
  problem.chunks = {{{0}, {2}}};
  problem.buffer_limit = 0; // node 1 may not keep it
  for (const RoundsAnswer& found : {rounds(problem, 2), greedy_rounds(problem, 2)}) {
    CHECK(found.answer.status == EpochStatus::timed_out);
    CHECK_THAT(found.answer.method, ContainsSubstring("no progress: 1 deliveries left"));
    CHECK(found.answer.plan.empty());
    CHECK_FALSE(found.greedy_epochs);
  }
}

TEST_CASE("Greedy plans don't send on what a relay had no room to keep") {
  EpochProblem problem = line(3);
  problem.chunks = {{{0}, {2}}, {{0}, {2}}};
  problem.buffer_limit = 1;
  const auto paths = switch_paths(problem.network);
  // Both are at node 1 from epoch 2 on; only one of them may have stayed there.
  const EpochPlan past = epoch_plan({{0, 0, 0}, {1, 0, 1}});
  const EpochPlan next =
      greedy_plan(problem, EpochDistances(paths), paths, past, Epoch{2}, Epoch{10});
  CHECK(next == epoch_plan({{2, 1, 0}}));
}

TEST_CASE("Rounds: someone is out of reach") {
  EpochProblem problem = line(2);
  problem.chunks = {{{1}, {0}}};
  const RoundsAnswer found = rounds(problem, 1);
  CHECK(found.answer.status == EpochStatus::infeasible);
  CHECK(found.rounds == 0);
}

TEST_CASE("Rounds: nothing is wanted") {
  EpochProblem problem = line(2);
  problem.chunks = {{{0}, {}}};
  const RoundsAnswer found = rounds(problem, 1);
  REQUIRE(is_feasible(found));
  CHECK(found.answer.plan.empty());
  CHECK(found.greedy_epochs == 0U);
}

TEST_CASE("Rounds: a limit that is reached leaves the greedy plan") {
  SynthesisOptions options;
  options.cancelled = [] { return true; };
  const EpochProblem problem = cube(1);
  const RoundsAnswer found = epoch_rounds(problem, {.epochs = 2}, WorkLimit(options));
  REQUIRE(is_feasible(found));
  CHECK(found.rounds == 0);
  CHECK(found.answer.method == "greedy");
  CHECK(epoch_fault(problem, found.answer.plan).empty());
}

TEST_CASE("Rounds: at most two epochs more than the fewest, on random networks", "[slow]") {
  Random random(7);
  std::uint32_t compared = 0, longer = 0, stuck = 0;
  for (int i = 0; i < 400 && compared < 60; ++i) {
    const EpochProblem problem = random_epochs(random);
    if (!fewest_epochs(problem)) continue;
    const std::uint32_t epochs = 1 + static_cast<std::uint32_t>(i) % 4;
    INFO("problem " << i << ", rounds of " << epochs);
    const RoundsAnswer found = rounds(problem, epochs);
    const RoundsAnswer greedy = greedy_rounds(problem, epochs);
    for (const RoundsAnswer& each : {found, greedy})
      if (is_feasible(each)) CHECK(epoch_fault(problem, each.answer.plan).empty());
    std::optional<std::uint32_t> fewest;
    for (std::uint32_t k = *fewest_epochs(problem); k <= 10 && !fewest; ++k) {
      const std::optional<bool> exists = plan_exists(problem, k, 200'000);
      if (!exists) break;
      if (*exists) fewest = k;
    }
    if (!fewest) continue;
    ++compared;
    if (!is_feasible(found)) {
      CHECK(problem.buffer_limit);
      ++stuck;
      continue;
    }
    const std::uint32_t taken = *epochs_of(problem, found.answer.plan);
    CHECK(taken >= *fewest);
    CHECK(taken <= *fewest + 2);
    if (taken > *fewest) ++longer;
  }
  CHECK(compared == 60);
  CHECK(longer <= 12);
  CHECK(stuck <= 3);
}

TEST_CASE("Rounds: the cube's All-Gather in as few epochs as its lanes allow") {
  // Seven chunks come to each node over three lanes: three epochs, and that is the diameter.
  const EpochProblem one = cube(1);
  const RoundsAnswer found = rounds(one, 3);
  REQUIRE(is_feasible(found));
  CHECK(epoch_fault(one, found.answer.plan).empty());
  CHECK(epochs_of(one, found.answer.plan) >= 3U);
  CHECK(epochs_of(one, found.answer.plan) <= 4U);
}

TEST_CASE("Rounds: the same plan again") {
  const EpochProblem problem = epoch_problem(internal1(2), all_gather(internal1(2), 25'000), {});
  const RoundsAnswer first = rounds(problem, 2), second = rounds(problem, 2);
  CHECK(first.answer.plan == second.answer.plan);
  CHECK(first.answer.objective == second.answer.objective);
}

TEST_CASE("Rounds: Internal 1 with two chassis, through the switch") {
  const Topology topology = internal1(2);
  const Collective collective = all_gather(topology, 25'000);
  const EpochProblem problem = epoch_problem(topology, collective, {});
  const RoundsAnswer found = rounds(problem, 2);
  REQUIRE(is_feasible(found));
  CHECK(epoch_fault(problem, found.answer.plan).empty());
  // Two slow links bring four chunks into a chassis: the second of each is there after 2 epochs of
  // waiting, 3 to the switch and 1 out of it, and needs 2 more to a neighbour.
  CHECK(epochs_of(problem, found.answer.plan) == 8U);
}

TEST_CASE("Rounds: Internal 1 with 64 and 128 GPUs, greedy, within 5 % of the bound", "[slow]") {
  for (const std::uint32_t chassis : {16U, 32U}) {
    const Topology topology = internal1(chassis);
    for (const std::int64_t bytes : {25'000, 1'000'000}) {
      const Collective collective = all_gather(topology, bytes);
      const EpochProblem problem = epoch_problem(topology, collective, {});
      const RoundsAnswer found = epoch_rounds(problem, {}, WorkLimit(no_limit));
      REQUIRE(is_feasible(found));
      CHECK(epoch_fault(problem, found.answer.plan).empty());
      const Time bound = lower_bound(topology, collective, TimeModel{}, Chunking::given).time;
      const std::int64_t taken = *epochs_of(problem, found.answer.plan) * problem.network.epoch.ps;
      CHECK(static_cast<double>(taken) <= 1.05 * static_cast<double>(bound.ps));
    }
  }
}

} // namespace rounds_test
