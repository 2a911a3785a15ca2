// Tree packing: All-Gather and its kin along as many spanning trees as fit, which together are
// exactly as fast as the slowest cut allows when data can be divided at will
// (flows/tree_packing.hpp). Here: chunks take these trees. Cost: 64 GPUs on rails 0.2 s, 256 under a
// minute; what grows is the number of different trees x arcs.
#include "synth/flows/tree_packing.hpp"

#include "sim/work_limit.hpp"
#include "synth/flows/fluid_check.hpp"
#include "synth/flows/fluid_steps.hpp"
#include "synth/list.hpp"

#include <fmt/format.h>

#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

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

/// Rounded down, by more than floating point may have added.
Time no_longer_than(double seconds) {
  return Time{static_cast<std::int64_t>(std::floor(seconds * 1e12 * (1 - 1e-12)))};
}

} // namespace

Outcome tree_packing(const Topology& topology, const Collective& collective,
                     const SynthesisOptions& options) {
  const FlowProblem problem = flow_problem(topology, collective);
  if (problem.demands.empty()) {
    Outcome nothing;
    nothing.status = Status::optimal;
    nothing.schedule = Schedule(topology.link_count());
    return nothing;
  }
  const TreePacking packing = pack_trees(problem, WorkLimit(options));
  if (!packing.obstacle.empty())
    return infeasible(with_names(with_names(packing.obstacle, "node", topology.nodes()), "group",
                                 topology.groups()));
  const FluidSolution& solution = packing.solution;
  Outcome outcome;
  outcome.status = solution.status == Status::timed_out ? Status::timed_out : Status::feasible;
  outcome.bound = no_longer_than(solution.bound_seconds);
  outcome.facts["trees_per_source"] = static_cast<double>(packing.trees_per_source);
  if (solution.trees.empty()) {
    outcome.note = "no trees within the limit";
    return outcome;
  }
  const std::vector<FlowTree> trees = expanded(problem, solution);
  assert(check_fluid(problem, trees).fault.empty());
  outcome.planned = Time{std::llround(solution.seconds * 1e12)};
  outcome.planned_on = fmt::format("fluid, {} trees per NPU", packing.trees_per_source);
  outcome.facts["fluid_seconds"] = solution.seconds;
  outcome.schedule = stepped(topology, collective, problem, trees);
  return outcome;
}

} // namespace tutti
