// Collectives through failures whose NPUs start late, or when and on which links is drawn.
#include "experiments/driver/studies/failures/columns.hpp"
#include "experiments/driver/studies/failures/evaluation.hpp"

#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/records/cells.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "tests/experiments/studies/failure_samples.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

namespace failure_noise_test {

using namespace tutti;

namespace {

const Topology line = samples::line();

FailureCase noisy_line(const std::vector<std::string>& skews, std::uint32_t draws) {
  FailureCase c = samples::failing_line(line);
  c.noise.skews.clear();
  for (const std::string& skew : skews) add_skew(c.noise.skews, skew);
  c.noise.draws = draws;
  return c;
}

/// By hand, and later by the latest start; `restart` isn't complete where npu2 is the last.
Recovery recover_late(const EngineRow& engine, const Topology& topology,
                      const Collective& collective, const Schedule& schedule,
                      const TimeModel& model, std::span<const NetworkEvent> events,
                      const Reaction& reaction) {
  Recovery recovery =
      samples::recover_by_hand(engine, topology, collective, schedule, model, events, reaction);
  if (reaction.starts.empty()) return recovery;
  recovery.last_start = std::ranges::max(reaction.starts);
  recovery.completion += recovery.last_start;
  if (reaction.policy == Policy::restart && reaction.starts[2] == recovery.last_start)
    recovery.ending = Ending::incomplete;
  return recovery;
}

const std::string experiment_head = R"(name = "e"
[topologies]
L = "ring:4"
[[failures]]
collective = "broadcast"
size = "1MB"
algorithms = ["tacos"]
events = [{at = "50%", link_down = "npu1-npu2"}]
)"; // lines 1 to 8

} // namespace

TEST_CASE("who starts late does so in every run, by both routes and engines") {
  FailureCase c = samples::failing_line(line);
  c.engines = all_engines();
  c.policies = {all_policies.begin(), all_policies.end()};
  c.noise.starts = {"npu1=30us"};
  // Sent on at 30 us, there at 50.5 us; npu1>npu2 fails at half of that and stays down.
  const FailureEvaluation e = evaluate_failures(c);
  CHECK(e.problem.empty());
  CHECK(e.note == "1 NPU starts late, npu1 last, at 30.00 us");
  CHECK(e.undisturbed.report.completion == Time{50'500'000});
  CHECK(e.undisturbed.bound.time == Time{30'000'000}); // no earlier than it joins
  const ScenarioEvaluation& scenario = e.scenarios.at(0);
  CHECK(scenario.events.at(0).at == Time{25'250'000});
  for (const PolicyEvaluation& policy : scenario.policies) {
    CHECK(policy.noises.empty());
    CHECK_FALSE(policy.recovery.complete());
    CHECK(policy.recovery.completion == Time{30'000'000}); // where it waits
  }
  CHECK_THAT(failures_text({&e, 1}), ContainsSubstring("tacos: 1 NPU starts late, npu1 last"));

  c.noise.starts = {"npu7=1us"};
  CHECK_THAT(message_of([&] { require_sound(c); }), ContainsSubstring("npu7"));
}

TEST_CASE("draws of each skew under each policy, over the same without") {
  FailureCase c = noisy_line({"none", "uniform:20us"}, 40);
  const FailureEvaluation e = evaluate_failures(c, {}, recover_late);
  CHECK(e.problem.empty());
  const ScenarioEvaluation& scenario = e.scenarios.at(0);
  const std::vector<NoiseOutcome>&report = scenario.policies.at(0).noises,
        &restart = scenario.policies.at(1).noises;
  REQUIRE(restart.size() == 2);
  CHECK(restart[0].draws.size() == 1); // all would be the same
  const NoiseOutcome& drawn = restart[1];
  REQUIRE(drawn.draws.size() == 40);
  CHECK(drawn.quiet == Time{82'000'000});
  std::size_t incomplete = 0;
  for (const Draw& draw : drawn.draws) {
    CHECK(draw.last_start <= Time{20'000'000});
    if (draw.time == Draw::never)
      ++incomplete;
    else
      CHECK(draw.time == drawn.quiet + draw.last_start);
  }
  CHECK(incomplete > 4); // about a third
  CHECK(incomplete < 20);
  CHECK(drawn.time_at(0.5) < Time{102'000'000});
  CHECK(drawn.time_at(0.99) == Draw::never);
  CHECK(drawn.after_last_start_at(0.5) == drawn.quiet);
  CHECK(report[1].quiet == Time{});
  CHECK(report[1].time_at(0) == Draw::never);

  // A row each; what isn't known is empty.
  const auto rows = csv_rows(failure_records({&e, 1}));
  REQUIRE(rows.size() == 1 + 4);
  const auto cell = [&](std::size_t row, const std::string& name) {
    return cell_of(rows, 1 + row, name);
  };
  CHECK(cell(3, "policy") == "restart");
  CHECK(cell(3, "skew") == "uniform:20us");
  CHECK(cell(3, "draws") == "40");
  CHECK(cell(3, "time_p50_ps") == std::to_string(drawn.time_at(0.5).ps));
  CHECK(cell(3, "time_p99_ps").empty());
  CHECK(cell(3, "noise_slowdown_p99").empty());
  CHECK(cell(1, "time_p50_ps").empty());
  CHECK(cell(1, "collective_time_ps").empty());
  const nlohmann::ordered_json details = failure_details({&e, 1});
  REQUIRE(details.size() == 4);
  CHECK(details[1].at("draws").at("time_ps")[0].is_null());
  const std::string text = failures_text({&e, 1});
  CHECK_THAT(text, ContainsSubstring("\njitter none, seed 1, 40 draws\n"));
  CHECK_THAT(text, ContainsSubstring("tacos      restart  uniform:20us"));

  // Without draws there are no such columns.
  const FailureEvaluation quiet =
      evaluate_failures(samples::failing_line(line), {}, samples::recover_by_hand);
  CHECK(std::ranges::none_of(failure_records({&quiet, 1}).columns,
                             [](const RecordColumn& column) { return column.name == "skew"; }));
}

