// `tutti failures`: a collective through failures, under every policy, and what each of them costs.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/records/csv.hpp"
#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/failures/display.hpp"
#include "experiments/driver/studies/failures/figure.hpp"
#include "experiments/driver/studies/failures/json.hpp"
#include "experiments/driver/studies/failures/records.hpp"
#include "experiments/driver/studies/failures/table.hpp"
#include "experiments/driver/studies/frontiers/evaluation.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/json.hpp"
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

nlohmann::ordered_json all_json(std::span<const FailureEvaluation> evaluations) {
  if (evaluations.size() == 1) return failure_json(evaluations.front());
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const FailureEvaluation& e : evaluations) json.push_back(failure_json(e));
  return json;
}

std::vector<std::string> write_files(const std::string& folder,
                                     std::span<const FailureEvaluation> evaluations) {
  std::vector<std::string> files{folder + "/failures.csv", folder + "/failures.json"};
  const FailureStudyEvaluation study{{}, {evaluations.begin(), evaluations.end()}, {}};
  write_file(files[0], csv_text(csv_rows(failure_records({&study, 1}))));
  write_file(files[1], json_text(all_json(evaluations)));
  if (!gnuplot_found()) {
    print_message("no figure: gnuplot isn't installed");
    return files;
  }
  for (const NamedFigure& named : failure_figures(evaluations)) {
    files.push_back(fmt::format("{}/{}.svg", folder, named.stem));
    draw(named.figure, files.back());
  }
  return files;
}

/// Also that no algorithm made a schedule.
std::vector<std::string> all_problems(std::span<const FailureEvaluation> evaluations) {
  std::vector<std::string> problems = problems_of(evaluations);
  for (std::string& problem : nothing_made(evaluations)) problems.push_back(std::move(problem));
  return problems;
}

} // namespace

int failures_command(const FailuresArguments& arguments) {
  const Topology topology = make_topology(arguments.topology);
  std::vector<FailureCase> cases = about_topology(arguments.topology, topology.name(),
                                                  [&] { return cases_of(arguments, topology); });
  if (arguments.out) require_writable(*arguments.out + "/failures.csv");
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
  if (arguments.json)
    print_text(json_text(all_json(evaluations)));
  else
    print_tables(failures_text(evaluations, table_form(arguments.tables)));
  return conclude(
      {.interrupted = interrupts.count() > 0,
       .json = arguments.json,
       .folder = arguments.out,
       .write_files = [&](const std::string& folder) { return write_files(folder, evaluations); },
       .problems = all_problems(evaluations)});
}

} // namespace tutti
