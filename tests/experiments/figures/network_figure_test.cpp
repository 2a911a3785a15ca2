// Pictures of networks: what is dead is crossed out, the hottest link is named, any name is shown
// as it is, colours can be told apart, and a run is cut into intervals that can be followed by
// hand.
#include "experiments/driver/figures/network_figure.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace network_figure_test {

using namespace tutti;
using svg_reading::read;
using svg_reading::Svg;

namespace {

LinkValues utilisations(std::vector<double> links) {
  return {LinkQuantity::utilisation, std::move(links), {}};
}

} // namespace

TEST_CASE("what is dead is crossed out, with all its links") {
  const Topology topology = make_topology("ring:4");
  const Layout layout = layout_of(topology);
  const std::string cross = "#b2182b"; // two bars each
  const auto crosses = [&](const DeadParts& dead) {
    return read(network_figure("t", topology, layout, dead)).lines_of(cross).size() / 2;
  };
  CHECK(crosses({}) == 0);
  CHECK(crosses({{}, {LinkId{2}}}) == 1 + 1);     // and the legend's
  CHECK(crosses({{NodeId{1}}, {}}) == 1 + 4 + 1); // two links in, two out
  const LinkValues values = utilisations(std::vector<double>(8, 0.5));
  CHECK(read(network_figure("t", topology, layout, values, {{NodeId{1}}, {}}))
            .lines_of(cross)
            .size() == 2 * 6);
}

TEST_CASE("the hottest link is marked and named, many are counted") {
  const Topology topology = make_topology("ring:4");
  const Layout layout = layout_of(topology);
  std::vector<double> used(8, 0.25);
  used[5] = 0.9; // 1 > 0: backward links begin with 0 > 3
  const Link& hot = topology.link(LinkId{5});
  const std::string name =
      topology.node(hot.from).name + " > " + topology.node(hot.to).name + ", 90 %";
  const auto drawn = [&](const std::vector<double>& links, const DeadParts& dead = {}) {
    return read(network_figure("t", topology, layout, utilisations(links), dead));
  };
  CHECK(drawn(used).shows(name));
  CHECK(drawn(used).lines_of("#12b3e8").size() == 1);
  CHECK(drawn(std::vector<double>(8, 0.25)).shows("all 8 links have 25 %"));
  CHECK(drawn(std::vector<double>(8, 0.0)).shows("no link carries anything"));
  used[5] = 0.25;
  used[1] = used[2] = used[3] = 0.5;
  CHECK(drawn(used).shows("and 2 more links, 50 %"));
  // A dead link carries nothing, whatever it did before: two others are left.
  used[1] = 1;
  CHECK(drawn(used, {{}, {LinkId{1}}}).shows("hottest (outlined)"));
}

TEST_CASE("bytes have a unit, links that are drawn as one their sum") {
  const Topology topology = make_topology("mesh2d:64x64");
  const Layout layout = layout_of(topology);
  const LinkValues values{LinkQuantity::bytes, std::vector<double>(topology.link_count(), 2e6), {}};
  const Svg svg = read(network_figure("t", topology, layout, values));
  CHECK(svg.shows("data over the link [MB]"));
  CHECK(svg.has("8"));                     // of the scale: four links between blocks of 4 x 4
  CHECK(svg.shows("links have 2.00 MB;")); // each
  CHECK(svg.shows("drawn as one the sum"));
  // A hot link within a block isn't drawn, and is the hottest all the same.
  LinkValues hidden = values;
  for (const LinkId link : topology.out_links(NodeId{0}))
    if (topology.link(link).to == NodeId{1}) hidden.links[link.value] = 9e6;
  CHECK(read(network_figure("t", topology, layout, hidden)).shows("hottest: npu0 > npu1, 9.00 MB"));
}

TEST_CASE("a network alone is explained by its kinds of links") {
  const Topology machine = make_topology("dgx_a100x2");
  const Svg svg = read(network_figure("t", machine, layout_of(machine)));
  for (const char* words :
       {"300 GB/s, 350 ns (32 links)", "25 GB/s, 1.3 us (32 links)", "memory", "server 1"})
    CHECK(svg.shows(words));
  const Topology many =
      make_topology("random:20,bandwidth=1GB/s+2GB/s+3GB/s+4GB/s+5GB/s+6GB/s+7GB/s+8GB/s+9GB/s");
  const Svg of_many = read(network_figure("t", many, layout_of(many)));
  CHECK(of_many.has("bandwidth [GB/s]"));
  CHECK(of_many.shows("latency 500.0 ns"));
}

TEST_CASE("names are shown as they are, and SVG stays well-formed") {
  const std::vector<std::string> hostile{"a'b\"c",   "<b>&amp;", "50 %s %%",    "x\\n{y}_^z",
                                         "µ😀",       "l1\nl2",   "\x1b[31mred", "A \"fast\" net",
                                         "15\" rack"};
  TopologyParts parts = samples::npus("net", 0);
  for (const std::string& name : hostile) parts.add_node({name, NodeKind::npu, {}, {}});
  const auto n = static_cast<std::uint32_t>(hostile.size());
  parts.add_node({"<switch> & 'co'", NodeKind::switching, {}, {}});
  for (std::uint32_t i = 0; i < n; ++i) parts.add_duplex(samples::link(i, n));
  const Topology topology(std::move(parts));
  Layout layout = layout_of(topology);
  for (std::size_t i = 0; i < hostile.size(); ++i) // also those that have no room
    layout.nodes[i].label = {hostile[i], layout.nodes[i].at, 8, false};
  std::vector<double> used(topology.link_count(), 0.1);
  used[2] = 0.7;
  const Figure figure = network_figure({"<t> & 'title' \"q\" 5 %\nnext", "n<o>te & %d"}, topology,
                                       layout, utilisations(used));
  const Svg svg = read(figure);
  for (const char* shown :
       {"a'b\"c", "<b>&amp;", "50 %s %%", "x\\n{y}_^z", "µ😀", "\\u001b[31mred", "l1", "<t> &",
        "'title' \"q\" 5 %", "n<o>te", "%d", "A \"fast\" net", "15\" rack"})
    CHECK(svg.shows(shown));
}

