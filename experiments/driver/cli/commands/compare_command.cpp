// `tutti compare`: what a machine has measured beside what is predicted for it.
#include "experiments/driver/cli/cache_option.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/figure_frame.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/requests/work_limits.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/measurements/comparison.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/display.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "sim/error.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

double speed(const ComparedRow& row, double seconds) {
  return static_cast<double>(row.measured.size.count) / seconds;
}

/// Whether a row lies where 90 % are expected; nothing where nobody knows.
std::optional<bool> is_within(const ComparedRow& row) {
  if (!row.interval) return std::nullopt;
  return row.measured.seconds >= row.interval->low.seconds() &&
         row.measured.seconds <= row.interval->high.seconds();
}

std::string coverage_text(std::span<const ComparedRow> rows) {
  std::size_t known = 0, within = 0;
  for (const ComparedRow& row : rows) {
    known += is_within(row).has_value() ? 1 : 0;
    within += is_within(row).value_or(false) ? 1 : 0;
  }
  if (known == 0) return {};
  return fmt::format("; {} of {} in the 90 % interval", within, known);
}

/// "ideal links", "transport nccl"
std::string links_of(const MeasurementComparison& comparison) {
  return comparison.transport == "ideal" ? "ideal links" : "transport " + comparison.transport;
}

Json output_of(const MeasurementComparison& comparison, const ComparedRow& row) {
  const MeasuredRow& measured = row.measured;
  Json json{{"kind", "measurement"},
            {"topology", comparison.topology},
            {"npus", comparison.npus},
            {"collective", to_text(measured.kind)},
            {"size_bytes", measured.size.count},
            {"in_place", measured.is_in_place},
            {"file", measured.file},
            {"line", measured.line},
            {"measured_seconds", measured.seconds},
            {"measured_algbw_bytes_per_s", speed(row, measured.seconds)},
            {"measured_busbw_bytes_per_s", row.factor * speed(row, measured.seconds)},
            {"algorithm", comparison.algorithm},
            {"transport", comparison.transport},
            {"picked", row.predicted ? row.picked : row.why_not}};
  for (const char* key : {"predicted_time_ps", "predicted_algbw_bytes_per_s",
                          "predicted_busbw_bytes_per_s", "predicted_over_measured"})
    json[key] = nullptr;
  if (row.predicted) {
    json["predicted_time_ps"] = row.predicted->ps;
    json["predicted_algbw_bytes_per_s"] = speed(row, row.predicted->seconds());
    json["predicted_busbw_bytes_per_s"] = row.factor * speed(row, row.predicted->seconds());
    json["predicted_over_measured"] = row.ratio();
  }
  json["time_low_ps"] = row.interval ? Json(row.interval->low.ps) : Json(nullptr);
  json["time_high_ps"] = row.interval ? Json(row.interval->high.ps) : Json(nullptr);
  json["lower_bound_ps"] = row.predicted ? Json(row.bound.ps) : Json(nullptr);
  json["impossible"] = row.is_impossible();
  return json;
}

/// Columns of the table, those of the interval only where there are intervals.
std::vector<Column> columns(bool has_intervals) {
  std::vector<Column> all{{"collective", Align::left, 0, false, {}, true},
                          {"size", Align::right, 0, false, {}, true},
                          {"place", Align::left, 3, false, {}, true},
                          {"measured", Align::right},
                          {"predicted", Align::right},
                          {"low", Align::right, 3},
                          {"high", Align::right, 3},
                          {"ratio", Align::right},
                          {"algbw", Align::right, 2, false, {"measured_algbw"}},
                          {"predicted algbw", Align::right, 2},
                          {"busbw", Align::right, 1, false, {"measured_busbw"}},
                          {"predicted busbw", Align::right, 1},
                          {"picked", Align::left, 4, true}};
  if (!has_intervals)
    std::erase_if(
        all, [](const Column& column) { return column.title == "low" || column.title == "high"; });
  return all;
}

std::string error_text(const std::string& of, std::span<const ComparedRow> rows) {
  const ComparisonError error = error_of(rows);
  if (error.rows == 0) return fmt::format("{}: nothing is predicted\n", of);
  return fmt::format("{}: {} rows, off by {:.1f} % in the mean of |ln ratio|, by {:.1f} % at its "
                     "90th percentile{}\n",
                     of, error.rows, 100 * error.mean, 100 * error.most, coverage_text(rows));
}

