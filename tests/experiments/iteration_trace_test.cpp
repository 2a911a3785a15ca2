// The timeline of an iteration: the JSON that Perfetto reads.
#include "experiments/iteration_trace.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <map>
#include <sstream>
#include <string>

using namespace tutti;
using Json = nlohmann::json;

namespace {

// Both NPUs compute, and begin two All-Reduces; npu1 another program of its own.
Workload workload() {
  Workload w;
  w.names = {"forward \"a\"", "gradients"};
  w.groups = {{NodeId{0}, NodeId{1}}};
  Operation compute, reduce;
  compute.amount = 10;
  reduce.kind = Operation::Kind::collective;
  reduce.purpose = Purpose::data;
  reduce.name = 1;
  reduce.amount = 64;
  for (int i = 0; i < 2; ++i) {
    Program& program = w.programs.emplace_back();
    const std::array<std::uint32_t, 1> first{program.add(compute, {})};
    reduce.tag = 0;
    program.add(reduce, first);
    reduce.tag = 1;
    program.add(reduce, first);
  }
  w.places = {{0, {0}}, {1, {0}}};
  return w;
}

IterationReport report() {
  IterationReport r;
  r.duration = Time{3'000'040};
  r.spans = {{NodeId{0}, 0, Time{}, Time{}, Time{1'000'000}},
             {NodeId{0}, 1, Time{1'000'000}, Time{1'000'005}, Time{3'000'000}},
             {NodeId{0}, 2, Time{1'000'000}, Time{2'000'000}, Time{3'000'040}}};
  return r;
}

} // namespace

TEST_CASE("one NPU of each program is traced") {
  Workload w = workload();
  CHECK(npus_to_trace(w) == std::vector<NodeId>{NodeId{0}, NodeId{1}});
  w.places[1].program = 0;
  CHECK(npus_to_trace(w) == std::vector<NodeId>{NodeId{0}});
}

TEST_CASE("spans become events of one track each, where they don't overlap") {
  std::ostringstream out;
  write_iteration_trace(out, samples::ring(2), workload(), report());
  const Json json = Json::parse(out.str());
  std::map<std::string, std::vector<Json>> events;
  for (const Json& event : json["traceEvents"]) events[event["ph"]].push_back(event);
  REQUIRE(events["X"].size() == 3);
  const Json& computed = events["X"][0];
  CHECK(computed["name"] == "forward \"a\"");
  CHECK(computed["ts"] == 0.0);
  CHECK(computed["dur"] == 1.0);
  const Json& reduced = events["X"][1];
  CHECK(reduced["name"] == "gradients");
  CHECK(reduced["args"]["what"] == "all_reduce");
  CHECK(reduced["args"]["bytes"] == 64);
  CHECK(reduced["args"]["npus"] == 2);
  CHECK(reduced["args"]["reached_us"] == 1.0);
  CHECK_THAT(out.str(), ContainsSubstring("\"ts\":1.000005"));
  CHECK(computed["tid"] != reduced["tid"]);
  CHECK(reduced["tid"] != events["X"][2]["tid"]); // they overlap
  REQUIRE(events["i"].size() == 1);
  CHECK_THAT(out.str(), ContainsSubstring("\"ts\":3.000040}"));
  std::ostringstream again;
  write_iteration_trace(again, samples::ring(2), workload(), report());
  CHECK(again.str() == out.str());
  CHECK_FALSE(
      message_of([&] { write_iteration_trace(out, samples::ring(2), workload(), {}); }).empty());
}
