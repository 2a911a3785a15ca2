// Cases with answers from an independent implementation of the specification (docs/model.md):
// `fault`, `redundant`, and for correct schedules completion_ps, delivered_ps, link_bytes and
// link_busy_ps. `tutti replay --export-case` writes more of them, and oracle.py is that
// implementation.

#include "sim/engines/agreement.hpp"
#include "sim/engines/engine.hpp"
#include "sim/files/files.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace oracle_cases_test {

using namespace tutti;
using nlohmann::json;

namespace {

Topology topology_of(const json& given) {
  TopologyParts parts;
  parts.name = "case";
  for (const json& node : given["nodes"])
    parts.add_node({"n" + std::to_string(parts.nodes.size()),
                    NodeKind::npu,
                    {node["store"], node["copy"], node["reduce"]},
                    {}});
  for (const json& link : given["links"])
    parts.add_link({NodeId{link["from"].get<std::uint32_t>()},
                    NodeId{link["to"].get<std::uint32_t>()},
                    Time{link["latency_ps"].get<std::int64_t>()},
                    Bandwidth{link["bandwidth"].get<std::int64_t>()}, -1});
  for (const json& group : given["groups"]) {
    parts.groups.push_back({"g", {}, Bandwidth{group["bandwidth"].get<std::int64_t>()}});
    for (const json& link : group["links"])
      parts.groups.back().links.emplace_back(link.get<std::uint32_t>());
  }
  return Topology(std::move(parts));
}

Collective collective_of(const json& given) {
  Collective collective;
  const auto add_set = [&](const json& nodes) {
    collective.sets.emplace_back();
    for (const json& node : nodes) collective.sets.back().emplace_back(node.get<std::uint32_t>());
    return static_cast<SetId>(collective.sets.size() - 1);
  };
  CollectivePart part;
  for (const json& chunk : given["chunks"]) {
    const SetId held = add_set(chunk["held_by"]), wanted = add_set(chunk["wanted_by"]);
    collective.chunks.push_back(
        {Bytes{chunk["bytes"].get<std::int64_t>()}, held, wanted, chunk["reduce"].get<bool>()});
    part.size += collective.chunks.back().size;
    ++part.chunk_count;
  }
  collective.parts.push_back(part);
  return collective;
}

Schedule schedule_of(const json& given, const Topology& topology) {
  Schedule schedule(topology.link_count());
  for (const json& transfer : given["transfers"]) {
    std::vector<LinkId> path;
    for (const json& link : transfer["path"]) path.emplace_back(link.get<std::uint32_t>());
    schedule.push({ChunkId{transfer["chunk"].get<std::uint32_t>()}, schedule.paths().intern(path),
                   transfer["op"] == "reduce" ? Op::reduce : Op::copy, transfer["together"],
                   transfer.value("contiguous", false)});
    for (const json& after : transfer.value("after", json::array()))
      schedule.add_dependency(schedule.size() - 1,
                              {after["transfer"].get<std::uint32_t>(),
                               parse_milestone(after["event"].get<std::string>())});
  }
  return schedule;
}

std::vector<Time> starts_of(const json& given) {
  std::vector<Time> starts;
  for (const json& node : given["nodes"]) starts.push_back(Time{node.value("starts_ps", 0)});
  return starts;
}

json answer_of(const Report& report) {
  json answer;
  answer["completion_ps"] = report.completion.ps;
  for (const Time time : report.deliveries) answer["delivered_ps"].push_back(time.ps);
  for (const LinkUse& use : report.links) {
    answer["link_bytes"].push_back(use.bytes.count);
    answer["link_busy_ps"].push_back(use.busy.ps);
  }
  return answer;
}

} // namespace

TEST_CASE("verify and both engines give the independent specification's answers") {
  std::size_t correct = 0, faulty = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(TUTTI_SOURCE_DIR "/tests/sim/oracle_cases")) {
    INFO(file.path());
    const json content = json::parse(read_file(file.path().string()));
    const json &given = content["case"], &expected = content["answer"];
    const Topology topology = topology_of(given);
    const Collective collective = collective_of(given);
    const Schedule schedule = schedule_of(given, topology);
    const Verdict verdict = verify(topology, collective, schedule);
    CHECK(verdict.correct() == expected["fault"].is_null());
    if (!expected["fault"].is_null()) {
      ++faulty;
      continue;
    }
    ++correct;
    CHECK(verdict.redundant == expected["redundant"]);
    TimeModel model;
    model.link_busy = link_busy_words.parse(given["time_model"]["link_busy"].get<std::string>());
    model.forwarding = forwarding_words.parse(given["time_model"]["forwarding"].get<std::string>());
    const std::vector<Time> starts = starts_of(given);
    RunOptions options{.record_deliveries = true};
    options.starts = starts;
    const Report report = run_both(topology, collective, schedule, model, options);
    const json answer = answer_of(report);
    for (const char* key : {"completion_ps", "delivered_ps", "link_bytes", "link_busy_ps"})
      CHECK(answer[key] == expected[key]);        // native to the picosecond,
    CHECK(disagreement(*report.agreement) == ""); // simgrid but for rounding
  }
  CHECK(correct >= 16);
  CHECK(faulty >= 2);
}

} // namespace oracle_cases_test
