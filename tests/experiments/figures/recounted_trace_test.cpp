// Timelines of many kinds of runs, held against the run that an engine recorded and against what
// the schedule means: every crossing, track, arrow and counter is counted again.
#include "experiments/driver/figures/trace.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/figures/trace_reading.hpp"
#include "tests/experiments/figures/traced_replay.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <map>
#include <set>
#include <tuple>

namespace recounted_trace_test {

using namespace tutti;
using trace_reading::Arrow;
using trace_reading::Slice;
using trace_reading::Trace;

namespace {

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

} // namespace recounted_trace_test
