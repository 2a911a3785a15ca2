// `tutti predict`: "what should my machine reach?" Every collective that nccl-tests measures, at
// every size, in one table, one picture and one file.
#include "experiments/driver/cli/cache_option.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/figure_frame.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/measurements/predictions.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/display.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/report.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

struct PredictedRow {
  std::string collective; ///< as asked for
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size;
  std::uint32_t npus = 0;
  Forecast predicted;

  [[nodiscard]] double algbw() const {
    return static_cast<double>(size.count) / predicted.time->seconds();
  }
  [[nodiscard]] double busbw(Time time) const {
    return bus_factor(kind, npus) * static_cast<double>(size.count) / time.seconds();
  }
};

Fields<PredictedRow> predicted_fields(const std::string& topology, const std::string& transport,
                                      const std::string& algorithm) {
  using R = PredictedRow;
  using namespace column_words;
  const auto of_interval = [](Time Interval::*end) {
    return [end](const R& r) {
      return r.predicted.interval ? Cell((*r.predicted.interval).*end) : Cell();
    };
  };
  const auto if_predicted = [](auto value) {
    return [value](const R& r) { return r.predicted.time ? Cell(value(r)) : Cell(); };
  };
  return {
      {{"topology", text, key}, [=](const R&) { return topology; }},
      {{"npus", count, key}, &R::npus},
      {{"collective", text, key}, &R::collective},
      {{"size_bytes", bytes, key}, &R::size},
      {{"algorithm", text, key}, [=](const R&) { return algorithm; }},
      {{"transport", text, key}, [=](const R&) { return transport; }},
      {{"predicted_time_ps", time, metric, 0, "time"}, [](const R& r) { return r.predicted.time; }},
      {{"time_low_ps", time, metric, 0, "low"}, of_interval(&Interval::low)},
      {{"time_high_ps", time, metric, 0, "high"}, of_interval(&Interval::high)},
      {{"algbw_bytes_per_s", rate}, if_predicted([](const R& r) { return r.algbw(); })},
      {{"busbw_bytes_per_s", rate},
       if_predicted([](const R& r) { return r.busbw(*r.predicted.time); })},
      {{"lower_bound_ps", time, metric, 0, "bound"},
       if_predicted([](const R& r) { return r.predicted.bound; })},
      {{"on_line", truth}, [](const R& r) { return r.predicted.is_on_line; }},
      {{"picked", text, note},
       [](const R& r) { return r.predicted.time ? r.predicted.picked : r.predicted.why_not; }}};
}

std::vector<ShownColumn> shown_columns() {
  return {{"collective"}, {"size"},     {"predicted_time"}, {"time_low", 2}, {"time_high", 2},
          {"algbw", 3},   {"busbw", 0}, {"lower_bound", 3}, {"picked", 4}};
}

/// What simulators of training and inference read: a row for each prediction.
void write_table(const std::string& file, std::span<const PredictedRow> rows) {
  std::string text = "collective,bytes,ranks,time_us,low_us,high_us,busbw_GBps\n";
  constexpr double us = 1e6, gb = 1e9;
  for (const PredictedRow& row : rows) {
    if (!row.predicted.time) continue;
    const Time time = *row.predicted.time;
    const Interval within = row.predicted.interval.value_or(Interval{time, time});
    text += fmt::format("{},{},{},{:.6g},{:.6g},{:.6g},{:.6g}\n", to_text(row.kind), row.size.count,
                        row.npus, time.seconds() * us, within.low.seconds() * us,
                        within.high.seconds() * us, row.busbw(time) / gb);
  }
  write_file(file, text);
}

void draw_curves(const std::string& heading, std::span<const PredictedRow> rows,
                 const std::string& file) {
  constexpr double gb = 1e9;
  CurveChart chart;
  chart.heading.title = heading;
  chart.x_label = "size";
  chart.y_label = "bus bandwidth (GB/s)";
  for (const PredictedRow& row : rows) {
    if (chart.curves.empty() || chart.curves.back().name != row.collective)
      chart.curves.push_back({row.collective, {}, {}, CurveLook{chart.curves.size(), 0}});
    if (!row.predicted.time) continue;
    const auto x = static_cast<double>(row.size.count);
    chart.curves.back().points.push_back({x, row.busbw(*row.predicted.time) / gb});
    if (const auto& within = row.predicted.interval)
      chart.curves.back().band.push_back(
          {x, row.busbw(within->high) / gb, row.busbw(within->low) / gb});
  }
  std::erase_if(chart.curves, [](const Curve& curve) { return curve.points.empty(); });
  if (chart.curves.empty()) throw InputError("--draw: nothing is predicted");
  draw(curve_figure(chart), file);
}

