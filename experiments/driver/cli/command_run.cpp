// `tutti run`: an experiment from its TOML file to tables, figures and verdicts.
#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/pool/runner.hpp"
#include "experiments/driver/records/result_files.hpp"
#include "experiments/driver/studies/executions/display.hpp"
#include "experiments/driver/studies/executions/pack_backend.hpp"
#include "experiments/driver/studies/executions/table.hpp"
#include "experiments/driver/studies/failures/display.hpp"
#include "experiments/driver/studies/failures/table.hpp"
#include "experiments/driver/studies/frontiers/display.hpp"
#include "experiments/driver/studies/frontiers/table.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/jobs/table.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/runs/display.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "experiments/driver/studies/training/display.hpp"
#include "experiments/driver/studies/training/table.hpp"
#include "sim/files/files.hpp"
#include "sim/files/standard_files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tutti {

namespace {

// Cases run in processes of their own, several at once; the other kinds of studies in this one.
std::vector<Evaluation> evaluate_cases(const Experiment& experiment, std::span<const Case> cases,
                                       std::size_t jobs, bool progress, Interrupts& interrupts,
                                       Refusals& refusals) {
  RunDisplay display(experiment.name, cases.size(), progress);
  return run_cases(cases, jobs, refusals, display.watcher(interrupts));
}

// One after another, so that their CPU seconds compare with those of a paper.
std::vector<StudyEvaluation> evaluate_studies(const Experiment& experiment, bool progress,
                                              Interrupts& interrupts, Refusals& refusals) {
  std::vector<StudyEvaluation> studies;
  for (const FrontierStudy& study : experiment.frontiers) {
    if (interrupts.cancels()) break;
    FrontierCase c = experiment.frontier_case(study);
    InterruptibleWork work(interrupts, study.label, progress);
    work.watch(c.options);
    const auto found = work.beside(point_announcer(study.label, progress));
    studies.push_back(refusals.row(
        [&] { return evaluate_study(c, study.paper, found); },
        [&](Status status, const std::string& note) { return without_study(c, status, note); }));
  }
  return studies;
}

std::vector<JobStudyEvaluation> evaluate_job_studies(const Experiment& experiment, bool progress,
                                                     Interrupts& interrupts, Refusals& refusals) {
  std::vector<JobStudyEvaluation> studies;
  for (JobStudy study : experiment.jobs) {
    if (interrupts.cancels()) break;
    const LabelledTopology& topology = experiment.topologies[study.topology];
    InterruptibleWork work(interrupts, study.label, progress);
    work.watch(study.options);
    studies.push_back(evaluate_jobs(study, topology.label, topology.topology, refusals));
  }
  return studies;
}

// One after another, as planning takes CPU seconds that are reported.
std::vector<FailureStudyEvaluation> evaluate_failure_studies(const Experiment& experiment,
                                                             bool progress, Interrupts& interrupts,
                                                             Refusals& refusals) {
  std::vector<FailureStudyEvaluation> studies;
  for (const FailureStudy& study : experiment.failures) {
    studies.push_back({study.label, {}, study.expectations});
    for (FailureCase& c : experiment.failure_cases(study)) {
      if (interrupts.cancels()) return studies;
      const std::string what = study.label + ", " + std::string(c.algorithm.name);
      InterruptibleWork work(interrupts, what, progress);
      work.watch(c.options);
      studies.back().algorithms.push_back(refusals.row(
          [&] { return evaluate_failures(c, work.beside(policy_announcer(what, progress))); },
          [&](Status status, const std::string& note) {
            return without_failures(c, status, note);
          }));
    }
  }
  return studies;
}

std::vector<TrainingEvaluation> evaluate_trainings(const Experiment& experiment, bool progress,
                                                   Interrupts& interrupts, Refusals& refusals) {
  std::vector<TrainingEvaluation> evaluations;
  for (TrainingStudy study : experiment.trainings) {
    if (interrupts.cancels()) break;
    InterruptibleWork work(interrupts, study.label, progress);
    work.watch(study.planning.options);
    TrainingWatcher watcher;
    watcher.progress = work.beside(run_announcer(study.label, progress));
    evaluations.push_back(
        evaluate_training(study, experiment.networks_of(study), watcher, refusals));
  }
  return evaluations;
}

// One after another, as they are timed. `elsewhere`: where they are measured, if not here.
std::vector<ExecutionEvaluation> evaluate_executions(const Experiment& experiment, bool progress,
                                                     Interrupts& interrupts, Refusals& refusals,
                                                     PackBackend* elsewhere) {
  std::vector<ExecutionEvaluation> evaluations;
  for (const ExecutionStudy& study : experiment.executions) {
    if (interrupts.cancels()) break;
    ExecutionCase c = experiment.execution_case(study);
    if (elsewhere != nullptr) c = elsewhere->begin(std::move(c));
    InterruptibleWork work(interrupts, study.label, progress);
    work.watch(c.options);
    const auto announce = work.beside(execution_announcer(study.label, progress));
    evaluations.push_back(evaluate_execution(
        c,
        [&](const ExecutionRun& run) {
          if (elsewhere != nullptr) elsewhere->note(run);
          if (announce) announce(run);
        },
        refusals));
    if (elsewhere != nullptr) evaluations.back().left_out = elsewhere->left_out();
  }
  return evaluations;
}

std::vector<Comparison> comparisons_of(const Experiment& experiment,
                                       std::span<const ExecutionEvaluation> evaluations) {
  std::vector<Comparison> all;
  for (std::size_t i = 0; i < evaluations.size(); ++i)
    for (Comparison& each : comparisons_of(experiment.executions[i].expectations, evaluations[i]))
      all.push_back(std::move(each));
  return all;
}

std::vector<Comparison> comparisons_of(const Experiment& experiment,
                                       std::span<const TrainingEvaluation> evaluations) {
  std::vector<Comparison> all;
  for (std::size_t i = 0; i < evaluations.size(); ++i)
    for (Comparison& each : comparisons_of(experiment.trainings[i].expectations, evaluations[i]))
      all.push_back(std::move(each));
  return all;
}

/// `elsewhere`: where executions happen, instead of here; may be null. Errors: InputError with the
/// file, and the study that asks for what can't be.
void require_sound(const Experiment& experiment, std::span<const Case> cases,
                   const std::string& file, PackBackend* elsewhere) {
  const auto in_study = [&](const char* kind, const std::string& label, const auto& check) {
    in_file(fmt::format("{}: [[{}]] \"{}\"", file, kind, label), check);
  };
  in_file(file + ": [[runs]]", [&] { require_sound(cases); });
  for (const FrontierStudy& study : experiment.frontiers)
    in_study("frontiers", study.label, [&] { require_sound(experiment.frontier_case(study)); });
  for (const JobStudy& study : experiment.jobs)
    in_study("jobs", study.label,
             [&] { require_sound(study, experiment.topologies[study.topology].topology); });
  for (const FailureStudy& study : experiment.failures)
    in_study("failures", study.label, [&] {
      for (const FailureCase& c : experiment.failure_cases(study)) require_sound(c);
    });
  for (const TrainingStudy& study : experiment.trainings)
    in_study("training", study.label, [&] { require_sound(study, experiment.networks_of(study)); });
  for (const ExecutionStudy& study : experiment.executions)
    in_study("executions", study.label, [&] {
      const ExecutionCase c = experiment.execution_case(study);
      require_sound(elsewhere == nullptr ? c : elsewhere->begin(c));
    });
}

// Everything is checked before anything runs, and all kinds share their refusals: an experiment is
// bad input only where none of its rows accepts it.
ExperimentResults results_of(const Experiment& experiment, const std::string& file,
                             std::size_t jobs, bool progress, bool& interrupted,
                             PackBackend* elsewhere) {
  const std::vector<Case> cases = experiment.cases();
  require_sound(experiment, cases, file, elsewhere);
  Interrupts interrupts;
  Refusals refusals; // of all studies: what one refuses costs its own rows only
  ExperimentResults results;
  results.evaluations = evaluate_cases(experiment, cases, jobs, progress, interrupts, refusals);
  results.frontiers = evaluate_studies(experiment, progress, interrupts, refusals);
  results.jobs = evaluate_job_studies(experiment, progress, interrupts, refusals);
  results.failures = evaluate_failure_studies(experiment, progress, interrupts, refusals);
  results.trainings = evaluate_trainings(experiment, progress, interrupts, refusals);
  results.executions = evaluate_executions(experiment, progress, interrupts, refusals, elsewhere);
  interrupted = interrupts.count() > 0;
  if (!interrupted && results.trainings.empty())
    refusals.require_some(); // trainings say it in rows
  results.comparisons = compare(experiment.expectations, results.evaluations);
  for (Comparison& comparison : comparisons_of(results.frontiers))
    results.comparisons.push_back(std::move(comparison));
  for (Comparison& comparison : comparisons_of(results.failures))
    results.comparisons.push_back(std::move(comparison));
  for (Comparison& comparison : comparisons_of(experiment, results.trainings))
    results.comparisons.push_back(std::move(comparison));
  for (Comparison& comparison : comparisons_of(experiment, results.executions))
    results.comparisons.push_back(std::move(comparison));
  return results;
}

void print_results(const Experiment& experiment, const ExperimentResults& results,
                   const RunArguments& arguments) {
  if (arguments.json) {
    print_text(json_text(results_json(experiment, results)));
    return;
  }
  const TableForm form = table_form(arguments.tables);
  std::string text = experiment.title + "\n";
  if (!results.evaluations.empty()) text += "\n" + report_text(results.evaluations, form);
  for (const StudyEvaluation& study : results.frontiers)
    text += "\n" + frontier_text(study.frontier, form) + instances_text(study, form);
  for (const JobStudyEvaluation& study : results.jobs) text += "\n" + jobs_text(study, form);
  for (const FailureStudyEvaluation& study : results.failures)
    if (!study.algorithms.empty()) text += "\n" + failures_text(study.algorithms, form);
  for (const TrainingEvaluation& study : results.trainings)
    text += "\n" + training_text(study, form);
  for (const ExecutionEvaluation& each : results.executions)
    text += "\n" + execution_text(each, form);
  if (!results.comparisons.empty())
    text += "\n" + to_text(comparison_table(results.comparisons), form);
  print_tables(text);
}

// Says on stderr what went wrong; the exit code.
int judge(const ExperimentResults& results) {
  int code = report_problems(results.evaluations);
  const auto report = [&code](const auto&... problems) {
    ((code = std::max(code, report_problems(problems))), ...);
  };
  report(nothing_made(results.evaluations));
  for (const StudyEvaluation& study : results.frontiers)
    report(problems_of(study), nothing_made(study));
  for (const JobStudyEvaluation& study : results.jobs)
    report(problems_of(study), nothing_made(study));
  for (const FailureStudyEvaluation& study : results.failures)
    report(problems_of(study.algorithms), nothing_made(study.algorithms));
  for (const TrainingEvaluation& study : results.trainings)
    report(problems_of(study), nothing_made(study));
  for (const ExecutionEvaluation& each : results.executions) report(problems_of(each));
  if (!all_agree(results.comparisons)) {
    print_message("an expected value differs without an explanation");
    code = 1;
  }
  return code;
}

/// What tutti-gpu measures. Errors: InputError where there is more.
void require_executions_only(const Experiment& experiment) {
  if (!experiment.runs.empty() || !experiment.frontiers.empty() || !experiment.failures.empty() ||
      !experiment.jobs.empty() || !experiment.trainings.empty())
    throw InputError(experiment.name + ": tutti-gpu measures executions, but there is more in it");
}

// A pack is written whole or not at all: with a part of the runs left out by Ctrl-C it would be
// another pack than the one whose rows come back.
int write_pack(const Experiment& experiment, const std::string& file,
               const RunArguments& arguments) {
  require_executions_only(experiment);
  if (arguments.out) throw InputError("--out: a pack has no results");
  require_writable(*arguments.pack);
  PackBackend pack(experiment.name);
  bool interrupted = false;
  const ExperimentResults results =
      results_of(experiment, file, 1, arguments.progress, interrupted, &pack);
  if (interrupted) {
    print_message(fmt::format("interrupted: {} isn't written", *arguments.pack));
    return interrupted_exit_code;
  }
  int code = 0;
  for (const ExecutionEvaluation& each : results.executions) {
    code = std::max(code, report_problems(problems_of(each)));
    for (const ExecutionRun& run : each.runs)
      if (!run.execution && run.problem.empty())
        print_message(fmt::format("{}, {}, {}: not in the pack: {}", each.label, run.algorithm,
                                  to_text(run.size), run.note));
  }
  if (code != 0) return code;
  const std::string bytes = pack.pack().bytes();
  write_file(*arguments.pack, bytes);
  print_text(fmt::format("{}: {} runs in {} files, {}\n", *arguments.pack,
                         pack.pack().lines().size(), pack.pack().files(),
                         short_text(Bytes{static_cast<std::int64_t>(bytes.size())})));
  return 0;
}

} // namespace

