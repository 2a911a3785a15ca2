// Tree packing: All-Gather and its kin along as many spanning trees as fit, which together are
// exactly as fast as the slowest cut allows when data can be divided at will (packing/packing.hpp);
// of these, trees of little traffic (packing/spare_capacity.hpp). Here: chunks take these trees.
// Cost: DGX A100 on rails 0.1 s for 64 GPUs, 0.7 s for 128, 10 s for 256; what grows is the number
// of different trees x arcs.

#include "synth/flows/packing/packing.hpp"

#include "sim/work_limit.hpp"
#include "synth/flows/fluid/check.hpp"
#include "synth/flows/rounding/fluid_steps.hpp"
#include "synth/flows/rounding/traffic_weights.hpp"
#include "synth/list.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// "node 12", "group 3" by their names.
template <typename Items>
std::string with_names(std::string text, std::string_view kind, const Items& items) {
  const std::string word = fmt::format("{} ", kind);
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    std::size_t number = 0;
    const char* const first = text.data() + at + word.size();
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), number);
    if (error == std::errc{} && number < items.size())
      text.replace(at, static_cast<std::size_t>(end - text.data()) - at, items[number].name);
  }
  return text;
}

} // namespace

Outcome tree_packing(const Topology& topology, const Collective& collective,
                     const SynthesisOptions& options) {
  const WorkLimit limit(options);
  const auto traffic = options.settings.find("traffic");
  const std::vector<double> weights =
      traffic_weights(topology, traffic == options.settings.end() ? "npu" : traffic->second);
  const FlowProblem problem = flow_problem(topology, collective);
  if (problem.demands.empty()) {
    Outcome nothing;
    nothing.status = Status::optimal;
    nothing.schedule.emplace(topology.link_count());
    return nothing;
  }
  const TreePacking packing = pack_trees(problem, limit, weights);
  if (!packing.obstacle.empty())
    return unsupported(with_names(with_names(packing.obstacle, "node", topology.nodes()), "group",
                                  topology.groups()));
  const FluidSolution& solution = packing.solution;
  Outcome outcome;
  outcome.status = solution.status == Status::timed_out ? Status::timed_out : Status::feasible;
  // rounded down, by more than floating point may have added
  outcome.bound =
      Time{static_cast<std::int64_t>(std::floor(solution.bound_seconds * ps_per_s * (1 - 1e-12)))};
  if (solution.trees.empty()) {
    outcome.note = "no trees within the limit";
    return outcome;
  }
  try {
    const std::vector<FlowTree> trees = expanded(problem, solution, limit);
    const FluidVerdict verdict = check_fluid(problem, trees, weights, limit);
    if (!verdict.fault.empty())
      throw std::logic_error("an incorrect fluid schedule: " + verdict.fault);
    PlannedSteps steps = planned_steps(topology, collective, problem, trees, options.model, limit);
    outcome.schedule = std::move(steps.schedule);
    outcome.planned = steps.planned.value_or(
        Time{static_cast<std::int64_t>(std::ceil(verdict.seconds * ps_per_s))});
    outcome.planned_on = steps.picture(fmt::format("{} trees per NPU", packing.trees_per_source));
    outcome.facts = {{"fluid_seconds", verdict.seconds},
                     {"fluid_bound_seconds", solution.bound_seconds},
                     {"trees_per_source", static_cast<double>(packing.trees_per_source)}};
    if (!weights.empty()) outcome.facts["traffic_gb"] = verdict.traffic / 1e9;
  } catch (const LimitReached&) {
    outcome.status = Status::timed_out;
    outcome.note = "no chunks on trees within the limit";
  }
  return outcome;
}

} // namespace tutti
