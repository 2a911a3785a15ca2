// What the five kinds of reports begin and end with. A sweep may have thousands of combinations of
// `by`: tables and CSV have them all, but a page with a figure for each would be of no use.
#include "experiments/driver/sweep/report/analysis_report.hpp"

#include "experiments/driver/sweep/analysis/cells.hpp"
#include "sim/expressions/placeholders.hpp"
#include "sim/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace tutti::sweep {

std::string case_note(const Sweep& sweep, const std::string& note) {
  const std::string& name = sweep.title.empty() ? sweep.name : sweep.title;
  return note.empty() ? name : name + "; " + note;
}

std::string begin_of_part(const std::string& part) { return part.empty() ? "" : part + ": "; }

std::string AnalysisReport::title_of(const std::string& words, std::span<const Levels* const> by,
                                     std::uint32_t row) const {
  const auto is_in = [](const auto& levels, const Levels* each) {
    return std::ranges::find(levels, each) != levels.end();
  };
  std::string filled = filled_in(title_text, [&](const std::string& name) {
    const Levels* levels = *std::ranges::find(titled, name, &Levels::name);
    const std::uint32_t level = levels->values.size() == 1 ? 0
                                : is_in(by, levels)        ? levels->of_row[row]
                                                           : no_index;
    return Value{.text = level == no_index ? name : display_text(levels->values[level])};
  });
  const bool names_all =
      std::ranges::all_of(by, [&](const Levels* each) { return is_in(titled, each); });
  return words.empty() || names_all ? filled : filled + ": " + words;
}

AnalysisReport begun_report(std::string kind, const AnalysisHead& head, AnalysedPoints& points) {
  AnalysisReport report;
  report.kind = std::move(kind);
  report.label = head.label;
  report.title_text = head.title.empty() ? head.label : head.title;
  report.titled = points.levels_of(names_in(report.title_text));
  report.title = report.title_of("", {}, no_index);
  return report;
}

std::string counts_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const std::string& name : names) {
    const auto known = std::ranges::find(counts, name, &std::pair<std::string, std::size_t>::first);
    if (known == counts.end())
      counts.emplace_back(name, 1);
    else
      ++known->second;
  }
  std::ranges::stable_sort(counts, std::greater<>(), &std::pair<std::string, std::size_t>::second);
  std::string text;
  std::size_t others = names.size();
  for (std::size_t i = 0; i < std::min(most, counts.size()); ++i) {
    text += fmt::format("{}{} in {}", i == 0 ? "" : ", ", counts[i].first, counts[i].second);
    if (i == 0) text += fmt::format(" of {} case{}", names.size(), names.size() == 1 ? "" : "s");
    others -= counts[i].second;
  }
  if (counts.size() > most)
    text += fmt::format(", {} other{} in {}", counts.size() - most,
                        counts.size() == most + 1 ? "" : "s", others);
  return text;
}

void limit_figures(AnalysisReport& report) {
  if (report.figures.size() <= most_figures) return;
  report.notes.push_back(fmt::format("Figures of the first {} of {} combinations; the table has "
                                     "all.",
                                     most_figures, report.figures.size()));
  report.figures.resize(most_figures);
}

} // namespace tutti::sweep
