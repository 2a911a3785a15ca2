// `tutti run`: an experiment from its TOML file to tables, figures and verdicts.
#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/outside/outside.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/results/result_files.hpp"
#include "experiments/driver/results/results_page.hpp"
#include "experiments/driver/studies/executions/pack_backend.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "sim/files/config.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/standard_files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tutti {

namespace {

/// Errors: InputError with the file, and the study that asks for what can't be.
void require_sound(const Experiment& experiment, const std::string& file) {
  for (const AnyStudy& study : experiment.studies) {
    const std::string label = label_of(study).empty() ? "" : " \"" + label_of(study) + "\"";
    in_file(fmt::format("{}: [[{}]]{}", file, kind_of(study), label),
            [&] { require_sound(study, experiment.topologies); });
  }
}

// Everything is checked before anything runs, and all studies share their refusals: an experiment
// is bad input only where none of its rows accepts it.
std::vector<StudyResult> results_of(const Experiment& experiment, const std::string& file,
                                    std::size_t jobs, bool progress, bool& interrupted) {
  require_sound(experiment, file);
  Interrupts interrupts;
  Refusals refusals;
  const StudyRun how{.networks = experiment.topologies,
                     .interrupts = interrupts,
                     .refusals = refusals,
                     .name = experiment.name,
                     .jobs = jobs,
                     .progress = progress,
                     .explores = true};
  std::vector<StudyResult> results;
  for (const AnyStudy& study : experiment.studies) {
    if (interrupts.cancels()) break;
    results.push_back(run_study(study, how));
  }
  interrupted = interrupts.count() > 0;
  if (!interrupted) refusals.require_some();
  return results;
}

void print_results(const Experiment& experiment, std::span<const StudyResult> results,
                   const RunArguments& arguments) {
  if (arguments.json) {
    print_text(results_json("run", results, &experiment));
    return;
  }
  const TableForm form = table_form(arguments.tables);
  std::string text = experiment.title + "\n";
  for (const StudyResult& result : results)
    if (const std::string story = result.story(form); !story.empty()) text += "\n" + story;
  if (const std::vector<Comparison> comparisons = comparisons_of(results); !comparisons.empty())
    if (const std::string table = comparison_text(comparisons, form); !table.empty())
      text += "\n" + table;
  print_tables(text);
}

// Says on stderr what went wrong; the exit code.
int exit_code_of(std::span<const StudyResult> results) {
  int code = 0;
  for (const StudyResult& result : results)
    code = std::max({code, report_problems(result.defects), report_problems(result.nothing_made)});
  if (!all_agree(comparisons_of(results))) {
    print_message("an expected value differs, and isn't what \"ours\" says");
    code = 1;
  }
  return code;
}

/// The executions, measured by this pack from now on. Errors: InputError where there is more.
std::vector<ExecutionStudy*> executions_of_pack(Experiment& experiment, PackBackend& gpu_pack) {
  std::vector<ExecutionStudy*> studies;
  for (AnyStudy& study : experiment.studies) {
    auto* execution = std::get_if<ExecutionStudy>(&study);
    if (execution == nullptr)
      throw InputError(experiment.name +
                       ": tutti-gpu measures executions, but there is more in it");
    execution->gpu_pack = &gpu_pack;
    studies.push_back(execution);
  }
  return studies;
}

// A pack is written whole or not at all: with a part of the runs left out by Ctrl-C it would be
// another pack than the one whose rows come back.
int write_pack(Experiment experiment, const std::string& file, const RunArguments& arguments) {
  PackBackend pack(experiment.name);
  const std::vector<ExecutionStudy*> studies = executions_of_pack(experiment, pack);
  if (arguments.out) throw InputError("--out: a pack has no results");
  if (arguments.json) throw InputError("--json: a pack has no results");
  runtime::require_pack_place(*arguments.pack);
  require_sound(experiment, file);
  Interrupts interrupts;
  Refusals refusals;
  const StudyRun how{.networks = experiment.topologies,
                     .interrupts = interrupts,
                     .refusals = refusals,
                     .name = experiment.name,
                     .progress = arguments.progress};
  std::vector<ExecutionEvaluation> evaluations;
  for (const ExecutionStudy* study : studies)
    if (!interrupts.cancels()) evaluations.push_back(evaluate_study(*study, how));
  if (interrupts.count() > 0) {
    print_message(fmt::format("interrupted: {} isn't written", *arguments.pack));
    return interrupted_exit_code;
  }
  refusals.require_some();
  int code = 0;
  for (const ExecutionEvaluation& each : evaluations) {
    code = std::max(code, report_problems(problems_of(each)));
    for (const ExecutionRun& run : each.runs)
      if (!run.execution && run.problem.empty())
        print_message(fmt::format("{}, {}, {}: not in the pack: {}", each.label, run.algorithm,
                                  to_text(run.size), run.note));
  }
  if (code != 0) return code;
  pack.pack().write(*arguments.pack);
  print_text(fmt::format("{}: {} runs in {} files, {}\n", *arguments.pack,
                         pack.pack().lines().size(), pack.pack().files(),
                         short_text(Bytes{static_cast<std::int64_t>(pack.pack().bytes())})));
  return 0;
}

/// What all [[runs]] are to have, and what is said of it above the copy of the file.
struct ChangedRuns {
  std::vector<GivenOption> options;
  std::string words;
};

ChangedRuns changed_runs(const RunArguments& arguments) {
  ChangedRuns changed;
  const auto list = [](std::span<const std::string> texts) {
    GivenValue::List items;
    for (const std::string& text : texts) items.push_back({text});
    return GivenValue{std::move(items)};
  };
  const auto change = [&changed](const std::string& option, const std::string& key,
                                 const std::string& text, GivenValue value) {
    changed.options.push_back({option, "runs." + key, std::move(value)});
    changed.words += fmt::format(" {} {}", option, text);
  };
  if (arguments.size) change("--size", "sizes", *arguments.size, list({{*arguments.size}}));
  if (!arguments.algorithms.empty())
    change("--algorithm", "algorithms", joined(arguments.algorithms, ","),
           list(arguments.algorithms));
  for (const std::string& setting : arguments.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == setting.npos)
      throw InputError("--set: expected key=value, found \"" + setting + "\"");
    change("--set", "settings." + setting.substr(0, equals), setting, {setting.substr(equals + 1)});
  }
  return changed;
}

