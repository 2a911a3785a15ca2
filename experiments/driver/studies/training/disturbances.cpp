// What [[failures]] draws at a moment of a run is out of order from the beginning here.
#include "experiments/driver/studies/training/disturbances.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/training/study.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>

namespace tutti {

namespace {

NodeId npu_of(const Straggler& straggler, const Topology& topology) {
  const NodeId npu = topology.find_node(straggler.npu);
  if (npu.value >= topology.npu_count())
    throw InputError(fmt::format("straggler {} is no NPU", straggler.npu));
  return npu;
}

std::vector<Straggler> read_stragglers(ConfigTable& table,
                                       std::span<const TrainingNetwork> networks) {
  std::vector<Straggler> stragglers;
  const auto value = table.find("stragglers");
  if (!value) return stragglers;
  ConfigTable pairs = value->table();
  for (const std::string& name : pairs.keys()) {
    const ConfigValue share = pairs.at(name);
    stragglers.push_back({name, share_of(share)});
    share.located([&] { require_npus({&stragglers.back(), 1}, networks); });
  }
  return stragglers;
}

EventPlan read_event_plan(ConfigTable& table, const Topology& topology,
                          const std::string& source_name) {
  for (const char* key : {"at", "generated"})
    if (table.has(key))
      throw table.at(key).error(fmt::format(
          "\"{}\" isn't for training: failed links are out of order from the beginning", key));
  const auto events = table.find("events");
  if (!events || !events->is_string()) return read_events(table, topology);
  EventPlan plan = read_event_file(beside(events->string(), source_name), topology);
  if (plan.draws())
    throw events->error("training takes events that are written one by one, none that are drawn");
  for (const char* key : {"failed_links", "seeds"})
    if (table.has(key))
      throw table.at(key).error("failed links and a file of events are for two studies");
  return plan;
}

void refuse_dead_npus(const EventPlan& plan) {
  for (const PlannedEvent& event : plan.events)
    if (event.what.kind == NetworkEvent::Kind::npu_down)
      throw InputError("training doesn't survive an NPU that goes down");
}

Policy parse_training_policy(const std::string& text) {
  const Policy policy = policy_words.parse(text);
  if (policy != Policy::reroute && policy != Policy::resynthesize)
    throw InputError(
        fmt::format("training goes on by reroute or resynthesize, not by {}", to_text(policy)));
  return policy;
}

} // namespace

Disturbances read_disturbances(ConfigTable& table, std::span<const TrainingNetwork> networks,
                               const std::string& source_name) {
  Disturbances disturbances;
  disturbances.stragglers = read_stragglers(table, networks);
  for (const TrainingNetwork& network : networks) {
    disturbances.events.push_back(read_event_plan(table, *network.topology, source_name));
    try {
      refuse_dead_npus(disturbances.events.back());
    } catch (const InputError& error) {
      throw table.at("events").error(error.what());
    }
  }
  if (const auto policies = table.find("policies")) {
    if (!table.has("failed_links"))
      throw policies->error(
          fmt::format("{} needs {}", table.name_of("policies"), table.name_of("failed_links")));
    disturbances.policies.clear();
    for (const ConfigValue& item : list_of(*policies))
      disturbances.policies.push_back(parsed(item, parse_training_policy));
  }
  return disturbances;
}

void require_npus(std::span<const Straggler> stragglers,
                  std::span<const TrainingNetwork> networks) {
  for (const TrainingNetwork& network : networks)
    for (const Straggler& straggler : stragglers) (void)npu_of(straggler, *network.topology);
}

std::vector<Share> compute_shares(std::span<const Straggler> stragglers, const Topology& topology) {
  if (stragglers.empty()) return {};
  std::vector<Share> shares(topology.npu_count());
  for (const Straggler& straggler : stragglers)
    shares[npu_of(straggler, topology).value] = straggler.share;
  return shares;
}

std::string_view to_text(Condition::Kind kind) {
  switch (kind) {
  case Condition::Kind::undisturbed: return "undisturbed";
  case Condition::Kind::disturbed: return "disturbed";
  case Condition::Kind::reroute: return "reroute";
  case Condition::Kind::resynthesize: break;
  }
  return "resynthesize";
}

std::string to_text(const Condition& condition) {
  if (condition.failed_links == 0) return std::string(to_text(condition.kind));
  return fmt::format("{}, {} failed link{}, seed {}", to_text(condition.kind),
                     condition.failed_links, condition.failed_links == 1 ? "" : "s",
                     condition.seed);
}

std::vector<Condition> conditions_of(const TrainingStudy& study, std::size_t topology) {
  const Disturbances& disturbances = study.disturbances;
  std::vector<Condition> conditions{{}};
  const EventPlan* events = disturbances.events.empty() ? nullptr : &disturbances.events[topology];
  if (!disturbances.stragglers.empty() || (events != nullptr && !events->events.empty()))
    conditions.push_back({Condition::Kind::disturbed, 0, 1});
  if (events == nullptr) return conditions;
  for (const Scenario& scenario : scenarios_of(*events, study.planning.options.seed)) {
    if (scenario.failed_links.value_or(0) == 0) continue;
    for (const Policy policy : disturbances.policies)
      conditions.push_back(
          {policy == Policy::reroute ? Condition::Kind::reroute : Condition::Kind::resynthesize,
           *scenario.failed_links, scenario.seed});
  }
  return conditions;
}

} // namespace tutti
