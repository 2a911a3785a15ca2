// [[executions]] from its tables to what came of them.
#include "experiments/driver/studies/executions/study.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/executions/display.hpp"
#include "experiments/driver/studies/executions/figure.hpp"
#include "experiments/driver/studies/executions/json.hpp"
#include "experiments/driver/studies/executions/pack_backend.hpp"
#include "experiments/driver/studies/executions/records.hpp"
#include "experiments/driver/studies/executions/table.hpp"
#include "experiments/driver/terminal/stage_display.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <utility>

namespace tutti {

ExecutionCase ExecutionStudy::complete(Networks networks) const {
  ExecutionCase c = execution;
  c.topology_label = networks[topology].label;
  c.topology = &networks[topology].topology;
  return elsewhere == nullptr ? c : elsewhere->begin(std::move(c));
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
        if (study.elsewhere != nullptr) study.elsewhere->note(run);
        if (announce) announce(run);
      },
      how.refusals);
  if (study.elsewhere != nullptr) made.left_out = study.elsewhere->left_out();
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
