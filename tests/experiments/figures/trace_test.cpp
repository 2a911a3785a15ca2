// The timeline is JSON that a viewer takes: read here by a library that had no part in writing it.
// Small timelines are followed by hand; larger ones are counted again in recounted_trace_test.cpp.
#include "experiments/driver/figures/trace.hpp"

#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/trace_reading.hpp"
#include "tests/experiments/figures/traced_replay.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

namespace trace_test {

using namespace tutti;
using nlohmann::json;
using trace_reading::Arrow;
using trace_reading::Slice;
using trace_reading::Trace;

namespace {

constexpr Bandwidth rate{1'000'000'000}; // 1 GB/s: 1 ns per byte

/// a -> b -> c, and a chunk of 1,500 B that goes all the way: D = 1.5 us per link, alpha = 0.5 us.
struct Line {
  Topology topology;
  Collective collective;
  Schedule schedule{2};
  Report report;

  explicit Line(const std::string& last_name = "c") : topology(parts(last_name)) {
    collective.sets = {{NodeId{0}}, {NodeId{0}, NodeId{1}, NodeId{2}}};
    collective.chunks = {{.size = Bytes{1500}, .sources = 0, .destinations = 1, .reduces = false}};
    schedule.push(ChunkId{0}, LinkId{0}, Op::copy);
    schedule.push(ChunkId{0}, LinkId{1}, Op::reduce);
    // Broadcast hop by hop: 2 alpha + 2 D = 4 us. The second hop starts at alpha + D = 2 us.
    report.completion = Time{4'000'000};
    report.hops = {
        {.transfer = 0, .link = LinkId{0}, .start = Time{0}, .end = Time{1'500'000}},
        {.transfer = 1, .link = LinkId{1}, .start = Time{2'000'000}, .end = Time{3'500'001}}};
  }

  static TopologyParts parts(const std::string& last_name) {
    TopologyParts parts;
    parts.name = "line";
    for (const std::string& name : {std::string("a"), std::string("b"), last_name})
      parts.add_node({.name = name, .kind = NodeKind::npu, .can = {}, .reduce_rate = {}});
    parts.add_link({NodeId{0}, NodeId{1}, Time{500'000}, rate});
    parts.add_link({NodeId{1}, NodeId{2}, Time{500'000}, rate});
    return parts;
  }

  [[nodiscard]] TracedRun run() const {
    return {"by hand", &topology, &collective, &schedule, &report};
  }
  [[nodiscard]] std::string trace() const {
    std::ostringstream out;
    write_trace(out, {}, [&](TraceEvents& events) { write_run(events, 1, run()); });
    return out.str();
  }
};

} // namespace

TEST_CASE("a timeline that can be followed by hand") {
  const std::string text = Line().trace();
  const Trace trace(json::parse(text));
  REQUIRE(trace.slices.size() == 2);
  CHECK(trace.slices[0].name == "chunk 0");
  CHECK(trace.slices[0].tid == 1);
  CHECK(trace.slices[0].begin == 0);
  CHECK(trace.slices[0].end == 1'500'000);
  CHECK(trace.slices[1].name == "reduce chunk 0");
  CHECK(trace.slices[1].tid == 2);
  CHECK(trace.slices[1].begin == 2'000'000);
  CHECK_THAT(text, ContainsSubstring("\"dur\":1.500001")); // every picosecond
  REQUIRE(trace.arrows.size() == 1);
  CHECK(trace.arrows[0].leaves == 1'499'000);
  CHECK(trace.arrows[0].lands == 2'000'000);
  using Values = std::map<std::int64_t, double>;
  const auto& counters = trace.counters.at(1);
  CHECK(counters.at("network load crossings") ==
        Values{{0, 1}, {1'500'000, 0}, {2'000'000, 1}, {3'500'001, 0}});
  CHECK(counters.at("load a>b %") == Values{{0, 100}, {1'500'000, 0}});
  CHECK(trace.tracks ==
        std::map<std::pair<int, int>, std::string>{{{1, 1}, "a>b"}, {{1, 2}, "b>c"}});
}

TEST_CASE("an arrow leads to a transfer from each that it names") {
  for (const Milestone milestone : {Milestone::left, Milestone::arrived}) {
    Line line;
    line.collective.chunks.push_back(line.collective.chunks.front());
    line.schedule.push(ChunkId{1}, LinkId{0}, Op::copy);
    line.schedule.add_dependency(2, {1, milestone});
    line.report.hops.push_back(
        {.transfer = 2, .link = LinkId{0}, .start = Time{4'000'000}, .end = Time{5'500'000}});
    const std::string text = line.trace();
    const Trace trace(json::parse(text));
    REQUIRE(trace.arrows.size() == 2); // "data" comes first
    CHECK(trace.arrows[1].lands == 4'000'000);
    CHECK(trace.tracks.at({1, trace.arrows[1].from_tid}) == "b>c");
    CHECK(trace.tracks.at({1, trace.arrows[1].to_tid}) == "a>b");
    CHECK_THAT(text, ContainsSubstring(
                         fmt::format("{{\"name\":\"{}\",\"cat\":\"flow\"", to_text(milestone))));
  }
}

TEST_CASE("a transfer waits for what is new, and for what comes last, latency included") {
  // Two contributions come to c, the first one to leave over a long way; c sends the sum on twice.
  TopologyParts parts = Line::parts("c");
  parts.links = {{NodeId{0}, NodeId{2}, Time{5'000'000}, rate},
                 {NodeId{1}, NodeId{2}, Time{0}, rate},
                 {NodeId{2}, NodeId{0}, Time{0}, rate},
                 {NodeId{2}, NodeId{1}, Time{0}, rate}};
  Line line;
  line.topology = Topology(std::move(parts));
  line.schedule = Schedule(4);
  for (std::uint32_t l = 0; l < 4; ++l)
    line.schedule.push(ChunkId{0}, LinkId{l}, l < 2 ? Op::reduce : Op::copy);
  line.report.hops.clear();
  for (const std::uint32_t l : {0U, 1U, 2U, 3U}) {
    const std::int64_t begin = l < 2 ? l * 1'000'000 : 6'500'000;
    line.report.hops.push_back({l, LinkId{l}, Time{begin}, Time{begin + 1'500'000}});
  }
  const Trace trace(json::parse(line.trace()));
  std::set<std::pair<std::string, std::string>> arrows;
  for (const Arrow& arrow : trace.arrows)
    arrows.insert({trace.tracks.at({1, arrow.from_tid}), trace.tracks.at({1, arrow.to_tid})});
  CHECK(arrows == std::set<std::pair<std::string, std::string>>{
                      {"a>c", "c>a"}, {"b>c", "c>a"}, {"a>c", "c>b"}});
  CHECK(trace.arrows.size() == 3);
}

TEST_CASE("what is performed together waits for nothing of its block") {
  Line line;
  TopologyParts parts = Line::parts("c");
  parts.links = {{NodeId{0}, NodeId{1}, Time{0}, rate}, {NodeId{1}, NodeId{0}, Time{0}, rate}};
  line.topology = Topology(std::move(parts));
  const std::vector<Time> arrivals(3);
  for (const bool together : {false, true}) {
    line.schedule = Schedule(2);
    line.schedule.push({ChunkId{0}, PathId{0}, Op::reduce, false});
    line.schedule.push({ChunkId{0}, PathId{1}, Op::reduce, together}); // an exchange
    line.schedule.push({ChunkId{0}, PathId{0}, Op::copy, false});
    const AwaitedArrivals awaited = arrivals_awaited(line.topology, line.schedule, arrivals);
    CHECK(awaited.of(0).empty());
    CHECK(awaited.of(1).size() == (together ? 0 : 1));
    REQUIRE(awaited.of(2).size() == 1);
    CHECK(awaited.of(2).front() == 1);
  }
}

TEST_CASE("transfers that share a send are one slice, with all of their chunks") {
  Line line;
  line.collective.chunks.push_back(line.collective.chunks.front());
  line.schedule = Schedule(2);
  for (const std::uint32_t link : {0U, 1U}) {
    line.schedule.push(ChunkId{link}, LinkId{link}, Op::copy);
    line.schedule.push({ChunkId{1 - link}, PathId{link}, Op::copy, false, true});
  }
  line.report = run_native(line.topology, line.collective, line.schedule, {},
                           {.record_deliveries = true, .record_hops = true});
  const Trace trace(json::parse(line.trace()));
  REQUIRE(trace.slices.size() == 2);
  CHECK(trace.slices[0].name == "chunks 0, 1");
  CHECK(trace.slices[0].arguments["chunks"] == json::parse("[0,1]"));
  CHECK(trace.slices[0].arguments["bytes"] == 3000);
  CHECK(trace.slices[1].name == "chunks 1, 0");
  CHECK(trace.arrows.size() == 1); // the data that goes on
}

TEST_CASE("transfers that share a link get a track each, and use it together") {
  Line line;
  line.schedule = Schedule(2);
  for (int i = 0; i < 3; ++i) line.schedule.push(ChunkId{0}, LinkId{1}, Op::copy);
  line.report.hops = {
      {.transfer = 0, .link = LinkId{1}, .start = Time{0}, .end = Time{3'000'000}},
      {.transfer = 1, .link = LinkId{1}, .start = Time{1'000'000}, .end = Time{4'000'000}},
      {.transfer = 2, .link = LinkId{1}, .start = Time{3'000'000}, .end = Time{6'000'000}}};
  const Trace trace(json::parse(line.trace()));
  REQUIRE(trace.slices.size() == 3);
  CHECK(trace.slices[0].tid == 2);
  CHECK(trace.slices[1].tid == 4); // link 1, second of its tracks, with 2 links
  CHECK(trace.slices[2].tid == 2); // free again
  CHECK(trace.counters.at(1).at("load b>c %") ==
        std::map<std::int64_t, double>{{0, 50}, {1'000'000, 100}, {4'000'000, 50}, {6'000'000, 0}});
}

TEST_CASE("parallel links are told apart, and many links have their load together only") {
  const Topology few = make_topology("ring:4");
  const Topology many = make_topology("mesh2d:5x5");
  CHECK(left_out_of_trace(few).empty());
  REQUIRE(many.link_count() == 80);
  REQUIRE(left_out_of_trace(many).size() == 1);
  CHECK_THAT(left_out_of_trace(many).front(), ContainsSubstring("80 links, more than 64"));
  const std::vector<Replayed> run{
      {many, "direct", CollectiveKind::all_gather, "native", Discipline::fifo}};
  CHECK(trace_of(run).counters.at(1).size() == 2);

  Line line;
  TopologyParts parts = Line::parts("c");
  parts.add_link(parts.links[1]);
  line.topology = Topology(std::move(parts));
  std::set<std::string> names;
  line.schedule = Schedule(3);
  line.schedule.push(ChunkId{0}, LinkId{0}, Op::copy);
  line.schedule.push(ChunkId{0}, LinkId{1}, Op::copy);
  for (const auto& [track, name] : Trace(json::parse(line.trace())).tracks) names.insert(name);
  CHECK(names == std::set<std::string>{"a>b", "b>c (link 1)", "b>c (link 2)"});
}

TEST_CASE("of a run with very many crossings the first are shown, and the rest is told") {
  const Replayed run(samples::uneven_mesh(2, 3), "direct", CollectiveKind::all_to_all, "native",
                     Discipline::fifo);
  const std::vector<HopRecord>& hops = run.report.hops;
  const auto shown = [&](std::size_t most) {
    TracedRun traced = run.run("long");
    traced.most_crossings = most;
    std::ostringstream out;
    std::vector<std::string> left_out;
    write_trace(out, left_out, [&](TraceEvents& events) {
      const std::string missing = write_run(events, 1, traced);
      if (!missing.empty()) left_out.push_back(missing);
    });
    return Trace(json::parse(out.str()));
  };
  const Trace whole = shown(hops.size());
  CHECK(whole.left_out.empty());
  REQUIRE(whole.slices.size() == hops.size());
  const std::size_t most = hops.size() * 3 / 4;
  const Trace part = shown(most);
  REQUIRE(part.left_out.size() == 1);
  CHECK_THAT(part.left_out.front(),
             ContainsSubstring("long: " + std::to_string(hops.size() - most) + " of " +
                               std::to_string(hops.size()) + " crossings"));
  REQUIRE(part.slices.size() == most);
  for (std::size_t i = 0; i < most; ++i) {
    CHECK(part.slices[i].begin == whole.slices[i].begin);
    CHECK(part.slices[i].arguments == whole.slices[i].arguments);
  }
  std::size_t arrows = 0; // between slices that are shown
  for (const Arrow& arrow : whole.arrows) {
    const auto is_shown = [&](int tid, std::int64_t time) {
      const Slice slice = whole.slice_at(1, tid, time);
      return std::ranges::any_of(part.slices, [&](const Slice& each) {
        return each.tid == slice.tid && each.begin == slice.begin;
      });
    };
    arrows += is_shown(arrow.from_tid, arrow.leaves) && is_shown(arrow.to_tid, arrow.lands);
  }
  CHECK(part.arrows.size() == arrows);
  CHECK(arrows > 0);
  const std::int64_t until = hops[most].start.ps;
  for (const auto& [name, values] : whole.counters.at(1)) {
    INFO(name);
    std::map<std::int64_t, double> before(values.begin(), values.lower_bound(until));
    const auto& of_part = part.counters.at(1);
    CHECK((of_part.contains(name) ? of_part.at(name) : std::map<std::int64_t, double>{}) == before);
  }
}

TEST_CASE("names in a timeline may hold anything") {
  const std::string name = "c \"x\" \\ \n\x01 µ";
  const Trace trace(json::parse(Line(name).trace()));
  CHECK(trace.slices[1].arguments.at("destination") == name);
  CHECK(trace.tracks.at({1, 2}) == "b>" + name);
}

TEST_CASE("an empty schedule gives an empty timeline, a run without record an error") {
  Line line;
  line.report.hops.clear();
  CHECK_THROWS_WITH(line.trace(), "no timeline: the run recorded no link crossings");
  line.schedule = Schedule(2);
  CHECK(Trace(json::parse(line.trace())).slices.empty());
}

TEST_CASE("a trace is put together from parts, and says what it leaves out") {
  std::ostringstream whole, joined;
  const Line line;
  const std::vector<std::string> left_out{"a \"b\"", "c"};
  write_trace(whole, left_out, [&](TraceEvents& events) {
    write_run(events, 1, line.run());
    write_run(events, 2, line.run());
  });
  write_trace(joined, left_out, [&](TraceEvents& events) {
    for (const std::uint32_t pid : {1U, 0U, 2U}) {
      std::stringstream part;
      TraceEvents own(part);
      if (pid > 0) write_run(own, pid, line.run());
      events.add_part(part);
    }
  });
  CHECK(joined.str() == whole.str());
  CHECK(json::parse(whole.str()).at("otherData").at("left_out") == json(left_out));
}

TEST_CASE("a trace is saved whole or not at all") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const std::string file = folder.file("traces/run.json");
  Line line;
  const auto save = [&] {
    save_trace(file, {}, [&](TraceEvents& events) { write_run(events, 1, line.run()); });
  };
  save();
  CHECK(read_file(file) == line.trace());

  fs::remove(file);
  line.report.hops.clear();
  CHECK_THROWS_AS(save(), InputError);
  CHECK(fs::is_empty(folder.file("traces"))); // no temporary left behind either

  fs::create_directory(file); // something that can't be replaced by a file
  line.report.hops = Line().report.hops;
  CHECK_THROWS_WITH(save(), ContainsSubstring("run.json: cannot write: "));
}

} // namespace trace_test