std::string text_of(const MeasurementComparison& comparison, const TableForm& form) {
  const bool has_intervals = std::ranges::any_of(
      comparison.rows, [](const ComparedRow& row) { return row.interval.has_value(); });
  Table table{columns(has_intervals), {}};
  for (const ComparedRow& row : comparison.rows) {
    const double measured = row.measured.seconds;
    const double predicted = row.predicted ? row.predicted->seconds() : 0;
    const auto or_dash = [&](std::string text) { return row.predicted ? text : "-"; };
    std::vector<std::string> cells{std::string(to_text(row.measured.kind)),
                                   to_text(row.measured.size),
                                   row.measured.is_in_place ? "in" : "out",
                                   short_text(time_of_seconds(measured)),
                                   or_dash(short_text(time_of_seconds(predicted))),
                                   or_dash(fmt::format("{:.3f}", row.ratio())),
                                   short_rate_text(speed(row, measured)),
                                   or_dash(short_rate_text(speed(row, predicted))),
                                   short_rate_text(row.factor * speed(row, measured)),
                                   or_dash(short_rate_text(row.factor * speed(row, predicted))),
                                   row.picked};
    if (has_intervals) {
      const auto end = [&](Time Interval::*of) {
        return row.interval ? short_text((*row.interval).*of) : std::string("-");
      };
      constexpr std::ptrdiff_t after_predicted = 5;
      cells.insert(cells.begin() + after_predicted, {end(&Interval::low), end(&Interval::high)});
    }
    table.rows.push_back(std::move(cells));
  }
  std::string text =
      fmt::format("{} ({} NPUs), by {}, under {}\n{}", comparison.topology, comparison.npus,
                  comparison.algorithm, links_of(comparison), to_text(table, form));
  const std::span<const ComparedRow> rows = comparison.rows;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last < rows.size() && rows[last].measured.kind == rows[first].measured.kind) ++last;
    text += error_text(std::string(to_text(rows[first].measured.kind)),
                       rows.subspan(first, last - first));
    first = last;
  }
  std::set<std::string> unpredicted; // out of place and in place are one row of a log
  for (const ComparedRow& row : rows)
    if (!row.predicted && unpredicted.insert(row.measured.place()).second)
      text += fmt::format("{}: {} isn't predicted: {}\n", row.measured.place(),
                          to_text(row.measured.size), row.why_not);
  for (const ComparedRow& row : rows)
    if (row.is_impossible())
      text += fmt::format(
          "{}: {} in {}, and nothing on this network is faster than {} ({}): its links are faster "
          "than {} has them, or the size isn't what nccl-tests counts as size\n",
          row.measured.place(), to_text(row.measured.size),
          short_text(time_of_seconds(row.measured.seconds)), short_text(row.bound), row.bound_words,
          comparison.topology);
  for (const std::string& problem : comparison.problems)
    text += fmt::format("DEFECT: {}\n", problem);
  return text;
}

/// Bus bandwidth over size, measured and predicted.
void draw_curves(const MeasurementComparison& comparison, const std::string& file) {
  constexpr double gb = 1e9;
  CurveChart chart;
  chart.heading.title =
      fmt::format("{}: measured, and predicted by {} under {}", comparison.topology,
                  comparison.algorithm, links_of(comparison));
  chart.x_label = "size";
  chart.y_label = "bus bandwidth (GB/s)";
  std::size_t hue = 0;
  const std::span<const ComparedRow> rows = comparison.rows;
  for (std::size_t first = 0; first < rows.size();) {
    const MeasuredRow& of = rows[first].measured;
    const std::string name =
        fmt::format("{}{}", to_text(of.kind), of.is_in_place ? ", in place" : "");
    Curve measured{name + ", measured", {}, {}, CurveLook{hue, 0}},
        predicted{name + ", predicted", {}, {}, CurveLook{hue, 1}};
    std::size_t last = first;
    for (; last < rows.size() && rows[last].measured.kind == of.kind &&
           rows[last].measured.is_in_place == of.is_in_place;
         ++last) {
      const ComparedRow& row = rows[last];
      const auto x = static_cast<double>(row.measured.size.count);
      if (!measured.points.empty() && measured.points.back().x == x) continue;
      measured.points.push_back({x, row.factor * speed(row, row.measured.seconds) / gb});
      const auto busbw = [&](Time time) { return row.factor * speed(row, time.seconds()) / gb; };
      if (row.predicted) predicted.points.push_back({x, busbw(*row.predicted)});
      if (row.interval)
        predicted.band.push_back({x, busbw(row.interval->high), busbw(row.interval->low)});
    }
    chart.curves.push_back(std::move(measured));
    if (!predicted.points.empty()) chart.curves.push_back(std::move(predicted));
    first = last;
    ++hue;
  }
  draw(curve_figure(chart), file);
}

