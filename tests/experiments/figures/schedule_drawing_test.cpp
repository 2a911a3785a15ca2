// What the picture of a schedule says, on cases that can be followed by hand.
#include "experiments/driver/figures/schedule_drawing.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

namespace schedule_drawing_test {

using namespace tutti;
using svg_reading::read;
using svg_reading::Svg;

namespace {

/// Of NPU 0, where it has a root.
Collective everyone(const Topology& topology, CollectiveKind kind, std::int64_t bytes) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{bytes};
  return make_collective(topology, spec);
}

Report recorded(const Topology& topology, const Collective& collective, const Schedule& schedule) {
  RunOptions options;
  options.record_deliveries = options.record_hops = true;
  return run_native(topology, collective, schedule, {}, options);
}

Figure drawn(const Topology& topology, const Collective& collective, const Schedule& schedule) {
  return schedule_figure("title", topology, collective, schedule,
                         recorded(topology, collective, schedule));
}

/// Discs of this colour.
std::size_t discs_of(const Svg& svg, const std::string& colour) {
  std::size_t count = 0;
  for (const svg_reading::SvgPath& path : svg.paths)
    if (path.is_round && path.stroke == colour) count += path.lines.size();
  return count;
}

std::size_t count_of(const Svg& svg, const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(svg.texts, text, &svg_reading::SvgText::text));
}

Topology line(int npus) {
  return make_topology(fmt::format("mesh2d:{}x1,bandwidth=1GB/s,latency=0us", npus));
}

} // namespace

TEST_CASE("a panel for each instant at which something starts, and the end") {
  // Broadcast of one chunk along 0 - 1 - 2: two steps of 1 us for 1 kB.
  const Topology topology = line(3);
  const Collective collective = everyone(topology, CollectiveKind::broadcast, 1000);
  Schedule schedule(topology.link_count());
  schedule.push(ChunkId{0}, samples::link_between(topology, 0, 1), Op::copy);
  schedule.push(ChunkId{0}, samples::link_between(topology, 1, 2), Op::copy);
  const Svg svg = read(drawn(topology, collective, schedule));
  CHECK(svg.count_of_text(", from ") == 2);
  for (const char* title : {"step 1, from 0", "step 2, from 1.000 us", "end, 2.000 us"})
    CHECK(svg.has(title));
  std::size_t arrows = 0; // a line each
  for (const svg_reading::SvgPath& path : svg.paths)
    if (path.stroke == "#265fa3" && !path.is_round) arrows += path.lines.size();
  CHECK(arrows == 2);
  // The chunk: 1 + 2 + 3 NPUs hold it, and two arrows carry it.
  CHECK(count_of(svg, "0") == 6 + 2);
  CHECK(svg.lines_of("#d0d0d0").size() == 3 * 4); // 4 links in each panel
}

TEST_CASE("a partial sum is pale until the last contribution has come") {
  const Topology topology = line(3);
  const Collective collective = everyone(topology, CollectiveKind::reduce, 1000);
  Schedule schedule(topology.link_count());
  schedule.push(ChunkId{0}, samples::link_between(topology, 2, 1), Op::reduce);
  schedule.push(ChunkId{0}, samples::link_between(topology, 1, 0), Op::reduce);
  const Svg svg = read(drawn(topology, collective, schedule));
  // Discs in the full colour: both that move, and the root's at the end.
  CHECK(discs_of(svg, "#265fa3") == 3);
  CHECK(count_of(svg, "+0") == 2);
  CHECK(svg.shows("partial sum"));
}

TEST_CASE("partial sums may be exchanged") {
  const Topology topology = line(2);
  const Collective collective = everyone(topology, CollectiveKind::all_reduce, 2000);
  Schedule schedule(topology.link_count());
  const LinkId forth = samples::link_between(topology, 0, 1),
               back = samples::link_between(topology, 1, 0);
  for (const std::uint32_t chunk : {0U, 1U}) {
    schedule.push({ChunkId{chunk}, PathId{forth.value}, Op::reduce, false});
    schedule.push({ChunkId{chunk}, PathId{back.value}, Op::reduce, true});
  }
  const Svg svg = read(drawn(topology, collective, schedule));
  // At the end both chunks are complete at both NPUs; ringed where they came.
  CHECK(discs_of(svg, "#265fa3") >= 2);
  CHECK(svg.count_of_text(", from ") == 2);
}

TEST_CASE("what waited for a transfer that it names is ringed where it sets out") {
  // Chunk 1 could leave NPU 0 at once; it waits until chunk 0 has arrived at NPU 2.
  const Topology topology = line(3);
  CollectiveSpec spec;
  spec.kind = CollectiveKind::broadcast;
  spec.size = Bytes{2000};
  spec.chunks_per_shard = 2;
  const Collective collective = make_collective(topology, spec);
  const LinkId first = samples::link_between(topology, 0, 1),
               second = samples::link_between(topology, 1, 2);
  const auto rings = [&](bool waits) {
    Schedule schedule(topology.link_count());
    schedule.push(ChunkId{0}, first, Op::copy);
    schedule.push(ChunkId{0}, second, Op::copy);
    const std::vector<LinkId> both{first, second};
    schedule.push({ChunkId{1}, schedule.paths().intern(both), Op::copy, false});
    schedule.push(ChunkId{1}, first, Op::copy);
    if (waits) schedule.add_dependency(2, {1, Milestone::arrived});
    const Svg svg = read(drawn(topology, collective, schedule));
    CHECK(svg.shows("it waited for transfers that it names") == waits);
    return discs_of(svg, "#111");
  };
  CHECK(rings(true) == rings(false) + 1);
}

TEST_CASE("what isn't a small mesh stands on a circle, switches within") {
  const Topology topology = make_topology("switch:4,bandwidth=1GB/s,latency=0us");
  const Collective collective = everyone(topology, CollectiveKind::broadcast, 1000);
  Schedule schedule(topology.link_count());
  const std::vector<LinkId> path{topology.out_links(NodeId{0})[0], topology.in_links(NodeId{3})[0]};
  for (const std::uint32_t to : {1U, 2U, 3U}) {
    const std::vector<LinkId> links{path[0], topology.in_links(NodeId{to})[0]};
    schedule.push({ChunkId{0}, schedule.paths().intern(links), Op::copy, false});
  }
  const Svg svg = read(drawn(topology, collective, schedule));
  CHECK(svg.lines_of("#bbb").size() ==
        svg.count_of_text(", from ") + svg.count_of_text("end, ")); // the switch, in every panel
}

TEST_CASE("what nobody could read is refused") {
  const Topology topology = make_topology("ring:65");
  const Collective collective = everyone(topology, CollectiveKind::broadcast, 1000);
  const Schedule schedule(topology.link_count());
  CHECK_THROWS_WITH(schedule_figure("t", topology, collective, schedule, Report{}),
                    "a schedule of 65 nodes and 1 chunks can't be drawn, only of up to 64 and 64");
}

} // namespace schedule_drawing_test
