// One run is shown by its progress over time, a sweep by its times over the number of failed links:
// a figure of each kind, as there is anything to show. Policies that leave something out have no
// time, and their curves say so by name.
#include "experiments/driver/studies/failures/study.hpp"

#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/failures/failure_texts.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/network_event.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

double count_of(Time time, TimeUnit unit) { return static_cast<double>(time.ps) / unit.ps; }

Heading heading_of(const FailureEvaluation& e, const std::string& what) {
  return {labelled_title(e.label, fmt::format("{} {} on {}{}", e.collective, to_text(e.size),
                                              e.topology, what)),
          fmt::format("{}; detection {}, decision {}",
                      simulation_text(joined(e.engines, " and "), e.model), to_text(e.detection),
                      to_text(e.decision))};
}

Curve progress_curve(std::string name, std::span<const ProgressPoint> progress, Bytes wanted,
                     TimeUnit unit) {
  Curve curve{std::move(name), {{0, 0}}};
  const double all = static_cast<double>(std::max<std::int64_t>(wanted.count, 1));
  for (const ProgressPoint& point : progress)
    curve.points.push_back(
        {count_of(point.at, unit), 100 * static_cast<double>(point.in_place.count) / all});
  return curve;
}

// One for each instant at which something happens. Those that can't be distinguished share their
// words; where there are many, there are none.
std::vector<CurveMark> marks_of(const ScenarioEvaluation& scenario, TimeUnit unit, double end) {
  constexpr std::size_t most_words = 12;
  constexpr double least_distance = 0.004; // of the axis
  std::vector<CurveMark> marks;
  std::size_t described = 0, together = 0; // the mark whose words are of the last `together` events
  for (std::size_t i = 0; i < scenario.events.size(); ++i) {
    const double x = count_of(scenario.events[i].at, unit);
    if (marks.empty() || x > marks.back().x) marks.push_back({x, {}});
    if (together == 0 || x - marks[described].x > least_distance * end) {
      described = marks.size() - 1;
      together = 0;
    }
    ++together;
    marks[described].text =
        together == 1 ? scenario.event_texts[i] : fmt::format("{} events", together);
  }
  if (marks.size() > most_words)
    for (CurveMark& mark : marks) mark.text.clear();
  return marks;
}

// When the last curve ends.
double end_of(const CurveChart& chart) {
  double end = 0;
  for (const Curve& curve : chart.curves) end = std::max(end, curve.points.back().x);
  return end;
}

std::string curve_name(const PolicyEvaluation& policy) {
  const std::string name(to_text(policy.recovery.policy));
  return policy.recovery.complete() ? name
                                    : fmt::format("{} ({})", name, to_text(policy.recovery.ending));
}

} // namespace

Figure progress_figure(const FailureEvaluation& e, const ScenarioEvaluation& scenario) {
  CurveChart chart;
  chart.heading = heading_of(e, ", by " + e.algorithm);
  chart.axis = CurveAxis::linear;
  Time latest;
  const auto add = [&](std::span<const ProgressPoint> progress) {
    if (!progress.empty()) latest = std::max(latest, progress.back().at);
  };
  add(e.progress);
  for (const PolicyEvaluation& policy : scenario.policies) add(policy.recovery.progress);
  const TimeUnit unit = time_unit(static_cast<double>(latest.ps));
  chart.x_label = fmt::format("time [{}]", unit.name);
  chart.y_label = "in place, of what is wanted [%]";
  chart.steps = true;
  chart.curves.push_back(progress_curve("undisturbed", e.progress, e.wanted, unit));
  for (const PolicyEvaluation& policy : scenario.policies)
    chart.curves.push_back(
        progress_curve(curve_name(policy), policy.recovery.progress, policy.recovery.wanted, unit));
  chart.marks = marks_of(scenario, unit, end_of(chart));
  return curve_figure(chart);
}