Experiment read_changed(const std::string& toml, const std::string& file,
                        const ChangedRuns& changed, ProgramGate gate) {
  const ConfigTable root = parse_config(toml, file, std::move(gate));
  if (!root.has("runs"))
    throw InputError(
        fmt::format("{}: it has no [[runs]], which{} would change", file, changed.words));
  const ConfigTable runs = config_of(changed.options).at("runs").table();
  return parse_experiment(root.overlaid_in("runs", runs, "expect"), file);
}

} // namespace

int run_command(const RunArguments& arguments) {
  if (const auto several = find_experiments(arguments.experiment); !several.empty())
    return run_many(several, arguments, run_command);
  const std::string file = find_experiment(arguments.experiment);
  const std::string toml = read_input_file(file);
  const ChangedRuns changed = changed_runs(arguments);
  const ProgramGate gate = program_gate(arguments.allow_programs, true);
  Experiment experiment = arguments.changes_runs() ? read_changed(toml, file, changed, gate)
                                                   : parse_experiment(toml, file, gate);
  for (const LabelledTopology& network : experiment.topologies)
    report_assumptions(network.topology);
  require_formats(arguments.pictures);
  if (arguments.pack) return write_pack(std::move(experiment), file, arguments);
  require_columns(arguments.tables, experiment.studies);
  std::optional<PackBackend> gpu_pack;
  runtime::Rows rows;
  if (arguments.measured) {
    rows = runtime::read_rows(read_input_file(*arguments.measured), *arguments.measured);
    gpu_pack.emplace(experiment.name, rows, *arguments.measured);
    (void)executions_of_pack(experiment, *gpu_pack);
  }
  const std::size_t jobs = arguments.jobs ? parse_jobs(*arguments.jobs) : default_jobs();
  const std::string folder = arguments.out.value_or(default_folder(file, experiment.name) +
                                                    (arguments.changes_runs() ? "_changed" : ""));
  start_results(folder, experiment,
                arguments.changes_runs() ? "# Run with" + changed.words + "\n" + toml : toml);
  bool interrupted = false;
  const std::vector<StudyResult> results =
      results_of(experiment, file, jobs, arguments.progress, interrupted);
  if (interrupted) {
    print_results(experiment, results, arguments);
    print_message(fmt::format("interrupted: no results are written to {}", folder));
    return interrupted_exit_code;
  }
  if (gpu_pack) gpu_pack->require_same_pack();
  std::vector<std::string> files = write_results(folder, experiment, results);
  print_results(experiment, results, arguments);
  for (std::string& figure : write_figures(folder, results, arguments.pictures))
    files.push_back(std::move(figure));
  write_explorer(files.emplace_back(folder + "/index.html"),
                 exploration_of(experiment.title, own_command(), results, true));
  if (!arguments.json && gpu_pack) print_text("\n" + figures_text(rows));
  if (!arguments.json) print_text(fmt::format("\nwritten: {}\n", joined(files, " ")));
  flush_standard_output(); // results first, then what is wrong with them
  return std::max(gpu_pack ? report_problems(problems_of(rows)) : 0, exit_code_of(results));
}

} // namespace tutti