int run_command(const RunArguments& arguments) {
  const std::string file = find_experiment(arguments.experiment);
  const std::string toml = read_file(file);
  const Experiment experiment = parse_experiment(toml, file);
  if (arguments.pack) return write_pack(experiment, file, arguments);
  std::optional<PackBackend> elsewhere;
  runtime::Rows rows;
  if (arguments.measured) {
    require_executions_only(experiment);
    rows = runtime::load_rows(*arguments.measured);
    elsewhere.emplace(experiment.name, rows, *arguments.measured);
  }
  const std::size_t jobs = arguments.jobs ? parse_jobs(*arguments.jobs) : default_jobs();
  const std::string folder = arguments.out.value_or("out/" + experiment.name);
  start_results(folder, experiment, toml);
  bool interrupted = false;
  const ExperimentResults results = results_of(experiment, file, jobs, arguments.progress,
                                               interrupted, elsewhere ? &*elsewhere : nullptr);
  if (interrupted) {
    print_results(experiment, results, arguments);
    print_message(fmt::format("interrupted: no results are written to {}", folder));
    return interrupted_exit_code;
  }
  if (elsewhere) elsewhere->require_same_pack();
  std::vector<std::string> files = write_results(folder, experiment, results);
  print_results(experiment, results, arguments);
  if (gnuplot_found()) {
    const auto figures = write_figures(folder, experiment, results);
    files.insert(files.end(), figures.begin(), figures.end());
  } else if (!experiment.figures.empty() || !experiment.frontiers.empty() ||
             !experiment.failures.empty() || !experiment.jobs.empty() ||
             !experiment.trainings.empty() || !experiment.executions.empty()) {
    print_message("no figures: gnuplot isn't installed");
  }
  if (!arguments.json && elsewhere) print_text("\n" + figures_text(rows));
  if (!arguments.json) print_text(fmt::format("\nwritten: {}\n", joined(files, " ")));
  flush_standard_output(); // results first, then what is wrong with them
  return std::max(report_problems(problems_of(rows)), judge(results));
}

} // namespace tutti
