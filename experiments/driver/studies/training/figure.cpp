// A bar is an iteration, its parts are where the time of the mean NPU goes, so that bars end where
// the iteration ends. The normalized figure has the same bars over one of them in each group, as
// papers draw them.
#include "experiments/driver/studies/training/columns.hpp"

#include "experiments/driver/figures/heatmap.hpp"
#include "experiments/driver/figures/stacked_bars.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tutti {

namespace {

constexpr std::size_t most_panels = 16;
constexpr std::uint32_t most_nodes = 512;

/// In the order of the legend: computing, what is exposed of each purpose, bubble, waiting.
constexpr std::size_t part_count = purpose_count + 3;

/// In picoseconds of one iteration.
std::vector<double> parts_of(const TrainingRun& run) {
  const TimeAccount sum = summed_accounts(*run.report);
  const double whole = static_cast<double>(run.npus) * run.workload.iterations;
  std::vector<double> parts{static_cast<double>(sum.compute.ps) / whole};
  for (const Time time : sum.exposed) parts.push_back(static_cast<double>(time.ps) / whole);
  parts.push_back(static_cast<double>(sum.bubble.ps) / whole);
  parts.push_back(static_cast<double>(sum.waiting.ps) / whole);
  return parts;
}

std::string part_name(std::size_t part) {
  if (part == 0) return "compute";
  if (part == part_count - 2) return "bubble";
  if (part == part_count - 1) return "waiting";
  return fmt::format("exposed {}", to_text(static_cast<Purpose>(part - 1)));
}

/// Empty for what all have in common.
std::string group_name(const TrainingEvaluation& evaluation, const TrainingRun& run) {
  std::vector<std::string> words;
  std::set<std::string> topologies, variants, conditions;
  for (const TrainingRun& each : evaluation.runs) {
    topologies.insert(each.topology);
    variants.insert(each.variant);
    conditions.insert(to_text(each.condition));
  }
  if (topologies.size() > 1) words.push_back(run.topology);
  if (variants.size() > 1) words.push_back(run.variant);
  if (conditions.size() > 1) words.push_back(to_text(run.condition));
  return joined(words, ", ");
}

bool are_one_group(const TrainingRun& a, const TrainingRun& b) {
  return a.topology == b.topology && a.variant == b.variant && a.condition == b.condition;
}

/// By topology, variant and condition in the order of their first run.
std::vector<StackedGroup> groups_of(const TrainingEvaluation& evaluation) {
  std::vector<StackedGroup> groups;
  std::vector<const TrainingRun*> firsts;
  for (const TrainingRun& run : evaluation.runs) {
    auto first = std::ranges::find_if(
        firsts, [&](const TrainingRun* other) { return are_one_group(*other, run); });
    if (first == firsts.end()) {
      groups.push_back({group_name(evaluation, run), {}});
      first = firsts.insert(firsts.end(), &run);
    }
    groups[static_cast<std::size_t>(first - firsts.begin())].bars.push_back(
        {name_of_plan(run), run.report ? parts_of(run) : std::vector<double>{}});
  }
  return groups;
}

double total_of(const StackedBar& bar) {
  double total = 0;
  for (const double part : bar.parts) total += part;
  return total;
}

std::string title_of(const TrainingEvaluation& evaluation) {
  if (!evaluation.label.empty()) return evaluation.label;
  const TrainingRun& first = evaluation.runs.front();
  return fmt::format("{} on {}", first.workload.name, first.topology);
}

StackedChart chart_of(const TrainingEvaluation& evaluation) {
  StackedChart chart;
  chart.heading = {title_of(evaluation) + ": where the time of an iteration goes",
                   "one iteration, mean over NPUs; " +
                       conditions_text(evaluation, evaluation.engines.front())};
  for (std::size_t part = 0; part < part_count; ++part) chart.parts.push_back(part_name(part));
  chart.groups = groups_of(evaluation);
  double longest = 0;
  for (const StackedGroup& group : chart.groups)
    for (const StackedBar& bar : group.bars) longest = std::max(longest, total_of(bar));
  const TimeUnit unit = time_unit(longest);
  chart.value_label = fmt::format("time per iteration [{}]", unit.name);
  for (StackedGroup& group : chart.groups)
    for (StackedBar& bar : group.bars)
      for (double& part : bar.parts) part /= unit.ps;
  return chart;
}

/// The reference's total, or the least of the group; 0 where there is none.
double unit_of(const StackedGroup& group, const std::string& reference) {
  double unit = 0;
  for (const StackedBar& bar : group.bars) {
    const double total = total_of(bar);
    if (bar.name == reference) return total;
    if (reference.empty() && !bar.parts.empty() && (unit == 0 || total < unit)) unit = total;
  }
  return unit;
}

/// Whether a group has two bars or more, of which one can be drawn over the other.
bool compares(const TrainingEvaluation& evaluation) {
  return std::ranges::any_of(groups_of(evaluation), [](const StackedGroup& group) {
    return std::ranges::count_if(group.bars,
                                 [](const StackedBar& bar) { return total_of(bar) > 0; }) > 1;
  });
}

const Topology& topology_of(const TrainingRun& run, std::span<const TrainingNetwork> networks) {
  return *std::ranges::find(networks, run.topology, &TrainingNetwork::label)->topology;
}

bool has_panel(const TrainingRun& run) { return run.report && run.condition == Condition{}; }

} // namespace

