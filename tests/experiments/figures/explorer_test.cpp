// What a page plays is read back here, by zlib and a JSON library, and held against the report; and
// a critical path, against what makes it one.
#include "experiments/driver/figures/explorer.hpp"

#include "experiments/driver/figures/critical_path.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/explored_page.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace explorer_test {

using namespace tutti;
using explored_page::bytes_of;
using explored_page::inflated;
using nlohmann::json;

namespace {

struct Played {
  Topology topology;
  Collective collective;
  Schedule schedule;
  Report report;

  Played(const Topology& network, CollectiveKind kind, const std::string& algorithm,
         std::uint32_t chunks = 2)
      : topology(network),
        collective(make_collective(network, {kind, Bytes{1'000'003}, {}, 0, chunks})),
        schedule(*synthesize(find_algorithm(algorithm), topology, collective, {}).schedule) {
    RunOptions record;
    record.record_deliveries = record.record_hops = true;
    report = run_native(topology, collective, schedule, {}, record);
  }
  [[nodiscard]] ExploredRun run() const {
    ExploredRun run{.label = "a run",
                    .facts = {{"time", "1 us"}},
                    .topology = &topology,
                    .collective = {},
                    .schedule = Schedule(topology.link_count()),
                    .report = {}};
    run.collective = collective;
    run.schedule = schedule;
    run.report = report;
    run.bound = Time{5};
    run.inside = {NodeId{1}};
    return run;
  }
  [[nodiscard]] std::vector<std::uint32_t> critical() const {
    return critical_path(topology, schedule, report, hops_before(schedule, report));
  }
  [[nodiscard]] json data() const {
    return json::parse(
        explorer_data({.title = "title", .command = "tutti synth", .runs = {run()}}));
  }
};

std::vector<std::int64_t> numbers_of(const json& column) {
  std::vector<std::int64_t> numbers;
  std::int64_t number = 0, before = 0;
  int shift = 0;
  for (const char byte : inflated(bytes_of(column.at("data")))) {
    number |= std::int64_t{byte & 0x7f} << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    before = column.at("delta").get<bool>() ? before + number : number;
    numbers.push_back(before);
    number = shift = 0;
  }
  return numbers;
}

} // namespace

TEST_CASE("a page has the crossings of the report, link by link") {
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
    const Played played(samples::uneven_mesh(3, 4), kind, "tacos");
    const json data = played.data();
    CHECK(data["format"] == "tutti-explore");
    CHECK(data["version"] == 2);
    const json& run = data["runs"][0];
    const json& hops = run["hops"];
    const auto start = numbers_of(hops["start"]), duration = numbers_of(hops["duration"]),
               link = numbers_of(hops["link"]), chunk = numbers_of(hops["chunk"]),
               transfer = numbers_of(hops["transfer"]), reduces = numbers_of(hops["reduces"]),
               arrives = numbers_of(hops["arrives"]);
    CHECK(std::ranges::count(arrives, 1) == static_cast<std::ptrdiff_t>(played.schedule.size()));
    REQUIRE(start.size() == played.report.hops.size());
    CHECK(hops["count"] == start.size());
    CHECK(hops["total"] == start.size());
    REQUIRE(duration.size() == start.size());
    for (std::size_t i = 0; i < start.size(); ++i) {
      const HopRecord& hop = played.report.hops[i];
      const Transfer moved = played.schedule[hop.transfer];
      CHECK(start[i] == hop.start.ps);
      CHECK(start[i] + duration[i] == hop.end.ps);
      CHECK(link[i] == hop.link.value);
      CHECK(chunk[i] == moved.chunk.value);
      CHECK(transfer[i] == hop.transfer);
      CHECK(reduces[i] == (moved.op == Op::reduce ? 1 : 0));
    }
    CHECK(run["completion_ps"] == played.report.completion.ps);
    CHECK(run["bound_ps"] == 5);
    CHECK(run["cut"] == json{1});
    const json& links = run["network"]["links"];
    for (std::uint32_t l = 0; l < played.topology.link_count(); ++l) {
      CHECK(links["bytes"][l] == played.report.links[l].bytes.count);
      CHECK(links["busy_ps"][l] == played.report.links[l].busy.ps);
      CHECK(links["from"][l] == played.topology.link(LinkId{l}).from.value);
    }
  }
}

TEST_CASE("bins add up to how long each link was busy") {
  const Played played(samples::ring(6), CollectiveKind::all_gather, "ring");
  const json run = played.data()["runs"][0];
  const json& bins = run["bins"];
  const std::string share = inflated(bytes_of(bins["share"]["data"]));
  const std::size_t count = bins["count"];
  const double width = bins["width_ps"];
  REQUIRE(share.size() == count * played.topology.link_count());
  for (std::uint32_t l = 0; l < played.topology.link_count(); ++l) {
    double busy = 0;
    for (std::size_t b = 0; b < count; ++b)
      busy += static_cast<double>(static_cast<std::uint8_t>(share[l * count + b])) / 255 * width;
    const auto of_report = static_cast<double>(played.report.links[l].busy.ps);
    CHECK(busy == Approx(of_report).margin(width * static_cast<double>(count) / 255));
  }
}

