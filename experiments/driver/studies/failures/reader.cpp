// Events in a file stand for all of a study's keys about events: two sources of failures in one
// study could contradict each other, and neither place would show it.
#include "experiments/driver/studies/failures/study.hpp"

#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

// Inline, or from a file, which then says all of it.
EventPlan read_plan(ConfigTable& table, const Topology& topology, const std::string& source_name) {
  const auto events = table.find("events");
  if (events && events->is_string()) {
    for (const char* key : {"failed_links", "at", "seeds", "generated"})
      if (table.has(key))
        throw table.at(key).error(
            fmt::format("the events are in a file: \"{}\" belongs there", key));
    return read_event_file(beside(events->string(), source_name), topology);
  }
  EventPlan plan = read_events(table, topology);
  if (plan.events.empty() && !plan.draws())
    throw table.error(source_name == command_line_source
                          ? "no event: give --event, --events or --failed-links"
                          : "no event: give \"events\", \"failed_links\" or \"generated\"");
  return plan;
}

std::vector<Policy> read_policies(ConfigTable& table) {
  const auto all = all_policies();
  const auto value = table.find("policies");
  std::vector<Policy> policies;
  for (const ConfigValue& item : value ? list_of(*value) : std::vector<ConfigValue>()) {
    if (item.string() == "all") return {all.begin(), all.end()};
    policies.push_back(parsed(item, parse_policy));
    if (std::ranges::count(policies, policies.back()) > 1)
      throw item.error(fmt::format("policy {} is named twice", item.string()));
  }
  if (policies.empty()) policies.assign(all.begin(), all.end());
  return policies;
}

Time time_at(ConfigTable& table, const std::string& key, Time otherwise) {
  const auto value = table.find(key);
  return value ? value->time() : otherwise;
}

FailureCase read_case(ConfigTable& table, const Experiment& experiment, const Topology& topology,
                      const std::string& source_name) {
  FailureCase c;
  c.collective.texts = texts_of(table.at("collective"), source_name);
  const std::vector<Bytes> sizes = sizes_at(table, "size", "1GiB");
  if (sizes.size() > 1) throw table.at("size").error("one size, not a range");
  c.collective.size = sizes.front();
  const auto chunks = table.find("chunks");
  c.chunks = chunks ? chunks_of(*chunks) : std::nullopt;
  c.options = options_of(table, experiment.seed, source_name);
  c.engines = parsed_at(table, "engine", "native", parse_engines);
  c.policies = read_policies(table);
  c.detection = time_at(table, "detection", c.detection);
  c.decision = time_at(table, "decision", c.decision);
  c.events = read_plan(table, topology, source_name);
  c.noise = noise_at(table, source_name, [&](std::span<const std::string> texts) {
    check_starts(topology, c.collective, texts);
  });
  return c;
}

void require_known_settings(ConfigTable& table, const FailureStudy& study) {
  const auto settings = table.find("settings");
  if (!settings) return;
  std::vector<AlgorithmRow> rows = study.algorithms;
  for (const AlgorithmRow& algorithm : study.algorithms)
    rows.push_back(study.planner.value_or(default_planner(algorithm)));
  settings->located([&] { require_known_settings(rows, study.common.options); });
}

/// As failure_records() has them.
PlannedRows planned_failures(const FailureStudy& study, std::uint64_t seed) {
  struct Planned {
    std::string_view algorithm;
    const Scenario& scenario;
    Policy policy;
    const SkewRequest& skew;
  };
  using enum Quantity;
  using P = Planned;
  const Fields<P> fields{
      {{"algorithm", text}, [](const P& p) { return p.algorithm; }},
      {{"failed_links", count}, [](const P& p) { return Cell(p.scenario.failed_links); }},
      {{"seed", count}, [](const P& p) { return p.scenario.seed; }},
      {{"policy", text}, [](const P& p) { return to_text(p.policy); }},
      {{"skew", text}, [](const P& p) { return p.skew.text; }},
      {{"jitter", text}, [&](const P&) { return study.common.noise.jitter_text; }}};
  const std::vector<Scenario> scenarios = scenarios_of(study.common.events, seed);
  const std::vector<SkewRequest>& skews = study.common.noise.skews;
  PlannedRows planned{{}, {}, {{"skew", {}}}, FailureStudy::columns(), "slowdown"};
  std::vector<Planned> rows;
  for (const AlgorithmRow& algorithm : study.algorithms)
    for (const Scenario& scenario : scenarios)
      for (const Policy policy : study.common.policies)
        for (const SkewRequest& skew : skews) {
          planned.opt_in.front().rows.push_back(&skew != &skews.front());
          rows.push_back({algorithm.name, scenario, policy, skew});
        }
  planned.keys = records_of<Planned>(fields, rows);
  return planned;
}

FailureStudy read_study(ConfigTable table, const Experiment& experiment,
                        const std::string& source_name, std::span<const FailureStudy> others) {
  FailureStudy study;
  study.label = label_at(table, others);
  study.topology = topology_at(table, experiment.topologies);
  study.common =
      read_case(table, experiment, experiment.topologies[study.topology].topology, source_name);
  study.algorithms = algorithms_at(table);
  if (const auto planner = table.find("planner")) study.planner = parsed(*planner, find_algorithm);
  require_known_settings(table, study);
  study.expectations =
      read_expectations(table.tables("expect"), planned_failures(study, experiment.seed));
  table.finish();
  return study;
}

} // namespace

std::vector<FailureStudy> FailureStudy::read_all(ConfigTable& root, const Experiment& experiment,
                                                 const std::string& source_name) {
  return studies_in<FailureStudy>(
      root, [&](const ConfigTable& table, std::span<const FailureStudy> others) {
        return read_study(table, experiment, source_name, others);
      });
}

} // namespace tutti
