// Expectations are of ratios of median times, two policies or a policy over the undisturbed run; of
// several numbers of failed links the largest ratio counts, so that "at most" holds for all.
#include "experiments/driver/studies/failures/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

std::vector<Comparison> comparisons_of(std::span<const FailureStudyEvaluation> studies) {
  std::vector<Comparison> all;
  for (const FailureStudyEvaluation& study : studies)
    for (const FailureExpectation& expectation : study.expectations)
      all.push_back(compare(study, expectation));
  return all;
}

} // namespace tutti
