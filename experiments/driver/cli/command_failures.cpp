// `tutti failures`: a collective through failures, under every policy, and what each of them costs.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/failures/display.hpp"
#include "experiments/driver/studies/failures/study.hpp"
#include "experiments/driver/studies/frontiers/evaluation.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace tutti {

namespace {

CollectiveRequest request_of(const CollectiveArguments& arguments) {
  const std::vector<Bytes> sizes = sizes_of(arguments);
  if (sizes.size() != 1) throw InputError("--size: one size, not a range");
  return {arguments.collectives, sizes.front()};
}

std::vector<Policy> parse_policies(const std::string& text) {
  const auto all = all_policies();
  if (text == "all") return {all.begin(), all.end()};
  std::vector<Policy> policies;
  for (const std::string_view name : split(text, ',')) {
    const Policy policy = parse_policy(trimmed(name));
    if (std::find(policies.begin(), policies.end(), policy) != policies.end())
      throw InputError(fmt::format("policy {} is named twice", to_text(policy)));
    policies.push_back(policy);
  }
  return policies;
}

EventPlan events_of(const FailuresArguments& arguments, const Topology& topology) {
  if (arguments.event_texts.empty() == arguments.event_file.empty())
    throw InputError("what happens? give --event at=50%,link_down=npu0-npu1 (repeatable), or a "
                     "file with --events");
  return arguments.event_file.empty() ? parse_event_texts(arguments.event_texts, topology)
                                      : read_event_file(arguments.event_file, topology);
}

FailureCase common_case(const FailuresArguments& arguments, const Topology& topology) {
  FailureCase c;
  c.topology_label = topology.name();
  c.topology = &topology;
  c.collective = request_of(arguments.collective);
  c.chunks = of_option("--chunks", [&] { return parse_chunks(arguments.chunks); });
  c.options.model = time_model(arguments.model);
  c.options.seed = parse_seed(arguments.seed);
  c.options.settings = parse_settings(arguments.settings);
  c.engines = parse_engines(arguments.engine);
  c.policies = of_option("--policy", [&] { return parse_policies(arguments.policies); });
  c.detection = of_option("--detection", [&] { return parse_time(arguments.detection); });
  c.decision = of_option("--decision", [&] { return parse_time(arguments.decision); });
  c.events = events_of(arguments, topology);
  return c;
}

std::vector<FailureCase> cases_of(const FailuresArguments& arguments, const Topology& topology) {
  const FailureCase common = common_case(arguments, topology);
  std::vector<FailureCase> cases;
  std::vector<AlgorithmRow> taking_settings;
  for (const AlgorithmRow& algorithm : find_algorithms(arguments.algorithms)) {
    FailureCase c = common;
    c.algorithm = algorithm;
    c.planner = arguments.planner ? find_algorithm(*arguments.planner) : default_planner(algorithm);
    taking_settings.push_back(c.algorithm);
    taking_settings.push_back(c.planner);
    cases.push_back(std::move(c));
  }
  require_known_settings(taking_settings, common.options);
  Refusals refusals;
  for (const FailureCase& c : cases)
    refusals.row(
        [&] {
          require_sound(c);
          return 0;
        },
        [](Status, const std::string&) { return 0; });
  refusals.require_some();
  return cases;
}

} // namespace

int failures_command(const FailuresArguments& arguments) {
  const Topology topology = make_topology(arguments.topology);
  std::vector<FailureCase> cases = about_topology(arguments.topology, topology.name(),
                                                  [&] { return cases_of(arguments, topology); });
  require_writable(arguments.out, "failures.csv");
  Interrupts interrupts;
  std::vector<FailureEvaluation> evaluations;
  Refusals refusals;
  for (FailureCase& c : cases) {
    const std::string what = fmt::format("{} on {}", c.algorithm.name, topology.name());
    InterruptibleWork work(interrupts, what, arguments.progress);
    work.watch(c.options);
    evaluations.push_back(refusals.row(
        [&] {
          return evaluate_failures(c, work.beside(policy_announcer(what, arguments.progress)));
        },
        [&](Status status, const std::string& note) { return without_failures(c, status, note); }));
    if (interrupts.cancels()) break;
  }
  refusals.require_some();
  return conclude(result_of(FailureStudyEvaluation{{}, std::move(evaluations)}),
                  {.command = "failures",
                   .tables = arguments.tables,
                   .json = arguments.json,
                   .folder = arguments.out,
                   .interrupted = interrupts.count() > 0});
}

} // namespace tutti
