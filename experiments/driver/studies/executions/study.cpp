// [[executions]] from its tables to what came of them. A run that executes for real takes as long
// as it takes, and what it measured is gone if the program is killed before its tables: each run
// says so at once.
#include "experiments/driver/studies/executions/study.hpp"

#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/executions/json.hpp"
#include "experiments/driver/studies/executions/pack_backend.hpp"
#include "experiments/driver/studies/executions/records.hpp"
#include "experiments/driver/studies/executions/table.hpp"
#include "experiments/driver/terminal/stage_display.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <span>
#include <utility>

#include <unistd.h>

namespace tutti {

namespace {

std::string what_came_of(const ExecutionRun& run) {
  if (!run.problem.empty()) return run.problem;
  if (!run.execution) return run.note;
  const Time measured = time_of_seconds(run.measured());
  return short_text(measured) +
         (run.predicted.empty() ? "" : ", predicted " + short_text(run.predicted.front()));
}

/// What those who wait see on stderr, where that is a terminal or lines are wanted: a line after
/// each run, with the label before it; else nothing.
///   tutti: DGX-1: ring, 1.000 MiB: 2.1 ms, predicted 2.0 ms
std::function<void(const ExecutionRun&)> execution_announcer(std::string label, bool lines_wanted) {
  if (!lines_wanted && isatty(STDERR_FILENO) == 0) return {};
  return [label = std::move(label)](const ExecutionRun& run) {
    std::cerr << fmt::format("tutti: {}{}, {}: {}\n", label.empty() ? "" : label + ": ",
                             run.algorithm, short_text(run.size), what_came_of(run))
              << std::flush;
  };
}

void add_point(std::vector<Curve>& curves, const std::string& name, CurveLook look, Bytes size,
               double time) {
  auto at = std::ranges::find(curves, name, &Curve::name);
  if (at == curves.end()) at = curves.insert(curves.end(), Curve{name, {}, {}, look});
  at->points.push_back({static_cast<double>(size.count), time});
}

/// "predictions are off by 4 % in the median, 22 % at most"
std::string errors_text(std::span<const ExecutionRun* const> runs) {
  std::vector<double> errors;
  for (const ExecutionRun* run : runs)
    if (!run->fitted)
      errors.push_back(std::abs(run->predicted.front().seconds() / run->measured() - 1));
  if (errors.empty()) return "all predictions are fitted";
  std::ranges::sort(errors);
  return fmt::format("predictions are off by {:.0f} % in the median, {:.0f} % at most",
                     100 * errors[(errors.size() - 1) / 2], 100 * errors.back());
}

/// Whether any run was measured.
bool was_measured(const ExecutionEvaluation& evaluation) {
  return std::ranges::any_of(evaluation.runs,
                             [](const ExecutionRun& run) { return run.ratio() > 0; });
}

/// Two curves per algorithm, of measured and of predicted times over the size, both axes
/// logarithmic: where they part is where the model doesn't know the machine. Pre: was_measured().
Figure execution_figure(const ExecutionEvaluation& e) {
  std::vector<const ExecutionRun*> runs;
  std::vector<std::string> algorithms;
  double longest = 0; // in seconds
  for (const ExecutionRun& run : e.runs) {
    if (run.ratio() <= 0) continue;
    runs.push_back(&run);
    longest = std::max({longest, run.measured(), run.predicted.front().seconds()});
    if (std::ranges::find(algorithms, run.algorithm) == algorithms.end())
      algorithms.push_back(run.algorithm);
  }
  const std::vector<std::size_t> hues = series_hues(algorithms);
  const TimeUnit unit = time_unit(static_cast<double>(ps_per_s) * longest);
  CurveChart chart;
  chart.heading = {labelled_title(e.label, fmt::format("{} on {}: {}", e.collective, e.topology,
                                                       errors_text(runs))),
                   fmt::format("{}, links {}; median of {}; predicted for {}", e.device,
                               e.emulated ? "throttled to the topology's" : "as fast as they go",
                               e.repetitions, e.profile ? "the profiled network" : "the topology")};
  chart.axis = CurveAxis::bytes;
  chart.x_label = "collective size";
  chart.y_label = fmt::format("time [{}]", unit.name);
  chart.logarithmic = true;
  for (const ExecutionRun* run : runs) {
    const auto place = std::ranges::find(algorithms, run->algorithm) - algorithms.begin();
    const std::size_t hue = hues[static_cast<std::size_t>(place)];
    const double scale = static_cast<double>(ps_per_s) / unit.ps;
    add_point(chart.curves, run->algorithm + ", measured", {hue, 0}, run->size,
              scale * run->measured());
    add_point(chart.curves, run->algorithm + ", predicted", {hue, 1}, run->size,
              scale * run->predicted.front().seconds());
  }
  for (Curve& curve : chart.curves) std::ranges::stable_sort(curve.points, {}, &PlotPoint::x);
  return curve_figure(chart);
}

} // namespace

ExecutionCase ExecutionStudy::complete(Networks networks) const {
  ExecutionCase c = execution;
  c.topology_label = networks[topology].label;
  c.topology = &networks[topology].topology;
  return gpu_pack == nullptr ? c : gpu_pack->begin(std::move(c));
}

void require_sound(const ExecutionStudy& study, Networks networks) {
  require_sound(study.complete(networks));
}

ExecutionEvaluation evaluate_study(const ExecutionStudy& study, const StudyRun& how) {
  ExecutionCase c = study.complete(how.networks);
  if (c.given)
    for (const std::string& warning : c.given->warnings) print_message(warning);
  allow_memory(c.options);
  InterruptibleWork work(how.interrupts, study.label.empty() ? how.name : study.label,
                         how.progress);
  work.watch(c.options);
  const auto announce = work.beside(execution_announcer(study.label, how.progress));
  ExecutionEvaluation made = evaluate_execution(
      c,
      [&](const ExecutionRun& run) {
        if (study.gpu_pack != nullptr) study.gpu_pack->note(run);
        if (announce) announce(run);
      },
      how.refusals);
  if (study.gpu_pack != nullptr) made.left_out = study.gpu_pack->left_out();
  return made;
}

std::size_t ExecutionStudy::case_count() const {
  return execution.given ? 1 : execution.sizes.size() * execution.algorithms.size();
}

std::vector<RecordColumn> ExecutionStudy::columns() { return execution_columns(); }

std::vector<std::string> ExecutionStudy::table_columns() const {
  return execution_table_columns(execution.measures_copy_rate);
}

namespace {

StudyResult result_of(ExecutionEvaluation evaluation) {
  const auto made = std::make_shared<const ExecutionEvaluation>(std::move(evaluation));
  StudyResult result;
  result.files = {{"executions", execution_records({made.get(), 1})}};
  result.texts = {{"nccl_tests.txt", nccl_tests_text(*made)}};
  result.kind = ExecutionStudy::kind;
  result.details = [made] { return execution_details(*made); };
  result.about = [made] { return about_executions(*made); };
  result.story = [made](const TableForm& form) { return execution_text(*made, form); };
  result.figures = [made] {
    std::vector<NamedFigure> figures;
    if (was_measured(*made))
      figures.push_back({file_stem("execution", made->label), execution_figure(*made)});
    return figures;
  };
  for (const ExecutionRun& one : made->runs)
    if (!one.execution && !result.unanswered) result.unanswered = {one.status, one.note};
  result.defects = problems_of(*made);
  return result;
}

} // namespace

StudyResult run_study(const ExecutionStudy& study, const StudyRun& how) {
  ExecutionEvaluation made = evaluate_study(study, how);
  const std::string copy_rate_note = made.copy_rate_note;
  StudyResult result = result_of(std::move(made));
  result.comparisons = compare(study.expectations, result.files.front().records);
  for (std::size_t i = 0; i < study.expectations.size(); ++i)
    if (!copy_rate_note.empty() && study.expectations[i].metric.name.ends_with("_rate_fraction"))
      result.comparisons[i].explanation = copy_rate_note;
  return result;
}

} // namespace tutti
