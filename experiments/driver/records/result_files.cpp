// Which files a folder of results has depends only on what the experiment asks, and each is written
// whole or not at all. Numbers go out before figures, so that a missing gnuplot costs no results.
#include "experiments/driver/records/result_files.hpp"

#include "experiments/driver/figures/figures.hpp"
#include "experiments/driver/records/csv.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/records/provenance.hpp"
#include "experiments/driver/studies/executions/figure.hpp"
#include "experiments/driver/studies/executions/json.hpp"
#include "experiments/driver/studies/executions/records.hpp"
#include "experiments/driver/studies/executions/table.hpp"
#include "experiments/driver/studies/failures/figure.hpp"
#include "experiments/driver/studies/failures/json.hpp"
#include "experiments/driver/studies/failures/records.hpp"
#include "experiments/driver/studies/frontiers/figure.hpp"
#include "experiments/driver/studies/frontiers/json.hpp"
#include "experiments/driver/studies/frontiers/records.hpp"
#include "experiments/driver/studies/jobs/figure.hpp"
#include "experiments/driver/studies/jobs/json.hpp"
#include "experiments/driver/studies/jobs/records.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/records.hpp"
#include "experiments/driver/studies/training/figure.hpp"
#include "experiments/driver/studies/training/json.hpp"
#include "experiments/driver/studies/training/records.hpp"
#include "sim/files/files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json comparison_json(const Comparison& c) {
  const auto number = [](double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  };
  return {{"label", c.label},
          {"paper", c.paper},
          {"ours", c.ours},
          {"value", number(c.value)},
          {"deviation", number(c.deviation)},
          {"verdict", to_text(c.agreement)},
          {"explanation", c.explanation.empty() ? Json(nullptr) : Json(c.explanation)}};
}

Json provenance_json() {
  const Provenance provenance = find_provenance();
  return {{"tutti", provenance.tutti},
          {"commit", provenance.commit},
          {"simgrid", provenance.simgrid},
          {"gnuplot", provenance.gnuplot}};
}

} // namespace

void start_results(const std::string& folder, const Experiment& experiment,
                   const std::string& toml) {
  write_file(folder + "/" + experiment.name + ".toml", toml);
}

Json results_json(const Experiment& experiment, const ExperimentResults& results) {
  Json evaluations = Json::array(), comparisons = Json::array();
  for (const Evaluation& e : results.evaluations)
    evaluations.push_back(evaluation_json(e, LinkDetail::none));
  for (const Comparison& c : results.comparisons) comparisons.push_back(comparison_json(c));
  Json json = {{"experiment", experiment.name},
               {"title", experiment.title},
               {"seed", experiment.seed},
               {"versions", provenance_json()},
               {"results", std::move(evaluations)}};
  for (const StudyEvaluation& study : results.frontiers)
    json["frontiers"].push_back(study_json(study));
  for (const FailureStudyEvaluation& study : results.failures)
    for (const FailureEvaluation& e : study.algorithms) json["failures"].push_back(failure_json(e));
  for (const JobStudyEvaluation& study : results.jobs) json["jobs"].push_back(jobs_json(study));
  for (const TrainingEvaluation& study : results.trainings)
    json["training"].push_back(training_json(study, NpuDetail::none));
  for (const ExecutionEvaluation& each : results.executions)
    json["executions"].push_back(execution_json(each));
  json["verdicts"] = std::move(comparisons);
  return json;
}

namespace {

bool has_instances(const StudyEvaluation& study) { return !study.instances.empty(); }

} // namespace

std::vector<std::string> write_results(const std::string& folder, const Experiment& experiment,
                                       const ExperimentResults& results) {
  std::vector<std::string> files;
  const auto write = [&](const std::string& name, const std::string& content) {
    files.push_back(folder + "/" + name);
    write_file(files.back(), content);
  };
  const auto write_records = [&](const std::string& name, const Records& records) {
    write(name, csv_text(csv_rows(records)));
  };
  if (!results.evaluations.empty()) write_records("results.csv", run_records(results.evaluations));
  if (!results.frontiers.empty())
    write_records("frontier.csv", frontier_records(results.frontiers));
  if (std::ranges::any_of(results.frontiers, has_instances))
    write_records("frontier_paper.csv", paper_records(results.frontiers));
  if (!results.failures.empty()) write_records("failures.csv", failure_records(results.failures));
  if (!results.jobs.empty()) write_records("jobs.csv", job_records(results.jobs));
  if (!results.trainings.empty()) {
    write_records("training.csv", training_records(results.trainings));
    write_records("training_npus.csv", npu_records(results.trainings));
  }
  if (!results.executions.empty()) {
    write_records("executions.csv", execution_records(results.executions));
    std::string text;
    for (const ExecutionEvaluation& each : results.executions) text += nccl_tests_text(each);
    write("nccl_tests.txt", text);
  }
  write("results.json", json_text(results_json(experiment, results)));
  if (!results.comparisons.empty())
    write("verdicts.md", comparison_markdown(experiment.title, results.comparisons));
  return files;
}

std::vector<std::string> write_figures(const std::string& folder, const Experiment& experiment,
                                       const ExperimentResults& results) {
  std::vector<std::string> files;
  for (const FigureRequest& request : experiment.figures) {
    const Figure figure = make_figure(request, experiment, results.evaluations);
    for (const char* ending : {".svg", ".png"}) {
      files.push_back(folder + "/" + request.file + ending);
      draw(figure, files.back());
    }
  }
  for (const StudyEvaluation& study : results.frontiers) {
    if (study.frontier.points.empty()) continue;
    files.push_back(folder + "/" + file_stem("frontier", study.frontier.label) + ".svg");
    draw(frontier_figure(study.frontier), files.back());
  }
  for (const FailureStudyEvaluation& study : results.failures)
    for (const NamedFigure& named : failure_figures(study.algorithms)) {
      files.push_back(folder + "/" + named.stem + ".svg");
      draw(named.figure, files.back());
    }
  for (const JobStudyEvaluation& study : results.jobs) {
    if (!has_schedule(study)) continue;
    files.push_back(folder + "/" + file_stem("jobs", study.label) + ".svg");
    draw(job_figure(study), files.back());
  }
  for (std::size_t i = 0; i < results.trainings.size(); ++i) {
    if (!has_report(results.trainings[i])) continue;
    const auto networks = experiment.networks_of(experiment.trainings[i]);
    for (const NamedFigure& named : training_figures(results.trainings[i], networks)) {
      files.push_back(folder + "/" + named.stem + ".svg");
      draw(named.figure, files.back());
    }
  }
  for (const ExecutionEvaluation& each : results.executions) {
    if (!was_measured(each)) continue;
    files.push_back(folder + "/" + file_stem("execution", each.label) + ".svg");
    draw(execution_figure(each), files.back());
  }
  return files;
}

} // namespace tutti
