// `tutti compare`: what a machine has measured beside what is predicted for it.
#include "experiments/driver/cli/cache_option.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/figure_frame.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/records/records.hpp"
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
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

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

Fields<ComparedRow> compared_fields(const MeasurementComparison& all) {
  using R = ComparedRow;
  using namespace column_words;
  const auto of_interval = [](Time Interval::*end) {
    return [end](const R& r) { return r.interval ? Cell((*r.interval).*end) : Cell(); };
  };
  const auto if_predicted = [](auto value) {
    return [value](const R& r) { return r.predicted ? Cell(value(r)) : Cell(); };
  };
  const auto predicted = [](const R& r) { return r.predicted->seconds(); };
  return {{{"topology", text, key}, [&all](const R&) { return all.topology; }},
          {{"npus", count, key}, [&all](const R&) { return all.npus; }},
          {{"collective", text, key}, [](const R& r) { return to_text(r.measured.kind); }},
          {{"size_bytes", bytes, key}, [](const R& r) { return r.measured.size; }},
          {{"in_place", truth, key}, [](const R& r) { return r.measured.is_in_place; }},
          {{"file", text, key}, [](const R& r) { return r.measured.file; }},
          {{"line", count, key}, [](const R& r) { return r.measured.line; }},
          {{"measured_seconds", seconds}, [](const R& r) { return r.measured.seconds; }},
          {{"measured_algbw_bytes_per_s", rate, metric, 0, "algbw"},
           [](const R& r) { return speed(r, r.measured.seconds); }},
          {{"measured_busbw_bytes_per_s", rate, metric, 0, "busbw"},
           [](const R& r) { return r.factor * speed(r, r.measured.seconds); }},
          {{"algorithm", text, key}, [&all](const R&) { return all.algorithm; }},
          {{"transport", text, key}, [&all](const R&) { return all.transport; }},
          {{"picked", text, note}, [](const R& r) { return r.predicted ? r.picked : r.why_not; }},
          {{"predicted_time_ps", time, metric, 0, "predicted"}, &R::predicted},
          {{"predicted_algbw_bytes_per_s", rate},
           if_predicted([=](const R& r) { return speed(r, predicted(r)); })},
          {{"predicted_busbw_bytes_per_s", rate},
           if_predicted([=](const R& r) { return r.factor * speed(r, predicted(r)); })},
          {{"predicted_over_measured", ratio, metric, 0, "ratio"},
           if_predicted([](const R& r) { return r.ratio(); })},
          {{"time_low_ps", time, metric, 0, "low"}, of_interval(&Interval::low)},
          {{"time_high_ps", time, metric, 0, "high"}, of_interval(&Interval::high)},
          {{"lower_bound_ps", time}, if_predicted([](const R& r) { return r.bound; })},
          {{"impossible", truth}, [](const R& r) { return r.is_impossible(); }}};
}

/// What a table says otherwise than a record, then all of the record.
Fields<ComparedRow> table_fields(const MeasurementComparison& all) {
  using R = ComparedRow;
  Fields<R> fields{{{"place", Quantity::text, ColumnRole::key},
                    [](const R& r) { return r.measured.is_in_place ? "in" : "out"; }},
                   {{"picked", Quantity::text, ColumnRole::note}, &R::picked}};
  extend(fields, compared_fields(all));
  return fields;
}

/// Columns of the table, those of the interval only where there are intervals.
std::vector<ShownColumn> shown_columns(bool has_intervals) {
  std::vector<ShownColumn> shown{
      {"collective"}, {"size"}, {"place", 3}, {"measured"}, {"predicted_time"}};
  if (has_intervals) shown.insert(shown.end(), {{"time_low", 3}, {"time_high", 3}});
  shown.insert(shown.end(), {{"predicted_over_measured"},
                             {"measured_algbw", 2},
                             {"predicted_algbw", 2},
                             {"measured_busbw", 1},
                             {"predicted_busbw", 1},
                             {"picked", 4}});
  return shown;
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
  const Records records = records_of<ComparedRow>(table_fields(comparison), comparison.rows);
  std::string text =
      fmt::format("{} ({} NPUs), by {}, under {}\n{}", comparison.topology, comparison.npus,
                  comparison.algorithm, links_of(comparison),
                  to_text(records_table(records, shown_columns(has_intervals), form), form));
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
  require_columns(
      arguments.tables,
      column_names(records_of<ComparedRow>(table_fields({}), {}).columns, shown_columns(true)));
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
    for (const std::string& problem : comparison.problems)
      print_message(fmt::format("DEFECT: {}", problem));
    const Records records = records_of<ComparedRow>(compared_fields(comparison), comparison.rows);
    print_text(answer_json("compare", runs_json("measurement", records)));
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
