// The timeline is JSON that a viewer takes: parsed here by a library that had no part in writing
// it.
#include "experiments/trace.hpp"

#include "sim/error.hpp"
#include "tests/catch.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace tutti;
using nlohmann::json;

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

  [[nodiscard]] std::string trace() const {
    std::ostringstream out;
    write_trace(out, topology, collective, schedule, report);
    return out.str();
  }
};

/// Events of one phase, in order.
std::vector<json> events(const std::string& trace, const std::string& phase) {
  std::vector<json> found;
  const json document = json::parse(trace);
  for (const json& event : document.at("traceEvents"))
    if (event.at("ph") == phase) found.push_back(event);
  return found;
}

} // namespace

TEST_CASE("Each crossing is a complete event with its link, time and size") {
  const std::vector<json> hops = events(Line().trace(), "X");
  REQUIRE(hops.size() == 2);
  CHECK(hops[0].at("name") == "chunk 0 copy a>b");
  CHECK(hops[0].at("pid") == 0);
  CHECK(hops[0].at("tid") == 0);
  CHECK(hops[0].at("ts") == 0.0);
  CHECK(hops[0].at("dur") == 1.5);
  CHECK(hops[0].at("args") == json{{"transfer", 0}, {"bytes", 1500}});
  CHECK(hops[1].at("name") == "chunk 0 reduce b>c");
  CHECK(hops[1].at("pid") == 1);
  CHECK(hops[1].at("tid") == 1);
  CHECK(hops[1].at("ts") == 2.0);
}

TEST_CASE("Times keep every picosecond") {
  CHECK_THAT(Line().trace(), ContainsSubstring("\"dur\":1.500001"));
}

TEST_CASE("Nodes and links are named for the viewer") {
  std::map<std::pair<int, int>, std::string> processes, threads;
  for (const json& event : events(Line().trace(), "M")) {
    const std::pair<int, int> id{event.at("pid"), event.at("tid")};
    if (event.at("name") == "process_name") processes[id] = event.at("args").at("name");
    if (event.at("name") == "thread_name") threads[id] = event.at("args").at("name");
  }
  CHECK(processes ==
        std::map<std::pair<int, int>, std::string>{{{0, 0}, "a"}, {{1, 0}, "b"}, {{2, 0}, "c"}});
  CHECK(threads == std::map<std::pair<int, int>, std::string>{{{0, 0}, "a>b"}, {{1, 1}, "b>c"}});
}

TEST_CASE("The completion is marked") {
  const std::vector<json> marks = events(Line().trace(), "i");
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].at("name") == "collective complete");
  CHECK(marks[0].at("ts") == 4.0);
}

TEST_CASE("Transfers that share a link get a thread each") {
  Line line;
  line.report.hops = {{.transfer = 0, .link = LinkId{1}, .start = Time{0}, .end = Time{10}},
                      {.transfer = 1, .link = LinkId{1}, .start = Time{5}, .end = Time{20}},
                      {.transfer = 0, .link = LinkId{1}, .start = Time{10}, .end = Time{12}}};
  const std::vector<json> hops = events(line.trace(), "X");
  REQUIRE(hops.size() == 3);
  CHECK(hops[0].at("tid") == 1);
  CHECK(hops[1].at("tid") == 3); // link 1, second of its threads, with 2 links
  CHECK(hops[2].at("tid") == 1); // free again at 10 ps
  CHECK(events(line.trace(), "M").size() == events(Line().trace(), "M").size() + 2);
}

TEST_CASE("Names may hold anything") {
  const std::string name = "c \"x\" \\ \n\x01 µ";
  CHECK(events(Line(name).trace(), "X")[1].at("name") == "chunk 0 reduce b>" + name);
}

TEST_CASE("An empty schedule gives an empty timeline, a run without record an error") {
  Line line;
  line.report.hops.clear();
  CHECK_THROWS_WITH(line.trace(), "no timeline: the run recorded no link crossings");
  line.schedule = Schedule(2);
  CHECK(events(line.trace(), "X").empty());
}

TEST_CASE("A trace is saved whole or not at all") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "tutti_trace_test";
  fs::remove_all(folder);
  const std::string file = folder / "run.json";
  Line line;
  const auto save = [&] {
    save_trace(file, line.topology, line.collective, line.schedule, line.report);
  };
  save();
  std::ostringstream saved;
  saved << std::ifstream(file).rdbuf();
  CHECK(saved.str() == line.trace());

  fs::remove(file);
  line.report.hops.clear();
  CHECK_THROWS_AS(save(), InputError);
  CHECK(fs::is_empty(folder)); // no temporary left behind either

  fs::create_directory(file); // something that can't be replaced by a file
  line.report.hops = Line().report.hops;
  CHECK_THROWS_WITH(save(), ContainsSubstring("run.json: cannot write: "));
  fs::remove_all(folder);
}
