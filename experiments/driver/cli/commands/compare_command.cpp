// `tutti compare`: what a machine has measured beside what is predicted for it.
#include "experiments/driver/cli/cache_option.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/figures/figure_frame.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/requests/work_limits.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/measurements/causes.hpp"
#include "experiments/driver/studies/measurements/comparison.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/display.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"
#include "topologies/what_ifs.hpp"

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

std::string coverage_text(std::span<const ComparedRow> rows) {
  std::size_t known = 0, within = 0;
  for (const ComparedRow& row : rows) {
    known += row.predicted.interval ? 1 : 0;
    within += row.normality() == Normality::expected ? 1 : 0;
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
    return [end](const R& r) {
      return r.predicted.interval ? Cell((*r.predicted.interval).*end) : Cell();
    };
  };
  const auto if_predicted = [](auto value) {
    return [value](const R& r) { return r.predicted.time ? Cell(value(r)) : Cell(); };
  };
  const auto predicted = [](const R& r) { return r.predicted.time->seconds(); };
  return {
      {{"topology", text, key}, [&all](const R&) { return all.topology; }},
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
      {{"picked", text, note},
       [](const R& r) { return r.predicted.time ? r.predicted.picked : r.predicted.why_not; }},
      {{"predicted_time_ps", time, metric, 0, "predicted"},
       [](const R& r) { return r.predicted.time; }},
      {{"predicted_algbw_bytes_per_s", rate},
       if_predicted([=](const R& r) { return speed(r, predicted(r)); })},
      {{"predicted_busbw_bytes_per_s", rate},
       if_predicted([=](const R& r) { return r.factor * speed(r, predicted(r)); })},
      {{"predicted_over_measured", ratio, metric, 0, "ratio"},
       if_predicted([](const R& r) { return r.ratio(); })},
      {{"time_low_ps", time, metric, 0, "low"}, of_interval(&Interval::low)},
      {{"time_high_ps", time, metric, 0, "high"}, of_interval(&Interval::high)},
      {{"lower_bound_ps", time}, if_predicted([](const R& r) { return r.predicted.bound; })},
      {{"on_line", truth}, [](const R& r) { return r.predicted.is_on_line; }},
      {{"verdict", text, metric, 1},
       [](const R& r) { return Cell::of_text(std::string(to_text(r.normality()))); }},
      {{"impossible", truth}, [](const R& r) { return r.normality() == Normality::impossible; }}};
}

/// What a table says otherwise than a record, then all of the record.
Fields<ComparedRow> table_fields(const MeasurementComparison& all) {
  using R = ComparedRow;
  Fields<R> fields{{{"place", Quantity::text, ColumnRole::key},
                    [](const R& r) { return r.measured.is_in_place ? "in" : "out"; }},
                   {{"picked", Quantity::text, ColumnRole::note},
                    [](const R& r) { return r.predicted.picked; }}};
  extend(fields, compared_fields(all));
  return fields;
}

/// Columns of the table, those of the interval only where there are intervals.
std::vector<ShownColumn> shown_columns(bool has_intervals) {
  std::vector<ShownColumn> shown{
      {"collective"}, {"size"}, {"place", 3}, {"measured"}, {"predicted_time"}};
  if (has_intervals) shown.insert(shown.end(), {{"time_low", 3}, {"time_high", 3}, {"verdict", 1}});
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
  return fmt::format("{}: {} row{}, off by {:.1f} % in the mean of |ln ratio|, by {:.1f} % at its "
                     "90th percentile{}\n",
                     of, error.rows, error.rows == 1 ? "" : "s", 100 * error.mean, 100 * error.most,
                     coverage_text(rows));
}

/// "1MiB", "1MiB to 64MiB"
std::string range_text(Bytes least, Bytes most) {
  return least == most ? to_text(least) : fmt::format("{} to {}", to_text(least), to_text(most));
}

