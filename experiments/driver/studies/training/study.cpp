// [[training]] from its tables to what came of them.
#include "experiments/driver/studies/training/study.hpp"

#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/studies/training/display.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "experiments/driver/studies/training/figure.hpp"
#include "experiments/driver/studies/training/json.hpp"
#include "experiments/driver/studies/training/records.hpp"
#include "experiments/driver/studies/training/table.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <utility>

namespace tutti {

std::vector<TrainingNetwork> TrainingStudy::own(Networks networks) const {
  std::vector<TrainingNetwork> own;
  for (const std::size_t t : topologies) own.push_back({networks[t].label, &networks[t].topology});
  return own;
}

void require_sound(const TrainingStudy& study, Networks networks) {
  require_sound(study, study.own(networks));
}

namespace {

TrainingEvaluation evaluate(TrainingStudy study, const StudyRun& how) {
  if (how.cache) study.cache = *how.cache;
  InterruptibleWork work(how.interrupts, study.label, how.progress);
  work.watch(study.planning.options);
  TrainingWatcher watcher;
  watcher.progress = work.beside(run_announcer(study.label, how.progress));
  return evaluate_training(study, study.own(how.networks), watcher, how.refusals);
}

} // namespace

std::size_t TrainingStudy::case_count() const {
  return topologies.size() * variants.size() * plans.size();
}

std::vector<RecordColumn> TrainingStudy::columns() { return training_records({}).columns; }

std::vector<std::string> TrainingStudy::table_columns() const { return training_table_columns(); }

StudyResult result_of(TrainingEvaluation evaluation, std::vector<TrainingNetwork> networks,
                      NpuDetail detail) {
  const auto made = std::make_shared<const TrainingEvaluation>(std::move(evaluation));
  StudyResult result;
  result.files = {{"training", training_records({made.get(), 1})},
                  {"training_npus", npu_records({made.get(), 1})}};
  result.kind = TrainingStudy::kind;
  result.details = [made, detail] { return training_details(*made, detail); };
  result.story = [made](const TableForm& form) { return training_text(*made, form); };
  result.network_uses = [made, networks] { return network_uses(*made, networks); };
  result.figures = [made, networks = std::move(networks)] {
    return has_report(*made) ? training_figures(*made, networks) : std::vector<NamedFigure>{};
  };
  for (const TrainingRun& one : made->runs)
    if (!one.report && !result.unanswered) result.unanswered = {one.status, one.note};
  result.defects = problems_of(*made);
  result.nothing_made = nothing_made(*made);
  return result;
}

StudyResult run_study(const TrainingStudy& study, const StudyRun& how) {
  TrainingEvaluation made = evaluate(study, how);
  how.refusals.accept(); // what is refused stands in rows
  const std::size_t runs = made.runs.size();
  StudyResult result = result_of(std::move(made), study.own(how.networks), NpuDetail::none);
  result.comparisons = compare(study.expectations, result.files.front().records);
  if (study.case_count() == 1 && runs == 2) result.point = 1; // what disturbs it
  return result;
}

} // namespace tutti