namespace {

// The median over the seeds hides none that failed: where the middle one is incomplete there is no
// point, and the curve's name says so.
Figure sweep_figure(std::span<const FailureEvaluation> evaluations) {
  CurveChart chart;
  chart.heading = heading_of(evaluations.front(), "");
  chart.axis = CurveAxis::linear;
  chart.x_label = "failed links";
  Time longest;
  for (const FailureEvaluation& e : evaluations)
    for (const PolicySummary& summary : summaries_of(e))
      if (summary.time) longest = std::max(longest, *summary.time);
  const TimeUnit unit = time_unit(static_cast<double>(longest.ps));
  chart.y_label = fmt::format("time, median over the seeds [{}]", unit.name);
  for (const FailureEvaluation& e : evaluations)
    for (const Policy policy : e.policies) {
      const auto dash = static_cast<std::size_t>(&e - evaluations.data());
      Curve curve{fmt::format("{}, {}", e.algorithm, to_text(policy)),
                  {},
                  {},
                  CurveLook{static_cast<std::size_t>(policy), dash}};
      bool incomplete = false;
      for (const PolicySummary& summary : summaries_of(e)) {
        if (summary.policy != policy || !summary.failed_links) continue;
        incomplete = incomplete || !summary.time;
        if (summary.time)
          curve.points.push_back(
              {static_cast<double>(*summary.failed_links), count_of(*summary.time, unit)});
      }
      if (incomplete) curve.name += " (else incomplete)";
      std::sort(curve.points.begin(), curve.points.end(),
                [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
      if (!curve.points.empty()) chart.curves.push_back(std::move(curve));
    }
  return curve_figure(chart);
}

} // namespace

std::vector<NamedFigure> failure_figures(std::span<const FailureEvaluation> evaluations) {
  std::vector<NamedFigure> figures;
  std::vector<FailureEvaluation> sweeps;
  for (const FailureEvaluation& e : evaluations)
    if (e.scenarios.size() > 1 && e.scenarios.front().scenario.failed_links) sweeps.push_back(e);
  const auto has_time = [](const FailureEvaluation& e) {
    const auto summaries = summaries_of(e);
    return std::any_of(summaries.begin(), summaries.end(),
                       [](const PolicySummary& summary) { return summary.time.has_value(); });
  };
  if (std::any_of(sweeps.begin(), sweeps.end(), has_time))
    figures.push_back({file_stem("failures", sweeps.front().label), sweep_figure(sweeps)});
  for (const FailureEvaluation& e : evaluations) {
    if (e.scenarios.size() != 1) continue;
    const std::string stem = file_stem("failures", e.label);
    figures.push_back({evaluations.size() == 1 ? stem : fmt::format("{}_{}", stem, e.algorithm),
                       progress_figure(e, e.scenarios.front())});
  }
  return figures;
}

namespace {

/// Complete before others, then the earliest.
const PolicyEvaluation& best_policy(const ScenarioEvaluation& scenario) {
  const auto rank = [](const PolicyEvaluation& policy) {
    return std::pair{!policy.recovery.complete(), policy.recovery.completion};
  };
  return *std::ranges::min_element(scenario.policies, {}, rank);
}

/// "; npu100 at 25 % of its rate", or the number of events where there are more than a few.
std::string events_note(const ScenarioEvaluation& scenario) {
  constexpr std::size_t most = 3;
  if (scenario.events.empty()) return "";
  return scenario.events.size() > most ? fmt::format("; after {} events", scenario.events.size())
                                       : "; " + joined(scenario.event_texts, ", ");
}

DeadParts dead_after(const Topology& topology, std::span<const NetworkEvent> events) {
  NetworkState state(topology);
  for (const NetworkEvent& event : events) state.apply(event);
  DeadParts dead;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    if (!state.is_up(NodeId{n})) dead.nodes.push_back(NodeId{n});
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (!state.is_up(LinkId{l})) dead.links.push_back(LinkId{l});
  return dead;
}

} // namespace

std::vector<NetworkUse> network_uses(std::span<const FailureEvaluation> evaluations,
                                     const Topology& topology) {
  std::vector<NetworkUse> uses;
  for (const FailureEvaluation& e : evaluations) {
    if (e.scenarios.size() != 1 || e.scenarios.front().policies.empty()) continue;
    const ScenarioEvaluation& scenario = e.scenarios.front();
    const PolicyEvaluation& policy = best_policy(scenario);
    if (policy.recovery.links.empty()) continue;
    uses.push_back(
        {file_stem("failures_network",
                   evaluations.size() == 1 ? e.label : e.label + " " + e.algorithm),
         Heading(fmt::format("{} by {} on {}, {}: {}", e.collective, e.algorithm, e.topology,
                             to_text(policy.recovery.policy), ending_text(policy.recovery)),
                 to_text(e.size) + events_note(scenario)),
         &topology, policy.recovery.links, policy.recovery.completion,
         dead_after(topology, scenario.events)});
  }
  return uses;
}

} // namespace tutti