/// What nccl-tests measures, but for what asks the same of links as another.
std::vector<std::string> usual_collectives() {
  return {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
          "broadcast",  "reduce",     "gather",         "scatter"};
}

/// Whether each rank's part of the collective has a byte at least.
bool is_cut(const Topology& topology, const CollectiveRequest& request) {
  try {
    (void)make_collective(topology, request, 1);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

} // namespace

int predict_command(const PredictArguments& arguments) {
  require_columns(arguments.tables,
                  column_names(records_of<PredictedRow>(predicted_fields({}, {}, {}), {}).columns,
                               shown_columns()));
  for (const std::string& file : {arguments.draw, arguments.csv})
    if (!file.empty()) require_writable(file);
  if (!arguments.draw.empty()) require_picture_name(arguments.draw);
  const std::vector<Bytes> sizes =
      of_option("--size", [&] { return parse_sizes(arguments.sizes); });
  const Topology topology = make_topology_and_report(arguments.topology);
  const std::string name = arguments.algorithm.empty() ? nccl_of(topology) : arguments.algorithm;
  Case of;
  of.topology_label = topology.name();
  of.topology = &topology;
  of.algorithm = of_option("-a", [&] { return find_algorithm(name); });
  of.chunks = std::nullopt;
  of.options.settings = parse_settings(arguments.settings);
  of.transport = transport_or_usual(topology, arguments.transport);
  of.engine = &find_engine("native");
  of.cache = usable_cache(cache_folder(arguments.cache));
  std::vector<Case> cases;
  std::vector<PredictedRow> rows;
  const bool is_asked = !arguments.collectives.empty();
  for (const std::string& collective : is_asked ? arguments.collectives : usual_collectives()) {
    const CollectiveRequest largest{{collective}, sizes.back()};
    const CollectivePart part =
        of_option("-c", [&] { return make_collective(topology, largest, 1).parts.front(); });
    for (const Bytes size : sizes) {
      const CollectiveRequest request{{collective}, size};
      if (!is_cut(topology, request)) continue; // less than a byte for a rank
      cases.push_back(of);
      cases.back().collective = request;
      rows.push_back(
          {collective, part.kind, size, static_cast<std::uint32_t>(part.group.size()), {}});
    }
  }
  Interrupts interrupts;
  const std::vector<Forecast> predictions = predict(cases, [&](std::span<const Case> wanted) {
    RunDisplay display("predict", wanted.size(), false);
    return run_cases(wanted, default_jobs(), display.watcher(interrupts));
  });
  bool is_defect = false;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].predicted = predictions[r];
    if (predictions[r].problem.empty()) continue;
    is_defect = true;
    print_message(fmt::format("DEFECT: {} of {}: {}", rows[r].collective, to_text(rows[r].size),
                              predictions[r].problem));
  }
  const std::string transport = of.transport ? of.transport->name : "ideal";
  const std::string heading =
      fmt::format("{} ({} NPUs), by {}, under {}", topology.name(), topology.npu_count(), name,
                  of.transport ? "transport " + transport : "ideal links");
  if (!arguments.csv.empty()) write_table(arguments.csv, rows);
  if (!arguments.draw.empty()) draw_curves(heading, rows, arguments.draw);
  const Records records =
      records_of<PredictedRow>(predicted_fields(topology.name(), transport, name), rows);
  if (arguments.json)
    print_text(answer_json("predict", runs_json("prediction", records)));
  else {
    const TableForm form = table_form(arguments.tables);
    print_tables(heading + "\n" + to_text(records_table(records, shown_columns(), form), form));
  }
  const bool is_nothing = std::ranges::none_of(
      rows, [](const PredictedRow& row) { return row.predicted.time.has_value(); });
  if (is_nothing) print_message("nothing is predicted");
  return is_defect || is_nothing ? 1 : 0;
}

} // namespace tutti
