// The timeline of an iteration: the JSON that Perfetto reads.
#include "experiments/driver/figures/iteration_trace.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/figures/trace_reading.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace iteration_trace_test {

using namespace tutti;
using Json = nlohmann::json;
using trace_reading::Arrow;
using trace_reading::Slice;
using trace_reading::Trace;

namespace {

constexpr std::int64_t us = 1'000'000; // ps

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
    TrainingProgram& program = w.programs.emplace_back();
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

// npu0 computes, sends what comes out to npu1, which computes with it, and both reduce gradients;
// meanwhile npu0 sends something that npu1 takes only then.
Workload stages() {
  Workload w;
  w.names = {"forward", "join", "activations", "gradients", "late"};
  w.groups = {{NodeId{0}, NodeId{1}}};
  const auto operation = [](Operation::Kind kind, std::uint32_t name, std::uint32_t tag) {
    Operation o;
    o.kind = kind;
    o.purpose = kind == Operation::Kind::collective ? Purpose::data : Purpose::pipeline;
    o.name = name;
    o.tag = tag;
    o.amount = 1;
    return o;
  };
  using enum Operation::Kind;
  const auto add = [](TrainingProgram& program, const Operation& o,
                      std::vector<std::uint32_t> after) { program.add(o, after); };
  w.programs.resize(2);
  add(w.programs[0], operation(compute, 0, 0), {});
  add(w.programs[0], operation(compute, 1, 0), {0}); // takes no time
  add(w.programs[0], operation(send, 2, 0), {1});
  add(w.programs[0], operation(collective, 3, 1), {0});
  add(w.programs[0], operation(send, 4, 2), {});
  add(w.programs[1], operation(receive, 2, 0), {});
  add(w.programs[1], operation(compute, 0, 0), {0});
  add(w.programs[1], operation(collective, 3, 1), {1});
  add(w.programs[1], operation(receive, 4, 2), {2});
  w.places = {{0, {0}}, {1, {0}}};
  return w;
}

IterationReport report_of_stages() {
  const auto at = [](double microseconds) {
    return Time{static_cast<std::int64_t>(microseconds * 1e6)};
  };
  IterationReport r;
  r.duration = at(6);
  r.spans = {{NodeId{0}, 0, at(0), at(0), at(1)},   {NodeId{0}, 1, at(1), at(1), at(1)},
             {NodeId{0}, 2, at(1), at(1), at(2)},   {NodeId{0}, 3, at(1), at(4), at(6)},
             {NodeId{0}, 4, at(5), at(5), at(5.5)}, {NodeId{1}, 0, at(0), at(1), at(2)},
             {NodeId{1}, 1, at(2), at(2), at(4)},   {NodeId{1}, 2, at(4), at(4), at(6)},
             {NodeId{1}, 3, at(6), at(5), at(6)}};
  return r;
}

std::string text_of(const Workload& w, const IterationReport& r) {
  std::ostringstream out;
  write_trace(out, {}, [&](TraceEvents& events) {
    write_iteration(events, 1, "ring, undisturbed", samples::ring(2), w, r);
  });
  return out.str();
}

} // namespace

TEST_CASE("one NPU of each program is traced") {
  Workload w = workload();
  CHECK(npus_to_trace(w) == std::vector<NodeId>{NodeId{0}, NodeId{1}});
  w.places[1].program = 0;
  CHECK(npus_to_trace(w) == std::vector<NodeId>{NodeId{0}});
}

TEST_CASE("spans become slices of one track each, where they don't overlap") {
  const std::string text = text_of(workload(), report());
  const Trace trace(Json::parse(text));
  CHECK(trace.processes == std::map<int, std::string>{{1, "ring, undisturbed"}});
  REQUIRE(trace.slices.size() == 3);
  const Slice &computed = trace.slices[0], &reduced = trace.slices[1];
  CHECK(computed.name == "forward \"a\"");
  CHECK(computed.category == "compute");
  CHECK(computed.begin == 0);
  CHECK(computed.end == us);
  CHECK(trace.tracks.at({1, computed.tid}) == "npu0 compute");
  CHECK(reduced.name == "gradients");
  CHECK(reduced.category == "communication");
  CHECK(reduced.begin == us + 5);
  CHECK(reduced.arguments["what"] == "all_reduce");
  CHECK(reduced.arguments["bytes"] == 64);
  CHECK(reduced.arguments["npus"] == 2);
  CHECK(reduced.arguments["reached_us"] == 1.0);
  CHECK(trace.tracks.at({1, reduced.tid}) == "npu0 data");
  CHECK(reduced.tid != trace.slices[2].tid); // they overlap
  CHECK(trace.tracks.at({1, trace.slices[2].tid}) == "npu0 data");
  CHECK(trace.marks.at({1, "iteration complete"}) == 3 * us + 40);
  CHECK_THAT(text, ContainsSubstring("\"ts\":3.000040}"));
  CHECK(text_of(workload(), report()) == text);
  CHECK_FALSE(message_of([&] { (void)text_of(workload(), {}); }).empty());
}