TEST_CASE("every node has a place of its own in the picture, whatever its layout joins") {
  const Played played(samples::full(12), CollectiveKind::all_gather, "direct", 1);
  const json nodes = played.data()["runs"][0]["network"]["nodes"];
  std::vector<std::pair<double, double>> places;
  for (std::size_t n = 0; n < nodes["x"].size(); ++n) {
    places.emplace_back(nodes["x"][n], nodes["y"][n]);
    CHECK((places.back().first >= 0 && places.back().first <= 1));
    CHECK((places.back().second >= 0 && places.back().second <= 1));
  }
  std::ranges::sort(places);
  CHECK(std::ranges::adjacent_find(places) == places.end());
}

TEST_CASE("each crossing of a critical path waited for the one before it") {
  for (const char* const algorithm : {"ring", "tacos", "direct"})
    for (const Topology& network : {samples::ring(6), samples::uneven_mesh(3, 3)}) {
      const Played played(network, CollectiveKind::all_gather, algorithm);
      const std::vector<HopRecord>& hops = played.report.hops;
      const auto path = played.critical();
      INFO(algorithm << " on " << network.name());
      REQUIRE_FALSE(path.empty());
      CHECK(hops[path.front()].start == Time{0}); // on ideal links something is always under way
      const auto arrival = [&](const HopRecord& hop) {
        return hop.end + played.topology.link(hop.link).latency;
      };
      CHECK(arrival(hops[path.back()]) == played.report.completion);
      for (std::size_t i = 1; i < path.size(); ++i) {
        const HopRecord &before = hops[path[i - 1]], &hop = hops[path[i]];
        const bool by_link = before.link == hop.link && before.end == hop.start;
        const bool by_data =
            played.topology.link(before.link).to == played.topology.link(hop.link).from &&
            arrival(before) == hop.start;
        CHECK((by_link || by_data));
      }
    }
}

TEST_CASE("behind switches a crossing waits for its link, or for the head of its data") {
  for (const std::string_view name : {"switch:8", "fat_tree:4", "dgx_h100:2"})
    for (const char* const algorithm : {"ring", "direct"}) {
      const Played played(make_topology(std::string(name)), CollectiveKind::all_gather, algorithm,
                          1);
      const std::vector<HopRecord>& hops = played.report.hops;
      const auto path = played.critical();
      INFO(algorithm << " on " << name);
      REQUIRE_FALSE(path.empty());
      CHECK(hops[path.front()].start == Time{0});
      const auto latency = [&](const HopRecord& hop) {
        return played.topology.link(hop.link).latency;
      };
      CHECK(hops[path.back()].end + latency(hops[path.back()]) == played.report.completion);
      for (std::size_t i = 1; i < path.size(); ++i) {
        const HopRecord &before = hops[path[i - 1]], &hop = hops[path[i]];
        const bool by_link = before.link == hop.link && before.end == hop.start;
        const bool joined =
            played.topology.link(before.link).to == played.topology.link(hop.link).from;
        const bool by_data = joined && (before.end + latency(before) == hop.start ||
                                        before.start + latency(before) == hop.start);
        CHECK((by_link || by_data));
      }
    }
}

TEST_CASE("crossings of one transfer are in the order of its path, whatever their order in time") {
  const Played played(samples::mesh(3, 3), CollectiveKind::all_gather, "direct", 1);
  Report shuffled = played.report; // as a fluid replay has them: all at once, by link
  for (HopRecord& hop : shuffled.hops) hop.start = Time{0};
  std::ranges::sort(shuffled.hops, {}, [](const HopRecord& hop) { return hop.link; });
  const std::vector<std::uint32_t> before = hops_before(played.schedule, shuffled);
  std::size_t joined = 0;
  for (std::size_t h = 0; h < before.size(); ++h) {
    if (before[h] == UINT32_MAX) continue;
    ++joined;
    CHECK(shuffled.hops[before[h]].transfer == shuffled.hops[h].transfer);
    CHECK(played.topology.link(shuffled.hops[before[h]].link).to ==
          played.topology.link(shuffled.hops[h].link).from);
  }
  CHECK(joined == shuffled.hops.size() - played.schedule.size());
}

TEST_CASE("a run without crossings says what its links were used for, and what is dead") {
  const Played played(samples::ring(4), CollectiveKind::all_gather, "ring");
  ExploredRun run = played.run();
  run.report.hops.clear();
  run.dead = {{NodeId{2}}, {LinkId{3}}};
  run.moments = {{Time{7}, "npu2 down", {LinkId{1}}, {}, {NodeId{2}}}};
  const json data =
      json::parse(explorer_data({.title = "", .command = "", .runs = {run}}))["runs"][0];
  CHECK(data["hops"].is_null());
  CHECK(data["bins"]["count"] == 1);
  const std::string share = inflated(bytes_of(data["bins"]["share"]["data"]));
  for (std::uint32_t l = 0; l < played.topology.link_count(); ++l)
    CHECK(static_cast<double>(static_cast<std::uint8_t>(share[l])) / 255 ==
          Approx(utilisation(played.report)[l]).margin(0.003));
  CHECK(data["network"]["nodes"]["dead"] == json{2});
  CHECK(data["network"]["links"]["dead"] == json{3});
  CHECK(data["moments"][0]["at_ps"] == 7);
  CHECK(data["moments"][0]["nodes_down"] == json{2});
}