/// A line for each run of sizes, one after another in the log, whose rows are off to the same side.
std::string findings_text(std::span<const ComparedRow> rows) {
  std::string text;
  for (std::size_t first = 0; first < rows.size();) {
    const Normality is = rows[first].normality();
    const MeasuredRow& begin = rows[first].measured;
    std::size_t last = first;
    double least = INFINITY, most = 0;
    for (; last < rows.size() && rows[last].normality() == is &&
           rows[last].measured.kind == begin.kind &&
           rows[last].measured.is_in_place == begin.is_in_place;
         ++last) {
      least = std::min(least, 1 / rows[last].ratio());
      most = std::max(most, 1 / rows[last].ratio());
    }
    if (is == Normality::slower || is == Normality::faster) {
      const bool is_one = last - first == 1;
      text += fmt::format("{} {} of {}{}: {} than its 90 % interval, {}{:.2f}x as long as "
                          "predicted\n",
                          to_text(begin.kind), begin.is_in_place ? "in place" : "out of place",
                          range_text(begin.size, rows[last - 1].measured.size),
                          is_one ? "" : fmt::format(" ({} rows)", last - first), to_text(is),
                          is_one ? "" : fmt::format("{:.2f}x to ", least), most);
    }
    first = last;
  }
  return text;
}

std::string text_of(const MeasurementComparison& comparison, const TableForm& form) {
  const bool has_intervals = std::ranges::any_of(
      comparison.rows, [](const ComparedRow& row) { return row.predicted.interval.has_value(); });
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
    if (!row.predicted.time && unpredicted.insert(row.measured.place()).second)
      text += fmt::format("{}: {} isn't predicted: {}\n", row.measured.place(),
                          to_text(row.measured.size), row.predicted.why_not);
  for (const ComparedRow& row : rows)
    if (row.normality() == Normality::impossible)
      text += fmt::format("{}: {}{} in {}, and nothing on this network is faster than {} ({}): its "
                          "links are faster "
                          "than {} has them, or the size isn't what nccl-tests counts as size\n",
                          row.measured.place(), to_text(row.measured.size),
                          row.measured.is_in_place ? " in place" : "",
                          short_text(time_of_seconds(row.measured.seconds)),
                          short_text(row.predicted.bound), row.predicted.bound_words,
                          comparison.topology);
  text += findings_text(rows);
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
      if (row.predicted.time) predicted.points.push_back({x, busbw(*row.predicted.time)});
      if (const auto& interval = row.predicted.interval)
        predicted.band.push_back({x, busbw(interval->high), busbw(interval->low)});
    }
    chart.curves.push_back(std::move(measured));
    if (!predicted.points.empty()) chart.curves.push_back(std::move(predicted));
    first = last;
    ++hue;
  }
  draw(curve_figure(chart), file);
}

/// "all_reduce,group=0-7": the collective, and what else is said of it; either may be missing.
struct AskedCollective {
  std::string name, in;
};
AskedCollective asked_collective(const std::string& text) {
  const std::size_t comma = text.find(','), equals = text.find('=');
  if (equals < comma) return {{}, text};
  if (comma == std::string::npos) return {text, {}};
  return {text.substr(0, comma), text.substr(comma + 1)};
}

MeasurementRequest request_of(const CompareArguments& arguments, const std::string& collective) {
  MeasurementRequest request;
  if (!collective.empty())
    request.kind = of_option("-c", [&] { return parse_collective_kind(collective); });
  for (const std::string& only : arguments.only) {
    const std::size_t equals = only.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError(fmt::format("--only: \"{}\" is not column=text", only));
    request.only.emplace_back(only.substr(0, equals), only.substr(equals + 1));
  }
  return request;
}

/// Where a log is of another machine than the one that it is held against.
void report_contradictions(const LogFacts& facts, const std::string& file,
                           const Topology& topology) {
  const std::size_t nodes = topologies::cluster_of(topology).nodes.size();
  if (facts.nodes && facts.nodes->value != nodes)
    print_message(fmt::format("{}:{}: {} nodes, {} has {}", file, facts.nodes->line,
                              facts.nodes->value, topology.name(), nodes));
  const std::string& npus = topology.parts().npu_model;
  for (const LogDevice& device : facts.devices) {
    std::string model = lower_case(device.model);
    std::erase(model, ' ');
    if (npus.empty() || model.empty() || model.find(npus) != std::string::npos) continue;
    print_message(fmt::format("{}:{}: rank {} is a {}, {} has {}", file, device.line, device.rank,
                              device.model, topology.name(), npus));
    return;
  }
}

