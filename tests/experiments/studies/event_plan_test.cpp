// From what is asked for to events at instants.
#include "experiments/driver/studies/event_plan.hpp"

#include "experiments/driver/studies/event_generator.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace event_plan_test {

using namespace tutti;
using Kind = NetworkEvent::Kind;

namespace {

PlannedEvent event_at(EventTime at, NetworkEvent what, std::string place = {}) {
  return {at, what, std::move(place)};
}

NetworkEvent down(std::uint32_t link) {
  return {.at = {}, .kind = Kind::link_down, .link = LinkId{link}};
}

NetworkEvent up(std::uint32_t link) {
  return {.at = {}, .kind = Kind::link_up, .link = LinkId{link}};
}

NetworkEvent dead(std::uint32_t npu) {
  return {.at = {}, .kind = Kind::npu_down, .npu = NodeId{npu}};
}

std::size_t count_of(std::span<const PlannedEvent> events, Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(),
                    [kind](const PlannedEvent& event) { return event.what.kind == kind; }));
}

FailureRates rates_of(double npus, double links, double stragglers = 0) {
  FailureRates rates;
  rates.npus = npus;
  rates.links = links;
  rates.stragglers = stragglers;
  return rates;
}

} // namespace

TEST_CASE("times are instants or parts of the undisturbed run") {
  CHECK(parse_event_time("3us").in_run_of(Time{10}) == Time{3'000'000});
  CHECK(parse_event_time("0%").in_run_of(Time{1000}) == Time{0});
  CHECK(parse_event_time("100%").in_run_of(Time{1001}) == Time{1001});
  CHECK(parse_event_time("12.5%").in_run_of(Time{1000}) == Time{125});
  CHECK(parse_event_time("33.3333%").in_run_of(Time{10}) == Time{3}); // rounded down
  // 90 days: the product doesn't fit 64 bits
  CHECK(parse_event_time("50%").in_run_of(Time{7'776'000'000'000'000'000}) ==
        Time{3'888'000'000'000'000'000});
  for (const char* text : {"", "%", "half%", "100.1%", "-1%", "nan%", "1", "ms"}) {
    INFO(text);
    CHECK_FALSE(message_of([&] { (void)parse_event_time(text); }).empty());
  }
}

TEST_CASE("a sweep is every number of links with every seed") {
  EventPlan plan;
  CHECK(scenarios_of(plan, 9).size() == 1);
  plan.failed_links = {0, 4};
  plan.seeds = {1, 2};
  const auto scenarios = scenarios_of(plan, 9);
  REQUIRE(scenarios.size() == 3); // without a failed link nothing is drawn
  CHECK(scenarios[0].failed_links == 0U);
  CHECK(scenarios[1].failed_links == 4U);
  CHECK(scenarios[2].failed_links == 4U);
  CHECK(scenarios[2].seed == 2);
  CHECK(to_text(scenarios[2]) == "4 failed links, seed 2");
  plan.generated = rates_of(0.1, 0);
  CHECK(scenarios_of(plan, 9).size() == 4);
  plan.seeds = {};
  CHECK(scenarios_of(plan, 9)[0].seed == 9);
}

