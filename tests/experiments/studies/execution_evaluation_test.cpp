// What executions ask for and predict, on a backend that runs nothing: the experiments for GPUs
// measure every size, since it divides into what schedules and instances need, and predictions cut
// chunks as instances do.
#include "experiments/driver/studies/executions/evaluation.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/engines/engine.hpp"
#include "sim/transforms.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"
#include "topologies/list.hpp"

#include <filesystem>
#include <string>

namespace execution_evaluation_test {

using namespace tutti;

namespace {

runtime::Execution ideal_run(const runtime::Program& program,
                             const runtime::ExecutionRequest& request) {
  (void)runtime::unit_bytes_for(program, request.size, request.type);
  runtime::Execution execution;
  execution.seconds = {1e6}; // no faster than any link
  execution.check.checked = 1;
  return execution;
}
std::string no_obstacle() { return {}; }
double some_rate() { return 1e12; }
const BackendRow nothing_runs{"cpu", ideal_run, ideal_run, no_obstacle, some_rate};

} // namespace

TEST_CASE("every size of an experiment for GPUs divides for every algorithm") {
  std::size_t files = 0, runs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(TUTTI_SOURCE_DIR "/experiments/runtime")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("gpu_")) continue;
    ++files;
    const Experiment experiment = read_experiment(entry.path().string());
    for (const ExecutionStudy* study : experiment.all<ExecutionStudy>()) {
      ExecutionCase c = study->complete(experiment.topologies);
      c.backend = &nothing_runs;
      c.predicted_by = PredictedBy::nothing;
      Refusals refusals;
      const ExecutionEvaluation made = evaluate_execution(c, {}, refusals);
      CHECK(made.runs.size() == c.sizes.size() * c.algorithms.size());
      for (const ExecutionRun& run : made.runs) {
        INFO(name << ", " << study->label << ", " << run.algorithm << ", " << to_text(run.size)
                  << ": " << run.note);
        CHECK(run.execution.has_value());
        CHECK(run.problem == "");
        ++runs;
      }
    }
  }
  CHECK(files >= 2);
  CHECK(runs > 50);
}

TEST_CASE("a prediction with instances is of the chunks that they cut") {
  const Topology topology = make_topology("ring:4");
  const Bytes size{1 << 20};
  ExecutionCase c;
  c.topology = &topology;
  c.collective = "all_gather";
  c.sizes = {size};
  c.algorithms = {find_algorithm("ring1")};
  c.chunks = 1;
  c.backend = &nothing_runs;
  c.predicted_by = PredictedBy::topology;
  c.emulated = true;
  const auto predicted = [&](std::uint32_t instances) {
    c.lowering.instances = instances;
    require_sound(c);
    Refusals refusals;
    const ExecutionEvaluation made = evaluate_execution(c, {}, refusals);
    REQUIRE(made.runs.size() == 1);
    CHECK(made.runs.front().problem == "");
    REQUIRE_FALSE(made.runs.front().predicted.empty());
    return made.runs.front().predicted.front();
  };
  const auto replayed = [&](std::uint32_t chunks_per_shard) {
    const Collective whole =
        make_collective(topology, {CollectiveKind::all_gather, size, {}, 0, 1});
    const Collective cut =
        make_collective(topology, {CollectiveKind::all_gather, size, {}, 0, chunks_per_shard});
    const Outcome outcome = synthesize(find_algorithm("ring1"), topology, whole, {});
    return run_native(topology, cut, split_chunks(*outcome.schedule, chunks_per_shard), {})
        .completion;
  };
  for (const std::uint32_t instances : {1U, 2U, 8U})
    CHECK(predicted(instances) == replayed(instances));
  CHECK(predicted(8) < predicted(1)); // parts are passed on sooner
}

} // namespace execution_evaluation_test