MeasurementRequest request_of(const CompareArguments& arguments) {
  MeasurementRequest request;
  if (!arguments.collective.empty())
    request.kind = of_option("-c", [&] { return parse_collective_kind(arguments.collective); });
  for (const std::string& only : arguments.only) {
    const std::size_t equals = only.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError(fmt::format("--only: \"{}\" is not column=text", only));
    request.only.emplace_back(only.substr(0, equals), only.substr(equals + 1));
  }
  return request;
}

// What can be checked before any work.
void require_sound(const CompareArguments& arguments) {
  TableForm form = table_form(arguments.tables);
  form.titles = std::make_shared<std::set<std::string>>(); // tables report those of theirs
  std::vector<std::string> names;
  for (const Column& column : columns(true)) names.push_back(column_name(column.title));
  know_columns(form, names);
  require_known_columns(form);
  if (arguments.draw.empty()) return;
  require_picture_name(arguments.draw);
  require_writable(arguments.draw);
}

} // namespace

int compare_command(const CompareArguments& arguments) {
  require_sound(arguments);
  std::optional<double> expected;
  if (!arguments.expect.empty())
    expected = of_option("--expect", [&] { return parse_large_percentage(arguments.expect); });
  const Topology topology = make_topology_and_report(arguments.topology);
  const MeasurementRequest request = request_of(arguments);
  std::vector<MeasuredRow> rows;
  for (const std::string& file : arguments.logs) {
    Measurements measured = read_measurements(file, request);
    for (const std::string& note : measured.notes) print_message(note);
    rows.insert(rows.end(), measured.rows.begin(), measured.rows.end());
  }
  const std::string algorithm =
      arguments.algorithm.empty() ? nccl_of(topology) : arguments.algorithm;
  Case c;
  c.topology_label = topology.name();
  c.topology = &topology;
  c.algorithm = find_algorithm(algorithm);
  c.chunks = std::nullopt;
  c.options.model = time_model(arguments.model);
  c.options.settings = parse_settings(arguments.settings);
  c.transport = of_option("--transport", [&] { return parse_transport(arguments.transport); });
  c.engine = &find_engine("native");
  c.cache = usable_cache(cache_folder(arguments.cache));
  if (!arguments.limit.empty()) set_limits(c.options, arguments.limit);
  Interrupts interrupts;
  const MeasurementComparison comparison =
      compare_measurements(c, rows, [&](std::span<const Case> cases) {
        RunDisplay display("compare", cases.size(), false);
        return run_cases(cases, default_jobs(), display.watcher(interrupts));
      });
  if (!arguments.draw.empty()) draw_curves(comparison, arguments.draw);
  if (arguments.json) {
    Json list = Json::array();
    for (const ComparedRow& row : comparison.rows) list.push_back(output_of(comparison, row));
    for (const std::string& problem : comparison.problems)
      print_message(fmt::format("DEFECT: {}", problem));
    print_text(answer_json("compare", list));
  } else {
    print_tables(text_of(comparison, table_form(arguments.tables)));
  }
  if (!comparison.problems.empty()) return 1;
  if (!expected) return 0;
  const ComparisonError error = error_of(comparison.rows);
  if (error.rows > 0 && error.mean <= *expected) return 0;
  print_message(error.rows == 0 ? "--expect: nothing is predicted"
                                : fmt::format("--expect: the mean of |ln ratio| is {:.1f} %, more "
                                              "than {}",
                                              100 * error.mean, arguments.expect));
  return 1;
}

} // namespace tutti
