// [[training]] from its tables to what came of them.
#include "experiments/driver/studies/training/study.hpp"

#include "experiments/driver/studies/training/display.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "experiments/driver/studies/training/figure.hpp"
#include "experiments/driver/studies/training/json.hpp"
#include "experiments/driver/studies/training/records.hpp"
#include "experiments/driver/studies/training/table.hpp"
#include "experiments/driver/terminal/stage_display.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
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
  study.draw_threads = std::max(1U, static_cast<unsigned>(how.jobs)); // nothing runs beside it
  InterruptibleWork work(how.interrupts, study.label, how.progress);
  work.watch(study.planning.options);
  TrainingWatcher watcher;
  watcher.progress = work.beside(run_announcer(study.label, how.progress));
  return evaluate_training(study, study.own(how.networks), watcher, how.refusals);
}

using RunName = std::tuple<std::string, std::string, std::string, std::string, std::string>;

/// [row of planned_rows()]: its row in training_records(). A run without draws has one row,
/// whatever its skews; a run that isn't there has none: its index is behind the last.
std::vector<std::size_t> record_of_planned(const TrainingStudy& study,
                                           std::span<const TrainingNetwork> networks,
                                           std::span<const TrainingRun> runs) {
  struct Rows {
    std::size_t first, count;
  };
  std::map<RunName, Rows> rows_of;
  std::size_t row = 0;
  for (const TrainingRun& run : runs) {
    const std::size_t count = noises_of(run).size();
    rows_of.emplace(
        RunName{run.topology, run.variant, run.plan, run.transport, to_text(run.condition)},
        Rows{row, count});
    row += count;
  }
  std::vector<std::size_t> places;
  const std::size_t skews = study.noise.skews.size();
  for (const PlannedTraining& planned : planned_rows(study, networks)) {
    const std::size_t skew = places.size() % skews; // the innermost
    const auto found = rows_of.find({planned.network.label, planned.variant.name, planned.plan.name,
                                     planned.plan.transport_name(), to_text(planned.condition)});
    places.push_back(found == rows_of.end()
                         ? row // behind the last
                         : found->second.first + (skew < found->second.count ? skew : 0));
  }
  return places;
}

} // namespace

std::size_t TrainingStudy::case_count() const {
  std::size_t works = 0;
  for (const TrainingVariant& variant : variants)
    works += static_cast<std::size_t>(std::ranges::count_if(
        topologies, [&](std::size_t network) { return variant.is_for(network); }));
  return works * plans.size() * noise.skews.size();
}

std::vector<RecordColumn> TrainingStudy::columns() { return training_columns(); }

std::vector<std::string> TrainingStudy::table_columns() const {
  return training_table_columns(noise.is_drawn());
}

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
  const std::vector<std::size_t> places =
      record_of_planned(study, study.own(how.networks), made.runs);
  StudyResult result = result_of(std::move(made), study.own(how.networks), NpuDetail::none);
  result.comparisons = compare(study.expectations, result.files.front().records, places);
  if (study.case_count() == 1 && runs == 2) result.point = 1; // what disturbs it
  return result;
}

} // namespace tutti
