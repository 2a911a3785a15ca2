// An experiment asks for a kind of figure and names topologies and algorithms; here its evaluations
// become series, groups and panels. Names carry only what tells them apart, and a note says under
// which model they were made. What has no value stays visible as a gap.
#include "experiments/driver/studies/runs/figure.hpp"

#include "experiments/driver/figures/bars.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/heatmap.hpp"
#include "experiments/driver/figures/palette.hpp"
#include "experiments/driver/figures/schedule_drawing.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/noise/figures.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/recorded_run.hpp"
#include "experiments/driver/studies/runs/records.hpp"
#include "experiments/driver/studies/runs/shown_runs.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

namespace tutti {

namespace {

const auto topology_of = [](const Evaluation& e) { return e.topology; };
const auto collective_of = [](const Evaluation& e) { return e.collective; };

// A name that tells an evaluation from the others of the figure.
std::string panel_title(const Evaluation& e, std::span<const Evaluation> all) {
  std::string title = VariantNames(all).of(e);
  if (distinct(all, collective_of).size() > 1) title += ", " + e.collective;
  return title;
}

const Topology& topology_named(Networks networks, const std::string& label) {
  return std::find_if(networks.begin(), networks.end(),
                      [&label](const LabelledTopology& t) { return t.label == label; })
      ->topology;
}

std::vector<LinkMap> link_maps(const FigureRequest& request, Networks networks,
                               std::span<const Evaluation> evaluations) {
  const bool are_several = distinct(evaluations, topology_of).size() > 1;
  std::vector<LinkMap> maps;
  for (const Evaluation& e : evaluations) {
    maps.push_back(link_map(panel_title(e, evaluations), topology_named(networks, e.topology),
                            e.replays.front().report, request.quantity));
    if (are_several) maps.back().network = e.topology;
  }
  return maps;
}

// Under which model all of them were measured: "engine simgrid, fifo, links busy for ...".
std::string model_note(std::span<const Evaluation> evaluations) {
  const auto models = distinct(evaluations, [](const Evaluation& e) {
    const Report& report = e.replays.front().report;
    return fmt::format("engine {}, {}, links busy for {}, forwarding {}", report.engine,
                       discipline_text(report.model), to_text(report.model.link_busy),
                       to_text(report.model.forwarding));
  });
  std::vector<std::string> routings =
      distinct(evaluations, [](const Evaluation& e) { return e.routing; });
  std::erase(routings, "");
  return joined(models, "; ") +
         (routings.empty() ? "" : fmt::format("; routing {}", joined(routings, " or ")));
}

/// The column that a figure draws: rates in GB/s, times in the unit of the largest that is shown;
/// NaN where a value isn't known.
class DrawnColumn {
public:
  DrawnColumn(const RecordColumn& column, std::span<const Evaluation> shown)
      : value_(run_column(column.name)) {
    if (column.quantity == Quantity::rate) {
      unit_ = "GB/s";
      divisor_ = 1e9;
    } else if (column.quantity == Quantity::effort) {
      unit_ = "CPU s";
    } else if (column.quantity == Quantity::time) {
      double largest = 0;
      for (const Evaluation& e : shown)
        if (const double value = (*this)(e); value > largest) largest = value;
      const TimeUnit unit = time_unit(largest);
      unit_ = unit.name;
      divisor_ = unit.ps;
    }
  }

