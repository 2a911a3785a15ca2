// Papers state ratios of iterations under names of their own: a metric, two selections of runs, and
// what the quotient should be. Which runs meet is decided by what the second selection doesn't
// name: they must agree in it.
#include "experiments/driver/studies/training/expectation.hpp"

#include "experiments/driver/studies/training/evaluation.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tutti {

namespace {

using enum TrainingMetric::Kind;

struct NamedMetric {
  TrainingMetric::Kind kind;
  std::string_view name;
};
constexpr std::array metrics{NamedMetric{speed, "speed"},
                             NamedMetric{time, "time"},
                             NamedMetric{throughput, "throughput"},
                             NamedMetric{TrainingMetric::Kind::utilisation, "utilisation"},
                             NamedMetric{exposed, "exposed"},
                             NamedMetric{exposed_fraction, "exposed_fraction"},
                             NamedMetric{bubble_fraction, "bubble_fraction"},
                             NamedMetric{waiting_fraction, "waiting_fraction"},
                             NamedMetric{compute_fraction, "compute_fraction"},
                             NamedMetric{hidden_fraction, "hidden_fraction"},
                             NamedMetric{memory, "memory"}};
constexpr std::array conditions{Condition::Kind::undisturbed, Condition::Kind::disturbed,
                                Condition::Kind::reroute, Condition::Kind::resynthesize};

bool has_purpose(TrainingMetric::Kind kind) { return kind == exposed || kind == exposed_fraction; }

// Sums over NPUs become means by the duration of all NPUs together.
double over_all(Time part, const TrainingRun& run) {
  const double whole = static_cast<double>(run.report->duration.ps) * static_cast<double>(run.npus);
  return whole > 0 ? static_cast<double>(part.ps) / whole : 0;
}

template <typename T> bool allows(const std::vector<T>& list, const T& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

} // namespace

std::string_view to_text(Condition::Kind kind) {
  switch (kind) {
  case Condition::Kind::undisturbed: return "undisturbed";
  case Condition::Kind::disturbed: return "disturbed";
  case Condition::Kind::reroute: return "reroute";
  case Condition::Kind::resynthesize: break;
  }
  return "resynthesize";
}

std::string to_text(const Condition& condition) {
  if (condition.failed_links == 0) return std::string(to_text(condition.kind));
  return fmt::format("{}, {} failed link{}, seed {}", to_text(condition.kind),
                     condition.failed_links, condition.failed_links == 1 ? "" : "s",
                     condition.seed);
}

Condition::Kind parse_condition(std::string_view text) {
  std::vector<std::string> known;
  for (const Condition::Kind kind : conditions) {
    if (to_text(kind) == text) return kind;
    known.emplace_back(to_text(kind));
  }
  throw InputError(unknown_name("condition", text, known));
}

Purpose parse_purpose(std::string_view text) {
  std::vector<std::string> known;
  for (std::size_t p = 0; p < purpose_count; ++p) {
    const auto purpose = static_cast<Purpose>(p);
    if (to_text(purpose) == text) return purpose;
    known.emplace_back(to_text(purpose));
  }
  throw InputError(unknown_name("purpose", text, known));
}

std::string to_text(const TrainingMetric& metric) {
  const auto found = std::ranges::find(metrics, metric.kind, &NamedMetric::kind);
  std::string text(found->name);
  if (metric.purpose) text += fmt::format(":{}", to_text(*metric.purpose));
  return text;
}

TrainingMetric parse_training_metric(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::vector<std::string> known;
  for (const NamedMetric& metric : metrics) {
    known.emplace_back(metric.name);
    if (metric.name != name) continue;
    if (colon == std::string_view::npos) return {metric.kind, {}};
    if (has_purpose(metric.kind)) return {metric.kind, parse_purpose(text.substr(colon + 1))};
    throw InputError(fmt::format("metric {} has no purposes: \"{}\"", name, text));
  }
  throw InputError(unknown_name("metric", text, known));
}

std::string value_text(double value, const TrainingMetric& metric) {
  switch (metric.kind) {
  case speed: return fmt::format("{:.4g} /s", value);
  case time:
  case exposed: return short_text(Time{std::llround(value)});
  case throughput: return fmt::format("{:.4g} /s", value);
  case memory: return short_text(Bytes{std::llround(value)});
  case TrainingMetric::Kind::utilisation:
  case exposed_fraction:
  case bubble_fraction:
  case waiting_fraction:
  case compute_fraction:
  case hidden_fraction: break;
  }
  return fmt::format("{:.4g}", value);
}

std::optional<double> value_of(const TrainingRun& run, const TrainingMetric& metric) {
  if (metric.kind == memory)
    return run.workload.memory
               ? std::optional(static_cast<double>(run.workload.memory->total().count))
               : std::nullopt;
  if (!run.report) return std::nullopt;
  const double seconds = run.report->duration.seconds() / run.workload.iterations;
  const TimeAccount sum = summed_accounts(*run.report);
  const Time all_exposed =
      metric.purpose ? sum.exposed[static_cast<std::size_t>(*metric.purpose)] : exposed_time(sum);
  const auto known = [](double value) { return value > 0 ? std::optional(value) : std::nullopt; };
  switch (metric.kind) {
  case speed: return seconds > 0 ? std::optional(1 / seconds) : std::nullopt;
  case time: return seconds * 1e12;
  case throughput: return known(run.items_per_second());
  case TrainingMetric::Kind::utilisation: return known(run.flops_utilisation());
  case exposed: return over_all(all_exposed, run) * seconds * 1e12;
  case exposed_fraction: return over_all(all_exposed, run);
  case bubble_fraction: return over_all(sum.bubble, run);
  case waiting_fraction: return over_all(sum.waiting, run);
  case compute_fraction: return over_all(sum.compute, run);
  case hidden_fraction: return hidden_part(*run.report);
  case memory: break;
  }
  return std::nullopt;
}

// Runs that are disturbed are meant only where a selection says so: a paper's numbers are of
// healthy networks.
bool TrainingSelection::picks(const TrainingRun& run) const {
  const std::vector<Condition::Kind> kinds =
      conditions.empty() ? std::vector{Condition::Kind::undisturbed} : conditions;
  return allows(topologies, run.topology) && allows(variants, run.variant) &&
         allows(plans, run.plan) && allows(kinds, run.condition.kind) &&
         allows(failed_links, run.condition.failed_links);
}

namespace {

// Whether two runs are of one problem, but for what `over` names.
bool are_comparable(const TrainingSelection& over, const TrainingRun& a, const TrainingRun& b) {
  const auto has_failures = [](const TrainingRun& run) { return run.condition.failed_links > 0; };
  if (has_failures(a) && has_failures(b)) {
    if (a.condition.seed != b.condition.seed) return false;
    if (over.failed_links.empty() && a.condition.failed_links != b.condition.failed_links)
      return false;
  }
  return (!over.topologies.empty() || a.topology == b.topology) &&
         (!over.variants.empty() || a.variant == b.variant) &&
         (!over.plans.empty() || a.plan == b.plan);
}

std::optional<double> quotient_value(const Quotient& quotient, std::span<const TrainingRun> runs,
                                     const TrainingMetric& metric) {
  const auto of = value_of(runs[quotient.of], metric);
  if (!of || !quotient.over) return of;
  const auto over = value_of(runs[*quotient.over], metric);
  if (!over || *over == 0) return std::nullopt;
  return *of / *over;
}

Comparison without_value(Comparison comparison, std::string why) {
  comparison.value = comparison.deviation = std::numeric_limits<double>::quiet_NaN();
  comparison.ours = "-";
  comparison.explanation = "there is no value: " + std::move(why);
  return comparison;
}

std::string missing_text(const Quotient& quotient, std::span<const TrainingRun> runs,
                         const TrainingMetric& metric) {
  for (const std::size_t index : {quotient.of, quotient.over.value_or(quotient.of)}) {
    const TrainingRun& run = runs[index];
    if (value_of(run, metric)) continue;
    const std::string where =
        fmt::format("{}, {} on {}", run.workload.name, run.plan, run.topology);
    return run.note.empty() ? fmt::format("{} isn't known of {}", to_text(metric), where)
                            : fmt::format("{}: {}", where, run.note);
  }
  return "a division by 0";
}

Comparison compare(const TrainingExpectation& expectation, std::span<const TrainingRun> runs) {
  const auto text = [&](double value) {
    return expectation.over ? fmt::format("{:.2f}", value) : value_text(value, expectation.metric);
  };
  Comparison result;
  result.label = expectation.label;
  result.paper = (expectation.at_most ? "at most " : "") + text(expectation.paper);
  result.explanation = expectation.explanation;
  const std::vector<Quotient> quotients = quotients_of(expectation, runs);
  if (quotients.empty()) return without_value(std::move(result), "no run is as asked for");
  if (expectation.summary == Summary::single && quotients.size() > 1)
    return without_value(std::move(result), "several runs are as asked for");
  std::vector<double> values;
  for (const Quotient& quotient : quotients) {
    const auto value = quotient_value(quotient, runs, expectation.metric);
    if (!value)
      return without_value(std::move(result), missing_text(quotient, runs, expectation.metric));
    values.push_back(*value);
  }
  result.value = summarised(values, expectation.summary);
  result.ours = summary_text(result.value, values, expectation.summary, text);
  judge(result, expectation.paper, expectation.tolerance, expectation.at_most);
  return result;
}

} // namespace

std::vector<Quotient> quotients_of(const TrainingExpectation& expectation,
                                   std::span<const TrainingRun> runs) {
  std::vector<Quotient> quotients;
  for (std::size_t a = 0; a < runs.size(); ++a) {
    if (!expectation.of.picks(runs[a])) continue;
    if (!expectation.over) {
      quotients.push_back({a, {}});
      continue;
    }
    for (std::size_t b = 0; b < runs.size(); ++b)
      if (expectation.over->picks(runs[b]) && are_comparable(*expectation.over, runs[a], runs[b]))
        quotients.push_back({a, b});
  }
  return quotients;
}

std::vector<Comparison> comparisons_of(std::span<const TrainingExpectation> expectations,
                                       const TrainingEvaluation& evaluation) {
  std::vector<Comparison> comparisons;
  for (const TrainingExpectation& expectation : expectations)
    comparisons.push_back(compare(expectation, evaluation.runs));
  return comparisons;
}

} // namespace tutti
