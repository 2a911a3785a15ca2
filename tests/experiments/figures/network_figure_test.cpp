// Pictures of networks: what is dead is crossed out, the hottest link is named, any name is shown
// as it is, colours can be told apart, and a run is cut into intervals that can be followed by
// hand.
#include "experiments/driver/figures/network_figure.hpp"

#include "experiments/driver/figures/colour_scale.hpp"
#include "experiments/driver/figures/gnuplot.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/script_reading.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace network_figure_test {

using namespace tutti;
using script_reading::count_of;
using script_reading::data_of_style;

namespace {

/// Lines end with an empty line.
std::size_t lines_of_style(const std::string& script, const std::string& style) {
  return count_of(data_of_style(script, style), "\n\n");
}

LinkValues utilisations(std::vector<double> links) {
  return {LinkQuantity::utilisation, std::move(links), {}};
}

/// All that a viewer shows of its texts.
std::string texts_of(const std::string& svg) {
  pugi::xml_document document;
  REQUIRE(document.load_string(svg.c_str(), pugi::parse_full));
  std::string texts;
  for (const pugi::xpath_node& found : document.select_nodes("//*[local-name()='text']")) {
    for (const pugi::xpath_node& part : found.node().select_nodes(".//text()"))
      texts += part.node().value();
    texts += "\n";
  }
  return texts;
}

} // namespace

TEST_CASE("what is dead is crossed out, with all its links") {
  const Topology topology = make_topology("ring:4");
  const Layout layout = layout_of(topology);
  const std::string cross = "#b2182b"; // two bars each
  const auto crosses = [&](const DeadParts& dead) {
    return lines_of_style(network_figure("t", topology, layout, dead).script, cross) / 2;
  };
  CHECK(crosses({}) == 0);
  CHECK(crosses({{}, {LinkId{2}}}) == 1 + 1);     // and the legend's
  CHECK(crosses({{NodeId{1}}, {}}) == 1 + 4 + 1); // two links in, two out
  const LinkValues values = utilisations(std::vector<double>(8, 0.5));
  CHECK(lines_of_style(network_figure("t", topology, layout, values, {{NodeId{1}}, {}}).script,
                       cross) == 2 * 6);
}

TEST_CASE("the hottest link is marked and named, many are counted") {
  const Topology topology = make_topology("ring:4");
  const Layout layout = layout_of(topology);
  std::vector<double> used(8, 0.25);
  used[5] = 0.9; // 1 > 0: backward links begin with 0 > 3
  const Link& hot = topology.link(LinkId{5});
  const std::string name =
      topology.node(hot.from).name + " > " + topology.node(hot.to).name + ", 90 %";
  const Figure one = network_figure("t", topology, layout, utilisations(used));
  CHECK_THAT(one.script, ContainsSubstring(name));
  CHECK(lines_of_style(one.script, "#12b3e8") == 1);
  const Figure all =
      network_figure("t", topology, layout, utilisations(std::vector<double>(8, 0.25)));
  CHECK_THAT(all.script, ContainsSubstring("all 8 links have 25 %"));
  const Figure none =
      network_figure("t", topology, layout, utilisations(std::vector<double>(8, 0.0)));
  CHECK_THAT(none.script, ContainsSubstring("no link carries anything"));
  used[5] = 0.25;
  used[1] = used[2] = used[3] = 0.5;
  CHECK_THAT(network_figure("t", topology, layout, utilisations(used)).script,
             ContainsSubstring("and 2 more links, 50 %"));
  // A dead link carries nothing, whatever it did before: two others are left.
  used[1] = 1;
  CHECK_THAT(network_figure("t", topology, layout, utilisations(used), {{}, {LinkId{1}}}).script,
             ContainsSubstring("hottest (outlined)"));
}

TEST_CASE("bytes have a unit, links that are drawn as one their sum") {
  const Topology topology = make_topology("mesh2d:64x64");
  const Layout layout = layout_of(topology);
  const LinkValues values{LinkQuantity::bytes, std::vector<double>(topology.link_count(), 2e6), {}};
  const std::string script = network_figure("t", topology, layout, values).script;
  CHECK_THAT(script, ContainsSubstring("data over the link [MB]"));
  CHECK_THAT(script,
             ContainsSubstring("\"8\"")); // of the scale: four links between blocks of 4 x 4
  CHECK_THAT(script, ContainsSubstring("links have 2.00 MB;")); // each
  CHECK_THAT(script, ContainsSubstring("drawn as one the sum"));
  // A hot link within a block isn't drawn, and is the hottest all the same.
  LinkValues hidden = values;
  for (const LinkId link : topology.out_links(NodeId{0}))
    if (topology.link(link).to == NodeId{1}) hidden.links[link.value] = 9e6;
  CHECK_THAT(network_figure("t", topology, layout, hidden).script,
             ContainsSubstring("hottest: npu0 > npu1, 9.00 MB"));
}

