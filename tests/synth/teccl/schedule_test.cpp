#include "synth/teccl/schedule.hpp"

#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"
#include "synth/teccl/bounds/fewest_epochs.hpp"
#include "synth/teccl/fault.hpp"
#include "synth/teccl/needed_sends.hpp"
#include "synth/teccl/placing.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/synth/teccl/networks.hpp"
#include "tests/synth/teccl/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace schedule_test {

using namespace tutti;
using tutti::testing::epoch_plan;

namespace {

constexpr Epoch any_epoch{100'000};

EpochSettings without_latency() {
  EpochSettings settings;
  settings.with_alpha = false;
  return settings;
}

std::vector<std::vector<LinkId>> paths_of(const Schedule& schedule) {
  std::vector<std::vector<LinkId>> ways;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const auto links = schedule.paths().links(schedule.path_of(i));
    ways.emplace_back(links.begin(), links.end());
  }
  return ways;
}

/// Chunk 0 from 0 to all others on a hub of three; links are 0>3, 3>0, 1>3, 3>1, 2>3, 3>2, and
/// lanes 0>3, 1>3, 2>3, 3>0, 3>1, 3>2.
struct HubCase {
  Topology topology;
  Collective collective;
  EpochProblem problem;
};

HubCase hub_case(bool copies, const EpochSettings& settings) {
  Topology topology = samples::hub(3, copies);
  Collective collective = samples::chunks_of(topology, CollectiveKind::broadcast, Bytes{25'000});
  EpochProblem problem = epoch_problem(topology, collective, settings);
  return {std::move(topology), std::move(collective), std::move(problem)};
}

constexpr LinkId in0{0}, out1{3}, out2{5};

void check_correct(const Topology& topology, const Collective& collective,
                   const Schedule& schedule) {
  const Verdict verdict = verify(topology, collective, schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
}

/// Everything that holds of a plan made from a schedule; the epochs it takes, if there is one.
std::optional<std::uint32_t> check_plan(const Topology& topology, const Collective& collective,
                                        const EpochProblem& problem, const Schedule& given) {
  const std::optional<EpochPlan> plan = as_plan(problem, given, any_epoch);
  if (!plan) return {};
  CHECK(epoch_fault(problem, *plan) == "");
  CHECK(without_useless(problem, *plan) == *plan);
  const std::optional<std::uint32_t> epochs = epochs_of(problem, *plan);
  REQUIRE(epochs);
  const std::optional<std::uint32_t> fewest = fewest_epochs(problem);
  REQUIRE(fewest);
  CHECK(*fewest <= *epochs);
  const Schedule made = as_schedule(problem, *plan, topology.link_count());
  check_correct(topology, collective, made);
  // What nobody needs may come later than all that someone does.
  if (const auto in_time = as_plan(problem, given, Epoch{*epochs})) CHECK(*in_time == *plan);
  if (*epochs > 0) CHECK_FALSE(as_plan(problem, given, Epoch{*epochs - 1}));
  return epochs;
}

std::optional<Schedule> schedule_by(std::string_view name, const Topology& topology,
                                    const Collective& collective) {
  if (name != "tacos") return samples::run_baseline(name, topology, collective).schedule;
  return tacos(topology, collective, {}).schedule;
}

constexpr std::array<std::string_view, 3> makers{"tacos", "ring", "direct"};
constexpr std::array<CollectiveKind, 3> kinds{
    CollectiveKind::all_gather, CollectiveKind::all_to_all, CollectiveKind::broadcast};

} // namespace

TEST_CASE("epoch schedule: a plan in the order of its epochs") {
  TopologyParts parts = samples::npus("line", 3);
  parts.add_link(samples::link(1, 2)); // lane 1
  parts.add_link(samples::link(0, 1)); // lane 0
  const Topology topology(parts);
  const Collective collective =
      samples::chunks_of(topology, CollectiveKind::broadcast, Bytes{25'000}, 2);
  const EpochProblem problem = epoch_problem(topology, collective, without_latency());
  // The second chunk first; what comes to 2 has come to 1 before.
  const EpochPlan plan = epoch_plan({{0, 0, 1}, {1, 0, 0}, {2, 1, 0}, {3, 1, 1}});
  REQUIRE(epoch_fault(problem, plan) == "");
  const Schedule schedule = as_schedule(problem, plan, 2);
  REQUIRE(schedule.size() == 4);
  const std::array<std::uint32_t, 4> chunks{1, 0, 0, 1}, links{1, 1, 0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(schedule[i].chunk.value == chunks[i]);
    CHECK(schedule.path_of(i).value == links[i]);
  }
  check_correct(topology, collective, schedule);
}

TEST_CASE("epoch schedule: through a switch that doesn't copy") {
  const HubCase hub = hub_case(false, without_latency());
  const EpochPlan plan = epoch_plan({{0, 0, 0}, {1, 0, 0}, {1, 4, 0}, {2, 5, 0}});
  REQUIRE(epoch_fault(hub.problem, plan) == "");
  const Schedule schedule = as_schedule(hub.problem, plan, 6);
  CHECK(paths_of(schedule) == std::vector<std::vector<LinkId>>{{in0, out1}, {in0, out2}});
  check_correct(hub.topology, hub.collective, schedule);
  CHECK(as_plan(hub.problem, schedule, Epoch{2}) == plan);
}

TEST_CASE("epoch schedule: through a switch that copies") {
  const HubCase hub = hub_case(true, without_latency());
  SECTION("once for all") {
    const EpochPlan plan = epoch_plan({{0, 0, 0}, {1, 4, 0}, {1, 5, 0}});
    REQUIRE(epoch_fault(hub.problem, plan) == "");
    const Schedule schedule = as_schedule(hub.problem, plan, 6);
    CHECK(paths_of(schedule) == std::vector<std::vector<LinkId>>{{in0}, {out1}, {out2}});
    check_correct(hub.topology, hub.collective, schedule);
    CHECK(as_plan(hub.problem, schedule, Epoch{1}) == plan);
  }
  SECTION("for each alone") {
    const EpochPlan plan = epoch_plan({{0, 0, 0}, {1, 0, 0}, {1, 4, 0}, {2, 5, 0}});
    REQUIRE(epoch_fault(hub.problem, plan) == "");
    const Schedule schedule = as_schedule(hub.problem, plan, 6);
    CHECK(paths_of(schedule) == std::vector<std::vector<LinkId>>{{in0, out1}, {in0, out2}});
    // Placed again, the hub gets it once.
    CHECK(as_plan(hub.problem, schedule, Epoch{1}) ==
          epoch_plan({{0, 0, 0}, {1, 4, 0}, {1, 5, 0}}));
  }
}

TEST_CASE("epoch schedule: what a switch copies a second time takes its whole path") {
  const Topology topology = samples::hub(5, true);
  const Collective collective =
      samples::chunks_of(topology, CollectiveKind::broadcast, Bytes{25'000});
  const EpochProblem problem = epoch_problem(topology, collective, without_latency());
  const auto lane = [&](std::uint32_t from, std::uint32_t to) {
    return samples::lane_between(problem.network, from, to);
  };
  const EpochPlan plan = epoch_plan({{0, lane(0, 5), 0},
                                     {1, lane(0, 5), 0},
                                     {1, lane(5, 1), 0},
                                     {1, lane(5, 2), 0},
                                     {2, lane(5, 3), 0},
                                     {2, lane(5, 4), 0}});
  REQUIRE(epoch_fault(problem, plan) == "");
  const Schedule schedule = as_schedule(problem, plan, topology.link_count());
  CHECK(paths_of(schedule) == std::vector<std::vector<LinkId>>{
                                  {in0}, {in0, LinkId{7}}, {in0, LinkId{9}}, {out1}, {out2}});
  check_correct(topology, collective, schedule);
}

TEST_CASE("epoch schedule: hyper-edges") {
  EpochSettings settings = without_latency();
  settings.switches = SwitchModel::hyper_edges;
  const HubCase hub = hub_case(false, settings);
  Schedule schedule(6);
  for (const LinkId out : {out1, out2})
    schedule.push({ChunkId{0}, schedule.paths().intern(std::vector{in0, out}), Op::copy, false});
  const std::optional<EpochPlan> plan = as_plan(hub.problem, schedule, Epoch{2});
  REQUIRE(plan); // one after the other over 0's link
  CHECK(*plan == epoch_plan({{0, 0, 0}, {1, 1, 0}}));
  CHECK(paths_of(as_schedule(hub.problem, *plan, 6)) == paths_of(schedule));

  const Topology copying = samples::hub(3, true);
  const EpochProblem problem = epoch_problem(copying, hub.collective, settings);
  Schedule stops(6);
  for (const LinkId link : {in0, out1, out2}) stops.push(ChunkId{0}, link, Op::copy);
  check_correct(copying, hub.collective, stops);
  CHECK_FALSE(as_plan(problem, stops, any_epoch)); // no path ends at the hub
}

TEST_CASE("epoch schedule: the first epoch with room") {
  // 25 KB take 1 us on 0 > 1 > 2; an epoch is 0.5 us.
  TopologyParts parts = samples::npus("line", 3);
  parts.add_link(samples::link(0, 1));
  parts.add_link(samples::link(1, 2));
  parts.add_link(samples::link(2, 0));
  parts.links[0].bandwidth = {25'000'000'000};
  const Topology topology(parts);
  const Collective collective =
      samples::chunks_of(topology, CollectiveKind::broadcast, Bytes{25'000}, 3);
  const EpochProblem problem = epoch_problem(topology, collective, without_latency());
  Schedule schedule(3);
  for (const std::uint32_t chunk : {2U, 0U, 1U})
    for (const std::uint32_t link : {0U, 1U}) schedule.push(ChunkId{chunk}, LinkId{link}, Op::copy);
  const EpochPlan plan =
      epoch_plan({{0, 0, 2}, {2, 0, 0}, {2, 1, 2}, {4, 0, 1}, {4, 1, 0}, {6, 1, 1}});
  CHECK(as_plan(problem, schedule, Epoch{7}) == plan);
  CHECK_FALSE(as_plan(problem, schedule, Epoch{6}));

  Schedule unfinished(3);
  unfinished.push(ChunkId{0}, LinkId{0}, Op::copy);
  CHECK_FALSE(as_plan(problem, unfinished, any_epoch));

  EpochProblem limited = problem;
  for (TimedChunk& chunk : limited.chunks) chunk.destinations = {2};
  limited.buffer_limit = 1;
  CHECK(as_plan(limited, schedule, any_epoch) == plan); // each goes on as soon as it comes
  limited.buffer_limit = 0;
  CHECK_FALSE(as_plan(limited, schedule, any_epoch));
}

TEST_CASE("epoch schedule: through NPUs hop by hop, and nowhere twice") {
  TopologyParts parts = samples::npus("line", 3);
  parts.add_link(samples::link(0, 1));
  parts.add_link(samples::link(1, 2));
  const Topology topology(parts);
  const Collective collective =
      samples::chunks_of(topology, CollectiveKind::broadcast, Bytes{25'000});
  const EpochProblem problem = epoch_problem(topology, collective, without_latency());
  Schedule schedule(2); // as Direct does it
  schedule.push(
      {ChunkId{0}, schedule.paths().intern(std::vector{LinkId{0}, LinkId{1}}), Op::copy, false});
  schedule.push(ChunkId{0}, LinkId{0}, Op::copy);
  check_correct(topology, collective, schedule);
  CHECK(as_plan(problem, schedule, any_epoch) == epoch_plan({{0, 0, 0}, {1, 1, 0}}));
}

TEST_CASE("epoch schedule: schedules of others on random networks, in epochs and back") {
  std::uint32_t plans = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Random random(seed);
    const Topology topology = samples::random_network(random, 6);
    const CollectiveKind kind = kinds[random.below(kinds.size())];
    const Collective collective =
        samples::chunks_of(topology, kind, Bytes{25'000}, random.below(2) == 0 ? 2 : 4);
    EpochSettings settings;
    settings.alpha_threshold = 0; // nothing rounded down
    if (random.below(3) == 0) settings.basis = EpochBasis::slowest_link;
    if (random.below(3) == 0)
      settings.duration = Time{70'000 + static_cast<std::int64_t>(100'000 * seed % 1'100'000)};
    const EpochProblem problem = epoch_problem(topology, collective, settings);
    for (const std::string_view maker : makers) {
      const std::optional<Schedule> given = schedule_by(maker, topology, collective);
      if (!given) continue;
      INFO("seed " << seed << ", " << maker << ", " << collective.name());
      const std::optional<std::uint32_t> epochs = check_plan(topology, collective, problem, *given);
      REQUIRE(epochs);
      ++plans;
      const Schedule made =
          as_schedule(problem, *as_plan(problem, *given, any_epoch), topology.link_count());
      const Time planned{*epochs * problem.network.epoch.ps};
      CHECK(run_native(topology, collective, made, {}).completion <= planned);
    }
  }
  CHECK(plans > 200);
}

TEST_CASE("epoch schedule: schedules of others through switches and groups") {
  std::uint32_t plans = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Random random(seed);
    TopologyParts parts = samples::random_network(random, 4).parts();
    const auto npus = static_cast<std::uint32_t>(parts.nodes.size());
    for (std::uint32_t s = 0; s < 1 + seed % 2; ++s) {
      const NodeId id = parts.add_node({"switch" + std::to_string(s),
                                        NodeKind::switching,
                                        {false, random.below(2) == 0, false},
                                        {}});
      for (std::uint32_t n = 0; n < npus; ++n)
        if (random.below(4) != 0) parts.add_duplex(samples::link(n, id.value));
      if (s > 0) parts.add_duplex(samples::link(id.value - 1, id.value));
    }
    SharedGroup group{"some", {}, Bandwidth{30'000'000'000}};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (random.below(4) == 0) group.links.emplace_back(l);
    if (!group.links.empty()) parts.groups.push_back(group);
    const Topology topology(std::move(parts));
    const CollectiveKind kind = kinds[random.below(kinds.size())];
    const Collective collective = samples::chunks_of(topology, kind, Bytes{25'000}, 2);
    EpochSettings settings;
    constexpr std::array<SwitchModel, 3> models{SwitchModel::by_ability, SwitchModel::no_copy,
                                                SwitchModel::hyper_edges};
    settings.switches = models[random.below(models.size())];
    settings.free_switch_exit = random.below(2) == 0;
    settings.with_alpha = random.below(3) != 0;
    const EpochProblem problem = epoch_problem(topology, collective, settings);
    for (const std::string_view maker : makers) {
      const std::optional<Schedule> given = schedule_by(maker, topology, collective);
      if (!given) continue;
      INFO("seed " << seed << ", " << maker << ", " << collective.name());
      if (check_plan(topology, collective, problem, *given)) ++plans;
    }
  }
  CHECK(plans > 200); // hyper-edges don't have every way
}

} // namespace schedule_test
