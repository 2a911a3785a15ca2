// A verdict has three outcomes and no middle: ours is within the tolerance, or differs for a reason
// that the experiment has written down before it ran, or fails the run. A value that is missing is
// a difference too, or a schedule that nobody could make would pass unseen.
#include "experiments/driver/studies/expectation.hpp"

#include "experiments/driver/records/power_law.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace tutti {

Summary parse_mean(const std::string& text) {
  if (text == "geometric") return Summary::geometric_mean;
  if (text == "arithmetic") return Summary::arithmetic_mean;
  throw InputError(unknown_name("mean", text, std::vector<std::string>{"geometric", "arithmetic"}));
}

std::string_view to_text(Agreement agreement) {
  switch (agreement) {
  case Agreement::match: return "match";
  case Agreement::differs_explained: return "differs, explained";
  case Agreement::not_judged: return "not judged";
  case Agreement::differs: break;
  }
  return "differs";
}

bool is_within(double deviation, double tolerance, bool at_most) {
  return deviation <= tolerance && (at_most || -deviation <= tolerance);
}

Agreement judged(bool agrees, const std::string& explanation) {
  if (agrees) return Agreement::match;
  return explanation.empty() ? Agreement::differs : Agreement::differs_explained;
}

namespace {

template <typename Transform>
double mean_of(std::span<const double> values, Transform&& transform) {
  double sum = 0;
  for (const double value : values) sum += transform(value);
  return sum / static_cast<double>(values.size());
}

} // namespace

double summarised(std::span<const double> values, Summary summary) {
  assert(!values.empty() && summary != Summary::exponent);
  if (summary == Summary::geometric_mean)
    return std::exp(mean_of(values, [](double value) { return std::log(value); }));
  if (summary == Summary::arithmetic_mean)
    return mean_of(values, [](double value) { return value; });
  return values.front();
}

std::string summary_text(double value, std::span<const double> values, Summary summary,
                         const std::function<std::string(double)>& text) {
  if (summary == Summary::single || summary == Summary::exponent) return text(value);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{} ({} to {})", text(value), text(*least), text(*most));
}

void judge(Comparison& comparison, double paper, double tolerance, bool at_most) {
  comparison.deviation = comparison.value / paper - 1;
  comparison.agreement =
      judged(is_within(comparison.deviation, tolerance, at_most), comparison.explanation);
}

