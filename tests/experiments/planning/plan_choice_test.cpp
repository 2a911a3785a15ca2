// Which plans an iteration uses: by what it takes, not by what each collective takes alone.
#include "experiments/driver/planning/plan_choice.hpp"
#include "experiments/driver/planning/workload_planning.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/planning/workload_samples.hpp"
#include "tests/experiments/studies/training_planning.hpp"
#include "topologies/list.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace tutti;

namespace {

/// Durations that say nothing about what is best alone: a hash of the choice.
Time arbitrary_duration(const PlanChoice& choice, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const std::size_t variant : choice) hash = (hash ^ (variant + 1)) * 0x9e3779b97f4a7c15;
  return Time{static_cast<std::int64_t>(hash >> 40)};
}

} // namespace

TEST_CASE("equally fast alone: the plan that leaves more of the links to others") {
  CHECK(is_better({"a", Time{5}, Time{9}}, {"b", Time{5}, Time{10}}));
  CHECK(is_better({"a", Time{4}, Time{90}}, {"b", Time{5}, Time{10}}));
  CHECK_FALSE(is_better({"a", Time{5}, Time{9}}, {"b", Time{5}, Time{9}}));
}

TEST_CASE("where there is nothing to choose nothing is simulated") {
  const std::vector<std::vector<PlanVariant>> collectives(3, {{"a", Time{1}, Time{1}}});
  const auto never = [](const PlanChoice&) -> std::optional<SimulatedChoice> {
    FAIL("simulated");
    return std::nullopt;
  };
  CHECK(best_choice(collectives, never) == PlanChoice{0, 0, 0});
}

TEST_CASE("no algorithm throughout is faster than the choice, whatever the durations") {
  std::mt19937_64 random(GENERATE(1, 2, 3));
  const std::vector<std::string> names{"a", "b", "c", "d"};
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::vector<PlanVariant>> collectives(1 + random() % 5);
    for (auto& variants : collectives) {
      for (const std::string& name : names)
        if (random() % 3 > 0)
          variants.push_back({name, Time{static_cast<std::int64_t>(random() % 50)}, Time{1}});
      if (variants.empty()) variants.push_back({names[random() % 4], Time{7}, Time{1}});
    }
    const std::uint64_t seed = random();
    const auto simulate = [&](const PlanChoice& choice) {
      return std::optional(SimulatedChoice{arbitrary_duration(choice, seed), 1});
    };
    const PlanChoice best = best_choice(collectives, simulate);
    REQUIRE(best.size() == collectives.size());
    for (std::size_t c = 0; c < best.size(); ++c) REQUIRE(best[c] < collectives[c].size());
    for (const std::string& name : names) {
      PlanChoice choice;
      for (const auto& variants : collectives) {
        const auto own = std::ranges::find(variants, name, &PlanVariant::algorithm);
        if (own == variants.end()) break;
        choice.push_back(static_cast<std::size_t>(own - variants.begin()));
      }
      if (choice.size() == collectives.size())
        CHECK(arbitrary_duration(best, seed) <= arbitrary_duration(choice, seed));
    }
  }
}

TEST_CASE("exchanges end where they have cost enough, or somebody cancels") {
  const std::vector<std::vector<PlanVariant>> collectives(
      1'000, {{"a", Time{100}, Time{1}}, {"b", Time{101}, Time{1}}, {"c", Time{102}, Time{1}}});
  int simulated = 0;
  const auto simulate = [&](const PlanChoice&) {
    ++simulated;
    return std::optional(SimulatedChoice{Time{1'000'000 - simulated}, 1'000'000});
  };
  (void)best_choice(collectives, simulate);
  CHECK(simulated <= 3 + 20);
  simulated = 0;
  (void)best_choice(collectives, simulate, [&] { return simulated == 2; });
  CHECK(simulated == 2);
}

TEST_CASE("an iteration by the best of several algorithms is no slower than by any of them") {
  const std::vector<std::string> names{"ring", "direct", "tacos"};
  std::mt19937_64 random(GENERATE(4, 5));
  for (const std::string network :
       {"k_ary_tree:4x2,bandwidth=25GB/s,latency=500ns",
        "k_ary_tree:2x4,bandwidth=25GB/s,latency=500ns", "torus2d:4x4,bandwidth=10GB/s,latency=1us",
        "hypercube:4,bandwidth=50GB/s,latency=100ns"}) {
    INFO(network);
    const Topology topology = make_topology(network);
    // Neighbouring and strided groups at once, as tensor and data parallelism have them.
    const std::uint32_t npus = topology.npu_count();
    std::vector<samples::Group> groups(npus / 2);
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      groups[npu / 4].push_back(npu);
      groups[npus / 4 + npu % (npus / 4)].push_back(npu);
    }
    std::vector<samples::Communication> all;
    for (int i = 0; i < 3; ++i)
      all.push_back(
          {random() % 2 == 0 ? CollectiveKind::all_gather : CollectiveKind::reduce_scatter,
           Bytes{std::int64_t{1} << (12 + random() % 10)}});
    const Workload workload = samples::communicating(npus, groups, all);
    const auto duration = [&](const std::vector<std::string>& algorithms) {
      PlanningOptions options;
      options.algorithms = find_algorithms(algorithms);
      return run_iteration_native(topology, workload,
                                  samples::planned(topology, workload, options).plans)
          .duration;
    };
    const Time best = duration(names);
    for (const std::string& name : names) CHECK(best <= duration({name}));
  }
}
