// A collective through failures, by recoveries whose outcome is known.
#include "experiments/driver/studies/failures/evaluation.hpp"

#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/failures/columns.hpp"
#include "experiments/driver/studies/failures/failure_texts.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/failure_samples.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace failure_evaluation_test {

using namespace tutti;

namespace {

const Topology line = samples::line();

FailureEvaluation evaluated(const FailureCase& c) {
  return evaluate_failures(c, {}, samples::recover_by_hand);
}

} // namespace

TEST_CASE("under a transport the undisturbed run takes what the algorithm does by itself") {
  const Topology topology = make_topology("dgx_h100:1,npus=4");
  FailureCase c = samples::failing_line(topology);
  c.collective = {{"all_gather"}, Bytes{1'000'000}};
  c.algorithm = find_algorithm("direct");
  c.transport = parse_transport("nccl");
  const FailureEvaluation e = evaluate_failures(c);
  CHECK(e.problem.empty());
  CHECK_THAT(e.note, Catch::Matchers::StartsWith("transport nccl, "));
  Case alone;
  alone.topology = &topology;
  alone.collective = c.collective;
  alone.algorithm = c.algorithm;
  alone.transport = c.transport;
  alone.engine = &find_engine("native");
  CHECK(e.undisturbed.report.completion == evaluate(alone).replays.at(0).report.completion);
}

TEST_CASE("each policy is held against the undisturbed run") {
  const FailureEvaluation e = evaluated(samples::failing_line(line));
  CHECK(e.problem.empty());
  CHECK(e.verified);
  CHECK(e.undisturbed.report.completion == samples::line_time);
  CHECK(e.wanted == Bytes{2'000'000});
  REQUIRE(e.scenarios.size() == 1);
  const ScenarioEvaluation& scenario = e.scenarios[0];
  REQUIRE(scenario.events.size() == 1);
  CHECK(scenario.events[0].at == Time{samples::line_time.ps / 2});
  REQUIRE(scenario.policies.size() == 2);

  const PolicyEvaluation& report = scenario.policies[0];
  CHECK_FALSE(e.slowdown(report));
  CHECK(e.goodput_lost(report) == 1);
  CHECK(report.missing_npus == 1);
  REQUIRE(report.stuck.size() == 1);
  CHECK(report.stuck[0] == "npu1>npu2 is down since 20.50 us: 1 transfer waits for it");

  const PolicyEvaluation& restart = scenario.policies[1];
  CHECK(e.slowdown(restart) == 2.0);
  CHECK(e.goodput_lost(restart) == 0.5);
  CHECK(restart.decisions_in_force() == 1);
  CHECK(restart.planning_seconds == 0.75);
  CHECK(restart.missing_npus == 0);
}

TEST_CASE("a link is down since its event, whenever transfers came to it") {
  const auto stuck_after = [](const std::vector<NetworkEvent>& events) {
    FailureCase c = samples::failing_line(line);
    c.events.events.clear();
    for (const NetworkEvent& event : events) c.events.events.push_back({{event.at, {}}, event, {}});
    return evaluated(c).scenarios.at(0).policies.at(0).stuck;
  };
  using Kind = NetworkEvent::Kind;
  const auto link_event = [](std::int64_t us, Kind kind) {
    return NetworkEvent{.at = Time{us * 1'000'000}, .kind = kind, .link = LinkId{1}};
  };
  const auto since = [](const std::string& instant) {
    return std::vector{"npu1>npu2 is down since " + instant + ": 1 transfer waits for it"};
  };
  for (const std::int64_t us : {1, 7, 20})
    CHECK(stuck_after({link_event(us, Kind::link_down)}) ==
          since(short_text(Time{us * 1'000'000})));
  CHECK(stuck_after({link_event(0, Kind::link_down)}) == since("0 s"));
  CHECK(stuck_after({link_event(7, Kind::link_down), link_event(5, Kind::link_up),
                     link_event(1, Kind::link_down)}) == since("7.000 us"));
  CHECK(stuck_after({{.at = Time{3'000'000}, .kind = Kind::npu_down, .npu = NodeId{1}}}) ==
        since("3.000 us"));
}

