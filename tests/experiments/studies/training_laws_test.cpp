// Laws that hold of any training, with generated workloads, real algorithms and both engines.
#include "experiments/driver/studies/registry.hpp"
#include "sim/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/training_planning.hpp"
#include "topologies/list.hpp"
#include "workloads/parallelism/training.hpp"
#include "workloads/planning/planning.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace training_laws_test {

using namespace tutti;

namespace {

IterationReport iteration(const Topology& topology, const Workload& workload,
                          const std::string& algorithm, bool fold = true) {
  PlanningOptions planning;
  planning.algorithms = {find_algorithm(algorithm)};
  const WorkloadPlanning planned = samples::planned(topology, workload, planning);
  REQUIRE(planned.problem.empty());
  IterationOptions options;
  options.fold = fold;
  return run_iteration_native(topology, workload, planned.plans, options);
}

Workload small_gpt(const Topology& topology, const TrainingSpec& spec) {
  return make_training(topology, load_model("gpt3_small"), load_npu_profile("a100"), spec);
}

} // namespace

TEST_CASE("overlapping gradients with the backward pass is never slower") {
  const Topology topology = make_topology("torus2d:4x4,bandwidth=10GB/s,latency=1us");
  const Model model = load_model("resnet50");
  const NpuProfile npu = load_npu_profile("a100");
  for (const std::string algorithm : {"ring", "tacos", "direct"})
    for (const std::int64_t bucket : {std::int64_t{0}, std::int64_t{5'000'000}}) {
      INFO(algorithm << ", buckets of " << bucket);
      TrainingSpec spec;
      spec.data = 16;
      spec.micro_batch = 4;
      spec.bucket = Bytes{bucket};
      const Time overlapped =
          iteration(topology, make_training(topology, model, npu, spec), algorithm).duration;
      spec.overlap = false;
      const Time apart =
          iteration(topology, make_training(topology, model, npu, spec), algorithm).duration;
      CHECK(overlapped < apart);
    }
}

TEST_CASE("(2,8) and (8,2) differ exactly as the networks do") {
  TrainingSpec spec;
  spec.tensor = 2;
  spec.data = 8;
  spec.micro_batch = 2;
  for (const std::string algorithm : {"ring", "tacos"}) {
    INFO(algorithm);
    // The same network, numbered along the other dimension first; NPUs placed accordingly.
    const Topology wide = make_topology("torus2d:2x8,bandwidth=100GB/s+25GB/s,latency=1us");
    const Topology tall = make_topology("torus2d:8x2,bandwidth=25GB/s+100GB/s,latency=1us");
    spec.dimensions = {0, 1};
    const Time on_wide = iteration(wide, small_gpt(wide, spec), algorithm).duration;
    const Time tall_as_is = iteration(tall, small_gpt(tall, spec), algorithm).duration;
    spec.dimensions = {1, 0};
    const Time on_tall = iteration(tall, small_gpt(tall, spec), algorithm).duration;
    CHECK(on_wide == on_tall);
    CHECK(on_wide < tall_as_is); // tensor groups then sit on the slow dimension
  }
}

TEST_CASE("a whole model folded and unfolded, on both engines: the same in every number") {
  const Topology topology = make_topology("torus3d:2x2x4,bandwidth=50GB/s,latency=0.5us");
  TrainingSpec spec;
  spec.tensor = 2;
  spec.pipeline = 4;
  spec.data = 2;
  spec.micro_batches = 4;
  spec.sequence = true;
  spec.zero = 1;
  for (const std::string algorithm : {"ring", "tacos"}) {
    INFO(algorithm);
    const Workload workload = small_gpt(topology, spec);
    const IterationReport folded = iteration(topology, workload, algorithm);
    const IterationReport whole = iteration(topology, workload, algorithm, false);
    CHECK(folded.replayed < whole.replayed);
    CHECK(folded.duration == whole.duration);
    CHECK(folded.accounts == whole.accounts);
    CHECK(folded.communication == whole.communication);
    for (std::size_t l = 0; l < whole.links.size(); ++l) {
      CHECK(folded.links[l].bytes == whole.links[l].bytes);
      CHECK(folded.links[l].busy == whole.links[l].busy);
    }
    PlanningOptions planning;
    planning.algorithms = {find_algorithm(algorithm)};
    const IterationReport simgrid = run_iteration_simgrid(
        topology, workload, samples::planned(topology, workload, planning).plans);
    CHECK(simgrid.duration == whole.duration);
    CHECK(simgrid.accounts == whole.accounts);
  }
}

} // namespace training_laws_test
