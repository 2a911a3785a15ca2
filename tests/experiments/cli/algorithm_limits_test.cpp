// Whatever an algorithm does before, between and after its search, a limit ends it: asked of every
// algorithm of the list, so that a new one is asked, too, on networks of 1,024 NPUs. No clock is
// judged: time is the number of questions.
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "tests/catch.hpp"
#include "tests/counted_limit.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace algorithm_limits_test {

using namespace tutti;

namespace {

std::vector<NodeId> everyone(const Topology& topology) {
  std::vector<NodeId> group;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) group.push_back(NodeId{n});
  return group;
}

Collective collective_for(const AlgorithmRow& row, const Topology& topology, CollectiveKind kind) {
  return make_collective(
      topology, {kind, Bytes{std::int64_t{1} << 30}, everyone(topology), 0, row.chunk_multiple});
}

/// Beyond its limit nobody goes on for long: each part of the work asks before it begins and ends
/// at "it is over". And nobody works on without asking. How long the work between two questions
/// takes is what benchmarks/limits_benchmark.cpp measures.
void check_limit(const AlgorithmRow& row, const Topology& topology, const Collective& collective,
                 std::uint64_t questions, std::map<std::string, std::string> settings = {}) {
  constexpr std::uint64_t most_in_vain = 40, most_transfers = 1 << 18; // between two questions
  CountedLimit limit(questions);
  limit.options.settings = std::move(settings);
  INFO(topology.name() << ", " << row.name << ", " << collective.name() << ", " << questions);
  const Outcome outcome = synthesize(row, topology, collective, limit.options);
  INFO(to_text(outcome.status) << " " << outcome.note << ", asked " << limit.asked());
  CHECK(limit.asked_in_vain() <= most_in_vain);
  const bool has_schedule = outcome.schedule || outcome.compact;
  if (!has_schedule) CHECK_FALSE(outcome.note.empty());
  if (is_cut_short(outcome.status)) CHECK(limit.asked_in_vain() > 0);
  if (has_schedule && !is_cut_short(outcome.status)) {
    const std::size_t transfers =
        outcome.schedule ? outcome.schedule->size() : outcome.compact->size();
    CHECK(transfers <= limit.asked() * most_transfers);
  }
}

void check_limits(const char* network) {
  const Topology topology = make_topology(network);
  for (const AlgorithmRow& row : all_algorithms())
    for (const CollectiveKind kind : row.collectives)
      if (kind != CollectiveKind::custom)
        for (const std::uint64_t questions : {3U, 100U, 3000U})
          check_limit(row, topology, collective_for(row, topology, kind), questions);
}

} // namespace

TEST_CASE("every algorithm keeps a limit of time on 1024 NPUs", "[heavy]") {
  const Topology torus = make_topology("torus2d:32x32");
  for (const AlgorithmRow& row : all_algorithms()) {
    const bool gathers =
        std::ranges::find(row.collectives, CollectiveKind::all_gather) != row.collectives.end();
    const CollectiveKind kind = gathers ? CollectiveKind::all_gather : row.collectives.front();
    for (const std::uint64_t questions : {1U, 20U})
      check_limit(row, torus, collective_for(row, torus, kind), questions);
  }
}

TEST_CASE("every algorithm keeps limits of time for every collective on a torus of 1024 NPUs",
          "[slow]") {
  check_limits("torus2d:32x32");
}

TEST_CASE("every algorithm keeps limits of time for every collective on a mesh of 1024 NPUs",
          "[slow]") {
  check_limits("mesh2d:32x32");
}

TEST_CASE("every algorithm keeps limits of time for every collective on a hypercube of 1024 NPUs",
          "[slow]") {
  check_limits("hypercube:10");
}

TEST_CASE("every algorithm keeps limits of time for every collective on a switch of 1024 NPUs",
          "[slow]") {
  check_limits("switch:1024");
}

TEST_CASE("sccl keeps a limit of time on large networks and with many steps", "[slow]") {
  const AlgorithmRow sccl = find_algorithm("sccl");
  const auto check = [&](const char* network, std::vector<NodeId> group, const char* key,
                         const char* value) {
    const Topology topology = make_topology(network);
    const Collective collective =
        make_collective(topology, {CollectiveKind::all_reduce, Bytes{1024}, std::move(group)});
    INFO(key << '=' << value);
    for (const std::uint64_t questions : {1U, 100U, 10'000U})
      check_limit(sccl, topology, collective, questions, {{key, value}});
  };
  // Two among thousands, whose schedules are near them, or may go anywhere.
  check("hypercube:13", {NodeId{1}, NodeId{3}}, "k", "0");
  check("hypercube:11", {NodeId{1}, NodeId{3}}, "max_steps", "1000");
  check("switch:1024", {NodeId{1}, NodeId{3}}, "k", "0");
  for (const char* steps : {"64", "4096", "999999"})
    for (const char* network : {"ring:8", "torus2d:8x8"}) {
      const Topology topology = make_topology(network);
      check(network, everyone(topology), "steps", steps);
    }
}

#ifndef TUTTI_ADDRESS_SANITIZER // which takes far more than the program

TEST_CASE("every algorithm that runs out of memory says so in its row", "[slow]") {
  const Topology torus = make_topology("torus2d:32x32");
  for (const std::int64_t mebibytes : {96, 160, 256, 512}) {
    std::vector<Case> cases;
    for (const AlgorithmRow& row : all_algorithms())
      for (const char* collective : {"all_gather", "all_reduce", "scatter"}) {
        Case c;
        c.topology_label = "torus";
        c.topology = &torus;
        c.collective = {{collective}, {std::int64_t{1} << 30}};
        c.algorithm = row;
        c.options.limit_bytes = mebibytes << 20;
        c.options.limit_seconds = 5;
        c.engine = &find_engine("native");
        cases.push_back(c);
      }
    std::size_t out_of_memory = 0;
    for (const Evaluation& e : run_cases(cases, 1)) {
      INFO(mebibytes << " MiB, " << e.algorithm << ", " << e.collective << ": " << e.note);
      CHECK(e.problem == "");
      CHECK((e.verified || !e.note.empty()));
      if (e.note.find("out of memory: ") != std::string::npos) ++out_of_memory;
    }
    if (mebibytes == 96) CHECK(out_of_memory > 0);
  }
}

#endif

} // namespace algorithm_limits_test
