// An explanation may be of many rows: it stands once below the table, by its number, so that rows
// stay short at any width.
#include "experiments/driver/studies/comparison.hpp"

#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>

namespace tutti {

namespace {

struct Counts {
  std::size_t rows = 0;
  std::array<std::size_t, agreement_words.all.size()> of{}; ///< [verdict]
};

/// By the name under which they are counted apart; empty: the others.
std::map<std::string, Counts> counted(std::span<const Comparison> comparisons) {
  std::map<std::string, Counts> counts;
  for (const Comparison& comparison : comparisons) {
    Counts& sum = counts[comparison.apart];
    ++sum.rows;
    ++sum.of[static_cast<std::size_t>(comparison.agreement)];
  }
  return counts;
}

std::size_t note_of(const Comparison& comparison, std::span<const std::string> notes) {
  return static_cast<std::size_t>(std::ranges::find(notes, comparison.explanation) -
                                  notes.begin()) +
         1;
}

std::vector<std::string> cells_of(const Comparison& c, std::span<const std::string> notes) {
  return {c.label,
          c.paper,
          c.ours,
          c.beside ? fmt::format("{}: {}", c.beside->algorithm, c.beside->text) : "",
          std::isfinite(c.deviation) ? fmt::format("{:+.2f} %", 100 * c.deviation) : "-",
          std::string(to_text(c.agreement)),
          c.explanation.empty() ? "" : fmt::to_string(note_of(c, notes))};
}

std::string single_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
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

std::vector<std::string> comparison_notes(std::span<const Comparison> comparisons) {
  std::vector<std::string> notes;
  for (const Comparison& comparison : comparisons)
    if (!comparison.explanation.empty() &&
        std::ranges::find(notes, comparison.explanation) == notes.end())
      notes.push_back(comparison.explanation);
  return notes;
}

std::string comparison_tally(std::span<const Comparison> comparisons) {
  constexpr std::array<std::string_view, agreement_words.all.size()> words{
      "match", "hold in direction", "left open", "differ", "unexpected", "not judged"};
  std::vector<std::string> texts;
  for (const auto& [apart, counts] : counted(comparisons)) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (counts.of[i] > 0) parts.push_back(fmt::format("{} {}", counts.of[i], words[i]));
    texts.push_back(fmt::format("{}{}: {}", apart.empty() ? "" : "apart, " + apart + ", ",
                                counts.rows == 1 ? "1 row" : fmt::format("{} rows", counts.rows),
                                joined(parts, ", ")));
  }
  return joined(texts, "; ") + "\n";
}

Table comparison_table(std::span<const Comparison> comparisons) {
  Table table{{{"what", Align::left, 0, true},
               {"paper", Align::right},
               {"ours", Align::right},
               {"beside", Align::right, 1},
               {"difference", Align::right, 2},
               {"verdict"},
               {"note", Align::right}},
              {}};
  const std::vector<std::string> notes = comparison_notes(comparisons);
  for (const Comparison& comparison : comparisons)
    table.rows.push_back(cells_of(comparison, notes));
  const bool has_beside = std::ranges::any_of(
      comparisons, [](const Comparison& comparison) { return comparison.beside.has_value(); });
  if (comparisons.empty() || has_beside) return table;
  constexpr std::ptrdiff_t beside = 3;
  table.columns.erase(table.columns.begin() + beside);
  for (auto& row : table.rows) row.erase(row.begin() + beside);
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
  text += "\n" + comparison_tally(comparisons);
  const std::vector<std::string> notes = comparison_notes(comparisons);
  for (std::size_t i = 0; i < notes.size(); ++i)
    text += fmt::format("{}{}. {}\n", i == 0 ? "\n" : "", i + 1, single_line(notes[i]));
  return text;
}

std::string comparison_text(std::span<const Comparison> comparisons, const TableForm& form) {
  std::string text = to_text(comparison_table(comparisons), form);
  if (text.empty()) return text;
  text += "\n" + wrapped(comparison_tally(comparisons), form);
  const std::vector<std::string> notes = comparison_notes(comparisons);
  for (std::size_t i = 0; i < notes.size(); ++i)
    text += wrapped(fmt::format("{}. {}\n", i + 1, single_line(notes[i])), form);
  return text;
}

std::vector<Column> verdict_columns() {
  std::vector<Column> columns{{"rows", Align::right}};
  for (const std::string_view word : agreement_words.all)
    columns.push_back({std::string(word), Align::right});
  columns.push_back({"apart", Align::right, 1});
  return columns;
}

std::vector<std::string> verdict_cells(std::span<const Comparison> comparisons) {
  Counts judged, apart;
  for (const auto& [name, counts] : counted(comparisons)) {
    Counts& sum = name.empty() ? judged : apart;
    sum.rows += counts.rows;
    for (std::size_t i = 0; i < counts.of.size(); ++i) sum.of[i] += counts.of[i];
  }
  const auto number = [](std::size_t count) { return count == 0 ? "" : fmt::to_string(count); };
  std::vector<std::string> cells{number(judged.rows)};
  for (const std::size_t count : judged.of) cells.push_back(number(count));
  cells.push_back(apart.rows == 0
                      ? ""
                      : fmt::format("{} of {} match",
                                    apart.of[static_cast<std::size_t>(Agreement::match)],
                                    apart.rows));
  return cells;
}

bool all_agree(std::span<const Comparison> comparisons) {
  return std::none_of(comparisons.begin(), comparisons.end(), [](const Comparison& comparison) {
    return comparison.agreement == Agreement::unexpected;
  });
}

} // namespace tutti