TEST_CASE("the reaction says what the case says") {
  FailureCase c = samples::failing_line(line);
  c.detection = Time{7};
  c.decision = Time{5};
  const auto checked = [&](const EngineRow& engine, const Topology& topology, const Collective& all,
                           const Schedule& schedule, const TimeModel& model,
                           std::span<const NetworkEvent> events, const Reaction& reaction) {
    CHECK(reaction.detection == Time{7});
    CHECK(reaction.decision == Time{5});
    const Outcome outcome = reaction.plan(topology, all); // a Broadcast, but any would do
    CHECK(outcome.schedule);
    return samples::recover_by_hand(engine, topology, all, schedule, model, events, reaction);
  };
  CHECK(evaluate_failures(c, {}, checked).problem.empty());
}

TEST_CASE("a planner that finds no way says so") {
  FailureCase c = samples::failing_line(line);
  const auto cut = [](const EngineRow& engine, const Topology& topology, const Collective& all,
                      const Schedule& schedule, const TimeModel& model,
                      std::span<const NetworkEvent> events, const Reaction& reaction) {
    TopologyParts parts = samples::npus("cut", 3);
    parts.add_link(samples::link(0, 1));
    const Outcome outcome = reaction.plan(Topology(std::move(parts)), all);
    CHECK(outcome.status == Status::infeasible);
    CHECK_THAT(outcome.note, ContainsSubstring("npu2"));
    return samples::recover_by_hand(engine, topology, all, schedule, model, events, reaction);
  };
  CHECK(evaluate_failures(c, {}, cut).problem.empty());
}

TEST_CASE("what is wrong shows: in a recovery, between engines, without events") {
  FailureCase c = samples::failing_line(line);
  c.engines = all_engines();
  const auto with = [&](auto&& change) {
    return evaluate_failures(
               c, {},
               [&](const EngineRow& engine, const Topology& topology, const Collective& all,
                   const Schedule& schedule, const TimeModel& model,
                   std::span<const NetworkEvent> events, const Reaction& reaction) {
                 Recovery recovery = samples::recover_by_hand(engine, topology, all, schedule,
                                                              model, events, reaction);
                 change(engine, events, recovery);
                 return recovery;
               })
        .problem;
  };
  using Events = std::span<const NetworkEvent>;
  CHECK(with([](const EngineRow&, Events, Recovery&) {}).empty());
  CHECK(with([](const EngineRow&, Events events, Recovery& recovery) {
          if (!events.empty()) recovery.problem = "counted twice";
        }) == "seed 1, report: counted twice");
  CHECK(with([](const EngineRow& engine, Events events, Recovery& recovery) {
          if (engine.name == "simgrid" && !events.empty() && recovery.policy == Policy::restart)
            recovery.completion.ps += 1'000'000;
        })
            .starts_with("seed 1, restart: the engines disagree: native says complete at 82us, "
                         "simgrid says complete at 83us: native and simgrid differ: 1us apart"));
  CHECK(with([](const EngineRow& engine, Events events, Recovery& recovery) {
          if (engine.name == "simgrid" && !events.empty()) recovery.progress.pop_back();
        }).starts_with("seed 1, report: the engines disagree"));
  CHECK(with([](const EngineRow&, Events events, Recovery& recovery) {
          if (events.empty()) recovery.completion.ps += 1;
        }).starts_with("undisturbed: "));
}