TEST_CASE("a network alone is explained by its kinds of links") {
  const Topology machine = make_topology("dgx_a100x2");
  const std::string script = network_figure("t", machine, layout_of(machine)).script;
  for (const char* words :
       {"300 GB/s, 350 ns (32 links)", "25 GB/s, 1.3 us (32 links)", "memory", "server 1"})
    CHECK_THAT(script, ContainsSubstring(words));
  const Topology many =
      make_topology("random:20,bandwidth=1GB/s+2GB/s+3GB/s+4GB/s+5GB/s+6GB/s+7GB/s+8GB/s+9GB/s");
  CHECK_THAT(network_figure("t", many, layout_of(many)).script,
             ContainsSubstring("bandwidth [GB/s]") && ContainsSubstring("latency 500.0 ns"));
}

TEST_CASE("names are shown as they are, and SVG stays well-formed") {
  if (!gnuplot_found()) {
    WARN("gnuplot isn't installed: pictures are not tested");
    return;
  }
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
  const std::string svg = rendered(figure, PictureFormat::svg);
  const std::string texts = texts_of(svg);
  for (const char* shown :
       {"a'b\"c", "<b>&amp;", "50 %s %%", "x\\n{y}_^z", "µ😀", "\\u001b[31mred", "l1", "<t> &",
        "'title' \"q\" 5 %", "n<o>te", "%d", "A \"fast\" net", "15\" rack"})
    CHECK_THAT(texts, ContainsSubstring(shown));
  CHECK(svg == rendered(figure, PictureFormat::svg));
}

TEST_CASE("a picture is the same in whatever order links are given") {
  const Topology topology = make_topology("rfs:2x2x2");
  TopologyParts parts = topology.parts();
  std::ranges::reverse(parts.links);
  const Topology reversed_links(std::move(parts));
  std::vector<double> used;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) used.push_back(0.01 * l);
  const std::vector<double> reversed_used(used.rbegin(), used.rend());
  CHECK(network_figure("t", topology, layout_of(topology), utilisations(used)).script ==
        network_figure("t", reversed_links, layout_of(reversed_links), utilisations(reversed_used))
            .script);
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
  CHECK(count_of(figure.script, " to ") >= 6);
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

TEST_CASE("amounts grow darker all the way, also to eyes that see fewer colours") {
  // Machado, Oliveira and Fernandes 2009, Table 1: no red, no green, no blue receptors.
  constexpr double kinds[3][3][3] = {{{0.152286, 1.052583, -0.204868},
                                      {0.114503, 0.786281, 0.099216},
                                      {-0.003882, -0.048116, 1.051998}},
                                     {{0.367322, 0.860646, -0.227968},
                                      {0.280085, 0.672501, 0.047413},
                                      {-0.011820, 0.042940, 0.968881}},
                                     {{1.255528, -0.076749, -0.178779},
                                      {-0.078411, 0.930809, 0.147602},
                                      {0.004733, 0.691367, 0.303900}}};
  const auto linear = [](int colour, int shift) {
    const double coded = ((colour >> shift) & 0xff) / 255.0;
    return coded <= 0.04045 ? coded / 12.92 : std::pow((coded + 0.055) / 1.055, 2.4);
  };
  constexpr int steps = 12;
  for (int i = 0; i < steps; ++i) {
    const int light = amount_colour(static_cast<double>(i) / steps),
              dark = amount_colour(static_cast<double>(i + 1) / steps);
    CHECK(luminance(light) > luminance(dark));
    for (const auto& kind : kinds) {
      double seen[2] = {};
      for (const int which : {0, 1})
        for (int row = 0; row < 3; ++row)
          for (int column = 0; column < 3; ++column)
            seen[which] += (row == 0   ? 0.2126
                            : row == 1 ? 0.7152
                                       : 0.0722) *
                           kind[row][column] * linear(which == 0 ? light : dark, 16 - 8 * column);
      CHECK(seen[0] > seen[1]);
    }
  }
  CHECK(luminance(amount_colour(0)) < 0.75); // to be seen on white
}

} // namespace network_figure_test
