// The timeline is JSON that a viewer takes: read here by a library that had no part in writing it,
// and held against the run that an engine recorded and against what the schedule means.
#include "experiments/driver/figures/trace.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/trace_reading.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

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
    collective.chunks = {{.size = Bytes{1500}, .held_by = 0, .wanted_by = 1, .reduces = false}};
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

/// A schedule that an algorithm makes, and its replay.
struct Replayed {
  Topology topology;
  Collective collective;
  Schedule schedule{0};
  Report report;

  Replayed(Topology network, std::string_view algorithm, CollectiveKind kind,
           std::string_view engine, Discipline discipline)
      : topology(std::move(network)) {
    const AlgorithmRow row = find_algorithm(algorithm);
    CollectiveSpec spec;
    spec.kind = kind;
    spec.size = Bytes{60'000};
    spec.chunks_per_shard = row.chunk_multiple;
    collective = make_collective(topology, spec);
    Outcome outcome = synthesize(row, topology, collective, {});
    schedule = outcome.schedule ? std::move(*outcome.schedule)
                                : expanded(topology, collective, *outcome.compact);
    TimeModel model;
    model.discipline = discipline;
    RunOptions options;
    options.record_hops = true;
    report = find_engine(engine).run(topology, collective, schedule, model, options);
  }

  [[nodiscard]] TracedRun run(std::string name) const {
    return {std::move(name), &topology, &collective, &schedule, &report};
  }
};

/// Runs of several kinds: store-and-forward and cut-through, one link and many per transfer,
/// reductions, exchanges (transfers performed together), links that are shared.
std::vector<Replayed> various_runs() {
  using enum CollectiveKind;
  std::vector<Replayed> runs;
  const auto add = [&](Topology topology, std::string_view algorithm, CollectiveKind kind,
                       std::string_view engine = "native",
                       Discipline discipline = Discipline::fifo) {
    runs.emplace_back(std::move(topology), algorithm, kind, engine, discipline);
  };
  add(samples::uneven_mesh(2, 3), "direct", all_to_all);
  add(samples::uneven_mesh(2, 3), "tacos", all_gather);
  add(samples::star(5), "ring", all_reduce);
  add(samples::full(4), "rhd", all_reduce);
  add(samples::full(5), "direct", all_reduce);
  add(samples::uneven_mesh(3, 3), "ring", all_reduce, "simgrid");
  add(samples::uneven_mesh(2, 3), "direct", all_to_all, "simgrid", Discipline::fluid);
  add(samples::star(4), "direct", all_to_all, "simgrid", Discipline::fluid);
  add(make_topology("dgx1"), "dbt", all_reduce);
  return runs;
}

Trace trace_of(const std::vector<Replayed>& runs) {
  std::ostringstream out;
  write_trace(out, {}, [&](TraceEvents& events) {
    for (std::uint32_t i = 0; i < runs.size(); ++i)
      CHECK(write_run(events, i + 1, runs[i].run("run " + std::to_string(i))).empty());
  });
  return Trace(json::parse(out.str()));
}

std::string ends_of(const Topology& topology, LinkId link) {
  return topology.node(topology.link(link).from).name + ">" +
         topology.node(topology.link(link).to).name;
}

/// The name of a track without what tells parallel links apart.
std::string ends_of(const std::string& track) { return track.substr(0, track.find(' ')); }

NodeId source_of(const Replayed& run, std::size_t transfer) {
  return run.topology.link(run.schedule.paths().first(run.schedule.path_of(transfer))).from;
}

NodeId destination_of(const Replayed& run, std::size_t transfer) {
  return run.topology.link(run.schedule.paths().last(run.schedule.path_of(transfer))).to;
}

/// The transfers whose arrivals transfer `j` waits for, by what a schedule means: earlier ones of
/// its chunk to its sender, and none of the block that it is performed together with.
std::set<std::size_t> earlier_arrivals(const Replayed& run, std::size_t j) {
  std::size_t block = j;
  while (block > 0 && run.schedule[block].together) --block;
  std::set<std::size_t> arrivals;
  for (std::size_t i = 0; i < block; ++i)
    if (run.schedule[i].chunk == run.schedule[j].chunk &&
        destination_of(run, i) == source_of(run, j))
      arrivals.insert(i);
  return arrivals;
}

/// When it is at its end, by the engine's record.
std::vector<Time> arrivals_of(const Replayed& run) {
  std::vector<Time> arrivals(run.schedule.size());
  for (const HopRecord& hop : run.report.hops) {
    if (run.topology.link(hop.link).to != destination_of(run, hop.transfer)) continue;
    arrivals[hop.transfer] = hop.end + run.topology.link(hop.link).latency;
  }
  return arrivals;
}

std::size_t transfer_of(const Slice& slice) { return slice.arguments.at("transfer"); }

} // namespace

