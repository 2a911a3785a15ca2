// What is predicted for whole curves, and which single cause explains a log: logs are made with one
// thing changed, constants drawn from their intervals, and noise.
#include "experiments/driver/studies/measurements/causes.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "sim/random.hpp"
#include "sim/transport/constants.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace causes_test {

using namespace tutti;
using Catch::Matchers::Contains;

namespace {

const Evaluator in_processes = [](std::span<const Case> cases) { return run_cases(cases, 2); };

/// NCCL on a machine under its usual transport.
struct Machine {
  Topology topology;
  Case healthy;

  explicit Machine(const std::string& text) : topology(make_topology(text)) {
    healthy.topology_label = topology.name();
    healthy.topology = &topology;
    healthy.chunks = std::nullopt;
    healthy.algorithm = find_algorithm(nccl_of(topology));
    healthy.engine = &find_engine("native");
    healthy.transport = usual_transport(topology).transport;
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
};

/// Powers of two from 2^least to 2^most.
std::vector<MeasuredRow> rows_of(CollectiveKind kind, int least, int most, int step = 1) {
  std::vector<MeasuredRow> rows;
  for (int power = least; power <= most; power += step) {
    MeasuredRow& row = rows.emplace_back();
    row.kind = kind;
    row.size = Bytes{std::int64_t{1} << power};
    row.npus = 8; // said, so that no node is missing
  }
  return rows;
}

double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }
double gaussian(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(random)));
  return radius * std::cos(2 * std::numbers::pi * uniform(random));
}

/// Constants anywhere in the intervals that the transport states, and certain.
Transport drawn(Transport transport, const std::string& npus, Random& random) {
  const auto factor = [&](double within) {
    return std::exp((2 * uniform(random) - 1) * std::log1p(within));
  };
  const auto times = [](Time& time, double by) {
    time.ps = std::llround(static_cast<double>(time.ps) * by);
  };
  for (auto& [model, time] : transport.launch)
    if (const auto within = transport.launch_within.find(model);
        within != transport.launch_within.end())
      times(time, factor(within->second));
  transport.launch_within.clear();
  for (TransportRule& rule : transport.rules) {
    const bool elsewhere = !rule.measured_on.empty() &&
                           std::ranges::find(rule.measured_on, npus) == rule.measured_on.end();
    const auto within = [&](double here, const std::optional<double>& there) {
      return factor(elsewhere ? there.value_or(here) : here);
    };
    const double rates = within(rule.rates_within, rule.rates_elsewhere);
    rule.share = std::min(rule.share * rates, 1.0);
    rule.channel.bytes_per_second =
        std::llround(static_cast<double>(rule.channel.bytes_per_second) * rates);
    const double slower = within(rule.times_within, rule.times_elsewhere);
    times(rule.latency, slower);
    times(rule.handover, slower);
    rule.rates_within = rule.times_within = 0;
    rule.rates_elsewhere = rule.times_elsewhere = {};
  }
  return transport;
}

/// A log of the machine after a change, whose links are as `links` says: each problem out of place
/// and in place. What it sends is planned as ever: NCCL knows nothing of these constants.
std::vector<MeasuredRow> log_of(const CauseModel& model, const CauseModel::Variant& changed,
                                Case of, const std::shared_ptr<const Transport>& links,
                                double noise, Random& random) {
  for (const auto& [key, value] : changed.change.settings) of.options.settings[key] = value;
  if (changed.change.topology) of.topology = changed.change.topology.get();
  std::vector<Case> cases;
  for (const MeasuredRow& row : model.problems()) cases.push_back(case_of(row, of, ""));
  const Evaluator on_links = [&](std::span<const Case> wanted) {
    std::vector<Evaluation> made;
    for (Case each : wanted) {
      Attempt planned = attempt(each);
      each.transport = links;
      made.push_back(evaluate_given(each, std::move(planned)));
    }
    return made;
  };
  const std::vector<Forecast> forecasts = predict(cases, on_links);
  const double more = changed.change.more_seconds * std::exp((uniform(random) - 0.5) * std::log(4));
  std::vector<MeasuredRow> log;
  for (std::size_t p = 0; p < forecasts.size(); ++p)
    for (const bool in_place : {false, true}) {
      MeasuredRow& row = log.emplace_back(model.problems()[p]);
      row.is_in_place = in_place;
      const double seconds =
          forecasts[p].time ? forecasts[p].time->seconds() : changed.points[p].time->seconds();
      row.seconds = (seconds + more) * std::exp(noise * gaussian(random));
    }
  return log;
}

/// In which class the cause is; as many as there are where it is in none.
std::size_t class_of(const CauseReport& report, const Cause* cause) {
  const auto found = std::ranges::find_if(report.findings, [cause](const CauseClass& each) {
    return std::ranges::find(each.causes, cause) != each.causes.end();
  });
  return static_cast<std::size_t>(found - report.findings.begin());
}

} // namespace