Figure account_figure(const TrainingEvaluation& evaluation) {
  return stacked_bar_figure(chart_of(evaluation));
}

Figure normalized_account_figure(const TrainingEvaluation& evaluation) {
  StackedChart chart = chart_of(evaluation);
  chart.value_label = evaluation.reference.empty()
                          ? "time over the fastest"
                          : fmt::format("time over that by {}", evaluation.reference);
  for (StackedGroup& group : chart.groups) {
    const double unit = unit_of(group, evaluation.reference);
    for (StackedBar& bar : group.bars) {
      if (unit <= 0) bar.parts.clear();
      for (double& part : bar.parts) part /= unit;
    }
  }
  return stacked_bar_figure(chart);
}

Figure training_heatmap(const TrainingEvaluation& evaluation,
                        std::span<const TrainingNetwork> networks) {
  std::vector<LinkMap> maps;
  for (const TrainingRun& run : evaluation.runs) {
    if (!has_panel(run)) continue;
    const std::string group = group_name(evaluation, run);
    maps.push_back(link_map(
        group.empty() ? name_of_plan(run) : fmt::format("{}: {}", group, name_of_plan(run)),
        topology_of(run, networks), link_report(*run.report), LinkQuantity::utilisation));
  }
  return heatmap_figure(title_of(evaluation) + ": how busy links are", maps,
                        LinkQuantity::utilisation);
}

// A link map of many runs or large networks would show nothing: it is left out then.
std::vector<NamedFigure> training_figures(const TrainingEvaluation& evaluation,
                                          std::span<const TrainingNetwork> networks) {
  const std::string stem = file_stem("training", evaluation.label);
  std::vector<NamedFigure> figures{{stem, account_figure(evaluation)}};
  if (compares(evaluation))
    figures.push_back({stem + "_normalized", normalized_account_figure(evaluation)});
  const auto panels = std::ranges::count_if(evaluation.runs, has_panel);
  const bool is_small = std::ranges::all_of(networks, [](const TrainingNetwork& network) {
    return network.topology->node_count() <= most_nodes;
  });
  if (panels > 0 && static_cast<std::size_t>(panels) <= most_panels && is_small)
    figures.push_back({stem + "_links", training_heatmap(evaluation, networks)});
  return figures;
}

std::vector<NetworkUse> network_uses(const TrainingEvaluation& evaluation,
                                     std::span<const TrainingNetwork> networks) {
  std::vector<NetworkUse> uses;
  for (const TrainingNetwork& network : networks) {
    const TrainingRun* best = nullptr;
    for (const TrainingRun& run : evaluation.runs)
      if (run.topology == network.label && has_panel(run) &&
          (best == nullptr || run.iteration_time() < best->iteration_time()))
        best = &run;
    if (best == nullptr) continue;
    const std::string of = networks.size() == 1 ? "" : " " + network.label;
    uses.push_back({file_stem("training_network", evaluation.label + of),
                    Heading(fmt::format("{} by {} on {}: {} an iteration", best->workload.name,
                                        name_of_plan(*best), network.label,
                                        short_text(best->iteration_time())),
                            conditions_text(evaluation, evaluation.engines.front())),
                    network.topology, best->report->links, best->report->duration});
  }
  return uses;
}

} // namespace tutti
