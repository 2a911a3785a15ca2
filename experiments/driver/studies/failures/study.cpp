// The algorithms of a study run one after another, as planning takes CPU seconds that are reported.
// Each line for those who wait is written as its policy ends, so that Ctrl-C after an hour leaves
// more than nothing. Events in a file stand for all of a study's keys about events: two sources of
// failures in one study could contradict each other, and neither place would show it.
#include "experiments/driver/studies/failures/study.hpp"

#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/failures/columns.hpp"
#include "experiments/driver/studies/failures/explored_recovery.hpp"
#include "experiments/driver/studies/failures/failure_texts.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

namespace tutti {

namespace {

// Inline, or from a file, which then says all of it.
EventPlan read_plan(ConfigTable& table, const Topology& topology, const std::string& source_name) {
  const auto events = table.find("events");
  if (events && events->is_string()) {
    for (const char* key : {"failed_links", "at", "seeds", "generated"})
      if (table.has(key))
        throw table.at(key).error(
            fmt::format("the events are in a file: {} belongs there", table.name_of(key)));
    return read_event_file(beside(events->string(), source_name), topology);
  }
  EventPlan plan = read_events(table, topology);
  if (plan.events.empty() && !plan.draws())
    throw table.error(source_name == command_line_source
                          ? "no event: give --event, --events or --failed-links"
                          : "no event: give \"events\", \"failed_links\" or \"generated\"");
  return plan;
}

void read_case(ConfigTable& table, const Experiment& experiment, const Topology& topology,
               const std::string& source_name, FailureCase& c) {
  c.collective.texts = texts_of(table.at("collective"), source_name);
  const std::vector<Bytes> sizes = table.find("size") ? sizes_at(table, "size", "1GiB")
                                                      : std::vector{usual_size(c.collective.texts)};
  if (sizes.size() > 1) throw table.at("size").error("one size, not a range");
  c.collective.size = sizes.front();
  c.options = options_of(table, experiment.seed, source_name);
  c.events = read_plan(table, topology, source_name);
  c.noise = noise_at(table, source_name, [&](std::span<const std::string> texts) {
    check_starts(topology, c.collective, texts);
  });
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
  using namespace column_words;
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
  PlannedRows planned{{}, {}, {{"skew", {}}}, columns_of<FailureStudy>(), "slowdown"};
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

} // namespace

FailureStudy FailureStudy::read(ConfigTable table, const Experiment& experiment,
                                const std::string& source_name,
                                std::span<const FailureStudy> others) {
  FailureStudy study;
  study.label = label_at(table, others);
  study.topology = topology_at(table, experiment.topologies);
  study.common.chunks = std::nullopt;
  study.common.engines = parse_engines("native");
  study.common.policies.assign(all_policies.begin(), all_policies.end());
  read_keys(table, FailureStudy::keys(), study);
  read_case(table, experiment, experiment.topologies[study.topology].topology, source_name,
            study.common);
  study.algorithms = algorithms_at(table);
  require_known_settings(table, study);
  study.expectations =
      read_expectations(table.tables("expect"), planned_failures(study, experiment.seed));
  table.finish();
  return study;
}

std::vector<FailureCase> FailureStudy::cases(Networks networks) const {
  std::vector<FailureCase> all;
  for (const AlgorithmRow& algorithm : algorithms) {
    FailureCase c = common;
    c.label = label;
    c.topology_label = networks[topology].label;
    c.topology = &networks[topology].topology;
    c.algorithm = algorithm;
    c.planner = planner.value_or(default_planner(algorithm));
    all.push_back(std::move(c));
  }
  return all;
}

void require_sound(const FailureStudy& study, Networks networks) {
  Refusals refusals; // one algorithm's is reported in its row, unless all are refused
  for (const FailureCase& c : study.cases(networks))
    refusals.row(
        [&] {
          require_sound(c);
          return 0;
        },
        [](Status, const std::string&) { return 0; });
  refusals.require_some();
}

std::size_t FailureStudy::case_count() const {
  return algorithms.size() * common.policies.size() * scenarios_of(common.events, 1).size();
}

std::vector<RecordFile> FailureStudy::files() {
  return {{"failures",
           {failure_columns(), {}},
           true,
           ExploredChart{
               .x = "failed_links", .y = {"collective_time_ps"}, .by = {"algorithm", "policy"}}}};
}

std::vector<std::string> FailureStudy::table_columns() const {
  return failure_table_columns(common.noise.is_drawn());
}

PolicyFinished policy_announcer(std::string what, std::ostream& out) {
  return [what = std::move(what), &out](const ScenarioEvaluation& scenario,
                                        const PolicyEvaluation& policy) {
    out << fmt::format("tutti: {}: {}: {} {}\n", what, to_text(scenario.scenario),
                       to_text(policy.recovery.policy), ending_text(policy.recovery))
        << std::flush;
  };
}

// Where memory ran out after the schedule was made, policies are missing.
std::vector<std::string> problems_of(std::span<const FailureEvaluation> evaluations) {
  std::vector<std::string> problems;
  for (const FailureEvaluation& e : evaluations) {
    const bool cut_short = e.verified && e.status == Status::out_of_memory;
    for (const std::string& problem : {e.problem, cut_short ? e.note : std::string()})
      if (!problem.empty())
        problems.push_back(fmt::format("{} through failures on {}, {} {}: {}", e.algorithm,
                                       e.topology, e.collective, to_text(e.size), problem));
  }
  return problems;
}

namespace {

std::vector<FailureEvaluation> evaluate(const FailureStudy& study, const StudyRun& how) {
  std::vector<FailureEvaluation> made;
  for (FailureCase& c : study.cases(how.networks)) {
    if (how.interrupts.cancels()) break;
    const std::string what = study.label.empty()
                                 ? fmt::format("{} on {}", c.algorithm.name, c.topology_label)
                                 : fmt::format("{}, {}", study.label, c.algorithm.name);
    c.explores = how.explores;
    c.draw_threads = std::max(1U, static_cast<unsigned>(how.jobs)); // nothing runs beside it
    InterruptibleWork work(how.interrupts, what, how.progress);
    work.watch(c.options);
    PolicyFinished finished;
    if (form_on_stderr(how.progress) != ProgressForm::none)
      finished = work.beside(policy_announcer(what, std::cerr));
    made.push_back(how.refusals.row(
        [&] { return evaluate_failures(c, finished); },
        [&](Status status, const std::string& note) { return without_failures(c, status, note); }));
  }
  return made;
}

/// Where a planned row stands: an algorithm without a schedule has one row for all, a policy
/// without draws one for all skews, and what was cut short none.
std::vector<std::size_t> record_of_planned(const FailureStudy& study,
                                           std::span<const FailureEvaluation> made) {
  const std::size_t skews = study.common.noise.skews.size(),
                    planned_rows = study.case_count() / study.algorithms.size() * skews;
  std::vector<std::size_t> places;
  std::size_t row = 0;
  for (const FailureEvaluation& e : made) {
    const std::size_t end = places.size() + planned_rows;
    if (e.scenarios.empty()) places.insert(places.end(), planned_rows, row++);
    for (const ScenarioEvaluation& scenario : e.scenarios)
      for (const PolicyEvaluation& policy : scenario.policies) {
        const std::size_t rows = std::max<std::size_t>(policy.noises.size(), 1);
        for (std::size_t s = 0; s < skews; ++s) places.push_back(row + (s < rows ? s : 0));
        row += rows;
      }
    places.resize(end, SIZE_MAX);
  }
  return places;
}

} // namespace

StudyResult run_study(const FailureStudy& study, const StudyRun& how) {
  const auto made = std::make_shared<const std::vector<FailureEvaluation>>(evaluate(study, how));
  StudyResult result;
  result.files = {{.stem = "failures",
                   .records = failure_records(*made),
                   .chart = FailureStudy::files().front().chart}};
  result.kind = FailureStudy::kind;
  result.details = [made] { return failure_details(*made); };
  result.about = [made] { return about_failures(*made); };
  result.story = [made](const TableForm& form) {
    return made->empty() ? "" : failures_text(*made, form);
  };
  result.figures = [made] { return failure_figures(*made); };
  result.network_uses = [made, &topology = how.networks[study.topology].topology] {
    return network_uses(*made, topology);
  };
  if (how.explores)
    result.plays = [made, &topology = how.networks[study.topology].topology] {
      return explored_recoveries(*made, topology);
    };
  for (const FailureEvaluation& e : *made)
    if (!e.verified && !result.unanswered) result.unanswered = {e.status, e.note};
  result.comparisons =
      compare(study.expectations, result.files.front().records, record_of_planned(study, *made));
  result.defects = problems_of(*made);
  result.nothing_made =
      nothing_of(no_schedule, *made, [](const FailureEvaluation& e) { return e.verified; });
  return result;
}

} // namespace tutti
