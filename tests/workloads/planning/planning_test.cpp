// What planning asks of the functions that it is handed, and what it makes of their answers. With
// the synthesis of the driver: tests/experiments/studies/training_planning_test.cpp.
#include "workloads/planning/planning.hpp"

#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/workloads/planning/workload_samples.hpp"
#include "topologies/list.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace planning_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

struct Asked {
  std::string algorithm;
  std::uint32_t npus = 0; ///< of the network
  Bytes size;
  std::optional<std::uint32_t> chunks;
};

/// Baselines in the chunks that are asked for, two where none are. Bounds are 0.
WorkloadSynthesis by_baselines(std::vector<Asked>& asked) {
  WorkloadSynthesis synthesis;
  synthesis.synthesize = [&asked](const AlgorithmRow& row, const Topology& network,
                                  CollectiveSpec spec, std::optional<std::uint32_t> chunks) {
    asked.push_back({std::string(row.name), network.npu_count(), spec.size, chunks});
    spec.chunks_per_shard = chunks.value_or(2) * row.chunk_multiple;
    SynthesizedCollective made;
    made.collective = make_collective(network, spec);
    Outcome outcome = synthesize(row, network, made.collective, {});
    made.note = outcome.note;
    made.schedule = std::move(outcome.schedule);
    made.seconds = 1;
    return made;
  };
  synthesis.bound = [](const Topology&, const CommunicationPlan&) {
    return ProvenBound{Time{}, "none"};
  };
  return synthesis;
}

PlanningOptions by(const std::vector<std::string>& names) {
  PlanningOptions options;
  for (const std::string& name : names) options.algorithms.push_back(baseline(name));
  return options;
}

} // namespace

TEST_CASE("one synthesis for all groups that look alike, on the network of one of them") {
  const Topology topology = make_topology("torus2d:4x4");
  const Workload workload = communicating(
      16, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}},
      {{CollectiveKind::all_gather, Bytes{64'000}}, {CollectiveKind::all_gather, Bytes{400}}});
  std::vector<Asked> asked;
  const WorkloadPlanning planning =
      plan_workload(topology, workload, by({"ring", "direct"}), by_baselines(asked));
  REQUIRE(asked.size() == 4); // two sizes by two algorithms
  for (const Asked& each : asked) {
    INFO(each.algorithm << " " << to_text(each.size));
    CHECK(each.npus == 4);
    // Shards of 100 bytes stay whole, the others' chunks are left to the synthesis.
    const bool is_small = each.size == Bytes{400};
    CHECK(each.chunks == (is_small ? std::optional<std::uint32_t>(1) : std::nullopt));
  }
  CHECK(planning.synthesis_seconds == 4);
  CHECK(planning.problem.empty());
  REQUIRE(planning.plans.plans.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    const PlacedPlan& placed = planning.plans.plans[i];
    const CommunicationRequest& request = planning.plans.requests[i];
    CHECK(verify(topology, asked_for(topology, workload, request, placed),
                 on_the_whole(topology, placed))
              .correct());
  }
}

TEST_CASE("chunks that are asked for are handed on, as far as the buffer goes") {
  const Topology topology = samples::full(4);
  const Workload workload = communicating(
      4, {{0, 1, 2, 3}},
      {{CollectiveKind::all_gather, Bytes{64'000}}, {CollectiveKind::all_gather, Bytes{9}}});
  PlanningOptions options = by({"direct"});
  options.chunks = {2, 8};
  std::vector<Asked> asked;
  (void)plan_workload(topology, workload, options, by_baselines(asked));
  std::vector<std::uint32_t> of_large, of_small;
  for (const Asked& each : asked)
    (each.size == Bytes{9} ? of_small : of_large).push_back(each.chunks.value_or(0));
  CHECK(of_large == std::vector<std::uint32_t>{2, 8});
  CHECK(of_small == std::vector<std::uint32_t>{2}); // 9 bytes are eight chunks at most
}

TEST_CASE("why there is no schedule, defects and warnings come back") {
  const Topology topology = samples::full(3);
  const Workload workload =
      communicating(3, {{0, 1, 2}}, {{CollectiveKind::all_gather, Bytes{30'000}}});
  std::vector<Asked> asked;
  WorkloadSynthesis synthesis = by_baselines(asked);
  const std::string message =
      message_of([&] { (void)plan_workload(topology, workload, by({"rhd"}), synthesis); });
  CHECK_THAT(message, ContainsSubstring("all_gather 30kB among NPUs 0-2 can't be planned (rhd: "));

  const auto baselines = synthesis.synthesize;
  synthesis.synthesize = [&](const AlgorithmRow& row, const Topology& network,
                             const CollectiveSpec& spec, std::optional<std::uint32_t> chunks) {
    SynthesizedCollective made = baselines(row, network, spec, chunks);
    made.warning = "cannot write";
    made.was_remembered = true;
    if (row.name == "ring") made.problem = "fault: one byte too many";
    return made;
  };
  WorkloadPlanning planning = plan_workload(topology, workload, by({"direct", "ring"}), synthesis);
  CHECK(planning.warning == "cannot write");
  CHECK(planning.problem == "ring: all_gather 30kB among NPUs 0-2: fault: one byte too many");
  CHECK(planning.communications.front().was_remembered);

  synthesis.synthesize = baselines;
  synthesis.bound = [](const Topology&, const CommunicationPlan&) {
    return ProvenBound{Time{INT64_MAX / 2}, "nobody is so slow"};
  };
  planning = plan_workload(topology, workload, by({"direct"}), synthesis);
  CHECK_THAT(planning.problem,
             ContainsSubstring("below the lower bound") && ContainsSubstring("nobody is so slow"));
  CHECK(planning.communications.front().bound == Time{INT64_MAX / 2});
}

TEST_CASE("an algorithm that is refused by bad input leaves the collective to the others") {
  const Topology topology = samples::full(3);
  const Workload workload =
      communicating(3, {{0, 1, 2}}, {{CollectiveKind::all_gather, Bytes{30'000}}});
  std::vector<Asked> asked;
  WorkloadSynthesis synthesis = by_baselines(asked);
  synthesis.synthesize = [baselines = synthesis.synthesize](
                             const AlgorithmRow& row, const Topology& network,
                             const CollectiveSpec& spec, std::optional<std::uint32_t> chunks) {
    if (row.name == "ring") throw InputError("out of rings");
    return baselines(row, network, spec, chunks);
  };
  const WorkloadPlanning planning =
      plan_workload(topology, workload, by({"ring", "direct"}), synthesis);
  CHECK(planning.communications.front().algorithm == "direct");
  CHECK_THAT(message_of([&] { (void)plan_workload(topology, workload, by({"ring"}), synthesis); }),
             ContainsSubstring("ring: out of rings"));
}

} // namespace planning_test