TEST_CASE("every crossing of every run is a slice once, on its link's track") {
  const std::vector<Replayed> runs = various_runs();
  const Trace trace = trace_of(runs);
  REQUIRE(trace.processes.size() == runs.size());
  for (int i = 0; i < static_cast<int>(runs.size()); ++i) {
    const Replayed& run = runs[static_cast<std::size_t>(i)];
    INFO("run " << i);
    CHECK(trace.processes.at(i + 1) == "run " + std::to_string(i));
    CHECK(trace.process_positions.at(i + 1) == i + 1);
    using Crossing = std::tuple<std::size_t, std::string, std::int64_t, std::int64_t>;
    std::multiset<Crossing> recorded, shown;
    for (const HopRecord& hop : run.report.hops)
      recorded.insert({hop.transfer, ends_of(run.topology, hop.link), hop.start.ps, hop.end.ps});
    for (const Slice& slice : trace.slices_of(i + 1)) {
      shown.insert({transfer_of(slice), ends_of(trace.tracks.at({slice.pid, slice.tid})),
                    slice.begin, slice.end});
      const Transfer transfer = run.schedule[transfer_of(slice)];
      const std::int64_t bytes = run.collective.chunks[transfer.chunk.value].size.count;
      const bool reduces = transfer.op == Op::reduce;
      CHECK(slice.category == (reduces ? "reduce" : "transfer"));
      CHECK(slice.name ==
            (reduces ? "reduce chunk " : "chunk ") + std::to_string(transfer.chunk.value));
      CHECK(slice.arguments.at("chunk") == transfer.chunk.value);
      CHECK(slice.arguments.at("bytes") == bytes);
      const auto name = [&](NodeId node) { return run.topology.node(node).name; };
      CHECK(slice.arguments.at("source") == name(source_of(run, transfer_of(slice))));
      CHECK(slice.arguments.at("destination") == name(destination_of(run, transfer_of(slice))));
      const double nanoseconds = static_cast<double>(slice.end - slice.begin) / 1000;
      CHECK(slice.arguments.at("GB/s").get<double>() ==
            Approx(static_cast<double>(bytes) / nanoseconds));
    }
    CHECK(shown == recorded);
    CHECK(trace.marks.at({i + 1, "collective complete"}) == run.report.completion.ps);
  }
}