TEST_CASE("Large sizes lie on the line that smaller ones of the same kind make") {
  const Machine machine("dgx_h100:2");
  for (const auto& [collective, size] : {std::pair("all_gather", std::int64_t{1} << 33),
                                         {"broadcast", std::int64_t{1} << 33},
                                         {"all_reduce", std::int64_t{1} << 29}}) {
    INFO(collective);
    Case large = machine.healthy;
    large.collective = {{collective}, Bytes{size}};
    const std::vector<Forecast> made = predict(std::vector<Case>{large}, in_processes);
    REQUIRE(made.front().time);
    CHECK(made.front().is_on_line);
    const Evaluation whole = evaluate(large);
    const Replay& replay = whole.replays.front();
    CHECK(made.front().time->seconds() == Approx(replay.report.completion.seconds()).epsilon(0.01));
    CHECK(made.front().interval->high.seconds() ==
          Approx(replay.interval->high.seconds()).epsilon(0.01));
    CHECK(made.front().bound.seconds() == Approx(replay.bound.time.seconds()).epsilon(1e-6));
  }
}

TEST_CASE("Sizes that one schedule sends lie between those that are replayed") {
  const Machine machine("dgx_h100:2");
  std::vector<Case> cases;
  for (int power = 7; power <= 27; ++power) {
    cases.push_back(machine.healthy);
    cases.back().collective = {{"all_gather"}, Bytes{std::int64_t{1} << power}};
  }
  std::size_t replayed = 0;
  const Evaluator counted = [&](std::span<const Case> wanted) {
    replayed += wanted.size();
    return in_processes(wanted);
  };
  const std::vector<Forecast> made = predict(cases, counted);
  CHECK(replayed < cases.size());
  std::size_t on_lines = 0;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    INFO(cases[c].collective.size.count);
    REQUIRE(made[c].time);
    const Replay whole = evaluate(cases[c]).replays.front();
    CHECK(made[c].time->seconds() == Approx(whole.report.completion.seconds()).epsilon(0.01));
    CHECK(made[c].interval->high.seconds() == Approx(whole.interval->high.seconds()).epsilon(0.01));
    CHECK(made[c].bound == whole.bound.time);
    on_lines += made[c].is_on_line ? 1 : 0;
  }
  CHECK(on_lines + replayed >= cases.size());
  CHECK(predict(std::vector<Case>{}, counted).empty());
}

TEST_CASE("What is no library's, small or cut by hand is replayed whole") {
  const Machine machine("dgx_h100");
  std::vector<Case> cases(3, machine.healthy);
  for (Case& each : cases) each.collective = {{"all_gather"}, Bytes{std::int64_t{1} << 26}};
  cases[0].algorithm = find_algorithm("direct");
  cases[1].collective.size = Bytes{std::int64_t{1} << 16};
  cases[2].chunks = 4;
  const std::vector<Forecast> made = predict(cases, in_processes);
  for (std::size_t c = 0; c < cases.size(); ++c) {
    CHECK_FALSE(made[c].is_on_line);
    CHECK(made[c].time == evaluate(cases[c]).replays.front().report.completion);
  }
}

TEST_CASE("A machine's usual transport is its vendor's, where everything is known") {
  CHECK(usual_transport(make_topology("dgx_h100")).transport->name == "nccl");
  CHECK(usual_transport(make_topology("mi300x")).transport->name == "rccl");
  const UsualTransport ring = usual_transport(make_topology("ring:4"));
  CHECK_FALSE(ring.transport);
  CHECK_THAT(ring.why_ideal, Contains("doesn't say what its NPUs are"));
}