TEST_CASE("arrows follow dependencies, messages and the last to come") {
  const Trace trace(Json::parse(text_of(stages(), report_of_stages())));
  // who, to whom, when
  using Drawn = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;
  std::set<Drawn> drawn;
  for (const Arrow& arrow : trace.arrows) {
    const auto name = [&](int tid, std::int64_t time) {
      const Slice slice = trace.slice_at(1, tid, time);
      return trace.tracks.at({1, tid}).substr(0, 4) + " " + slice.name;
    };
    drawn.insert({arrow.name, name(arrow.from_tid, arrow.leaves), name(arrow.to_tid, arrow.lands),
                  arrow.leaves, arrow.lands});
  }
  constexpr std::int64_t ns = 1'000;
  CHECK(drawn ==
        std::set<Drawn>{
            {"dependency", "npu0 forward", "npu0 activations", us - ns, us}, // through "join"
            {"dependency", "npu0 forward", "npu0 gradients", us - ns, 4 * us},
            {"dependency", "npu1 activations", "npu1 forward", 2 * us - ns, 2 * us},
            {"dependency", "npu1 forward", "npu1 gradients", 4 * us - ns, 4 * us},
            // the message came before its receiver asked for it
            {"dependency", "npu1 gradients", "npu1 late", 6 * us - 2 * ns, 6 * us - ns},
            {"message", "npu0 activations", "npu1 activations", us, us},
            {"message", "npu0 late", "npu1 late", 5 * us, 5 * us},
            {"launch", "npu1 gradients", "npu0 gradients", 4 * us, 4 * us}});
}

TEST_CASE("what takes no time stands for what it waited for longest") {
  Workload w = stages();
  w.programs.resize(1);
  w.places = {{0, {0}}};
  TrainingProgram program;
  const Operation computed = w.programs[0][0], joined = w.programs[0][1], sent = w.programs[0][2];
  const auto add = [&](const Operation& o, std::vector<std::uint32_t> after) {
    program.add(o, after);
  };
  add(computed, {});
  add(sent, {});
  add(joined, {0, 1});
  add(computed, {2});
  w.programs[0] = program;
  IterationReport r;
  const auto span = [](std::uint32_t operation, std::int64_t begin, std::int64_t end) {
    return OperationSpan{NodeId{0}, operation, Time{begin * us}, Time{begin * us}, Time{end * us}};
  };
  r.spans = {span(0, 0, 1), span(1, 0, 3), span(2, 3, 3), span(3, 3, 4)};
  const Trace trace(Json::parse(text_of(w, r)));
  REQUIRE(trace.arrows.size() == 1);
  CHECK(trace.slice_at(1, trace.arrows[0].from_tid, trace.arrows[0].leaves).name == "activations");
  CHECK(trace.arrows[0].lands == 3 * us);
}

TEST_CASE("what the recorded NPUs do is counted") {
  const Trace trace(Json::parse(text_of(stages(), report_of_stages())));
  using Values = std::map<std::int64_t, double>;
  CHECK(trace.counters.at(1).at("computing NPUs") ==
        Values{{0, 1}, {us, 0}, {2 * us, 1}, {4 * us, 0}});
  CHECK(trace.counters.at(1).at("communicating operations") ==
        Values{{us, 2}, {2 * us, 0}, {4 * us, 2}, {5 * us, 4}, {5 * us + 500'000, 3}, {6 * us, 0}});
}

TEST_CASE("NPUs that aren't traced are told") {
  CHECK(left_out_of_iteration(workload(), {NodeId{0}, NodeId{1}}).empty());
  const std::vector<std::string> left_out = left_out_of_iteration(workload(), {NodeId{1}});
  REQUIRE(left_out.size() == 1);
  CHECK_THAT(left_out.front(), ContainsSubstring("1 of 2 NPUs"));
}

} // namespace iteration_trace_test