TEST_CASE("timed events come by time, in the order given within one") {
  const Topology ring = samples::ring(4);
  const EventTime late{{}, 500'000}, early{Time{100}, {}};
  const std::vector<PlannedEvent> planned{event_at(late, down(1)), event_at(early, down(0)),
                                          event_at(late, down(2))};
  const auto events = timed_events(ring, planned, Time{1000});
  REQUIRE(events.size() == 3);
  CHECK(events[0].link == LinkId{0});
  CHECK(events[0].at == Time{100});
  CHECK(events[1].link == LinkId{1});
  CHECK(events[1].at == Time{500});
  CHECK(events[2].link == LinkId{2});
}

TEST_CASE("a contradiction is told at the event that makes it") {
  const Topology ring = samples::ring(4);
  const EventTime first{Time{100}, {}}, second{{}, 500'000};
  const std::vector<PlannedEvent> planned{event_at(second, up(1), "e:9:1: "),
                                          event_at(first, down(0), "e:1:1: ")};
  CHECK(message_of([&] {
          (void)timed_events(ring, planned, Time{1000});
        }).starts_with("e:9:1: npu1>npu2"));
  // Where the run is so short that the half of it comes first, another event is the second.
  const std::vector<PlannedEvent> twice{event_at(second, down(0), "e:9:1: "),
                                        event_at(first, down(0), "e:1:1: ")};
  CHECK(message_of([&] { (void)timed_events(ring, twice, Time{1000}); }).starts_with("e:9:1: "));
  CHECK(message_of([&] { (void)timed_events(ring, twice, Time{100}); }).starts_with("e:1:1: "));
}

TEST_CASE("failed links are whole cables that leave every NPU in reach") {
  const Topology torus = make_topology("torus2d:4x4");
  EventPlan plan;
  plan.failed_links = {5};
  plan.failed_at = {{}, 250'000};
  const auto planned = planned_events(torus, plan, {5, 3});
  REQUIRE(planned.size() == 10);
  std::set<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (const PlannedEvent& event : planned) {
    CHECK(event.what.kind == Kind::link_down);
    CHECK(event.at.millionths == 250'000U);
    const Link& link = torus.link(event.what.link);
    ends.insert({link.from.value, link.to.value});
  }
  REQUIRE(ends.size() == 10);
  for (const auto& [from, to] : ends) CHECK(ends.contains({to, from}));
  // As the topology option fail-links takes them.
  CHECK(make_topology("torus2d:4x4,fail-links=5,fail-seed=3").link_count() == 64 - 10);
  const Topology left = make_topology("torus2d:4x4,fail-links=5,fail-seed=3");
  for (const Link& link : left.links())
    CHECK_FALSE(ends.contains({link.from.value, link.to.value}));

  const Topology ring = samples::ring(4);
  plan.failed_place = "e.toml:1:1: ";
  CHECK_THAT(message_of([&] {
               (void)planned_events(ring, plan, {2, 1});
             }),
             ContainsSubstring("e.toml:1:1: 2 failed links, seed 1: of 4 cables, any more than "
                               "1 failures would put an NPU out of reach"));
}

TEST_CASE("Poisson numbers have their mean and variance, small and large") {
  for (const double mean : {0.3, 5.0, 100.0}) {
    INFO(mean);
    Random random(11);
    constexpr int draws = 20'000;
    double sum = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
      const auto value = static_cast<double>(poisson(random, mean, UINT64_MAX));
      sum += value;
      squares += value * value;
    }
    const double average = sum / draws;
    // five standard errors: sqrt(mean / draws), and about mean * sqrt(2 / draws) for the variance
    CHECK(std::abs(average - mean) < 5 * std::sqrt(mean / draws));
    CHECK(std::abs(squares / draws - average * average - mean) <
          5 * std::sqrt((2 * mean * mean + mean) / draws));
  }
  Random random(1);
  CHECK(poisson(random, 0, 10) == 0);
  CHECK(poisson(random, 1e9, 10) == 10); // ends once it is at its most
}

TEST_CASE("rates bring as many failures as they say, at moments all over the run") {
  const Topology torus = make_topology("torus2d:16x16");
  const FailureRates rates = rates_of(0.005, 0.01, 0.02); // of 256 NPUs and 512 cables
  double npus = 0, links = 0, stragglers = 0, moments = 0;
  constexpr int seeds = 500;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto events = drawn_events(torus, rates, seed, {});
    npus += static_cast<double>(count_of(events, Kind::npu_down));
    links += static_cast<double>(count_of(events, Kind::link_down)) / 2;
    stragglers += static_cast<double>(count_of(events, Kind::npu_rate));
    for (const PlannedEvent& event : events) {
      REQUIRE(event.at.millionths);
      CHECK(*event.at.millionths < 1'000'000);
      moments += *event.at.millionths / 1e6 / static_cast<double>(events.size());
    }
    // whatever was drawn contradicts nothing
    CHECK(timed_events(torus, events, Time{1'000'000'000}).size() == events.size());
  }
  const auto near = [](double found, double mean) {
    return std::abs(found / seeds - mean) < 5 * std::sqrt(mean / seeds);
  };
  CHECK(near(npus, 1.28));
  CHECK(near(links, 5.12 * 0.99)); // some are at NPUs that died before
  CHECK(near(stragglers, 5.12));
  CHECK(moments / seeds > 0.45);
  CHECK(moments / seeds < 0.55);
}

TEST_CASE("draws are the same for the same seed, and a rate changes only what it is of") {
  const Topology torus = make_topology("torus2d:8x8");
  const auto text = [&](std::uint64_t seed, const FailureRates& rates) {
    std::string all;
    for (const PlannedEvent& event : drawn_events(torus, rates, seed, {}))
      all += std::to_string(*event.at.millionths) + " " + std::to_string(event.what.npu.value) +
             " " + std::to_string(event.what.link.value) + "\n";
    return all;
  };
  CHECK(text(7, rates_of(0.1, 0.1)) == text(7, rates_of(0.1, 0.1)));
  CHECK(text(7, rates_of(0.1, 0.1)) != text(8, rates_of(0.1, 0.1)));
  CHECK(text(7, rates_of(0, 0.1)) == text(7, rates_of(0, 0.1, 0)));
  const std::string with = text(7, rates_of(0, 0.1, 0.2)), without = text(7, rates_of(0, 0.1));
  CHECK(with.starts_with(without));
  CHECK(with.size() > without.size());
}

TEST_CASE("draws leave alone what was written") {
  const Topology ring = samples::ring(8);
  const std::vector<PlannedEvent> written{event_at({Time{5}, {}}, down(0)),
                                          event_at({Time{5}, {}}, dead(4))};
  // everything that may fail does: link 0 is npu0>npu1, npu4 has cables to npu3 and npu5
  FailureRates all = rates_of(1, 1);
  all.weeks = 500;
  const auto events = drawn_events(ring, all, 1, written);
  std::set<std::uint32_t> npus;
  for (const PlannedEvent& event : events)
    if (event.what.kind == Kind::npu_down) npus.insert(event.what.npu.value);
  CHECK(npus == std::set<std::uint32_t>{2, 3, 5, 6, 7});
  for (const PlannedEvent& event : events) {
    if (event.what.kind != Kind::link_down) continue;
    const Link& link = ring.link(event.what.link);
    CHECK_FALSE(link.from == NodeId{4});
    CHECK_FALSE(link.to == NodeId{4});
    CHECK_FALSE(
        (std::min(link.from, link.to) == NodeId{0} && std::max(link.from, link.to) == NodeId{1}));
  }
}

} // namespace event_plan_test