TEST_CASE("A log of rings is explained by rings, and a healthy one by nothing") {
  const Machine machine("dgx_h100");
  const CauseModel model(machine.healthy, "", rows_of(CollectiveKind::all_reduce, 20, 28, 2),
                         in_processes);
  Random random(1);
  constexpr double noise = 0.02;
  const auto& variants = model.variants();
  REQUIRE(variants.front().cause == nullptr);
  const auto log_by = [&](const CauseModel::Variant& variant) {
    return log_of(model, variant, machine.healthy, machine.healthy.transport, noise, random);
  };
  const CauseReport healthy = model.explain(log_by(variants.front()));
  CHECK(class_of(healthy, nullptr) == 0);
  CHECK(healthy.rows == 10);
  CHECK(healthy.healthy_within == 10);
  CHECK_THAT(lines_of(healthy).front(), Contains("nothing stands out: 10 of 10 rows"));
  const auto ring = std::ranges::find_if(
      variants, [](const auto& each) { return each.cause && each.cause->name == "ring"; });
  const CauseReport report = model.explain(log_by(*ring));
  CHECK(class_of(report, ring->cause) == 0);
  CHECK(class_of(report, nullptr) > 0);
  CHECK_THAT(lines_of(report).front(), Contains("10 of 10 rows fit if ") && Contains(", else "));
  // What the log says of itself counts for more than its rows.
  LogFacts facts;
  facts.environment["NCCL_ALGO"] = {"NVLS", 3};
  const std::vector<MeasuredRow> rings = log_by(*ring);
  const CauseReport denied = model.explain(rings, facts);
  CHECK(class_of(denied, ring->cause) == denied.findings.size());
  facts.environment["NCCL_ALGO"] = {"ring", 3};
  CHECK(model.explain(rings, facts).findings.front().causes.front() == ring->cause);
  CHECK(lines_of(facts, "log") == std::vector<std::string>{"log:3: NCCL_ALGO=ring"});
  // A machine that is nothing of the kind: each row off by a factor of its own.
  std::vector<MeasuredRow> odd = log_by(variants.front());
  for (std::size_t r = 0; r < odd.size(); ++r) odd[r].seconds *= r % 4 < 2 ? 3 : 0.5;
  const CauseReport none = model.explain(odd);
  CHECK_FALSE(none.findings.front().fits);
  CHECK_THAT(lines_of(none).back(), Contains("no single cause that is known"));
}

TEST_CASE("Rows that nothing is predicted for are no ground to explain on") {
  const Machine machine("dgx_h100");
  Case never = machine.healthy;
  never.options.settings["algo"] = "collnet_direct"; // no switch between nodes
  const CauseModel model(never, "", rows_of(CollectiveKind::all_reduce, 20, 21), in_processes);
  CHECK(model.problems().empty());
  CHECK(model.explain(rows_of(CollectiveKind::all_reduce, 20, 21)).findings.empty());
}

TEST_CASE("Causes are found on all machines through drawn constants and noise", "[slow]") {
  struct Log {
    const char* machine;
    std::vector<CollectiveKind> kinds;
    int least, most, step;
  };
  using enum CollectiveKind;
  const std::vector<Log> logs{{"dgx_h100", {all_reduce}, 20, 33, 1},
                              {"dgx_h100", {all_reduce}, 28, 33, 2},
                              {"dgx_h100:2", {all_reduce}, 20, 33, 1},
                              {"dgx_h100:2", {all_gather}, 16, 30, 2},
                              {"dgx_h200:2", {all_reduce, all_gather}, 16, 30, 2},
                              {"dgx_b200:2", {all_to_all, broadcast}, 20, 32, 3},
                              {"dgx_b200", {reduce_scatter}, 24, 32, 2}};
  constexpr std::size_t least_cases = 500, least_healthy = 200;
  std::size_t cases = 0, first = 0, second = 0, healthy = 0, quiet = 0;
  Random random(1);
  std::vector<std::unique_ptr<Machine>> machines;
  std::vector<CauseModel> models;
  for (const Log& log : logs) {
    machines.push_back(std::make_unique<Machine>(log.machine));
    std::vector<MeasuredRow> rows;
    for (const CollectiveKind kind : log.kinds)
      for (const MeasuredRow& row : rows_of(kind, log.least, log.most, log.step))
        rows.push_back(row);
    models.emplace_back(machines.back()->healthy, "", rows, in_processes);
  }
  const auto found = [&](std::size_t m, const CauseModel::Variant& variant) {
    const Case& of = machines[m]->healthy;
    const auto links = std::make_shared<const Transport>(
        drawn(*of.transport, of.topology->parts().npu_model, random));
    constexpr double noise = 0.05;
    return class_of(models[m].explain(log_of(models[m], variant, of, links, noise, random)),
                    variant.cause);
  };
  while (cases < least_cases || healthy < least_healthy)
    for (std::size_t m = 0; m < models.size(); ++m) {
      quiet += found(m, models[m].variants().front()) == 0 ? 1 : 0;
      ++healthy;
      for (const CauseModel::Variant& variant : models[m].variants()) {
        if (variant.cause == nullptr || cases >= least_cases) continue;
        const std::size_t at = found(m, variant);
        ++cases;
        first += at == 0 ? 1 : 0;
        second += at <= 1 ? 1 : 0;
      }
    }
  CAPTURE(cases, first, second, healthy, quiet);
  CHECK(static_cast<double>(first) >= 0.85 * static_cast<double>(cases));
  CHECK(static_cast<double>(second) >= 0.95 * static_cast<double>(cases));
  CHECK(static_cast<double>(quiet) >= 0.95 * static_cast<double>(healthy));
}

} // namespace causes_test