TEST_CASE("an order that depends on less than a picosecond is no defect through failures") {
  TopologyParts parts = samples::npus("tie", 5);
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::int64_t rate) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{}, Bandwidth{rate}});
  };
  add(0, 1, 3'000'000'000); // a third of 1 us, twice: as long as 1,500 B at 2.25 GB/s
  add(1, 2, 3'000'000'000);
  add(4, 2, 2'250'000'000);
  add(2, 3, 1'000'000'000);
  const Topology tie(std::move(parts));
  FailureCase c = samples::failing_line(tie);
  c.engines = all_engines();
  c.algorithm = c.planner = find_algorithm("direct");
  c.policies = {Policy::report};
  const TemporaryFolder folder;
  write_file(folder.file("c.toml"), R"([[collective]]
name = "custom"
chunks = [{size = "1kB", sources = [0], destinations = [3]},
          {size = "1500B", sources = [4], destinations = [3]}]
)");
  c.collective = {{folder.file("c.toml")}, {}};
  const FailureEvaluation e = evaluate_failures(c);
  CHECK(e.problem == "");
  CHECK_THAT(e.remark, ContainsSubstring("depends on less than a picosecond"));
}

TEST_CASE("an event after the end of every run is bad input") {
  FailureCase c = samples::failing_line(line);
  c.events.events[0].at = {Time{82'000'000}, {}}; // when the last policy's run ends
  CHECK(evaluated(c).problem.empty());
  c.events.events[0].at.instant.ps += 1;
  c.events.events[0].place = "e.toml:3:1: ";
  const std::string message = message_of([&] { (void)evaluated(c); });
  CHECK(message.starts_with("e.toml:3:1: npu1>npu2"));
  CHECK_THAT(message, ContainsSubstring("at 82000001ps is after the end") &&
                          ContainsSubstring("ended at 82us"));
}

TEST_CASE("unsound cases are refused before anything runs") {
  FailureCase c = samples::failing_line(line);
  c.planner = find_algorithm("ring");
  CHECK_THAT(message_of([&] { require_sound(c); }),
             ContainsSubstring("planner ring: it plans no custom collectives"));
  CHECK(default_planner(find_algorithm("ring")).name == "tacos");
  CHECK(default_planner(find_algorithm("direct")).name == "direct");
  c = samples::failing_line(line);
  c.events.failed_links = {1};
  CHECK_THAT(message_of([&] { require_sound(c); }), ContainsSubstring("out of another's reach"));
}

TEST_CASE("an algorithm that has no schedule is no problem") {
  FailureCase c = samples::failing_line(line);
  c.algorithm = find_algorithm("rhd");
  const FailureEvaluation e = evaluated(c);
  CHECK(e.problem.empty());
  CHECK_FALSE(e.verified);
  CHECK(e.status == Status::unsupported);
  CHECK_FALSE(e.note.empty());
  CHECK(e.scenarios.empty());
}

TEST_CASE("a cancelled case ends with what it has") {
  FailureCase c = samples::failing_line(line);
  int finished = 0;
  c.options.cancelled = [&finished] { return finished > 0; };
  const FailureEvaluation e = evaluate_failures(
      c, [&finished](const ScenarioEvaluation&, const PolicyEvaluation&) { ++finished; },
      samples::recover_by_hand);
  CHECK(finished == 1);
  CHECK(e.note == "interrupted");
  CHECK(e.scenarios.empty());
}

namespace {

// Two numbers of links, three seeds each; times of `restart` as given, 0 for incomplete.
FailureEvaluation sweep_of(const std::vector<std::int64_t>& times) {
  FailureEvaluation e;
  e.algorithm = "tacos";
  e.policies = {Policy::restart};
  e.verified = true;
  e.undisturbed.report.completion = Time{100};
  for (std::size_t i = 0; i < times.size(); ++i) {
    ScenarioEvaluation scenario{{i < 3 ? 1U : 2U, i % 3}, {}, {}, {}, {}};
    PolicyEvaluation policy;
    policy.recovery = samples::recovered(Policy::restart, Time{times[i]});
    policy.recovery.ending = times[i] > 0 ? Ending::complete : Ending::incomplete;
    policy.recovery.in_vain = Bytes{times[i]};
    policy.missing_npus = times[i] > 0 ? 0 : 4;
    scenario.policies.push_back(policy);
    e.scenarios.push_back(scenario);
  }
  return e;
}

} // namespace

TEST_CASE("summaries are medians, in which what isn't complete is the latest") {
  const auto summaries = summaries_of(sweep_of({300, 100, 200, 0, 400, 0}));
  REQUIRE(summaries.size() == 2);
  CHECK(summaries[0].failed_links == 1U);
  CHECK(summaries[0].time == Time{200});
  CHECK(summaries[0].goodput_lost == 0.5);
  CHECK(summaries[0].in_vain == Bytes{200});
  CHECK(summaries[0].complete == 3);
  CHECK(summaries[0].missing_npus == 0);
  CHECK_FALSE(summaries[1].time);
  CHECK(summaries[1].goodput_lost == 1);
  CHECK(summaries[1].complete == 1);
  CHECK(summaries[1].runs == 3);
  CHECK(summaries[1].missing_npus == 4);
  CHECK(summaries_of(sweep_of({0, 400, 250, 1, 1, 1}))[0].time == Time{400});
}

namespace {

// The line's broadcast, whose source dies before anything has left it, or all others do.
FailureEvaluation nobody_left(bool source, EventTime at) {
  FailureCase c = samples::failing_line(line);
  c.policies = {all_policies.begin(), all_policies.end()};
  c.events.events.clear();
  for (const std::uint32_t npu : source ? std::vector{0U} : std::vector{1U, 2U})
    c.events.events.push_back(
        {at, {.at = {}, .kind = NetworkEvent::Kind::npu_down, .npu = NodeId{npu}}, {}});
  return evaluate_failures(c);
}

} // namespace

TEST_CASE("a run that nobody is left to receive has no time and no ratio under any policy") {
  for (const bool source : {true, false})
    for (const EventTime at : {EventTime{{}, 10'000}, EventTime{Time{3'000'000}, {}}}) {
      const FailureEvaluation e = nobody_left(source, at);
      CHECK(e.problem.empty());
      for (const PolicyEvaluation& policy : e.scenarios.at(0).policies) {
        CHECK(policy.recovery.ending == (source ? Ending::nothing_left : Ending::no_destination));
        CHECK_FALSE(e.slowdown(policy));
        CHECK(e.goodput_lost(policy) == 1);
        CHECK(ending_text(policy.recovery) ==
              (source ? "nothing survives" : "no destination lives"));
      }
      for (const PolicySummary& summary : summaries_of(e)) {
        CHECK(summary.complete == 0);
        CHECK_FALSE(summary.time);
      }
      const Records records = failure_records({&e, 1});
      Expectation expectation;
      expectation.metric = metric_column("slowdown", records.columns);
      expectation.values = {{{0}, {}}};
      expectation.limit = Limit::at_most;
      expectation.value = 1;
      CHECK(compare({&expectation, 1}, records).at(0).agreement == Agreement::unexpected);
    }
}

TEST_CASE("an expectation holds for the largest ratio of medians") {
  // rows of failure_records(): three seeds without failed links, three with one
  Expectation expectation;
  expectation.metric = metric_column("slowdown", columns_of<FailureStudy>());
  expectation.summary = Summary::largest;
  expectation.values = {{{0, 1, 2}, {}}, {{3, 4, 5}, {}}};
  expectation.value = 4;
  const auto compared = [&](const std::vector<std::int64_t>& times) {
    const FailureEvaluation e = sweep_of(times);
    return compare({&expectation, 1}, failure_records({&e, 1})).at(0);
  };
  const Comparison exact = compared({100, 200, 300, 400, 400, 400}); // 2 and 4 x undisturbed
  CHECK(exact.agreement == Agreement::match);
  CHECK(exact.value == 4);
  CHECK(exact.paper == "4");
  expectation.limit = Limit::at_most;
  CHECK(compared({100, 200, 300, 410, 410, 410}).agreement == Agreement::unexpected);
  expectation.tolerance = 0.05;
  CHECK(compared({100, 200, 300, 410, 410, 410}).agreement == Agreement::match);
  expectation.ours = {5, 0.01};
  CHECK(compared({100, 200, 300, 500, 500, 500}).agreement == Agreement::differs);
  const Comparison none = compared({100, 200, 300, 0, 0, 0});
  CHECK(none.agreement == Agreement::unexpected);
  CHECK(std::isnan(none.value));
  expectation.ours.reset();
  expectation.values = {{{0, 1, 2}, {}}}; // where something is left out isn't asked
  CHECK(compared({100, 200, 300, 0, 0, 0}).agreement == Agreement::match);
  expectation.values = {{{3, 4, 5}, {0, 1, 2}}};
  CHECK(compared({100, 200, 300, 500, 500, 500}).value == 2.5);
}

} // namespace failure_evaluation_test
