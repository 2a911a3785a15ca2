// Events in a file stand for all of a study's keys about events: two sources of failures in one
// study could contradict each other, and neither place would show it.
#include "experiments/driver/studies/failures/study.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
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
    throw table.error("no event: give events, failed_links or generated");
  return plan;
}

Time time_at(ConfigTable& table, const std::string& key, Time otherwise) {
  const auto value = table.find(key);
  return value ? value->time() : otherwise;
}

FailureCase read_case(ConfigTable& table, const Experiment& experiment, const Topology& topology,
                      const std::string& source_name) {
  FailureCase c;
  c.collective.texts = texts_of(table.at("collective"));
  c.collective.size = parsed_at(table, "size", "1GiB", parse_bytes);
  const auto chunks = table.find("chunks");
  c.chunks = chunks ? chunks_of(*chunks) : std::nullopt;
  c.options = options_of(table, experiment.seed);
  c.engines = parsed_at(table, "engine", "native", parse_engines);
  const auto all = all_policies();
  c.policies = list_at(table, "policies", std::vector<Policy>{all.begin(), all.end()},
                       [](const ConfigValue& value) { return parsed(value, parse_policy); });
  c.detection = time_at(table, "detection", c.detection);
  c.decision = time_at(table, "decision", c.decision);
  c.events = read_plan(table, topology, source_name);
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

// One that the study has: only then there is a value.
Policy policy_of(const ConfigValue& value, const FailureStudy& study) {
  const Policy policy = parsed(value, parse_policy);
  const std::vector<Policy>& known = study.common.policies;
  if (std::find(known.begin(), known.end(), policy) == known.end())
    throw value.error(fmt::format("policy {} isn't among \"policies\"", to_text(policy)));
  return policy;
}

std::string algorithm_at(ConfigTable& table, const FailureStudy& study) {
  if (study.algorithms.size() == 1 && !table.has("algorithm"))
    return std::string(study.algorithms.front().name);
  const ConfigValue value = table.at("algorithm");
  std::vector<std::string> known;
  for (const AlgorithmRow& algorithm : study.algorithms) known.emplace_back(algorithm.name);
  std::string name = value.string();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw value.error(unknown_name("algorithm of this study", name, known));
  return name;
}

std::vector<std::size_t> counts_at(ConfigTable& table, const FailureStudy& study) {
  const std::vector<std::size_t>& known = study.common.events.failed_links;
  return list_at(table, "failed_links", std::vector<std::size_t>{}, [&](const ConfigValue& value) {
    const auto count = static_cast<std::size_t>(value.integer(0));
    if (std::find(known.begin(), known.end(), count) == known.end())
      throw value.error(fmt::format("{} isn't among the study's \"failed_links\"", count));
    return count;
  });
}

double ratio_of(const ConfigValue& value) {
  const double ratio = value.number();
  if (ratio <= 0) throw value.error("a ratio of times is above 0");
  return ratio;
}

FailureExpectation read_expectation(ConfigTable table, const FailureStudy& study) {
  FailureExpectation expectation;
  table.allow_only({"label", "policy", "over", "algorithm", "failed_links", "value", "at_most",
                    "tolerance", "explanation"});
  expectation.policy = policy_of(table.at("policy"), study);
  std::string over = "undisturbed";
  if (const auto value = table.find("over"); value && value->string() != over) {
    expectation.over = policy_of(*value, study);
    over = value->string();
  }
  expectation.algorithm = algorithm_at(table, study);
  expectation.failed_links = counts_at(table, study);
  const auto at_most = table.find("at_most"), value = table.find("value");
  if (at_most && value) throw at_most->error("\"value\" and \"at_most\" exclude each other");
  expectation.at_most = at_most.has_value();
  expectation.value = ratio_of(at_most ? *at_most : table.at("value"));
  expectation.tolerance = parsed_at(table, "tolerance", "0%", parse_percentage);
  expectation.explanation = string_at(table, "explanation");
  if (const auto label = table.find("label")) expectation.label = plain_label(*label);
  if (expectation.label.empty())
    expectation.label = fmt::format("{}, {}: {} / {}", study.label, expectation.algorithm,
                                    to_text(expectation.policy), over);
  return expectation;
}

FailureStudy read_study(ConfigTable table, const Experiment& experiment,
                        const std::string& source_name, std::span<const FailureStudy> others) {
  FailureStudy study;
  study.label = label_at(table, others);
  study.topology = topology_index(table.at("topology"), experiment.topologies);
  study.common =
      read_case(table, experiment, experiment.topologies[study.topology].topology, source_name);
  study.algorithms = algorithms_at(table);
  if (const auto planner = table.find("planner")) study.planner = parsed(*planner, find_algorithm);
  require_known_settings(table, study);
  for (const ConfigTable& expectation : table.tables("expect"))
    study.expectations.push_back(read_expectation(expectation, study));
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
