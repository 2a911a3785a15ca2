// `tutti train`: iterations of training, by one or several algorithms, and where their time goes.
#include "experiments/driver/cache/schedule_cache.hpp"
#include "experiments/driver/cli/cache_option.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/cli/work_limits.hpp"
#include "experiments/driver/figures/iteration_trace.hpp"
#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/frontiers/evaluation.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/training/condition.hpp"
#include "experiments/driver/studies/training/display.hpp"
#include "experiments/driver/studies/training/figure.hpp"
#include "experiments/driver/studies/training/reader.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tutti {

namespace {

std::vector<std::string> names_of(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts)
    for (const std::string_view name : split(text, ',')) names.emplace_back(trimmed(name));
  return names;
}

std::vector<TrainingPlan> plans_of(const TrainArguments& arguments) {
  const std::vector<std::string> names = names_of(arguments.algorithms);
  if (!arguments.candidates.empty() && std::ranges::find(names, "auto") == names.end())
    throw InputError("--candidates: they are of algorithm auto, which isn't asked for");
  return parse_training_plans(names, arguments.candidates.empty()
                                         ? default_candidates()
                                         : find_algorithms(arguments.candidates));
}

PlanningOptions planning_of(const TrainArguments& arguments) {
  PlanningOptions planning;
  for (const auto& [name, algorithm] :
       of_option("--by-collective", [&] { return parse_settings(arguments.by_collective); })) {
    (void)of_option("--by-collective", [&kind = name] { return parse_collective_kind(kind); });
    planning.by_collective.emplace(name, find_algorithm(algorithm));
  }
  if (arguments.chunks)
    if (const auto chunks = of_option("--chunks", [&] { return parse_chunks(*arguments.chunks); }))
      planning.chunks = {*chunks};
  planning.options.model = time_model(arguments.model);
  planning.one_at_a_time = arguments.one_at_a_time;
  if (arguments.local_mem_bw)
    planning.options.model.reduce_rate = of_option(
        "--local-mem-bw", [&] { return reduction_rate(parse_bandwidth(*arguments.local_mem_bw)); });
  planning.options.seed = parse_seed(arguments.seed);
  planning.options.settings = parse_settings(arguments.settings);
  if (arguments.limit) set_limits(planning.options, *arguments.limit);
  allow_memory(planning.options);
  return planning;
}

Share parse_share(const std::string& text) {
  const std::string_view digits = trimmed(text);
  std::size_t used = 0;
  double share = 0;
  try {
    share = std::stod(std::string(digits), &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != digits.size() || !(share >= 1e-6 && share <= 1))
    throw InputError(fmt::format("\"{}\" isn't a share (above 0, at most 1)", text));
  return Share{static_cast<std::uint32_t>(std::lround(share * 1e6))};
}

// Failed links are part of the plan, but out of order from the beginning; what is drawn at a moment
// of the run is for `tutti failures`.
EventPlan events_of(const TrainArguments& arguments, const Topology& topology) {
  if (!arguments.event_texts.empty() && !arguments.event_file.empty())
    throw InputError("--event and --events exclude each other");
  EventPlan plan = arguments.event_file.empty() ? parse_event_texts(arguments.event_texts, topology)
                                                : read_event_file(arguments.event_file, topology);
  if (plan.draws())
    throw InputError(fmt::format("{}: training takes events that are written one by one, none that "
                                 "are drawn",
                                 arguments.event_file));
  if (!arguments.failed_links) return plan;
  for (const std::string& text : names_of({*arguments.failed_links}))
    plan.failed_links.push_back(static_cast<std::size_t>(of_option("--failed-links", [&] {
      return parse_integer(text, "number", 0, topology.link_count());
    })));
  return plan;
}

Disturbances disturbances_of(const TrainArguments& arguments, const TrainingNetwork& network) {
  Disturbances disturbances;
  for (const auto& [npu, share] :
       of_option("--straggler", [&] { return parse_settings(arguments.stragglers); }))
    disturbances.stragglers.push_back(
        {npu, of_option("--straggler", [&text = share] { return parse_share(text); })});
  of_option("--straggler", [&] { require_npus(disturbances.stragglers, {&network, 1}); });
  disturbances.events.push_back(events_of(arguments, *network.topology));
  refuse_dead_npus(disturbances.events.back());
  disturbances.policies.clear();
  for (const std::string& name : names_of({arguments.policies}))
    disturbances.policies.push_back(
        of_option("--policy", [&] { return parse_training_policy(name); }));
  return disturbances;
}

TrainingStudy study_of(const TrainArguments& arguments, const TrainingNetwork& network) {
  TrainingStudy study;
  study.topologies = {0};
  study.variants.push_back({"", work_of(arguments.work)});
  study.plans = plans_of(arguments);
  study.planning = planning_of(arguments);
  study.cache = cache_folder(arguments.cache);
  study.engines = parse_engines(arguments.engine);
  study.fold = !arguments.unfolded;
  study.disturbances = disturbances_of(arguments, network);
  require_known_settings(algorithms_of(study), study.planning.options);
  return study;
}

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
  require_outputs({arguments.topology}, {arguments.trace, arguments.heatmap});
  require_writable(arguments.out, "training.csv");
  if (arguments.traced && arguments.trace.empty())
    throw InputError("--trace-npus: there is no --trace");
}

void write_iterations(const TrainArguments& arguments, const TrainingEvaluation& evaluation,
                      const Topology& topology, const Workload& workload) {
  const auto name_of = [](const TrainingRun& run) {
    return fmt::format("{}, {}", run.plan, to_text(run.condition));
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
  tell_left_out(arguments.trace, left_out);
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
  const Topology topology = make_topology(arguments.topology);
  const TrainingNetwork network{topology.name(), &topology};
  TrainingStudy study = study_of(arguments, network);
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
  if (!arguments.trace.empty())
    watcher.recorded = [&](const Workload& made) { return traced_npus(arguments, made); };
  TrainingEvaluation evaluation = evaluate_training(study, {&network, 1}, watcher);
  work.finish();
  const bool interrupted = interrupts.count() > 0;
  if (!interrupted) write_pictures(arguments, evaluation, network, workload);
  return conclude(result_of(std::move(evaluation), {network}, NpuDetail::all),
                  {.command = "train",
                   .tables = arguments.tables,
                   .json = arguments.json,
                   .folder = arguments.out,
                   .interrupted = interrupted});
}

} // namespace tutti
