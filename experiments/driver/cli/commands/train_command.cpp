// `tutti train`: iterations of training, by one or several algorithms, and where their time goes.
#include "experiments/driver/cli/cache_option.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/study_line.hpp"
#include "experiments/driver/figures/iteration_trace.hpp"
#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/studies/training/columns.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tutti {

namespace {

// One NPU of each program is enough to read a pipeline; thousands would fill no screen but the
// disk.
std::vector<NodeId> traced_npus(const TrainArguments& arguments, const Workload& workload) {
  if (!arguments.traced) return npus_to_trace(workload);
  std::vector<NodeId> npus;
  for (const std::uint32_t npu : parse_ranges(*arguments.traced, "--trace-npus")) {
    if (npu >= workload.places.size())
      throw InputError(fmt::format("--trace-npus: there is no npu{}", npu));
    npus.push_back(NodeId{npu});
  }
  std::sort(npus.begin(), npus.end());
  npus.erase(std::unique(npus.begin(), npus.end()), npus.end());
  return npus;
}

// Before hours of planning.
void require_sound_files(const TrainArguments& arguments) {
  require_picture_name(arguments.heatmap);
  require_drawable(arguments.draw);
  require_page_name(arguments.explore);
  require_outputs(inputs_of(arguments.topology, arguments.line),
                  {arguments.trace, arguments.heatmap, arguments.draw.file, arguments.explore});
  require_writable(arguments.out, "training.csv");
  if (arguments.traced && arguments.trace.empty() && arguments.explore.empty())
    throw InputError("--trace-npus: there is no --trace or --explore");
}

void write_iterations(const TrainArguments& arguments, const TrainingEvaluation& evaluation,
                      const Topology& topology, const Workload& workload) {
  const auto name_of = [](const TrainingRun& run) {
    return fmt::format("{}, {}", name_of_plan(run), to_text(run.condition));
  };
  std::vector<std::string> left_out =
      left_out_of_iteration(workload, traced_npus(arguments, workload));
  for (const TrainingRun& run : evaluation.runs)
    if (!run.report) left_out.push_back(fmt::format("{}: {}", name_of(run), run.note));
  save_trace(arguments.trace, left_out, [&](TraceEvents& events) {
    std::uint32_t pid = 0;
    for (const TrainingRun& run : evaluation.runs)
      if (run.report) write_iteration(events, ++pid, name_of(run), topology, workload, *run.report);
  });
  report_left_out(arguments.trace, left_out);
}

void write_pictures(const TrainArguments& arguments, const TrainingEvaluation& evaluation,
                    const TrainingNetwork& network, const Workload& workload) {
  if (!has_report(evaluation)) return;
  if (!arguments.trace.empty())
    write_iterations(arguments, evaluation, *network.topology, workload);
  if (!arguments.heatmap.empty())
    draw(training_heatmap(evaluation, {&network, 1}), arguments.heatmap);
}

} // namespace

int train_command(const TrainArguments& arguments) {
  const Experiment experiment =
      experiment_of(TrainingStudy::kind, arguments.topology, parse_seed(arguments.seed),
                    TrainingStudy::options_of_command(), arguments.line);
  require_columns(arguments.tables, experiment.studies);
  TrainingStudy study = *experiment.all<TrainingStudy>().front();
  const Topology& topology = experiment.topologies.front().topology;
  const TrainingNetwork network{topology.name(), &topology};
  study.cache = usable_cache(study.cache);
  study.draw_threads = static_cast<unsigned>(default_jobs());
  allow_memory(study.planning.options);
  require_sound_files(arguments);
  Interrupts interrupts;
  InterruptibleWork work(interrupts, "training on " + topology.name(), arguments.progress);
  work.watch(study.planning.options);
  Workload workload;
  TrainingWatcher watcher;
  watcher.progress = work.beside(run_announcer("", arguments.progress));
  watcher.made = [&](const Topology&, const Workload& made) {
    if (!arguments.trace.empty()) workload = made;
    if (!arguments.export_chakra.empty()) (void)write_chakra(made, arguments.export_chakra);
  };
  if (!arguments.trace.empty() || arguments.traced)
    watcher.recorded = [&](const Workload& made) { return traced_npus(arguments, made); };
  std::vector<ExploredTimeline> timelines;
  if (!arguments.explore.empty()) watch_timelines(watcher, study, timelines);
  TrainingEvaluation evaluation = evaluate_training(study, {&network, 1}, watcher);
  work.finish();
  const bool interrupted = interrupts.count() > 0;
  if (!interrupted) write_pictures(arguments, evaluation, network, workload);
  StudyResult result = result_of(std::move(evaluation), {network}, NpuDetail::all);
  result.timelines = std::move(timelines);
  return conclude(result, "train", arguments, interrupted);
}

} // namespace tutti