  [[nodiscard]] std::string_view unit() const { return unit_; } ///< empty: none
  [[nodiscard]] double divisor() const { return divisor_; }
  [[nodiscard]] double operator()(const Evaluation& e) const {
    const Cell cell = value_(e);
    return cell.is_known() ? cell.number() / divisor_ : std::nan("");
  }

private:
  std::function<Cell(const Evaluation&)> value_;
  std::string_view unit_;
  double divisor_ = 1;
};

/// "collective time" of "collective_time_ps"
std::string words_of(const RecordColumn& column) {
  std::string words(name_without_unit(column));
  if (column.quantity == Quantity::fact) return words.substr(words.find(':') + 1);
  if (words == "algbw") return "algorithm bandwidth";
  if (words == "busbw") return "bus bandwidth";
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string metric_label(const FigureRequest& request, std::string_view unit) {
  const RecordColumn& column = request.metric;
  std::string words = words_of(column);
  if (request.normalized) return words + " / least";
  if (!request.reference.empty()) return fmt::format("{} / that of {}", words, request.reference);
  if (column.name == "gap") return "collective time / lower bound";
  if (column.name == "planned_ratio") return "planned time / collective time";
  if (column.quantity == Quantity::effort) words += " time";
  return unit.empty() ? words : fmt::format("{} [{}]", words, unit);
}

// What the figure draws of evaluations; `all` are those of the experiment.
class Values {
public:
  Values(const FigureRequest& request, std::span<const Evaluation> shown,
         std::span<const Evaluation> all)
      : request_(request), all_(all), drawn_(request.metric, shown) {
    if (request.skews.empty()) indices_ = shown_indices(request, all);
  }

  [[nodiscard]] std::string axis_label() const {
    return request_.y_label.empty() ? metric_label(request_, drawn_.unit()) : request_.y_label;
  }

  /// What the value would be at the lower bound; NaN where none is asked for or known.
  [[nodiscard]] double at_bound(const Evaluation& e) const {
    if (!request_.shows_bound) return std::nan("");
    const double gap = e.replays.front().gap();
    return request_.metric.quantity == Quantity::time ? of(e) / gap : of(e) * gap;
  }

  /// NaN where it is to be drawn over an algorithm that has no value for this problem.
  [[nodiscard]] double of(const Evaluation& e) const {
    const double value = drawn_(e);
    if (request_.reference.empty()) return value;
    for (const Evaluation& other : all_)
      if (other.algorithm == request_.reference && !other.replays.empty() && same_problem(e, other))
        for (const Evaluation& one : by_skew(request_, other))
          if (skew_of(one) == skew_of(e)) return value / drawn_(one);
    return std::nan("");
  }

  /// What a paper prints of the evaluation with this index among those shown; NaN where it
  /// doesn't.
  [[nodiscard]] double printed(std::size_t index) const {
    for (const PrintedValue& value : request_.printed)
      if (index < indices_.size() && value.of == indices_[index] &&
          value.metric == request_.metric.name && is_of_reference(value))
        return value.over ? value.value : value.value / drawn_.divisor();
    return std::nan("");
  }

private:
  [[nodiscard]] bool is_of_reference(const PrintedValue& value) const {
    if (request_.normalized || request_.reference.empty() == value.over.has_value()) return false;
    return !value.over || (all_[*value.over].algorithm == request_.reference &&
                           same_problem(all_[value.of], all_[*value.over]));
  }

  // Bars and sizes may compare algorithms that cut differently.
  [[nodiscard]] bool same_problem(const Evaluation& a, const Evaluation& b) const {
    return a.topology == b.topology && a.collective == b.collective && a.size == b.size &&
           (request_.kind != FigureKind::chunks || chunks_asked(a) == chunks_asked(b));
  }

  const FigureRequest& request_;
  std::span<const Evaluation> all_;
  DrawnColumn drawn_;
  std::vector<std::size_t> indices_; ///< of those shown, in `all_`; none of several skews
};

void normalize(BarGroup& group) {
  double least = std::numeric_limits<double>::infinity();
  for (const double value : group.values)
    if (value < least) least = value; // NaN is never less
  for (double& value : group.values) value /= least;
  group.bound /= least;
}

Figure bars(const FigureRequest& request, const Heading& heading,
            std::span<const Evaluation> evaluations, const Values& values) {
  const VariantNames names(evaluations);
  const auto series_of = [&names](const Evaluation& e) { return names.of(e); };
  BarChart chart{
      heading, values.axis_label(), distinct(evaluations, series_of), {}, request.logarithmic};
  for (const std::string& topology : distinct(evaluations, topology_of)) {
    BarGroup group{topology, {}, {}};
    for (const std::string& series : chart.series) {
      const auto found =
          std::find_if(evaluations.begin(), evaluations.end(), [&](const Evaluation& e) {
            return e.topology == topology && series_of(e) == series;
          });
      const auto index = static_cast<std::size_t>(found - evaluations.begin());
      group.values.push_back(found == evaluations.end() ? std::nan("") : values.of(*found));
      group.printed.push_back(values.printed(index));
      if (found != evaluations.end() && std::isnan(group.bound))
        group.bound = values.at_bound(*found);
    }
    if (request.normalized) normalize(group);
    chart.groups.push_back(std::move(group));
  }
  return bar_figure(chart);
}

// One curve per name, in order of appearance; what has no value is left out. `kin_of`: what gives a
// curve its colour; the others of one colour have a dash each for what `other_of` names.
template <typename Name, typename X, typename Kin, typename Other>
std::vector<Curve> curves_of(std::span<const Evaluation> evaluations, const Values& values,
                             Name&& name_of, X&& x_of, Kin&& kin_of, Other&& other_of) {
  const std::vector<std::string> kin = distinct(evaluations, kin_of);
  const std::vector<std::size_t> hues = series_hues(kin);
  const std::vector<std::string> others = distinct(evaluations, other_of);
  const auto place = [](const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  std::vector<Curve> curves;
  for (const std::string& name : distinct(evaluations, name_of)) {
    Curve curve{name, {}};
    for (const Evaluation& e : evaluations)
      if (name_of(e) == name && std::isfinite(values.of(e))) {
        curve.points.push_back({x_of(e), values.of(e)});
        curve.look = CurveLook{hues[place(kin, kin_of(e))], place(others, other_of(e))};
      }
    std::stable_sort(curve.points.begin(), curve.points.end(),
                     [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    if (!curve.points.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

/// What papers print, a mark in the colour of its curve.
template <typename Name, typename X>
void add_printed(CurveChart& chart, std::span<const Evaluation> evaluations, const Values& values,
                 Name&& name_of, X&& x_of) {
  const std::size_t curves = chart.curves.size();
  for (std::size_t c = 0; c < curves; ++c) {
    Curve printed{
        chart.curves[c].name + ", paper", {}, {}, chart.curves[c].look, CurveKind::points};
    for (std::size_t i = 0; i < evaluations.size(); ++i)
      if (const double value = values.printed(i);
          std::isfinite(value) && name_of(evaluations[i]) == chart.curves[c].name)
        printed.points.push_back({x_of(evaluations[i]), value});
    if (!printed.points.empty()) chart.curves.push_back(std::move(printed));
  }
}

/// The bound of each problem, and the points of others, behind the curves.
template <typename X, typename Problem>
void add_beside(CurveChart& chart, const FigureRequest& request,
                std::span<const Evaluation> evaluations, const Values& values, X&& x_of,
                Problem&& problem_of) {
  if (request.shows_bound)
    for (const std::string& problem : distinct(evaluations, problem_of)) {
      std::map<double, double> at; // one for each x
      for (const Evaluation& e : evaluations)
        if (const double bound = values.at_bound(e);
            problem_of(e) == problem && std::isfinite(bound))
          at.emplace(x_of(e), bound);
      Curve& curve = chart.curves.emplace_back();
      curve = {"bound" + problem, {}, {}, {}, CurveKind::bound};
      for (const auto& [x, y] : at) curve.points.push_back({x, y});
    }
  for (std::size_t g = 0; g < request.given.size(); ++g)
    chart.curves.push_back({request.given[g].name,
                            request.given[g].points,
                            {},
                            CurveLook{palette_size - 2 - g % palette_size, 0},
                            CurveKind::points});
  std::erase_if(chart.curves, [](const Curve& curve) { return curve.points.empty(); });
  if (!request.x_label.empty()) chart.x_label = request.x_label;
  chart.logarithmic = chart.logarithmic || request.logarithmic;
  chart.y_ends = request.y_ends;
}

// Where all curves are of one kind, colours tell the others apart: a chart of dashes alone would be
// hard to read.
template <typename Name, typename X, typename Kin, typename Other>
std::vector<Curve> distinguishable_curves(std::span<const Evaluation> evaluations,
                                          const Values& values, Name&& name_of, X&& x_of,
                                          Kin&& kin_of, Other&& other_of) {
  if (distinct(evaluations, kin_of).size() > 1)
    return curves_of(evaluations, values, name_of, x_of, kin_of, other_of);
  return curves_of(evaluations, values, name_of, x_of, other_of, kin_of);
}

Figure curves(const FigureRequest& request, const Heading& heading,
              std::span<const Evaluation> evaluations, const Values& values) {
  const bool several = distinct(evaluations, topology_of).size() > 1;
  const bool collectives = distinct(evaluations, collective_of).size() > 1;
  const bool over_chunks = request.kind == FigureKind::chunks;
  const VariantNames names(evaluations);
  const auto variant_of = [&](const Evaluation& e) {
    return over_chunks ? names.of_any_chunks(e) : names.of(e);
  };
  const auto problem_of = [&](const Evaluation& e) {
    return (collectives ? ", " + e.collective : "") + (several ? " on " + e.topology : "");
  };
  const auto name_of = [&](const Evaluation& e) { return variant_of(e) + problem_of(e); };
  CurveChart chart{heading, CurveAxis::bytes, "collective size", values.axis_label(), {}, {}};
  if (over_chunks) {
    chart.axis = CurveAxis::powers;
    chart.x_label = "chunks per shard";
  }
  const auto x_of = [&](const Evaluation& e) {
    return over_chunks ? chunks_asked(e) : static_cast<double>(e.size.count);
  };
  chart.curves = distinguishable_curves(evaluations, values, name_of, x_of, variant_of, problem_of);
  add_printed(chart, evaluations, values, name_of, x_of);
  add_beside(chart, request, evaluations, values, x_of, problem_of);
  return curve_figure(chart);
}

Figure over_skews(const FigureRequest& request, const Heading& heading,
                  std::span<const Evaluation> evaluations, const Values& values) {
  const SkewScale largest = largest_scale(distinct(evaluations, skew_of));
  const TimeUnit unit =
      largest.is_multiple ? TimeUnit{1, "times the lower bound"} : time_unit(largest.value);
  const VariantNames names(evaluations);
  const auto variant_of = [&](const Evaluation& e) { return names.of_any_skew(e); };
  const auto problem_of = [&](const Evaluation& e) { return names.problem_of(e); };
  CurveChart chart;
  const NoiseOutcome& drawn = evaluations.front().replays.front().noises.front();
  chart.heading = heading;
  if (request.has_titles)
    chart.heading.note += fmt::format("; jitter {}, seed {}", drawn.jitter, drawn.seed);
  chart.axis = CurveAxis::linear;
  chart.x_label = fmt::format("{} skew [{}]", largest.distribution, unit.name);
  chart.y_label = values.axis_label();
  const auto x_of = [&](const Evaluation& e) { return scale_of(skew_of(e)).value / unit.ps; };
  chart.curves = distinguishable_curves(
      evaluations, values, [&](const Evaluation& e) { return variant_of(e) + problem_of(e); }, x_of,
      variant_of, problem_of);
  add_beside(chart, request, evaluations, values, x_of, problem_of);
  return curve_figure(chart);
}

/// What draws came to, each with a name.
std::vector<NamedNoise> named_noises(std::span<const Evaluation> evaluations) {
  const VariantNames names(evaluations);
  std::vector<NamedNoise> noises;
  for (const Evaluation& e : evaluations)
    noises.push_back({names.of(e) + names.problem_of(e), &e.replays.front().noises.front()});
  return noises;
}

/// The heading with what was drawn, where that is one kind of noise.
Heading with_draws(Heading heading, std::span<const Evaluation> evaluations) {
  if (!heading.note.empty() && distinct(evaluations, skew_of).size() == 1)
    heading.note += "; " + noise_text(evaluations.front().replays.front().noises.front());
  return heading;
}

// `mesh2d` of `mesh2d:8x8,...`; the name of a machine or file as it is.
std::string family_of(Networks networks, const std::string& label) {
  const auto found = std::find_if(networks.begin(), networks.end(),
                                  [&label](const LabelledTopology& t) { return t.label == label; });
  return found->text.substr(0, found->text.find(':'));
}

Figure scaling(const FigureRequest& request, const Heading& heading, Networks networks,
               std::span<const Evaluation> evaluations, const Values& values) {
  const bool npus = request.over.name == "npus";
  const bool collectives = distinct(evaluations, collective_of).size() > 1;
  const auto name_of = [&](const Evaluation& e) {
    return fmt::format("{}{} on {}", e.algorithm, collectives ? ", " + e.collective : "",
                       family_of(networks, e.topology));
  };
  const DrawnColumn x_of(request.over, evaluations);
  const auto algorithm_of = [](const Evaluation& e) { return e.algorithm; };
  const auto problem_of = [&](const Evaluation& e) {
    return e.collective + " on " + family_of(networks, e.topology);
  };
  // Amounts of work and time grow by laws; ratios and rates don't.
  const Quantity quantity = request.metric.quantity;
  const bool grows = request.reference.empty() && !request.normalized &&
                     (quantity == Quantity::effort || quantity == Quantity::time);
  CurveChart chart{
      heading,
      CurveAxis::tens,
      npus ? "NPUs" : words_of(request.over),
      values.axis_label(),
      distinguishable_curves(evaluations, values, name_of, x_of, algorithm_of, problem_of),
      !grows ? ""
      : npus ? "N"
             : "T"};
  add_printed(chart, evaluations, values, name_of, x_of);
  add_beside(chart, request, evaluations, values, x_of,
             [&](const Evaluation& e) { return ", " + problem_of(e); });
  return curve_figure(chart);
}

Figure schedule(const FigureRequest& request, const Heading& heading, std::span<const Case> cases,
                std::span<const Evaluation> evaluations) {
  const std::vector<std::size_t> indices = shown_indices(request, evaluations);
  if (indices.size() != 1)
    throw InputError(
        fmt::format("a schedule is drawn of one evaluation, not of {}", indices.size()));
  const Case& c = cases[indices.front()];
  const Evaluation& e = evaluations[indices.front()];
  if (e.replays.front().report.model.discipline != Discipline::fifo)
    throw InputError(
        fmt::format("{} on {}: only fifo is drawn, not fluid", e.algorithm, e.topology));
  const RecordedRun run = record_run(c, e);
  return schedule_figure(heading, *c.topology, run.collective, run.schedule, run.report);
}

Figure drawn_figure(const FigureRequest& request, Networks networks, std::span<const Case> cases,
                    std::span<const Evaluation> evaluations) {
  const std::vector<Evaluation> some = shown(request, evaluations);
  Heading heading;
  if (request.has_titles) heading = {request.title, model_note(some)};
  if (request.inches > 0) heading.page = static_cast<int>(request.inches * page_width / 7);
  const Values values(request, some, evaluations);
  switch (request.kind) {
  case FigureKind::heatmap:
    return heatmap_figure(heading, link_maps(request, networks, some), request.quantity);
  case FigureKind::utilisation:
    return sorted_links_figure(heading, link_maps(request, networks, some), request.quantity);
  case FigureKind::bars: return bars(request, heading, some, values);
  case FigureKind::sizes:
  case FigureKind::chunks: return curves(request, heading, some, values);
  case FigureKind::scaling: return scaling(request, heading, networks, some, values);
  case FigureKind::skews: return over_skews(request, heading, some, values);
  case FigureKind::histogram:
    return histogram_figure(with_draws(heading, some), named_noises(some));
  case FigureKind::robustness:
    return robustness_figure(with_draws(heading, some), named_noises(some));
  case FigureKind::schedule: break;
  }
  return schedule(request, heading, cases, evaluations);
}

} // namespace

bool FigureRequest::shows(std::string_view topology, std::string_view algorithm) const {
  const auto listed = [](const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  return listed(topologies, topology) && listed(algorithms, algorithm);
}

Figure make_figure(const FigureRequest& request, Networks networks, std::span<const Case> cases,
                   std::span<const Evaluation> evaluations) {
  try {
    Figure figure = drawn_figure(request, networks, cases, evaluations);
    figure.inches = request.inches;
    figure.font = request.font;
    return figure;
  } catch (const InputError& error) {
    throw InputError(fmt::format("figure {}: {}", request.file, error.what()));
  }
}

const Evaluation* fastest_run(std::span<const Evaluation> evaluations,
                              const std::string& topology) {
  const Evaluation* fastest = nullptr;
  for (const Evaluation& e : evaluations) {
    if (e.topology != topology || e.replays.empty()) continue;
    const auto same = [&e](const Evaluation* other) {
      return other != nullptr && other->collective == e.collective && other->size == e.size;
    };
    const auto time = [](const Evaluation& run) { return run.replays.front().report.completion; };
    if (!same(fastest) || time(e) < time(*fastest)) fastest = &e;
  }
  return fastest;
}

std::vector<NetworkUse> network_uses(Networks networks, std::span<const Evaluation> evaluations) {
  constexpr std::size_t most_networks = 6;
  const std::vector<std::string> labels =
      distinct(evaluations, [](const Evaluation& e) { return e.topology; });
  std::vector<NetworkUse> uses;
  for (const std::string& label : labels) {
    const Evaluation* e = fastest_run(evaluations, label);
    if (e == nullptr || labels.size() > most_networks) continue;
    const Replay& replay = e->replays.front();
    const Topology& topology = topology_named(networks, label);
    NetworkUse& use = uses.emplace_back();
    use.stem = file_stem("network", labels.size() == 1 ? "" : label);
    use.heading = {fmt::format("{} by {} on {}: {}", e->collective, e->algorithm, label,
                               short_text(replay.report.completion)),
                   fmt::format("{}; {}", to_text(e->size), model_note({e, 1}))};
    use.topology = &topology;
    use.links = replay.report.links;
    use.duration = replay.report.completion;
  }
  return uses;
}

} // namespace tutti
