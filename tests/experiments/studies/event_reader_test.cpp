// Files of events: what they say, and what is wrong with them where.
#include "experiments/driver/studies/event_reader.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"
#include "tests/samples.hpp"

#include <string>
#include <vector>

namespace event_reader_test {

using namespace tutti;
using Kind = NetworkEvent::Kind;

namespace {

const Topology ring = samples::ring(4);

EventPlan plan_of(const std::string& toml) { return parse_event_file(toml, "e.toml", ring); }

std::string error_of(const std::string& toml) {
  return message_of([&] { (void)plan_of(toml); });
}

} // namespace

TEST_CASE("every kind of event is read") {
  const EventPlan plan = plan_of(R"([[events]]
at = "1ms"
link_down = "npu0>npu1"
[[events]]
at = "2ms"
link_up = "npu0>npu1"
[[events]]
at = "0s"
link_rate = "npu2>npu3"
share = 0.25
[[events]]
at = "0s"
link_latency = "npu2>npu3"
latency = "5us"
[[events]]
at = "3ms"
npu_down = "npu1"
[[events]]
at = "0s"
straggler = "npu3"
share = 1
)");
  REQUIRE(plan.events.size() == 6);
  CHECK_FALSE(plan.draws());
  const auto kind = [&](std::size_t i) { return plan.events[i].what.kind; };
  CHECK(kind(0) == Kind::link_down);
  CHECK(plan.events[0].at.instant == Time{1'000'000'000});
  CHECK_FALSE(plan.events[0].at.millionths);
  CHECK(plan.events[0].what.link == samples::link_between(ring, 0, 1));
  CHECK(plan.events[0].place == "e.toml:1:1: ");
  CHECK(kind(1) == Kind::link_up);
  CHECK(kind(2) == Kind::link_rate);
  CHECK(plan.events[2].what.share.millionths == 250'000);
  CHECK(kind(3) == Kind::link_latency);
  CHECK(plan.events[3].what.latency == Time{5'000'000});
  CHECK(kind(4) == Kind::npu_down);
  CHECK(plan.events[4].what.npu == NodeId{1});
  CHECK(kind(5) == Kind::npu_rate);
  CHECK(plan.events[5].what.share.millionths == 1'000'000);
}

TEST_CASE("a dash names both directions, also between names with dashes") {
  const EventPlan plan = plan_of("[[events]]\nat = \"25%\"\nlink_down = \"npu3-npu0\"\n");
  REQUIRE(plan.events.size() == 2);
  CHECK(plan.events[0].what.link == samples::link_between(ring, 3, 0));
  CHECK(plan.events[1].what.link == samples::link_between(ring, 0, 3));
  CHECK(plan.events[0].at.millionths == 250'000U);
  CHECK(plan.events[1].place == plan.events[0].place);

  TopologyParts parts;
  parts.name = "dashes";
  for (const char* name : {"a", "a-b", "c"}) parts.add_node({name, NodeKind::npu, {}, {}});
  parts.add_duplex(samples::link(1, 2));
  parts.add_duplex(samples::link(0, 1));
  const Topology dashes(std::move(parts));
  const EventPlan found =
      parse_event_file("[[events]]\nat = \"0s\"\nlink_down = \"a-b-c\"\n", "e.toml", dashes);
  REQUIRE(found.events.size() == 2);
  CHECK(found.events[0].what.link == LinkId{0});
  CHECK(found.events[1].what.link == LinkId{1});
}

TEST_CASE("parallel links have one name and fall together") {
  const Topology two = samples::linked("two", 2, {{0, 1}, {0, 1}, {1, 0}});
  const EventPlan plan =
      parse_event_file("[[events]]\nat = \"0s\"\nlink_down = \"npu0>npu1\"\n", "e.toml", two);
  REQUIRE(plan.events.size() == 2);
  CHECK(plan.events[0].what.link == LinkId{0});
  CHECK(plan.events[1].what.link == LinkId{1});
}

TEST_CASE("what is drawn: counts, rates and seeds") {
  const EventPlan sweep = plan_of("failed_links = [0, 1]\nat = \"1us\"\nseeds = [3, 4]\n");
  CHECK(sweep.failed_links == std::vector<std::size_t>{0, 1});
  CHECK(sweep.failed_at.instant == Time{1'000'000});
  CHECK(sweep.seeds == std::vector<std::uint64_t>{3, 4});
  CHECK(plan_of("failed_links = 1\n").failed_at.millionths == 500'000U);

  const EventPlan week = plan_of("[generated]\nweeks = 2.5\nnpus_per_week = \"0.5%\"\n"
                                 "links_per_week = \"0.1%\"\nstragglers_per_week = \"1%\"\n"
                                 "straggler_share = 0.125\nseed = 7\n");
  REQUIRE(week.generated);
  CHECK(week.generated->weeks == 2.5);
  CHECK(week.generated->npus == Approx(0.005));
  CHECK(week.generated->links == Approx(0.001));
  CHECK(week.generated->stragglers == Approx(0.01));
  CHECK(week.generated->straggler_share.millionths == 125'000);
  CHECK(week.seeds == std::vector<std::uint64_t>{7});
  CHECK(plan_of("[generated]\nnpus_per_week = \"1%\"\n").generated->weeks == 1);
}

TEST_CASE("bad events are errors with their place") {
  const auto event = [](const std::string& rest) {
    return error_of("[[events]]\nat = \"1ms\"\n" + rest);
  };
  const RefusalRows rows = {
      {"link_down = 'npu0>npu2'\n", "e.toml:3:13: there is no link npu0>npu2"},
      {"link_down = 'npu0-npu2'\n", "e.toml:3:13: there is no link npu0>npu2"},
      {"link_down = 'npu0>npu9'\n", "e.toml:3:13: unknown node \"npu9\""},
      {"link_down = 'npu0-npu9'\n", "e.toml:3:13: unknown node \"npu9\""},
      {"link_down = 'npu0'\n", "e.toml:3:13: \"npu0\" is not a link"},
      {"npu_down = 'npu9'\n", "e.toml:3:12: unknown node \"npu9\""},
      {"npu_dwon = 'npu1'\n", R"(e.toml:3:1: unknown key "npu_dwon" ... did you mean "npu_down"?)"},
      {"", "e.toml:1:1: this event doesn't say what happens (one of link_down, link_up, "},
      {"link_down = 'npu0>npu1'\nnpu_down = 'npu1'\n",
       "e.toml:1:1: an event is one thing, not both link_down and npu_down"},
  };
  check_refusals(event, rows);
  for (const char* share : {"0", "-0.5", "1.5", "1e-9", "1e30"}) {
    INFO(share);
    CHECK_THAT(event("straggler = \"npu1\"\nshare = " + std::string(share) + "\n"),
               ContainsSubstring("e.toml:4:9: a share of ") && ContainsSubstring("out of range"));
  }
  CHECK_THAT(event("straggler = \"npu1\"\n"), ContainsSubstring("needs a key \"share\""));
  CHECK_THAT(event("link_latency = \"npu0>npu1\"\n"), ContainsSubstring("needs a key \"latency\""));
  CHECK_THAT(event("npu_down = \"npu1\"\nshare = 0.5\n"),
             ContainsSubstring("e.toml:4:9: npu_down has no share"));
  CHECK_THAT(event("link_rate = \"npu0>npu1\"\nshare = 0.5\nlatency = \"1us\"\n"),
             ContainsSubstring("e.toml:5:11: link_rate has no latency"));
  const RefusalRows rows2 = {
      {"npu_down = 'npu1'\n", "needs a key \"at\""},
      {"at = '101%'\nnpu_down = 'npu1'\n", "e.toml:2:6: \"101%\" is no percentage from 0% to 100%"},
      {"at = '-1ms'\nnpu_down = 'npu1'\n", "e.toml:2:6: "},
      {"at = '12'\nnpu_down = 'npu1'\n", "e.toml:2:6: ... unit"},
  };
  check_refusals([&](const std::string& more) { return error_of("[[events]]\n" + more); }, rows2);
  const Topology star = samples::star(3);
  CHECK_THAT(message_of([&] {
               (void)parse_event_file("[[events]]\nat = \"0s\"\nnpu_down = \"hub\"\n", "e.toml",
                                      star);
             }),
             ContainsSubstring("e.toml:3:12: hub is no NPU"));
}

TEST_CASE("bad draws are errors with their place") {
  const RefusalRows rows = {
      {"", "no event: give [[events]], failed_links or"},
      {"failed_links = -1\n", "e.toml:1:16: -1 is out of range"},
      {"failed_links = []\n", "\"failed_links\" is empty"},
      {"at = '5%'\n[[events]]\nat = '0s'\nnpu_down = 'npu1'\n",
       R"(e.toml:1:6: "at" says when "failed_links" go down)"},
      {"seeds = [1]\n[[events]]\nat = '0s'\nnpu_down = 'npu1'\n", "e.toml:1:9: nothing is drawn"},
      {"seeds = [1]\n[generated]\nnpus_per_week = '1%'\nseed = 2\n",
       R"(e.toml:4:8: "seed" and "seeds" exclude each other)"},
      {"[generated]\nnpus_per_week = '101%'\n", "e.toml:2:17: \"101%\" is no percentage"},
      {"[generated]\nnpus_per_week = '1%'\nweeks = 0\n", "e.toml:3:9: 0 weeks are out of range"},
      {"[generated]\nweeks = 2\n", "e.toml:1:1: nothing fails at these rates"},
      {"[generated]\nnpus_a_week = '1%'\n", "e.toml:2:1: unknown key \"npus_a_week\""},
      {"event = 3\n", "e.toml:1:1: unknown key \"event\""},
  };
  check_refusals(error_of, rows);
}

TEST_CASE("events that contradict each other are an error at the later one") {
  const auto both = [](const std::string& first, const std::string& second) {
    return error_of("[[events]]\nlink_down = \"npu0>npu1\"\nat = \"" + first +
                    "\"\n[[events]]\nlink_down = \"npu0>npu1\"\nat = \"" + second + "\"\n");
  };
  CHECK_THAT(both("1ms", "2ms"), ContainsSubstring("e.toml:4:1: npu0>npu1"));
  CHECK_THAT(both("2ms", "1ms"), ContainsSubstring("e.toml:1:1: npu0>npu1")); // by time
  CHECK_THAT(both("10%", "20%"), ContainsSubstring("e.toml:4:1: npu0>npu1"));
  CHECK(both("10%", "2ms").empty()); // which one is later, only the run can say
}

} // namespace event_reader_test
