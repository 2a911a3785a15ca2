// The algorithm `flows`: correct schedules that come close to the fluid limit, for any number of
// chunks, several collectives at once, limits and settings.
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/synth/flows/price_bounds.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace flows_test {

namespace {

using namespace tutti;

const AlgorithmRow& row() {
  return *std::ranges::find(synthesizers(), "flows", &AlgorithmRow::name);
}

Collective collective_on(const Topology& topology, CollectiveKind kind, std::int64_t size,
                         std::uint32_t chunks_per_shard = 1) {
  return make_collective(topology, {.kind = kind,
                                    .size = Bytes{size},
                                    .group = {},
                                    .root = 0,
                                    .chunks_per_shard = chunks_per_shard});
}

/// Verified; the replay isn't below the bounds.
Time replayed(const Topology& topology, const Collective& collective, const Outcome& outcome) {
  REQUIRE(outcome.schedule);
  const Verdict verdict = verify(topology, collective, *outcome.schedule);
  INFO((verdict.fault ? verdict.fault->text : ""));
  REQUIRE(verdict.correct());
  CHECK(verdict.redundant == 0);
  const Time time = run_native(topology, collective, *outcome.schedule, {}).completion;
  CHECK(time >= outcome.bound.value());
  for (const Bound& bound : testing::flow_bounds(topology, collective, {}, Chunking::given))
    CHECK(time >= bound.time);
  return time;
}

} // namespace

TEST_CASE("flows: with more chunks the replay comes close to the fluid limit", "[heavy]") {
  for (const char* name : {"ring:6", "torus2d:4x4", "mesh2d:3x3", "hypercube:3", "dgx1",
                           "dgx_a100_rail:2", "multi_rail:4x2", "switch:6"})
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_to_all, CollectiveKind::all_reduce}) {
      INFO(name << ", " << to_text(kind));
      const Topology topology = make_topology(name);
      const std::int64_t size = topology.npu_count() * std::int64_t{1'000'000'000};
      const Collective collective = collective_on(topology, kind, size, 64);
      const Outcome outcome = synthesize(row(), topology, collective, {});
      const double time = replayed(topology, collective, outcome).seconds();
      CHECK(time >= outcome.facts.at("fluid_seconds") * (1 - 1e-9));
      // first come, first served doesn't hold back what is ready early: what is passed on may wait
      const double most = kind == CollectiveKind::all_gather       ? 1.05
                          : kind == CollectiveKind::reduce_scatter ? 1.25
                                                                   : 1.1;
      CHECK(time <= outcome.facts.at("fluid_seconds") * most);
    }
}