TEST_CASE("above 1,024 NPUs nodes have the groups that pictures draw as one") {
  const Topology torus = make_topology("torus2d:40x40");
  ExploredRun run{.label = "",
                  .facts = {},
                  .topology = &torus,
                  .collective = {},
                  .schedule = Schedule(torus.link_count()),
                  .report = {}};
  run.report.links.resize(torus.link_count());
  const json network =
      json::parse(explorer_data({.title = "", .command = "", .runs = {run}}))["runs"][0]["network"];
  const json& group = network["nodes"]["group"];
  REQUIRE(group.size() == 1600);
  const std::size_t groups = network["groups"].size();
  CHECK((groups > 1 && groups < 1600));
  for (std::size_t g = 0; g < groups; ++g) CHECK(std::ranges::count(group, json(g)) >= 2);
  const Topology small = samples::ring(4);
  CHECK(Played(small, CollectiveKind::all_gather, "ring")
            .data()["runs"][0]["network"]["nodes"]["group"]
            .empty());
}

TEST_CASE("a table has each column's own numbers, what it counts, and where its rows' runs are") {
  using namespace column_words;
  Records records{{{"name", text, key}, {"time_ps", Quantity::time}, {"share_fraction", part}},
                  {{"</a>", Time{5}, 0.5}, {"b", Cell(), Cell()}}};
  ExploredTable table{.title = "t",
                      .notes = {"a note"},
                      .records = records,
                      .chart =
                          ExploredChart{.x = "time_ps", .y = {"share_fraction", "gone"}, .by = {}},
                      .runs = {std::nullopt, 3},
                      .pictures = {{"p", "<svg/>"}}};
  ExploredTable without = table;
  without.chart->y = {"gone"}; // of a column that no row has a value in
  ExploredTable several = table;
  several.records.rows = {{"a", Time{5}, 0.5}, {"b", Time{6}, 0.5}};
  several.chart->by = {"name", "share_fraction"};
  const ExploredTimeline timeline{
      "it", Time{9}, {"npu0"}, {"forward"}, {"compute", "data"}, {{0, 0, 1, Time{2}, Time{5}}}};
  const json data = json::parse(explorer_data({.title = "",
                                               .command = "",
                                               .runs = {},
                                               .tables = {table, without, several},
                                               .timelines = {timeline}}));
  CHECK(data["runs"].empty());
  const json results = explored_page::results_of(data);
  const json& read = results["tables"][0];
  CHECK(explored_page::values_of(read, "name") == json{"</a>", "b"});
  CHECK(explored_page::values_of(read, "time_ps") == json{5, nullptr});
  CHECK(read["columns"][1]["quantity"] == "time");
  CHECK(read["columns"][1]["title"] == "time");
  CHECK(read["runs"] == json{-1, 3});
  CHECK(read["chart"]["y"] == json::array({"share_fraction"}));
  CHECK(read["chart"]["kind"] == "parts"); // all have the same x
  CHECK(results["tables"][2]["chart"]["kind"] == "points");
  CHECK(results["tables"][2]["chart"]["by"] == json::array({"name"})); // in which rows differ
  CHECK(read["pictures"][0]["svg"] == "<svg/>");
  CHECK(results["tables"][1]["chart"].is_null());
  CHECK(results["timelines"][0]["start"] == json::array({2}));
  CHECK(results["timelines"][0]["duration"] == json::array({3}));
}

TEST_CASE("no name ends the element that holds the data") {
  TopologyParts parts = samples::ring(4).parts();
  parts.nodes[1].name = "</script><script>alert(1)";
  parts.nodes[2].name = std::string(10'000, 'x') + "\xff\"'";
  const Played played(Topology(std::move(parts)), CollectiveKind::all_gather, "ring");
  const std::string text =
      explorer_data({.title = "<title>", .command = "<b>", .runs = {played.run()}});
  CHECK(text.find('<') == std::string::npos);
  CHECK(json::parse(text)["runs"][0]["network"]["nodes"]["name"][1] == "</script><script>alert(1)");
  const TemporaryFolder folder;
  write_explorer(folder.file("page.html"),
                 {.title = "<title>", .command = "<b>", .runs = {played.run()}});
  const std::string page = read_file(folder.file("page.html"));
  CHECK(page.find(text) != std::string::npos);
  CHECK(page.find("<!--TUTTI-DATA-->") == std::string::npos);
  CHECK(page.find("default-src 'none'") != std::string::npos);
  CHECK(message_of([&] { write_explorer("x.html", {}); }) == "there is nothing to show");
  CHECK(message_of([] { require_page_name("x.svg"); }) ==
        "x.svg: a page is a file that ends with .html");
}

} // namespace explorer_test
