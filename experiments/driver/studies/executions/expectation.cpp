// Why: what executions are judged by. Idea: each expectation is a figure over the runs that it is
// of, and there is no verdict where not all of them were measured.
#include "experiments/driver/studies/executions/expectation.hpp"

#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tutti {

namespace {

/// None named: all are.
bool is_among(const std::string& algorithm, std::span<const std::string> algorithms) {
  return algorithms.empty() || std::ranges::find(algorithms, algorithm) != algorithms.end();
}

/// Whether something is asked of the run, measured or not.
bool is_meant(const ExecutionRun& run, const ExecutionFilter& filter) {
  return run.size >= filter.from && (!filter.to || run.size <= *filter.to) &&
         is_among(run.algorithm, filter.algorithms);
}

bool counts(const ExecutionRun& run, const ExecutionFilter& filter) {
  return run.measured() > 0 && is_meant(run, filter);
}

} // namespace

std::optional<double> prediction_error(const ExecutionEvaluation& evaluation,
                                       const ExecutionFilter& filter) {
  double sum = 0;
  std::size_t count = 0;
  for (const ExecutionRun& run : evaluation.runs) {
    if (!counts(run, filter) || run.ratio() <= 0) continue;
    sum += std::abs(std::log(run.ratio()));
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(sum / static_cast<double>(count)) - 1;
}

std::optional<RateShare> rate_share(const ExecutionEvaluation& evaluation,
                                    const ExecutionRun& run) {
  if (evaluation.copy_rate <= 0 || run.measured() <= 0) return std::nullopt;
  const double copied = run.measured() * evaluation.copy_rate; // bytes
  return RateShare{static_cast<double>(run.execution->bytes_moved) / copied,
                   static_cast<double>(run.execution->memory_bytes) / (2 * copied)};
}

std::optional<RateShare> best_rate_share(const ExecutionEvaluation& evaluation,
                                         const ExecutionFilter& filter) {
  std::optional<RateShare> best;
  for (const ExecutionRun& run : evaluation.runs) {
    if (!counts(run, filter)) continue;
    const auto share = rate_share(evaluation, run);
    if (share && (!best || share->sent > best->sent)) best = share;
  }
  return best;
}

namespace {

/// The first run that the expectation is of, but that has no time; nullptr where all have one.
const ExecutionRun* unmeasured(const ExecutionEvaluation& evaluation,
                               const ExecutionFilter& filter) {
  for (const ExecutionRun& run : evaluation.runs)
    if (is_meant(run, filter) && run.measured() <= 0) return &run;
  return nullptr;
}

/// Of the runs that count, how much the one that repeats itself least differs between passes;
/// nothing where one has a single pass.
std::optional<double> widest_spread(const ExecutionEvaluation& evaluation,
                                    const ExecutionFilter& filter) {
  double widest = 0;
  for (const ExecutionRun& run : evaluation.runs) {
    if (!counts(run, filter)) continue;
    const std::optional<double> spread = run.ratio_spread();
    if (!spread) return std::nullopt;
    widest = std::max(widest, *spread);
  }
  return widest;
}

} // namespace

std::vector<Comparison> comparisons_of(std::span<const ExecutionExpectation> expectations,
                                       const ExecutionEvaluation& evaluation) {
  std::vector<Comparison> comparisons;
  for (const ExecutionExpectation& expected : expectations) {
    const bool is_error = expected.of == ExecutionExpectation::Of::error;
    const ExecutionFilter filter{expected.from, expected.to, expected.algorithms};
    const ExecutionRun* missing = unmeasured(evaluation, filter);
    std::optional<double> found;
    std::string beside;
    if (missing == nullptr && is_error) {
      found = prediction_error(evaluation, filter);
    } else if (missing == nullptr) {
      if (const auto share = best_rate_share(evaluation, filter)) {
        found = share->sent;
        beside = fmt::format("; of what its memory does, {:.2f} %", 100 * share->memory);
      }
    }
    Comparison comparison;
    comparison.label = expected.label;
    comparison.paper =
        fmt::format("at {} {:g} %", is_error ? "most" : "least", 100 * expected.limit);
    comparison.explanation = expected.explanation;
    comparison.value = found.value_or(std::nan(""));
    comparison.ours =
        found ? fmt::format("{:.2f} %{}", 100 * *found, beside) : "not all was measured";
    comparison.deviation = comparison.value / expected.limit - 1;
    const double excess = is_error ? comparison.deviation : -comparison.deviation;
    // An explanation is of another value, not of none.
    comparison.agreement =
        found ? judged(is_within(excess, 0, true), comparison.explanation) : Agreement::differs;
    if (found && expected.repeats_within) {
      const std::optional<double> spread = widest_spread(evaluation, filter);
      if (!spread || *spread > *expected.repeats_within) {
        comparison.agreement = Agreement::not_judged;
        comparison.explanation =
            spread ? fmt::format("ratios differ by up to {:.0f} % between passes: no verdict on "
                                 "what the machine's load decides",
                                 100 * *spread)
                   : "one pass can't say whether its ratios repeat themselves";
      }
    }
    if (!is_error && !evaluation.copy_rate_note.empty())
      comparison.explanation = evaluation.copy_rate_note;
    if (missing != nullptr)
      comparison.explanation =
          fmt::format("{}, {}: {}", missing->algorithm, short_text(missing->size), missing->note);
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

} // namespace tutti