TEST_CASE("flows: groups whose trees run through others") {
  for (const auto& [name, first, last] :
       {std::tuple{"dragonfly:3x4", 4U, 7U}, std::tuple{"dragonfly:5x4", 8U, 15U},
        std::tuple{"dragonfly:7x6", 24U, 35U}, std::tuple{"mesh2d:4x4", 4U, 7U}})
    for (const CollectiveKind kind :
         {CollectiveKind::reduce_scatter, CollectiveKind::all_gather, CollectiveKind::all_reduce}) {
      INFO(name << ", " << to_text(kind));
      const Topology topology = make_topology(std::string(name) + ",bandwidth=400GB/s+200GB/s");
      std::vector<NodeId> group;
      for (std::uint32_t n = first; n <= last; ++n) group.emplace_back(n);
      const Collective collective = make_collective(topology, {.kind = kind,
                                                               .size = Bytes{1'000'000'000},
                                                               .group = group,
                                                               .root = 0,
                                                               .chunks_per_shard = 4});
      const Outcome outcome = synthesize(row(), topology, collective, {});
      replayed(topology, collective, outcome);
    }
}

TEST_CASE("flows: any number of chunks, and shards that don't divide") {
  const Topology topology = make_topology("torus2d:3x3");
  for (const CollectiveKind kind : basic_collectives())
    for (const std::uint32_t chunks_per_shard : {1U, 2U, 3U, 5U, 7U}) {
      INFO(to_text(kind) << ", " << chunks_per_shard);
      const Collective collective = collective_on(topology, kind, 1'000'003, chunks_per_shard);
      (void)replayed(topology, collective, synthesize(row(), topology, collective, {}));
    }
}

TEST_CASE("flows: left to choose, few chunks where latency counts and many where it doesn't") {
  const Topology topology = make_topology("torus2d:4x4,bandwidth=50GB/s,latency=0.5us");
  SynthesisOptions options;
  options.choose_chunks = true;
  const auto chunks_per_shard = [&](std::int64_t size) {
    const Collective one = collective_on(topology, CollectiveKind::all_gather, size);
    const Outcome outcome = synthesize(row(), topology, one, options);
    const Collective cut =
        collective_on(topology, CollectiveKind::all_gather, size, outcome.parts_per_chunk);
    const Time time = replayed(topology, cut, outcome);
    const Outcome uncut = synthesize(row(), topology, one, {});
    CHECK(time <= replayed(topology, one, uncut));
    return outcome.parts_per_chunk;
  };
  CHECK(chunks_per_shard(16) == 1); // a byte each can't be cut
  const std::uint32_t small = chunks_per_shard(16 * 1024),
                      large = chunks_per_shard(std::int64_t{1} << 30);
  CHECK(small < large);
  CHECK(large >= 4);
}

TEST_CASE("flows: several collectives at once are planned together") {
  // From both ends of a line each has its direction for itself: no slower than alone.
  const Topology topology(samples::mesh_parts(1, 4));
  const auto broadcast = [&](std::uint32_t root) {
    return make_collective(topology, {.kind = CollectiveKind::broadcast,
                                      .size = Bytes{1'000'000'000},
                                      .group = {},
                                      .root = root,
                                      .chunks_per_shard = 64});
  };
  const Collective both = merge(std::vector<Collective>{broadcast(0), broadcast(3)});
  const Outcome outcome = synthesize(row(), topology, both, {});
  const Time alone =
      replayed(topology, broadcast(0), synthesize(row(), topology, broadcast(0), {}));
  CHECK(replayed(topology, both, outcome) <= alone);
  CHECK(outcome.facts.at("fluid_seconds") == Approx(0.02));
}

TEST_CASE("flows: settings are checked") {
  const Topology topology = make_topology("dgx_a100");
  const Collective collective = collective_on(topology, CollectiveKind::all_gather, 8'000'000'000);
  const auto run = [&](const char* key, const char* value) {
    SynthesisOptions options;
    options.settings[key] = value;
    return synthesize(row(), topology, collective, options);
  };
  CHECK(message_of([&] { (void)run("trafic", "npu"); }).find("trafic") != std::string::npos);
  CHECK(message_of([&] { (void)run("traffic", "npu+raill"); }).find("raill") != std::string::npos);
  CHECK(message_of([&] { (void)run("mirrored", "maybe"); }).find("maybe") != std::string::npos);
  CHECK(run("mirrored", "no").facts.at("symmetry") == 1);
  CHECK(run("mirrored", "yes").facts.at("symmetry") == 8);
  CHECK_FALSE(run("traffic", "none").facts.contains("traffic_gb"));
  // what memory can copy needn't leave the GPU twice: 109.7 (Shapley 2025, Table 6.5) instead of
  // the 112 of sending everything to everyone
  CHECK(run("traffic", "npu").facts.at("traffic_gb") == Approx(109.687).epsilon(1e-4));
}

TEST_CASE("flows: a limit gives the best so far or says that there is nothing") {
  const Topology topology = make_topology("torus2d:5x5");
  const Collective collective = collective_on(topology, CollectiveKind::all_gather, 25'000'000);
  for (const int after : {0, 3, 30, 300, 3000}) {
    SynthesisOptions options;
    int asked = 0;
    options.cancelled = [&] { return ++asked > after; };
    options.settings["mirrored"] = "no";
    const Outcome outcome = synthesize(row(), topology, collective, options);
    INFO("after " << after);
    if (outcome.schedule) {
      CHECK((outcome.status == Status::timed_out || outcome.status == Status::feasible));
      (void)replayed(topology, collective, outcome);
    } else {
      CHECK(outcome.status == Status::timed_out);
      CHECK_FALSE(outcome.note.empty());
    }
  }
}

TEST_CASE("flow bounds: more than cuts can say of All-to-All, All-Reduce and buses") {
  // a chain of four, everyone to everyone: the middle link carries 4 pairs each way; on a mesh of
  // 3 x 3 cuts aren't enough
  const Topology mesh = make_topology("mesh2d:3x3,bandwidth=50GB/s,latency=0us");
  const Collective exchange =
      collective_on(mesh, CollectiveKind::all_to_all, 9 * std::int64_t{1'000'000'000});
  const std::vector<Bound> bounds = testing::flow_bounds(mesh, exchange, {}, Chunking::given);
  REQUIRE(bounds.size() == 1);
  CHECK(bounds.front().kind == BoundKind::flow_prices);
  // three columns apart from six: 18 GB over 3 links of 50 GB/s; nothing is above it
  CHECK(bounds.front().time.seconds() == Approx(18.0 / 150).epsilon(1e-9));
  CHECK(bounds.front().certificate.find("npu") != std::string::npos);
  // nothing that a cut doesn't say as well
  const Collective gather = collective_on(mesh, CollectiveKind::all_gather, 9'000'000'000);
  CHECK(testing::flow_bounds(mesh, gather, {}, Chunking::given).empty());
}

// Polls ask a clock whether to ask, so where a run ends differs; what it ends with doesn't.
TEST_CASE("flows and tree_packing: whenever they are stopped, a correct schedule or none") {
  for (const char* algorithm : {"flows", "tree_packing"})
    for (const char* network : {"torus2d:4x4", "switch:8", "hypercube:3"}) {
      const AlgorithmRow& asked_of =
          *std::ranges::find(synthesizers(), algorithm, &AlgorithmRow::name);
      const Topology topology = make_topology(network);
      for (const CollectiveKind kind :
           {CollectiveKind::all_gather, CollectiveKind::all_to_all, CollectiveKind::all_reduce}) {
        if (std::ranges::find(asked_of.collectives, kind) == asked_of.collectives.end()) continue;
        const Collective collective = collective_on(topology, kind, 1 << 20, 2);
        bool ended = false; // by itself
        for (int after = 0; after < 200 && !ended; after += 1 + after / 4) {
          INFO(algorithm << ", " << network << ", " << to_text(kind) << ", after " << after);
          int asked = 0;
          SynthesisOptions options;
          options.cancelled = [&] { return ++asked > after; };
          const Outcome outcome = synthesize(asked_of, topology, collective, options);
          ended = asked <= after;
          if (outcome.schedule) {
            CHECK(verify(topology, collective, *outcome.schedule).correct());
          } else {
            CHECK_FALSE(ended);
            CHECK(outcome.status == Status::timed_out);
            CHECK_FALSE(outcome.note.empty());
          }
        }
      }
    }
}

} // namespace flows_test
