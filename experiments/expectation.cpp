#include "experiments/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {

std::string_view to_text(Agreement agreement) {
  switch (agreement) {
  case Agreement::match: return "match";
  case Agreement::differs_explained: return "differs, explained";
  case Agreement::differs: break;
  }
  return "differs";
}

namespace {

std::optional<double> value_in(const Evaluation& evaluation, const Expectation& expectation) {
  if (expectation.replay >= evaluation.replays.size()) return {};
  return value_of(evaluation.replays[expectation.replay], expectation.metric);
}

std::optional<double> value_in(std::span<const Evaluation> evaluations,
                               const Expectation& expectation) {
  const auto of = value_in(evaluations[expectation.of], expectation);
  if (!of || !expectation.over) return of;
  const auto over = value_in(evaluations[*expectation.over], expectation);
  if (!over || *over == 0) return {};
  return *of / *over;
}

std::string text_of(double value, const Expectation& expectation) {
  if (expectation.over) return fmt::format("{:.2f}", value);
  return value_text(value, expectation.metric);
}

Comparison compare(const Expectation& expectation, std::span<const Evaluation> evaluations) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Comparison result;
  result.label = expectation.label;
  result.paper = text_of(expectation.paper, expectation);
  result.explanation = expectation.explanation;
  const auto ours = value_in(evaluations, expectation);
  if (!ours || !std::isfinite(*ours)) {
    result.value = result.deviation = none;
    result.ours = "-";
    result.explanation = "there is no value: no correct schedule";
    return result;
  }
  result.value = *ours;
  result.ours = text_of(*ours, expectation);
  result.deviation = *ours / expectation.paper - 1;
  if (std::abs(result.deviation) <= expectation.tolerance) {
    result.agreement = Agreement::match;
  } else if (!expectation.explanation.empty()) {
    result.agreement = Agreement::differs_explained;
  }
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
  Table table{{{"what"},
               {"paper", Align::right},
               {"ours", Align::right},
               {"difference", Align::right},
               {"verdict"},
               {"explanation"}},
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
