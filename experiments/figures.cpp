#include "experiments/figures.hpp"

#include "experiments/bars.hpp"
#include "experiments/heatmap.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {

namespace {

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// What the figure shows: evaluations with a replay, of the topologies and algorithms asked for.
std::vector<Evaluation> shown(const FigureRequest& request, std::span<const Evaluation> all) {
  std::vector<Evaluation> some;
  for (const Evaluation& e : all)
    if (!e.replays.empty() && listed(request.topologies, e.topology) &&
        listed(request.algorithms, e.algorithm))
      some.push_back(e);
  if (some.empty())
    throw InputError(fmt::format("figure {}: there is nothing to draw", request.file));
  return some;
}

// The distinct values of a field, in order of appearance.
template <typename Field>
std::vector<std::string> distinct(std::span<const Evaluation> evaluations, Field&& field) {
  std::vector<std::string> values;
  for (const Evaluation& e : evaluations)
    if (std::find(values.begin(), values.end(), field(e)) == values.end())
      values.push_back(field(e));
  return values;
}

const auto topology_of = [](const Evaluation& e) { return e.topology; };
const auto algorithm_of = [](const Evaluation& e) { return e.algorithm; };

const Topology& topology_named(const Experiment& experiment, const std::string& label) {
  return std::find_if(experiment.topologies.begin(), experiment.topologies.end(),
                      [&label](const LabelledTopology& t) { return t.label == label; })
      ->topology;
}

// A name that tells an evaluation from the others of the figure.
std::string panel_title(const Evaluation& e, std::span<const Evaluation> all) {
  std::string title = e.algorithm;
  if (distinct(all, topology_of).size() > 1) title += " on " + e.topology;
  if (distinct(all, [](const Evaluation& x) { return x.collective; }).size() > 1)
    title += ", " + e.collective;
  if (distinct(all, [](const Evaluation& x) { return x.run; }).size() > 1) title += ", " + e.run;
  return title;
}

std::vector<LinkMap> link_maps(const FigureRequest& request, const Experiment& experiment,
                               std::span<const Evaluation> evaluations) {
  std::vector<LinkMap> maps;
  for (const Evaluation& e : evaluations)
    maps.push_back(link_map(panel_title(e, evaluations), topology_named(experiment, e.topology),
                            e.replays.front().report, request.quantity));
  return maps;
}

// Rates are drawn in GB/s and times in ms.
double drawn(const Evaluation& e, Metric metric) {
  constexpr double ps_per_ms = 1e9, bytes_per_gb = 1e9;
  const double value = value_of(e.replays.front(), metric);
  if (metric == Metric::gap) return value;
  return value / (metric == Metric::time ? ps_per_ms : bytes_per_gb);
}

std::string axis_label(Metric metric) {
  switch (metric) {
  case Metric::algbw: return "algorithm bandwidth [GB/s]";
  case Metric::busbw: return "bus bandwidth [GB/s]";
  case Metric::time: return "collective time [ms]";
  case Metric::gap: break;
  }
  return "collective time / lower bound";
}

void normalize(BarGroup& group) {
  double least = std::numeric_limits<double>::infinity();
  for (const double value : group.values)
    if (value < least) least = value; // NaN is never less
  for (double& value : group.values) value /= least;
}

Figure bars(const FigureRequest& request, std::span<const Evaluation> evaluations) {
  BarChart chart{
      request.title, axis_label(request.metric), distinct(evaluations, algorithm_of), {}};
  if (request.normalized) chart.y_label = fmt::format("{} / least", to_text(request.metric));
  for (const std::string& topology : distinct(evaluations, topology_of)) {
    BarGroup group{topology, {}};
    for (const std::string& algorithm : chart.series) {
      const auto found =
          std::find_if(evaluations.begin(), evaluations.end(), [&](const Evaluation& e) {
            return e.topology == topology && e.algorithm == algorithm;
          });
      group.values.push_back(found == evaluations.end() ? std::nan("")
                                                        : drawn(*found, request.metric));
    }
    if (request.normalized) normalize(group);
    chart.groups.push_back(std::move(group));
  }
  return bar_figure(chart);
}

Figure sizes(const FigureRequest& request, std::span<const Evaluation> evaluations) {
  SizeChart chart{request.title, axis_label(request.metric), {}};
  const bool several = distinct(evaluations, topology_of).size() > 1;
  const auto name_of = [several](const Evaluation& e) {
    return several ? fmt::format("{} on {}", e.algorithm, e.topology) : e.algorithm;
  };
  for (const std::string& name : distinct(evaluations, name_of)) {
    SizeCurve curve{name, {}};
    for (const Evaluation& e : evaluations)
      if (name_of(e) == name) curve.points.push_back({e.size, drawn(e, request.metric)});
    std::stable_sort(curve.points.begin(), curve.points.end(),
                     [](const SizePoint& a, const SizePoint& b) { return a.size < b.size; });
    chart.curves.push_back(std::move(curve));
  }
  return size_figure(chart);
}

} // namespace

Figure make_figure(const FigureRequest& request, const Experiment& experiment,
                   std::span<const Evaluation> evaluations) {
  const std::vector<Evaluation> some = shown(request, evaluations);
  switch (request.kind) {
  case FigureKind::heatmap:
    return heatmap_figure(request.title, link_maps(request, experiment, some), request.quantity);
  case FigureKind::utilisation:
    return sorted_links_figure(request.title, link_maps(request, experiment, some),
                               request.quantity);
  case FigureKind::bars: return bars(request, some);
  case FigureKind::sizes: break;
  }
  return sizes(request, some);
}

} // namespace tutti