nlohmann::ordered_json explanation_json(const CauseReport& report,
                                        const std::vector<std::string>& said) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const CauseClass& each : report.findings) {
    nlohmann::ordered_json causes = nlohmann::ordered_json::array();
    for (const Cause* cause : each.causes)
      causes.push_back(cause == nullptr ? "nothing" : std::string(cause->name));
    findings.push_back({{"causes", causes},
                        {"off", each.off},
                        {"rows_within", each.within},
                        {"fits", each.fits},
                        {"next", text_or_null(each.next)}});
  }
  return {{"rows", report.rows},
          {"off", report.healthy_off},
          {"said", said},
          {"findings", findings},
          {"lines", lines_of(report)}};
}

// What can be checked before any work.
void require_sound(const CompareArguments& arguments) {
  require_columns(
      arguments.tables,
      column_names(records_of<ComparedRow>(table_fields({}), {}).columns, shown_columns(true)));
  require_picture_name(arguments.draw);
  require_page_name(arguments.explore);
  require_outputs(arguments.logs, {arguments.draw, arguments.explore});
}

/// The causes that explain the rows, the best first.
ExploredTable causes_table(const CauseReport& report, const std::vector<std::string>& said) {
  using R = CauseClass;
  using namespace column_words;
  const auto words = [](std::string_view Cause::*what) {
    return [what](const R& r) {
      std::vector<std::string> all;
      for (const Cause* cause : r.causes)
        all.emplace_back(cause == nullptr ? "nothing is wrong" : std::string(cause->*what));
      return Cell(joined(all, "; or "));
    };
  };
  const Fields<R> fields{{{"cause", text, key}, words(&Cause::words)},
                         {{"look_at", text, note}, words(&Cause::look_at)},
                         {{"off", part}, &R::off},
                         {{"rows_within", count}, &R::within},
                         {{"fits", truth}, &R::fits},
                         {{"next", text, note}, [](const R& r) { return Cell::of_text(r.next); }}};
  ExploredTable table{.title = "causes", .notes = said, .records = {}};
  for (std::string& line : lines_of(report)) table.notes.push_back(std::move(line));
  table.records = records_of<R>(fields, report.findings);
  return table;
}

/// Measured beside predicted, with the interval as a band.
void write_page(const std::string& file, std::span<const MeasurementComparison> comparisons,
                std::optional<ExploredTable> causes) {
  using R = ComparedRow;
  using namespace column_words;
  ExploredTable table{
      .title = "rows",
      .notes = {},
      .records = {},
      .chart = ExploredChart{ExploredChart::Kind::curves,
                             "size_bytes",
                             {"measured_busbw_bytes_per_s", "predicted_busbw_bytes_per_s"},
                             {"collective", "in_place", "algorithm"},
                             "busbw_low_bytes_per_s",
                             "busbw_high_bytes_per_s"}};
  const auto end = [](Time Interval::*of) {
    return [of](const R& r) {
      const std::optional<Interval>& interval = r.predicted.interval;
      return interval ? Cell(r.factor * speed(r, ((*interval).*of).seconds())) : Cell();
    };
  };
  for (const MeasurementComparison& each : comparisons) {
    Fields<R> fields = compared_fields(each);
    extend(fields, {{{"busbw_low_bytes_per_s", rate}, end(&Interval::high)},
                    {{"busbw_high_bytes_per_s", rate}, end(&Interval::low)}});
    append(table.records, records_of<R>(fields, each.rows));
    table.notes.push_back(
        error_text(fmt::format("{}, {}", each.algorithm, links_of(each)), each.rows) +
        findings_text(each.rows));
  }
  Exploration page{.title = fmt::format("{}: measured and predicted", comparisons.front().topology),
                   .command = own_command(),
                   .runs = {}};
  page.tables.push_back(std::move(table));
  if (causes) page.tables.push_back(std::move(*causes));
  write_explorer(file, page);
}

} // namespace