TEST_CASE("a picture is the same in whatever order links are given") {
  const Topology topology = make_topology("rfs:2x2x2");
  TopologyParts parts = topology.parts();
  std::ranges::reverse(parts.links);
  const Topology reversed_links(std::move(parts));
  std::vector<double> used;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) used.push_back(0.01 * l);
  const std::vector<double> reversed_used(used.rbegin(), used.rend());
  CHECK(network_figure("t", topology, layout_of(topology), utilisations(used)).drawing ==
        network_figure("t", reversed_links, layout_of(reversed_links), utilisations(reversed_used))
            .drawing);
}

TEST_CASE("a run is cut into intervals, and each link's share of them is told") {
  // 1 kB over 1 GB/s is 1 us: link 0 > 1 is busy in the first half, 1 > 2 in the second.
  const Topology topology = make_topology("mesh2d:3x1,bandwidth=1GB/s,latency=0us");
  Report report;
  report.completion = Time{2'000'000};
  const auto link_of = [&](std::uint32_t from, std::uint32_t to) {
    for (const LinkId link : topology.out_links(NodeId{from}))
      if (topology.link(link).to == NodeId{to}) return link;
    return LinkId{};
  };
  const LinkId first = link_of(0, 1), second = link_of(1, 2);
  report.hops = {{0, first, Time{0}, Time{1'000'000}},
                 {1, second, Time{1'000'000}, Time{2'000'000}},
                 {2, first, Time{500'000}, Time{1'000'000}}}; // shares the link: fluid
  const std::vector<LinkValues> halves = busy_shares(topology, report, 2);
  REQUIRE(halves.size() == 2);
  CHECK(halves[0].links[first.value] == Approx(1));
  CHECK(halves[0].links[second.value] == Approx(0));
  CHECK(halves[1].links[second.value] == Approx(1));
  CHECK(halves[0].title == "0 to 1.000 us");
  const std::vector<LinkValues> sixths = busy_shares(topology, report);
  REQUIRE(sixths.size() == 6);
  double busy = 0;
  for (const LinkValues& sixth : sixths) busy += sixth.links[first.value] / 6;
  CHECK(busy == Approx(0.5));
  CHECK(busy_shares(topology, Report{}, 6)[5].links[0] == 0); // of nothing

  const Figure figure = steps_figure("t", topology, layout_of(topology), sixths);
  CHECK(read(figure).count_of_text(" to ") >= 6);
  CHECK_THROWS_WITH(steps_figure("t", topology, layout_of(topology), {}),
                    ContainsSubstring("without steps"));
}

TEST_CASE("what waits for a link is what its sender has and hasn't sent, or what came by") {
  // 0 -> 1 at 1 GB/s, 1 -> 2 at 0.5 GB/s; broadcast of three chunks of 1 kB. The first is stored
  // at 1 and sent on; the others cross it on a path of two links.
  TopologyParts parts = samples::npus("line", 3);
  parts.add_link({NodeId{0}, NodeId{1}, Time{0}, Bandwidth{1'000'000'000}});
  parts.add_link({NodeId{1}, NodeId{2}, Time{0}, Bandwidth{500'000'000}});
  const Topology topology(std::move(parts));
  CollectiveSpec spec;
  spec.kind = CollectiveKind::broadcast;
  spec.size = Bytes{3000};
  spec.chunks_per_shard = 3;
  const Collective collective = make_collective(topology, spec);
  const LinkId first{0}, second{1};
  Schedule schedule(topology.link_count());
  const std::vector<LinkId> both{first, second};
  const PathId through = schedule.paths().intern(both);
  schedule.push(ChunkId{0}, first, Op::copy);
  schedule.push(ChunkId{0}, second, Op::copy);
  for (const std::uint32_t chunk : {1U, 2U})
    schedule.push({ChunkId{chunk}, through, Op::copy, false});
  RunOptions options;
  options.record_deliveries = options.record_hops = true;
  TimeModel model;
  model.forwarding = Forwarding::store_and_forward;
  const Report report = run_native(topology, collective, schedule, model, options);
  const LinkValues queued = queued_data(topology, collective, schedule, report);
  CHECK(queued.quantity == LinkQuantity::queue);
  // Both others wait at 0 while the first chunk leaves. At 1 it leaves from 1 to 3 us; the second
  // comes at 2 us, and the third at 3 us, when the second sets out.
  REQUIRE(queued.links.size() == 2);
  CHECK(queued.links[0] == 2000);
  CHECK(queued.links[1] == 1000);
  CHECK(queued_data(topology, collective, Schedule(topology.link_count()), Report{}).links ==
        std::vector<double>(2, 0));
}

} // namespace network_figure_test