TEST_CASE("whatever the number of threads, draws that plan anew are the same") {
  const Topology ring = samples::ring(6);
  FailureCase c = noisy_line({"uniform:1x", "exponential:20us"}, 12);
  c.topology = &ring;
  c.collective = {{"all_gather"}, Bytes{6'000'000}};
  c.noise.jitter = parse_jitter("bandwidth=5%,latency=5%");
  c.noise.starts = {"npu4=10us"};
  c.events.events.clear();
  c.events.failed_links = {1};
  c.detection = c.decision = Time{5'000'000};
  const auto told = [&](unsigned threads) {
    c.draw_threads = threads;
    FailureEvaluation e = evaluate_failures(c);
    CHECK(e.problem.empty());
    for (PolicyEvaluation& policy : e.scenarios.at(0).policies) {
      CHECK(policy.noises.size() == 2);
      policy.planning_seconds = 0;
      for (Decision& decision : policy.recovery.decisions) decision.planning_seconds = 0;
    }
    std::string text = failure_details({&e, 1}).dump();
    for (const std::vector<std::string>& row : csv_rows(failure_records({&e, 1})))
      for (const std::string& one : row) text += one + ",";
    return text;
  };
  const std::string alone = told(1);
  CHECK(told(3) == alone);
}

TEST_CASE("whoever interrupts draws keeps the runs without") {
  FailureCase c = noisy_line({"uniform:20us"}, 100);
  std::atomic<int> calls = 0;
  c.options.cancelled = [&] { return calls > 30; };
  const FailureEvaluation e = evaluate_failures(
      c, {},
      [&](const EngineRow& engine, const Topology& topology, const Collective& collective,
          const Schedule& schedule, const TimeModel& model, std::span<const NetworkEvent> events,
          const Reaction& reaction) {
        ++calls;
        return recover_late(engine, topology, collective, schedule, model, events, reaction);
      });
  CHECK(e.note == "interrupted");
  REQUIRE(e.scenarios.size() == 1);
  CHECK(e.scenarios[0].policies.size() == 2);
  CHECK(e.scenarios[0].policies[0].noises.empty());
}

TEST_CASE("what is wrong in a draw shows") {
  FailureCase c = noisy_line({"uniform:20us"}, 3);
  const FailureEvaluation e = evaluate_failures(
      c, {},
      [](const EngineRow& engine, const Topology& topology, const Collective& collective,
         const Schedule& schedule, const TimeModel& model, std::span<const NetworkEvent> events,
         const Reaction& reaction) {
        Recovery recovery =
            recover_late(engine, topology, collective, schedule, model, events, reaction);
        if (!reaction.starts.empty())
          recovery.problem = reaction.beaten_bound(topology, collective, model, Time{1});
        return recovery;
      });
  CHECK(e.problem.starts_with("seed 1, report, in a draw: it takes 1ps, below the lower bound"));
}

TEST_CASE("keys and expectations of noise") {
  const auto study_of = [](const std::string& rest) {
    return *parse_experiment(experiment_head + rest, "e.toml").all<FailureStudy>().at(0);
  };
  const FailureStudy study = study_of(R"(policies = ["reroute", "restart"]
starts = ["npu2=3us"]
skews = ["uniform:0.5x", "normal:2us"]
jitter = "bandwidth=1%"
noise_seed = 4
draws = 7
[[failures.expect]]
label = "the first skew"
of = {policy = "restart"}
metric = "time_p99"
at_most = "1s"
[[failures.expect]]
label = "another"
of = {policy = "restart", skew = "normal:2us"}
over = {policy = "reroute", skew = "normal:2us"}
metric = "noise_slowdown_p50"
at_most = 1
)");
  const NoiseRequest& noise = study.common.noise;
  CHECK(noise.starts == std::vector<std::string>{"npu2=3us"});
  CHECK(noise.skews.at(1).text == "normal:2us");
  CHECK(noise.jitter.bandwidth == 0.01);
  CHECK(noise.seed == 4);
  CHECK(noise.draws == 7);
  CHECK(study.expectations.at(0).values == std::vector<Quotient>{{{2}, {}}}); // the first skew
  CHECK(study.expectations.at(1).values == std::vector<Quotient>{{{3}, {1}}});

  const auto error = [](const std::string& rest) {
    return experiment_error(experiment_head + rest);
  };
  CHECK_THAT(error("starts = [\"npu9=1us\"]"),
             ContainsSubstring("e.toml:9:11: ") && ContainsSubstring("npu9"));
  CHECK_THAT(error("skews = [\"uniform\"]"), ContainsSubstring("e.toml:9:10: "));
  CHECK_THAT(error("jitter = \"bandwidth=40%\""), ContainsSubstring("e.toml:9:10: "));
  CHECK_THAT(error("draws = 5"), ContainsSubstring("nothing is drawn"));
}

} // namespace failure_noise_test