int compare_command(const CompareArguments& arguments) {
  require_sound(arguments);
  std::optional<double> expected;
  if (!arguments.expect.empty())
    expected = of_option("--expect", [&] { return parse_large_percentage(arguments.expect); });
  const Topology topology = make_topology_and_report(arguments.topology);
  const AskedCollective asked = asked_collective(arguments.collective);
  const MeasurementRequest request = request_of(arguments, asked.name);
  std::vector<MeasuredRow> rows;
  std::vector<std::string> said; // by the logs of themselves
  LogFacts facts;
  for (const std::string& file : arguments.logs) {
    Measurements measured;
    try {
      measured = read_measurements(file, request);
    } catch (const InputError& error) { // the others may say more
      if (arguments.logs.size() == 1) throw;
      print_message(fmt::format("{}; left out", error.what()));
      continue;
    }
    for (const std::string& note : measured.notes) print_message(note);
    rows.insert(rows.end(), measured.rows.begin(), measured.rows.end());
    for (std::string& line : lines_of(measured.facts, file)) said.push_back(std::move(line));
    facts = arguments.logs.size() == 1 ? std::move(measured.facts) : LogFacts{};
  }
  if (rows.empty()) throw InputError("none of the logs has a row");
  report_contradictions(facts, arguments.logs.front(), topology);
  Case of;
  of.topology_label = topology.name();
  of.topology = &topology;
  of.chunks = std::nullopt;
  of.options.model = time_model(arguments.model);
  of.options.settings = parse_settings(arguments.settings);
  of.transport = transport_or_usual(topology, arguments.transport);
  if (arguments.explain && !of.transport)
    throw InputError("--explain compares with what a runtime makes of links: it needs a transport "
                     "(--transport nccl)");
  of.engine = &find_engine("native");
  of.cache = usable_cache(cache_folder(arguments.cache));
  if (!arguments.limit.empty()) set_limits(of.options, arguments.limit);
  Interrupts interrupts;
  const Evaluator evaluate = [&](std::span<const Case> cases) {
    RunDisplay display("compare", cases.size(), false);
    return run_cases(cases, default_jobs(), display.watcher(interrupts));
  };
  std::vector<std::string> names = arguments.algorithms;
  if (names.empty()) names.push_back(nccl_of(topology));
  const std::vector<AlgorithmRow> algorithms =
      of_option("-a", [&] { return find_algorithms(names); });
  const SynthesisOptions options = of.options;
  std::vector<MeasurementComparison> comparisons;
  for (const AlgorithmRow& algorithm : algorithms) {
    of.algorithm = algorithm;
    of.options = options_for(algorithm, options);
    comparisons.push_back(compare_measurements(of, asked.in, rows, evaluate));
  }
  for (const std::string& text : comparisons.front().left_out) print_message(text);
  of.algorithm = algorithms.front();
  of.options = options_for(of.algorithm, options);
  const MeasurementComparison& first = comparisons.front();
  std::optional<CauseReport> causes;
  if (arguments.explain) {
    rows.clear(); // those that count
    for (const ComparedRow& row : first.rows) rows.push_back(row.measured);
    const CauseModel model(of, asked.in, rows, evaluate);
    causes = model.explain(rows, facts);
    if (!causes->findings.empty())
      causes->findings.front().next = model.next_measurement(causes->findings.front());
  }
  if (!arguments.draw.empty()) draw_curves(first, arguments.draw);
  if (!arguments.explore.empty())
    write_page(arguments.explore, comparisons,
               causes ? std::optional(causes_table(*causes, said)) : std::nullopt);
  if (arguments.json) {
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const MeasurementComparison& each : comparisons) {
      for (const std::string& problem : each.problems)
        print_message(fmt::format("DEFECT: {}", problem));
      const Records records = records_of<ComparedRow>(compared_fields(each), each.rows);
      for (auto& row : runs_json("measurement", records)) runs.push_back(std::move(row));
    }
    nlohmann::ordered_json more = nlohmann::ordered_json::object();
    more["explanation"] = causes ? explanation_json(*causes, said) : nullptr;
    print_text(answer_json("compare", std::move(runs), more));
  } else {
    std::string text;
    for (const MeasurementComparison& each : comparisons)
      text += (text.empty() ? "" : "\n") + text_of(each, table_form(arguments.tables));
    if (causes) {
      for (const std::string& line : said) text += line + "\n";
      for (const std::string& line : lines_of(*causes)) text += line + "\n";
    }
    print_tables(text);
  }
  if (std::ranges::any_of(comparisons, [](const auto& each) { return !each.problems.empty(); }))
    return 1;
  if (!expected) return 0;
  const ComparisonError error = error_of(first.rows);
  if (error.rows > 0 && error.mean <= *expected) return 0;
  print_message(error.rows == 0 ? "--expect: nothing is predicted"
                                : fmt::format("--expect: the mean of |ln ratio| is {:.1f} %, more "
                                              "than {}",
                                              100 * error.mean, arguments.expect));
  return 1;
}

} // namespace tutti
