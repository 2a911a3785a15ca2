// From a table of points to files: every analysis becomes a report, every report a
// section of the page and files of its own. All reports are made, and with that all errors of a
// sweep's expressions found, before the first file is written.
#include "experiments/driver/sweep/report/sweep_report.hpp"

#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/records/renames.hpp"
#include "experiments/driver/sweep/analysis/analysed_points.hpp"
#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "experiments/driver/sweep/report/points_csv.hpp"
#include "experiments/driver/sweep/report/sweep_page.hpp"
#include "experiments/driver/sweep/space/point_results.hpp"
#include "sim/error.hpp"
#include "sim/expressions/expression.hpp"
#include "sim/files/csv.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace tutti::sweep {

namespace {

std::vector<AnalysisReport> reports_of(const Sweep& sweep, AnalysedPoints& points) {
  std::vector<AnalysisReport> reports;
  for (const auto& each : sweep.paretos) reports.push_back(pareto_report(each, points));
  for (const auto& each : sweep.bests) reports.push_back(best_report(each, points));
  for (const auto& each : sweep.sensitivities) reports.push_back(sensitivity_report(each, points));
  for (const auto& each : sweep.curves) reports.push_back(curves_report(each, points));
  for (const auto& each : sweep.selections) reports.push_back(selection_report(each, points));
  return reports;
}

PageSection named_section(const AnalysisReport& report, FileNames& names) {
  const std::string stem = names.stem(file_stem(report.kind, report.label), {".csv", ".json"});
  PageSection section;
  section.csv_file = stem + ".csv";
  if (!report.json.empty()) section.json_file = stem + ".json";
  for (const ReportFigure& figure : report.figures) {
    const std::string part = names.stem(file_stem(stem, figure.part), {".svg", "_data.csv"});
    section.figures.push_back({figure.title, part + ".svg", svg_of(figure.figure)});
  }
  section.report = report;
  return section;
}

std::vector<PageSection> sections_of(const SweepAnalyses& analyses) {
  FileNames names;
  std::vector<PageSection> sections;
  for (const AnalysisReport& report : analyses.reports)
    sections.push_back(named_section(report, names));
  return sections;
}

void write_sections(std::span<const PageSection> sections, const std::string& folder,
                    std::span<const std::string> formats, std::vector<std::string>& files) {
  const auto write = [&](const std::string& name, const std::string& content) {
    files.push_back(folder + "/" + name);
    write_file(files.back(), content);
  };
  for (const PageSection& section : sections) {
    write(section.csv_file, csv_text(section.report.csv));
    if (!section.json_file.empty()) write(section.json_file, section.report.json);
    for (std::size_t f = 0; f < section.figures.size(); ++f) {
      const PageFigure& figure = section.figures[f];
      const std::string stem = figure.file.substr(0, figure.file.size() - 4);
      write(figure.file, figure.svg);
      write(stem + "_data.csv", csv_text(section.report.figures[f].figure.data));
      for (const std::string& format : formats)
        if (format != "svg")
          draw(section.report.figures[f].figure,
               files.emplace_back(fmt::format("{}/{}.{}", folder, stem, format)));
    }
  }
}

// The first rows of the table, and how many there are beyond.
std::string text_of(const AnalysisReport& report, std::size_t most_lines, const TableForm& form) {
  std::string text = report.title + "\n";
  for (const std::string& note : report.notes) text += "  " + note + "\n";
  if (report.table.rows.empty()) return text + "  no point has a result\n";
  Table table = report.table;
  const std::size_t all = table.rows.size();
  if (all > most_lines) table.rows.resize(most_lines);
  text += to_text(table, form);
  if (all > most_lines) text += fmt::format("... {} more\n", all - most_lines);
  return text;
}

} // namespace

Sweep with_only(Sweep sweep, std::span<const std::string> labels) {
  std::vector<std::string> known;
  const auto keep = [&](auto& analyses) {
    std::erase_if(analyses, [&](const auto& each) {
      known.push_back(each.head.label);
      return std::find(labels.begin(), labels.end(), each.head.label) == labels.end();
    });
  };
  keep(sweep.paretos);
  keep(sweep.bests);
  keep(sweep.sensitivities);
  keep(sweep.curves);
  keep(sweep.selections);
  for (const std::string& label : labels)
    if (std::find(known.begin(), known.end(), label) == known.end())
      throw InputError(unknown_name("analysis", label, known));
  return sweep;
}

std::vector<std::string> shown_columns(const Sweep& sweep) {
  std::vector<std::string> names = value_names(sweep);
  if (sweep.experiment)
    for (const ResultColumn& column : result_columns(sweep.experiment->kind()))
      names.push_back(column.name);
  names.insert(names.end(), {"status", "message"});
  return names;
}

// A store reads only the columns that are asked for: `tutti sweep --report --only` of a large sweep
// would else spend its time on results that nobody uses.
std::vector<std::string> analysed_columns(const Sweep& sweep) {
  const std::vector<std::string> known = shown_columns(sweep);
  std::vector<std::string> names = parameter_names(sweep);
  names.emplace_back("status");
  for (const Objective& objective : sweep.objectives) {
    const Expression expression(objective.expression, known, unknown_column);
    for (const std::string& name : expression.names())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

SweepAnalyses analyses_of(const Sweep& sweep, const PointTable& table) {
  SweepAnalyses analyses;
  analyses.points = in_sweep_order(sweep, table);
  AnalysedPoints points(sweep, analyses.points);
  analyses.reports = reports_of(sweep, points);
  return analyses;
}

std::vector<std::string> write_sweep(const Sweep& sweep, const SweepAnalyses& analyses,
                                     const std::string& folder,
                                     std::span<const std::string> formats) {
  const std::vector<PageSection> sections = sections_of(analyses);
  std::vector<std::string> files{folder + "/points.csv"};
  write_file(files.back(), points_csv(analyses.points));
  write_sections(sections, folder, formats, files);
  files.push_back(folder + "/index.html");
  std::deque<Topology> networks;
  write_explorer(files.back(), sweep_exploration(sweep, analyses.points, sections, networks));
  return files;
}

Exploration exploration_of(const Sweep& sweep, const SweepAnalyses& analyses,
                           std::deque<Topology>& networks) {
  return sweep_exploration(sweep, analyses.points, sections_of(analyses), networks);
}

std::vector<std::string> write_analyses(const SweepAnalyses& analyses, const std::string& folder,
                                        std::span<const std::string> formats) {
  std::vector<std::string> files;
  write_sections(sections_of(analyses), folder, formats, files);
  return files;
}

std::string analyses_text(const SweepAnalyses& analyses, std::size_t most_lines,
                          const TableForm& form) {
  std::string text;
  for (const AnalysisReport& report : analyses.reports)
    text += (text.empty() ? "" : "\n") + text_of(report, most_lines, form);
  return text;
}

} // namespace tutti::sweep
