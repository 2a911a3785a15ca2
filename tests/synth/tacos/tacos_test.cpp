#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <array>
#include <vector>

namespace tacos_test {

using namespace tutti;

namespace {

const AlgorithmRow& row() { return synthesizers().front(); }

/// Synthesizes, and checks what every schedule of ours must keep to. Returns the replayed time.
Time checked_time(const Topology& topology, const CollectiveSpec& spec,
                  const SynthesisOptions& options = {}) {
  const Collective collective = make_collective(topology, spec);
  const Outcome outcome = synthesize(row(), topology, collective, options);
  INFO(topology.name() << " " << collective.name() << " in " << spec.chunks_per_shard << " "
                       << outcome.note);
  REQUIRE(outcome.status == Status::feasible);
  REQUIRE(outcome.schedule);
  const Verdict verdict = verify(topology, collective, *outcome.schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  const Report report = run_native(topology, collective, *outcome.schedule, options.model);
  CHECK(report.completion >=
        lower_bound(topology, collective, options.model, Chunking::given).time);
  return report.completion;
}

CollectiveSpec spec_of(CollectiveKind kind, std::uint32_t chunks_per_shard = 1,
                       Bytes size = {1'000'003}) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = size;
  spec.chunks_per_shard = chunks_per_shard;
  return spec;
}

} // namespace

TEST_CASE("TACOS makes correct schedules of every collective on every kind of network", "[heavy]") {
  std::vector<Topology> networks{samples::ring(2),
                                 samples::ring(5, true),
                                 samples::full(4),
                                 samples::star(4),
                                 samples::mesh(3, 3),
                                 samples::mesh(2, 5),
                                 samples::mesh_without_a_link(3, 4),
                                 samples::uneven_mesh(3, 4)};
  for (const char* text :
       {"dragonfly:3x3", "torus3d:2x3x3", "hypercube:3", "dgx1", "mi250x", "ndv2", "rfs:2x2x3",
        "two_level_switch:3x3", "fat_tree:4", "multi_rail:2x3", "switch:5,without=npu2",
        "mesh2d:4x4,bandwidth=50GB/s+75GB/s,without=npu5+npu10"})
    networks.push_back(make_topology(text));
  std::uint32_t turn = 0;
  for (const Topology& topology : networks)
    for (const CollectiveKind kind : basic_collectives())
      (void)checked_time(topology, spec_of(kind, ++turn % 3 == 0 ? 3 : 1));
}

TEST_CASE("TACOS serves both models of busy links, and any network it is told to match on") {
  for (const char* text : {"switch:6", "rfs:2x2x3,bandwidth=200GB/s+100GB/s+50GB/s", "fat_tree:4",
                           "two_level_switch:4x2,bandwidth=300GB/s+25GB/s"}) {
    const Topology topology = make_topology(text);
    for (const LinkBusy busy : {LinkBusy::serialization, LinkBusy::latency_and_serialization})
      for (const char* degree : {"1", "2", "ports"})
        for (const CollectiveKind kind :
             {CollectiveKind::all_gather, CollectiveKind::all_reduce, CollectiveKind::broadcast}) {
          SynthesisOptions options;
          options.model.link_busy = busy;
          options.settings["degree"] = degree;
          (void)checked_time(topology, spec_of(kind, 2), options);
        }
  }
}

TEST_CASE("TACOS is at the bound on homogeneous grids and tori") {
  SynthesisOptions paper;
  paper.model.link_busy = LinkBusy::latency_and_serialization;
  for (const char* text : {"ring:9", "mesh2d:5x5", "mesh2d:8x8", "mesh3d:4x4x4", "torus2d:6x6",
                           "torus2d:9x9", "torus3d:3x3x3", "hypercube:5", "fully_connected:9"}) {
    const Topology topology = make_topology(text);
    const CollectiveSpec spec =
        spec_of(CollectiveKind::all_gather, 1, Bytes{100'000 * std::int64_t{topology.npu_count()}});
    const Time time = checked_time(topology, spec, paper);
    const Time bound =
        lower_bound(topology, make_collective(topology, spec), paper.model, Chunking::given).time;
    INFO(text);
    CHECK(time == bound);
  }
}

TEST_CASE("a Reduce-Scatter takes no longer than its All-Gather on a symmetric network") {
  const Topology topology = make_topology("mesh2d:4x5");
  const Time gather = checked_time(topology, spec_of(CollectiveKind::all_gather));
  CHECK(checked_time(topology, spec_of(CollectiveKind::reduce_scatter)) <= gather);
  CHECK(checked_time(topology, spec_of(CollectiveKind::all_reduce)) <= Time{2 * gather.ps});
}

TEST_CASE("a process group uses its own links, or relays outside it") {
  const Topology topology = samples::mesh(3, 4);
  CollectiveSpec spec = spec_of(CollectiveKind::all_gather);
  for (const std::uint32_t n : {0U, 1U, 4U, 5U}) spec.group.emplace_back(n); // a 2 x 2 corner
  const Collective corner = make_collective(topology, spec);
  const Outcome inside = synthesize(row(), topology, corner, {});
  for (std::size_t i = 0; i < inside.schedule->size(); ++i) {
    const Link& link = topology.link(inside.schedule->paths().first((*inside.schedule)[i].path));
    CHECK((link.from.value % 4 < 2 && link.to.value % 4 < 2));
  }
  spec.group = {NodeId{0}, NodeId{3}, NodeId{8}, NodeId{11}}; // the four corners
  for (const CollectiveKind kind : basic_collectives()) {
    spec.kind = kind;
    (void)checked_time(topology, spec);
  }
}

TEST_CASE("a slow link doesn't hold up the end") {
  // Two NPUs joined by a link and a second one 100 times slower: 10 chunks take 10 D + alpha on the
  // fast link alone; one on the slow link would take 100 D.
  TopologyParts parts = samples::npus("two links", 2);
  parts.add_duplex(samples::link(0, 1));
  Link slow = samples::link(0, 1);
  slow.bandwidth.bytes_per_second /= 100;
  parts.add_link(slow);
  const Topology topology(std::move(parts));
  const CollectiveSpec spec = spec_of(CollectiveKind::broadcast, 10, Bytes{1'000'000});
  CHECK(checked_time(topology, spec) == Time{10 * 2'000'000 + 500'000});
}

TEST_CASE("same seed, same schedule; more starts are never worse") {
  const Topology topology = make_topology("dragonfly:4x5,bandwidth=400GB/s+200GB/s");
  const Collective collective = make_collective(topology, spec_of(CollectiveKind::all_gather, 2));
  SynthesisOptions options;
  const Outcome first = tacos(topology, collective, options);
  CHECK(*first.schedule == *tacos(topology, collective, options).schedule);
  options.settings["starts"] = "8";
  const Outcome best = tacos(topology, collective, options);
  CHECK(*best.schedule == *tacos(topology, collective, options).schedule);
  CHECK(run_native(topology, collective, *best.schedule, {}).completion <=
        run_native(topology, collective, *first.schedule, {}).completion);
}

TEST_CASE("a limit that passes first leaves no partial schedule") {
  const Topology topology = make_topology("mesh2d:16x16");
  SynthesisOptions options;
  options.limit_seconds = 1e-9;
  const Outcome outcome =
      tacos(topology, make_collective(topology, spec_of(CollectiveKind::all_gather)), options);
  CHECK(outcome.status == Status::timed_out);
  CHECK_FALSE(outcome.schedule);
  CHECK(outcome.note == "no schedule within the limit");
}

TEST_CASE("the best network is at least as good as any that can be asked for") {
  SynthesisOptions options;
  for (const char* text : {"switch:8", "rfs:2x2x4,bandwidth=200GB/s+100GB/s+50GB/s", "fat_tree:4"})
    for (const Bytes size : {Bytes{8'000}, Bytes{80'000'000}}) {
      const Topology topology = make_topology(text);
      const CollectiveSpec spec = spec_of(CollectiveKind::all_gather, 1, size);
      const Time best = checked_time(topology, spec, options);
      for (const char* degree : {"1", "2", "ports"}) {
        SynthesisOptions asked;
        asked.settings["degree"] = degree;
        CHECK(best <= checked_time(topology, spec, asked));
      }
    }
}

TEST_CASE("on one switch the ports are busy all the time") {
  // 7 chunks of 1 MB into each port at 50 GB/s, one after another, and the path of the first one.
  const Topology topology = make_topology("switch:8");
  CHECK(checked_time(topology, spec_of(CollectiveKind::all_gather, 1, Bytes{8'000'000})) ==
        Time{7 * 20'000'000 + 2 * 500'000});
}

TEST_CASE("a schedule on unwound switches says what it was planned on") {
  const Topology topology = make_topology("switch:6");
  SynthesisOptions options;
  options.settings["degree"] = "2";
  const Collective collective = make_collective(topology, spec_of(CollectiveKind::all_gather));
  const Outcome outcome = synthesize(row(), topology, collective, options);
  CHECK(outcome.planned_on == "switches unwound with degree 2");
  REQUIRE(outcome.planned);
  CHECK(outcome.planned->ps > 0);
}

TEST_CASE("a pipelined All-Reduce needs less where both halves leave links idle") {
  SynthesisOptions options;
  const Topology mesh = make_topology("mesh2d:6x6");
  const CollectiveSpec spec = spec_of(CollectiveKind::all_reduce, 4, Bytes{36'000'000});
  options.settings["all_reduce"] = "sequential";
  const Time sequential = checked_time(mesh, spec, options);
  options.settings["all_reduce"] = "pipelined";
  const Time pipelined = checked_time(mesh, spec, options);
  CHECK(pipelined.ps * 10 < sequential.ps * 9);
  CHECK(checked_time(mesh, spec) == pipelined);
}

TEST_CASE("several collectives on one network at once") {
  // As in TACOS, Fig. 23 b: three process groups of a 6 x 6 mesh.
  const Topology mesh = make_topology("mesh2d:6x6");
  const auto part = [&](CollectiveKind kind, std::uint32_t first_row, std::uint32_t rows,
                        std::uint32_t root) {
    CollectiveSpec spec = spec_of(kind, 2);
    for (std::uint32_t n = 6 * first_row; n < 6 * (first_row + rows); ++n)
      spec.group.emplace_back(n);
    spec.root = root;
    return make_collective(mesh, spec);
  };
  const std::array parts{part(CollectiveKind::broadcast, 0, 2, 2),
                         part(CollectiveKind::reduce, 2, 2, 5),
                         part(CollectiveKind::all_reduce, 4, 2, 0)};
  const Collective all = merge(parts);
  const Outcome outcome = synthesize(row(), mesh, all, {});
  REQUIRE(outcome.schedule);
  const Verdict verdict = verify(mesh, all, *outcome.schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  const Time together = run_native(mesh, all, *outcome.schedule, {}).completion;
  Time slowest;
  for (const Collective& one : parts)
    slowest = std::max(
        slowest, run_native(mesh, one, *synthesize(row(), mesh, one, {}).schedule, {}).completion);
  CHECK(together <= slowest); // their links are their own
}

TEST_CASE("what TACOS refuses") {
  const auto refusal = [&](const char* key, const char* value) {
    SynthesisOptions options;
    options.settings[key] = value;
    const Topology ring = samples::ring(4);
    return message_of([&] {
      (void)synthesize(row(), ring, make_collective(ring, spec_of(CollectiveKind::all_gather)),
                       options);
    });
  };
  CHECK(
      refusal("strats", "3") ==
      "unknown setting of tacos \"strats\" (known: starts, candidates, degree, all_reduce; did you "
      "mean \"starts\"?)");
  CHECK(refusal("starts", "0") == "starts 0 is out of range (1 .. 1000000)");
  CHECK(refusal("candidates", "many") == "candidates \"many\" is not a whole number");
  CHECK(refusal("degree", "2") == "degree is of switches, and none joins the participants");
  CHECK(refusal("all_reduce", "both") ==
        "unknown form of all_reduce \"both\" (known: auto, sequential, pipelined)");
  const Topology star = samples::star(4);
  SynthesisOptions options;
  options.settings["degree"] = "4";
  CHECK(message_of([&] {
          (void)synthesize(row(), star, make_collective(star, spec_of(CollectiveKind::all_gather)),
                           options);
        }) == "degree 4 is out of range (1 .. 3)");
}

} // namespace tacos_test
