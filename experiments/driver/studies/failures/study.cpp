// A study of failures from its tables to what came of them: its algorithms one after another.
#include "experiments/driver/studies/failures/study.hpp"

#include "experiments/driver/studies/failures/display.hpp"
#include "experiments/driver/studies/failures/figure.hpp"
#include "experiments/driver/studies/failures/json.hpp"
#include "experiments/driver/studies/failures/columns.hpp"
#include "experiments/driver/studies/failures/table.hpp"
#include "experiments/driver/terminal/stage_display.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace tutti {

std::vector<FailureCase> FailureStudy::cases(Networks networks) const {
  std::vector<FailureCase> all;
  for (const AlgorithmRow& algorithm : algorithms) {
    FailureCase c = common;
    c.label = label;
    c.topology_label = networks[topology].label;
    c.topology = &networks[topology].topology;
    c.algorithm = algorithm;
    c.planner = planner.value_or(default_planner(algorithm));
    all.push_back(std::move(c));
  }
  return all;
}

void require_sound(const FailureStudy& study, Networks networks) {
  Refusals refusals; // one algorithm's is reported in its row, unless all are refused
  for (const FailureCase& c : study.cases(networks))
    refusals.row(
        [&] {
          require_sound(c);
          return 0;
        },
        [](Status, const std::string&) { return 0; });
  refusals.require_some();
}

namespace {

// One after another, as planning takes CPU seconds that are reported.
FailureStudyEvaluation evaluate(const FailureStudy& study, const StudyRun& how) {
  FailureStudyEvaluation made{study.label, {}};
  for (FailureCase& c : study.cases(how.networks)) {
    if (how.interrupts.cancels()) break;
    const std::string what = study.label.empty()
                                 ? fmt::format("{} on {}", c.algorithm.name, c.topology_label)
                                 : fmt::format("{}, {}", study.label, c.algorithm.name);
    c.draw_threads = std::max(1U, static_cast<unsigned>(how.jobs)); // nothing runs beside it
    InterruptibleWork work(how.interrupts, what, how.progress);
    work.watch(c.options);
    made.algorithms.push_back(how.refusals.row(
        [&] { return evaluate_failures(c, work.beside(policy_announcer(what, how.progress))); },
        [&](Status status, const std::string& note) { return without_failures(c, status, note); }));
  }
  return made;
}

} // namespace

std::size_t FailureStudy::case_count() const {
  return algorithms.size() * common.policies.size() * scenarios_of(common.events, 1).size();
}

std::vector<RecordColumn> FailureStudy::columns() { return failure_columns(); }

std::vector<std::string> FailureStudy::table_columns() const {
  return failure_table_columns(common.noise.is_drawn());
}

StudyResult result_of(FailureStudyEvaluation evaluation, const Topology& topology) {
  const auto made = std::make_shared<const FailureStudyEvaluation>(std::move(evaluation));
  StudyResult result;
  result.files = {{"failures", failure_records({made.get(), 1})}};
  result.kind = FailureStudy::kind;
  result.details = [made] { return failure_details(made->algorithms); };
  result.about = [made] { return about_failures(made->algorithms); };
  result.story = [made](const TableForm& form) {
    return made->algorithms.empty() ? "" : failures_text(made->algorithms, form);
  };
  result.figures = [made] { return failure_figures(made->algorithms); };
  result.network_uses = [made, &topology] { return network_uses(made->algorithms, topology); };
  for (const FailureEvaluation& e : made->algorithms)
    if (!e.verified && !result.unanswered) result.unanswered = {e.status, e.note};
  result.defects = problems_of(made->algorithms);
  result.nothing_made = nothing_made(made->algorithms);
  return result;
}

namespace {

/// Where a planned row stands: an algorithm without a schedule has one row for all, a policy
/// without draws one for all skews, and what was cut short none.
std::vector<std::size_t> record_of_planned(const FailureStudy& study,
                                           const FailureStudyEvaluation& made) {
  const std::size_t skews = study.common.noise.skews.size(),
                    planned_rows = study.case_count() / study.algorithms.size() * skews;
  std::vector<std::size_t> places;
  std::size_t row = 0;
  for (const FailureEvaluation& e : made.algorithms) {
    const std::size_t end = places.size() + planned_rows;
    if (e.scenarios.empty()) places.insert(places.end(), planned_rows, row++);
    for (const ScenarioEvaluation& scenario : e.scenarios)
      for (const PolicyEvaluation& policy : scenario.policies) {
        const std::size_t rows = std::max<std::size_t>(policy.noises.size(), 1);
        for (std::size_t s = 0; s < skews; ++s) places.push_back(row + (s < rows ? s : 0));
        row += rows;
      }
    places.resize(end, SIZE_MAX);
  }
  return places;
}

} // namespace

StudyResult run_study(const FailureStudy& study, const StudyRun& how) {
  FailureStudyEvaluation made = evaluate(study, how);
  const std::vector<std::size_t> places = record_of_planned(study, made);
  StudyResult result = result_of(std::move(made), how.networks[study.topology].topology);
  result.comparisons = compare(study.expectations, result.files.front().records, places);
  return result;
}

} // namespace tutti
