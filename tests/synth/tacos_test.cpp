#include "sim/bounds.hpp"
#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <vector>

using namespace tutti;

namespace {

const AlgorithmRow& row() { return synthesizers().front(); }

/// Synthesizes, and checks what every schedule of ours must keep to. Returns the replayed time.
Time checked_time(const Topology& topology, const CollectiveSpec& spec,
                  const SynthesisOptions& options = {}) {
  const Collective collective = make_collective(topology, spec);
  const Outcome outcome = synthesize(row(), topology, collective, options);
  INFO(topology.name() << " " << collective.name() << " in " << spec.pieces << " " << outcome.note);
  REQUIRE(outcome.status == Status::feasible);
  const Verdict verdict = verify(topology, collective, *outcome.schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  for (std::size_t i = 0; i < outcome.schedule->size(); ++i)
    CHECK((*outcome.schedule)[i].path.value < topology.link_count()); // single hops
  const Report report = run_native(topology, collective, *outcome.schedule, options.model);
  CHECK(report.completion >= lower_bound(topology, collective, options.model).time);
  return report.completion;
}

CollectiveSpec spec_of(CollectiveKind kind, std::uint32_t pieces = 1, Bytes size = {1'000'003}) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = size;
  spec.pieces = pieces;
  return spec;
}

} // namespace

TEST_CASE("TACOS makes correct schedules on every kind of direct network") {
  std::vector<Topology> networks{samples::ring(2),          samples::ring(5, true),
                                 samples::ring(7),          samples::full(4),
                                 samples::mesh(1, 6),       samples::mesh(3, 3),
                                 samples::mesh(2, 5),       samples::mesh_without_a_link(3, 4),
                                 samples::uneven_mesh(3, 4)};
  for (const char* text : {"dragonfly:3x3", "torus3d:2x3x3", "hypercube:3", "dgx1", "mi250x",
                           "mesh2d:4x4,bandwidth=50GB/s+75GB/s,without=npu5+npu10"})
    networks.push_back(make_topology(text));
  for (const Topology& topology : networks)
    for (const CollectiveKind kind : row().collectives)
      for (const std::uint32_t pieces : {1U, 3U})
        (void)checked_time(topology, spec_of(kind, pieces));
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
    const Time bound = lower_bound(topology, make_collective(topology, spec), paper.model).time;
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
  for (const CollectiveKind kind : row().collectives) {
    spec.kind = kind;
    (void)checked_time(topology, spec);
  }
}

TEST_CASE("a slow link doesn't hold up the end") {
  // Two NPUs joined by a link and a second one 100 times slower: 10 chunks take 10 D + alpha on the
  // fast link alone; one on the slow link would take 100 D.
  TopologyParts parts = samples::npus("two lanes", 2);
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

TEST_CASE("what TACOS refuses") {
  const Topology star = samples::star(4);
  const Collective collective = make_collective(star, spec_of(CollectiveKind::all_gather));
  const Outcome outcome = synthesize(row(), star, collective, {});
  CHECK(outcome.status == Status::infeasible);
  CHECK(outcome.note == "tacos works on links between NPUs, and here they don't connect every NPU "
                        "with every other");
  CHECK(synthesize(row(), samples::ring(4),
                   make_collective(samples::ring(4), spec_of(CollectiveKind::all_to_all)), {})
            .note == "tacos doesn't define all_to_all");
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
      "unknown setting of tacos \"strats\" (known: candidates, starts; did you mean \"starts\"?)");
  CHECK(refusal("starts", "0") == "starts 0 is out of range (1 .. 1000000)");
  CHECK(refusal("candidates", "many") == "candidates \"many\" is not a whole number");
}
