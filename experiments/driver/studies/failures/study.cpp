// Expectations are of ratios of median times, two policies or a policy over the undisturbed run; of
// several numbers of failed links the largest ratio counts, so that "at most" holds for all.
#include "experiments/driver/studies/failures/study.hpp"

#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/studies/failures/display.hpp"
#include "experiments/driver/studies/failures/figure.hpp"
#include "experiments/driver/studies/failures/json.hpp"
#include "experiments/driver/studies/failures/records.hpp"
#include "experiments/driver/studies/failures/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace tutti {

namespace {

// The median time under a policy (none: undisturbed); none where there is none.
std::optional<Time> time_of(const FailureEvaluation& e, std::span<const PolicySummary> summaries,
                            std::optional<std::size_t> failed_links, std::optional<Policy> policy) {
  if (!policy) return e.undisturbed.report.completion;
  for (const PolicySummary& summary : summaries)
    if (summary.failed_links == failed_links && summary.policy == *policy) return summary.time;
  return std::nullopt;
}

// The largest ratio, or none where one of the times is missing.
std::optional<double> ratio_of(const FailureEvaluation& e, const FailureExpectation& expectation) {
  const std::vector<PolicySummary> summaries = summaries_of(e);
  const auto counts = [&](const PolicySummary& summary) {
    const auto& asked = expectation.failed_links;
    return summary.policy == expectation.policy &&
           (asked.empty() ||
            std::find(asked.begin(), asked.end(), summary.failed_links) != asked.end());
  };
  std::optional<double> largest;
  for (const PolicySummary& summary : summaries) {
    if (!counts(summary)) continue;
    const auto over = time_of(e, summaries, summary.failed_links, expectation.over);
    if (!summary.time || !over || over->ps <= 0) return std::nullopt;
    const double ratio = static_cast<double>(summary.time->ps) / static_cast<double>(over->ps);
    largest = std::max(largest.value_or(ratio), ratio);
  }
  return largest;
}

Comparison compare(const FailureStudyEvaluation& study, const FailureExpectation& expectation) {
  const auto e = std::find_if(
      study.algorithms.begin(), study.algorithms.end(),
      [&](const FailureEvaluation& each) { return each.algorithm == expectation.algorithm; });
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Comparison result;
  result.label = expectation.label;
  result.paper = fmt::format("{}{:.2f}", expectation.at_most ? "at most " : "", expectation.value);
  const auto ratio = e == study.algorithms.end() ? std::nullopt : ratio_of(*e, expectation);
  if (!ratio) {
    result.value = result.deviation = none;
    result.ours = "-";
    result.explanation =
        "there is no value: a policy left something out, nobody was left, or there was no run";
    return result;
  }
  result.value = *ratio;
  result.ours = fmt::format("{:.2f}", *ratio);
  result.explanation = expectation.explanation;
  judge(result, expectation.value, expectation.tolerance, expectation.at_most);
  return result;
}

} // namespace

std::vector<Comparison> comparisons_of(const FailureStudyEvaluation& study) {
  std::vector<Comparison> all;
  for (const FailureExpectation& expectation : study.expectations)
    all.push_back(compare(study, expectation));
  return all;
}

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
  for (const FailureCase& c : study.cases(networks)) require_sound(c);
}

namespace {

// One after another, as planning takes CPU seconds that are reported.
FailureStudyEvaluation evaluate(const FailureStudy& study, const StudyRun& how) {
  FailureStudyEvaluation made{study.label, {}, study.expectations};
  for (FailureCase& c : study.cases(how.networks)) {
    if (how.interrupts.cancels()) break;
    const std::string what = study.label + ", " + std::string(c.algorithm.name);
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

std::vector<RecordColumn> FailureStudy::columns() { return failure_records({}).columns; }

StudyResult result_of(FailureStudyEvaluation evaluation) {
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
  for (const FailureEvaluation& e : made->algorithms)
    if (!e.verified && !result.unanswered) result.unanswered = {e.status, e.note};
  result.comparisons = comparisons_of(*made);
  result.defects = problems_of(made->algorithms);
  result.nothing_made = nothing_made(made->algorithms);
  return result;
}

StudyResult run_study(const FailureStudy& study, const StudyRun& how) {
  return result_of(evaluate(study, how));
}

} // namespace tutti
