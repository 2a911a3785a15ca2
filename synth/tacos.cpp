// TACOS: Won et al., "TACOS: Topology-Aware Collective Algorithm Synthesizer for Distributed
// Machine Learning" (MICRO 2024). All-Gather and Broadcast by greedy matching (sec. IV.E-F; see
// tacos_matching.hpp) on the links, and on switches unwound (sec. IV.G; see tacos_plans.hpp).
// Reduce-Scatter and Reduce are their inverses on the reversed topology, All-Reduce is
// Reduce-Scatter then All-Gather (sec. IV.H).

#include "sim/text.hpp"
#include "sim/transforms.hpp"
#include "sim/work_limit.hpp"
#include "synth/list.hpp"
#include "synth/tacos_plans.hpp"

#include <optional>
#include <string>
#include <utility>

namespace tutti {

namespace {

PlanSettings read_settings(const SynthesisOptions& options) {
  PlanSettings settings;
  const auto given = [&](const char* key, std::int64_t highest) -> std::optional<std::uint32_t> {
    const auto setting = options.settings.find(key);
    if (setting == options.settings.end() || setting->second == "auto") return std::nullopt;
    return static_cast<std::uint32_t>(parse_integer(setting->second, key, 1, highest));
  };
  settings.candidates = given("candidates", 1024);
  const auto degree = options.settings.find("degree");
  settings.ports = degree != options.settings.end() && degree->second == "ports";
  if (!settings.ports) settings.degree = given("degree", UINT32_MAX);
  settings.starts = given("starts", 1'000'000).value_or(1);
  return settings;
}

/// The copying collective that `part` is made from: Reduce-Scatter is an All-Gather backwards.
CollectiveSpec copying_spec(const CollectivePart& part) {
  const bool rooted = has_root(part.kind);
  return {rooted ? CollectiveKind::broadcast : CollectiveKind::all_gather, part.size, part.group,
          part.root, part.pieces};
}

Outcome outcome_of(Planning planning) {
  Outcome outcome;
  if (!planning.connected && !planning.timed_out)
    return infeasible("neither links nor switches connect every member with every other");
  outcome.status = planning.timed_out ? Status::timed_out : Status::feasible;
  if (!planning.plan) {
    outcome.note = "no schedule within the limit";
    return outcome;
  }
  outcome.schedule = std::move(planning.plan->schedule);
  outcome.compact = std::move(planning.plan->compact);
  outcome.planned = planning.plan->planned;
  outcome.planned_on = planning.plan->planned_on;
  if (planning.plan->attempts.size() > 1) outcome.attempts = std::move(planning.plan->attempts);
  return outcome;
}

} // namespace

Outcome tacos(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  const WorkLimit limit(options);
  const PlanSettings settings = read_settings(options);
  const CollectivePart& part = collective.parts.front();
  const Collective copying = make_collective(topology, copying_spec(part));
  const auto spread_on = [&](const Topology& network) {
    return outcome_of(plan(network, copying, part.group, options, settings, limit));
  };
  if (!is_reducing(part.kind)) return spread_on(topology);
  Outcome outcome = spread_on(reversed(topology));
  if (outcome.schedule) outcome.schedule = inverted(*outcome.schedule, Op::reduce);
  if (part.kind != CollectiveKind::all_reduce || !outcome.schedule) return outcome;
  Outcome copies = spread_on(topology);
  if (!copies.schedule) return copies;
  outcome.schedule = concatenated(*outcome.schedule, *copies.schedule);
  outcome.planned = *outcome.planned + *copies.planned;
  if (copies.status == Status::timed_out) outcome.status = copies.status;
  return outcome;
}

} // namespace tutti