TEST_CASE("slices of one track don't overlap, and tracks stand by source and destination") {
  const std::vector<Replayed> runs = various_runs();
  const Trace trace = trace_of(runs);
  std::map<std::pair<int, int>, std::int64_t> ends;
  for (const Slice& slice : trace.slices) { // by begin
    std::int64_t& end = ends[{slice.pid, slice.tid}];
    CHECK(slice.begin >= end);
    end = slice.end;
  }
  for (int i = 0; i < static_cast<int>(runs.size()); ++i) {
    const Topology& topology = runs[static_cast<std::size_t>(i)].topology;
    std::set<std::tuple<int, std::uint32_t, std::uint32_t>> places;
    for (const auto& [track, name] : trace.tracks) {
      if (track.first != i + 1) continue;
      const std::string ends_text = ends_of(name);
      const std::size_t middle = ends_text.find('>');
      places.insert({trace.track_positions.at(track),
                     topology.find_node(ends_text.substr(0, middle)).value,
                     topology.find_node(ends_text.substr(middle + 1)).value});
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
    for (const auto& [position, from, to] : places) links.emplace_back(from, to);
    CHECK(std::is_sorted(links.begin(), links.end()));
  }
}

TEST_CASE("arrows lead from what is waited for to what waits") {
  const std::vector<Replayed> runs = various_runs();
  const Trace trace = trace_of(runs);
  for (int i = 0; i < static_cast<int>(runs.size()); ++i) {
    const Replayed& run = runs[static_cast<std::size_t>(i)];
    INFO("run " << i);
    const std::vector<Time> arrivals = arrivals_of(run);
    std::set<std::pair<std::size_t, std::size_t>> data;
    std::map<std::size_t, std::size_t> hops;
    for (const Arrow& arrow : trace.arrows_of(i + 1)) {
      const Slice from = trace.slice_at(arrow.pid, arrow.from_tid, arrow.leaves),
                  to = trace.slice_at(arrow.pid, arrow.to_tid, arrow.lands);
      CHECK(arrow.lands == to.begin);
      CHECK(arrow.leaves <= arrow.lands);
      CHECK(arrow.leaves >= std::max(from.begin, std::min(from.end, to.begin) - 1000));
      const std::string out = ends_of(trace.tracks.at({from.pid, from.tid})),
                        in = ends_of(trace.tracks.at({to.pid, to.tid}));
      CHECK(out.substr(out.find('>') + 1) == in.substr(0, in.find('>')));
      CHECK(from.arguments.at("chunk") == to.arguments.at("chunk"));
      if (arrow.name == "hop") {
        CHECK(transfer_of(from) == transfer_of(to));
        ++hops[transfer_of(to)];
      } else {
        CHECK(arrow.name == "data");
        CHECK(out.substr(out.find('>') + 1) == from.arguments.at("destination").get<std::string>());
        CHECK(in.substr(0, in.find('>')) == to.arguments.at("source").get<std::string>());
        CHECK(data.insert({transfer_of(from), transfer_of(to)}).second);
      }
    }
    std::set<std::size_t> carried_on;
    for (std::size_t j = 0; j < run.schedule.size(); ++j) {
      const std::set<std::size_t> before = earlier_arrivals(run, j);
      Time last{-1};
      bool from_last = before.empty();
      for (const std::size_t b : before) last = std::max(last, arrivals[b]);
      for (std::size_t b = 0; b < run.schedule.size(); ++b) {
        if (!data.contains({b, j})) continue;
        CHECK(before.contains(b));
        from_last |= arrivals[b] == last;
        carried_on.insert(b);
      }
      CHECK(from_last);
      if (run.report.model.discipline == Discipline::fifo)
        CHECK(hops[j] + 1 == run.schedule.paths().links(run.schedule.path_of(j)).size());
    }
    for (std::size_t j = 0; j < run.schedule.size(); ++j)
      for (const std::size_t b : earlier_arrivals(run, j)) CHECK(carried_on.contains(b));
  }
}

TEST_CASE("counters say what a recount says, at every moment") {
  const std::vector<Replayed> runs = various_runs();
  const Trace trace = trace_of(runs);
  for (int i = 0; i < static_cast<int>(runs.size()); ++i) {
    const Replayed& run = runs[static_cast<std::size_t>(i)];
    INFO("run " << i);
    const std::vector<Slice> slices = trace.slices_of(i + 1);
    std::set<std::int64_t> moments;
    for (const Slice& slice : slices) moments.insert({slice.begin, slice.end});
    std::map<std::string, double> bandwidths; // of all links with these ends
    std::map<std::string, int> parallel;
    for (std::uint32_t l = 0; l < run.topology.link_count(); ++l) {
      const Link& link = run.topology.link(LinkId{l});
      const std::string ends = ends_of(run.topology, LinkId{l});
      bandwidths[ends] = static_cast<double>(link.bandwidth.bytes_per_second) / 1e9;
      ++parallel[ends];
    }
    for (const std::int64_t moment : moments) {
      int crossings = 0;
      double all = 0;
      std::map<std::string, double> used;
      for (const Slice& slice : slices) {
        if (moment < slice.begin || moment >= slice.end) continue;
        const double gigabytes = slice.arguments.at("GB/s");
        ++crossings;
        all += gigabytes;
        used[trace.tracks.at({slice.pid, slice.tid})] += gigabytes;
      }
      CHECK(trace.counter_at(i + 1, "network load crossings", moment) == crossings);
      CHECK(trace.counter_at(i + 1, "network rate GB/s", moment) == Approx(all).margin(1e-6));
      for (const auto& [track, gigabytes] : used)
        CHECK(trace.counter_at(i + 1, "load " + track + " %", moment) ==
              Approx(100 * gigabytes / bandwidths.at(ends_of(track))).margin(0.01));
    }
    for (const auto& [name, values] : trace.counters.at(i + 1)) {
      INFO(name);
      CHECK(values.rbegin()->second == 0); // all is over
      if (name != "network load crossings" && name != "network rate GB/s")
        CHECK((name.starts_with("load ") && parallel.contains(ends_of(name.substr(5)))));
      double before = -1;
      for (const auto& [time, value] : values) {
        if (name == "network load crossings") CHECK(value != before); // at changes only
        before = value;
      }
    }
  }
}

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