namespace {

using Evaluations = std::span<const Evaluation>;

std::optional<double> value_in(Evaluations evaluations, const Quotient& quotient,
                               const Expectation& expectation) {
  const auto value = [&](std::size_t index) {
    return value_of(evaluations[index], expectation.replay, expectation.metric);
  };
  const auto of = value(quotient.of);
  if (!of || !quotient.over) return of;
  const auto over = value(*quotient.over);
  if (!over || *over == 0) return {};
  return *of / *over;
}

// One per quotient, or none at all: a mean over what happens to be there would say something else.
std::vector<double> values_in(Evaluations evaluations, const Expectation& expectation) {
  std::vector<double> values;
  for (const Quotient& quotient : expectation.values) {
    const auto value = value_in(evaluations, quotient, expectation);
    if (!value || !std::isfinite(*value)) return {};
    values.push_back(*value);
  }
  return values;
}

// The slope of the least-squares line through the logarithms of size and value.
double exponent_of(Evaluations evaluations, std::span<const double> values,
                   const Expectation& expectation) {
  std::vector<PlotPoint> points;
  for (std::size_t i = 0; i < values.size(); ++i)
    points.push_back(
        {value_of(evaluations[expectation.values[i].of], expectation.size), values[i]});
  const auto law = fitted_power_law(points);
  return law ? law->exponent : std::numeric_limits<double>::quiet_NaN();
}

// NaN where there is none. Pre: at least one value.
double summary_of(Evaluations evaluations, std::span<const double> values,
                  const Expectation& expectation) {
  return expectation.summary == Summary::exponent ? exponent_of(evaluations, values, expectation)
                                                  : summarised(values, expectation.summary);
}

std::string text_of(double value, const Expectation& expectation) {
  if (expectation.summary == Summary::exponent || expectation.values.front().over)
    return fmt::format("{:.2f}", value);
  return value_text(value, expectation.metric);
}

std::string missing_fact(const Evaluation& e, const Metric& metric) {
  std::vector<std::string> known;
  for (const auto& [name, value] : e.facts) known.push_back(name);
  const std::string where = fmt::format("{} on {}", e.algorithm, e.topology);
  if (known.empty()) return fmt::format("there is no value: {} states no facts", where);
  return fmt::format("there is no value: {}: {}", where, unknown_name("fact", metric.name, known));
}

// Why values_in() or summary_of() had nothing to say.
std::string missing_text(Evaluations evaluations, const Expectation& expectation) {
  const auto missing = [&](std::size_t index) {
    return !value_of(evaluations[index], expectation.replay, expectation.metric);
  };
  for (const Quotient& quotient : expectation.values)
    for (const std::size_t index : {quotient.of, quotient.over.value_or(quotient.of)})
      if (missing(index)) {
        const Evaluation& e = evaluations[index];
        if (expectation.metric.kind == Metric::fact) return missing_fact(e, expectation.metric);
        if (!e.replays.empty() && !e.planned) // else any other metric would have its value
          return fmt::format("there is no value: {} on {} expects no time", e.algorithm,
                             e.topology);
        return fmt::format("there is no value: no correct schedule by {} on {}", e.algorithm,
                           e.topology);
      }
  return "there is no value: a division by 0, or a fit of fewer than two sizes";
}

Comparison compare(const Expectation& expectation, Evaluations evaluations) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Comparison result;
  result.label = expectation.label;
  result.paper = (expectation.at_most ? "at most " : "") + text_of(expectation.paper, expectation);
  result.explanation = expectation.explanation;
  const std::vector<double> values = values_in(evaluations, expectation);
  result.value = values.empty() ? none : summary_of(evaluations, values, expectation);
  if (!std::isfinite(result.value)) {
    result.value = result.deviation = none;
    result.ours = "-";
    result.explanation = missing_text(evaluations, expectation);
    return result;
  }
  result.ours = summary_text(result.value, values, expectation.summary,
                             [&](double value) { return text_of(value, expectation); });
  judge(result, expectation.paper, expectation.tolerance, expectation.at_most);
  return result;
}

std::vector<std::string> cells_of(const Comparison& c) {
  return {c.label,
          c.paper,
          c.ours,
          std::isfinite(c.deviation) ? fmt::format("{:+.2f} %", 100 * c.deviation) : "-",
          std::string(to_text(c.agreement)),
          c.explanation};
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) {
    row += ' ';
    for (const char c : cell) {
      if (c == '|') row += '\\';
      row += c == '\n' ? ' ' : c;
    }
    row += " |";
  }
  return row + "\n";
}

} // namespace

std::vector<Comparison> compare(std::span<const Expectation> expectations,
                                std::span<const Evaluation> evaluations) {
  std::vector<Comparison> results;
  for (const Expectation& expectation : expectations)
    results.push_back(compare(expectation, evaluations));
  return results;
}

Table comparison_table(std::span<const Comparison> comparisons) {
  Table table{{{"what", Align::left, 0, true},
               {"paper", Align::right},
               {"ours", Align::right},
               {"difference", Align::right, 2},
               {"verdict"},
               {"explanation", Align::left, 1, true}},
              {}};
  for (const Comparison& comparison : comparisons) table.rows.push_back(cells_of(comparison));
  return table;
}

std::string comparison_markdown(const std::string& title, std::span<const Comparison> comparisons) {
  const Table table = comparison_table(comparisons);
  std::vector<std::string> titles, rules;
  for (const Column& column : table.columns) {
    titles.push_back(column.title);
    rules.emplace_back(column.align == Align::right ? "---:" : "---");
  }
  std::string text = fmt::format("# {}\n\n", title) + markdown_row(titles) + markdown_row(rules);
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

bool all_agree(std::span<const Comparison> comparisons) {
  return std::none_of(comparisons.begin(), comparisons.end(), [](const Comparison& comparison) {
    return comparison.agreement == Agreement::differs;
  });
}

} // namespace tutti
