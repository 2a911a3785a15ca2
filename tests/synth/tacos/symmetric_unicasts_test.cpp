// Plans of All-to-Alls by symmetry: links of an orbit carry the same, a replay takes as long as the
// job shop says, and neither numbers of nodes nor a second run change anything.

#include "synth/tacos/symmetric_unicasts.hpp"

#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "sim/verify_compact.hpp"
#include "synth/list.hpp"
#include "synth/symmetry/network_symmetry.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace symmetric_unicasts_test {

using namespace tutti;

namespace {

Collective all_to_all(const Topology& topology, std::uint32_t chunks_per_shard = 1) {
  const std::int64_t npus = topology.npu_count();
  return make_collective(
      topology, {CollectiveKind::all_to_all, Bytes{npus * 3 << 15}, {}, 0, chunks_per_shard});
}

std::vector<std::int64_t> bytes_by_link(const Topology& topology, const Collective& collective,
                                        const Schedule& schedule) {
  std::vector<std::int64_t> bytes(topology.link_count());
  for (std::size_t i = 0; i < schedule.size(); ++i)
    for (const LinkId link : schedule.paths().links(schedule.path_of(i)))
      bytes[link.value] += collective.chunks[schedule[i].chunk.value].size.count;
  return bytes;
}

/// Nodes and links in another order.
Topology relabelled(const Topology& topology, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> nodes(topology.node_count()), links(topology.link_count());
  std::iota(nodes.begin(), nodes.end(), 0U);
  std::iota(links.begin(), links.end(), 0U);
  random.shuffle(nodes);
  random.shuffle(links);
  TopologyParts parts;
  for (const std::uint32_t n : nodes) parts.add_node(topology.node(NodeId{n}));
  std::vector<NodeId> now(nodes.size());
  for (std::uint32_t n = 0; n < nodes.size(); ++n) now[nodes[n]] = NodeId{n};
  for (const std::uint32_t l : links) {
    Link link = topology.link(LinkId{l});
    link.from = now[link.from.value];
    link.to = now[link.to.value];
    parts.add_link(link);
  }
  return Topology(std::move(parts));
}

} // namespace

TEST_CASE("a network's symmetry takes each node and link to another, and keeps links") {
  for (const char* name : {"torus2d:4x6", "dragonfly:4x5", "hypercube:4", "mesh2d:4x4",
                           "torus2d:4x4,bandwidth=50GB/s+25GB/s,latency=1us+2us"}) {
    const Topology topology = make_topology(name);
    const NetworkSymmetry symmetry =
        network_symmetry(topology, std::vector<std::uint32_t>(topology.node_count()));
    INFO(name);
    REQUIRE(symmetry.elements.size() > 1);
    CHECK(std::ranges::is_sorted(symmetry.elements.front()));
    for (std::size_t e = 1; e < symmetry.elements.size(); ++e)
      for (std::uint32_t n = 0; n < topology.node_count(); ++n)
        REQUIRE(symmetry.elements[e][n] != n);
    for (const Permutation& element : symmetry.elements) {
      std::set<LinkId> images;
      for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
        const LinkId image = symmetry.image(topology, LinkId{l}, element);
        const Link &one = topology.link(LinkId{l}), &other = topology.link(image);
        REQUIRE(other.from.value == element[one.from.value]);
        REQUIRE(other.to.value == element[one.to.value]);
        REQUIRE(other.bandwidth == one.bandwidth);
        REQUIRE(other.latency == one.latency);
        REQUIRE(symmetry.orbit[image.value] == symmetry.orbit[l]);
        images.insert(image);
      }
      REQUIRE(images.size() == topology.link_count());
    }
  }
}

TEST_CASE("marked nodes are exchanged with their like only") {
  const Topology ring = make_topology("ring:8");
  std::vector<std::uint32_t> marks(8);
  for (const std::uint32_t n : {0U, 1U, 4U, 5U}) marks[n] = 1;
  const NetworkSymmetry symmetry = network_symmetry(ring, marks);
  CHECK(symmetry.elements.size() == 4);
  marks[1] = 0;
  CHECK(network_symmetry(ring, marks).elements.size() == 1);
}

TEST_CASE("symmetric All-to-Alls are correct, load orbits alike, and take what they plan") {
  for (const LinkBusy busy : {LinkBusy::serialization, LinkBusy::latency_and_serialization})
    for (const char* name :
         {"torus2d:4x6", "torus3d:3x3x3", "dragonfly:4x5", "hypercube:4", "ring:9", "mesh2d:4x4",
          "torus2d:4x4,bandwidth=50GB/s+25GB/s,latency=1us+2us"})
      for (const std::uint32_t chunks : {1U, 3U}) {
        const Topology topology = make_topology(name);
        const Collective collective = all_to_all(topology, chunks);
        SynthesisOptions options;
        options.model.link_busy = busy;
        const auto plan = symmetric_unicasts(topology, collective, options, WorkLimit(options));
        INFO(name << " in " << chunks);
        REQUIRE(plan.has_value());
        REQUIRE(plan->schedule.has_value());
        CHECK(plan->transfers == plan->schedule->size());
        const Verdict verdict = verify(topology, collective, *plan->schedule);
        CHECK_FALSE(verdict.fault.has_value());
        CHECK(verdict.redundant == 0);
        CHECK(run_native(topology, collective, *plan->schedule, options.model).completion ==
              plan->makespan);
        const NetworkSymmetry symmetry =
            network_symmetry(topology, std::vector<std::uint32_t>(topology.node_count(), 1));
        const auto bytes = bytes_by_link(topology, collective, *plan->schedule);
        for (std::uint32_t l = 0; l < topology.link_count(); ++l)
          REQUIRE(bytes[l] == bytes[symmetry.orbit[l]]);
      }
}

TEST_CASE("loads of a torus' All-to-All are those of shortest paths, and few orders are tried") {
  const Topology topology = make_topology("torus2d:8x8");
  const Collective collective = all_to_all(topology);
  const SynthesisOptions options;
  const auto plan = symmetric_unicasts(topology, collective, options, WorkLimit(options));
  REQUIRE(plan.has_value());
  CHECK(plan->symmetry == 64);
  CHECK(plan->orders <= 48);
  // Each NPU's chunks make 8 * (0 + 1 + 2 + 3 + 4 + 3 + 2 + 1) hops along each dimension.
  CHECK(plan->transfers == 64 * 2 * 8 * 16);
  const auto bytes = bytes_by_link(topology, collective, *plan->schedule);
  for (const std::int64_t its : bytes) CHECK(its == 64 * (std::int64_t{3} << 15));
}

TEST_CASE("an All-to-All takes as long however a symmetric network is listed") {
  const auto time_on = [&](const Topology& topology) {
    const Collective collective = all_to_all(topology);
    const Outcome outcome = tacos(topology, collective, {});
    REQUIRE(outcome.schedule.has_value());
    return run_native(topology, collective, *outcome.schedule, {}).completion;
  };
  const Topology torus = make_topology("torus2d:4x8");
  const Time time = time_on(torus);
  CHECK(time_on(torus) == time);
  CHECK(time_on(relabelled(torus, 1)) == time);
  CHECK(time_on(relabelled(torus, 2)) == time);
}

TEST_CASE("without symmetry, or where links share bandwidth, nothing is planned for all at once") {
  const SynthesisOptions options;
  for (const char* name : {"random:16", "switch:4", "dgx_h100:1"}) {
    const Topology topology = make_topology(name);
    INFO(name);
    CHECK_FALSE(symmetric_unicasts(topology, all_to_all(topology), options, WorkLimit(options))
                    .has_value());
  }
  const Topology ring = make_topology("ring:4");
  const Collective gather =
      make_collective(ring, {CollectiveKind::all_gather, Bytes{1 << 20}, {}, 0, 1});
  CHECK_FALSE(symmetric_unicasts(ring, gather, options, WorkLimit(options)).has_value());
}

TEST_CASE("the All-to-All of 1,024 NPUs is within 1 % of the busiest link", "[slow]") {
  for (const char* name : {"torus2d:32x32", "dragonfly:24x25"}) {
    const Topology topology = make_topology(name);
    const Collective collective = all_to_all(topology);
    const SynthesisOptions options;
    const auto plan = symmetric_unicasts(topology, collective, options, WorkLimit(options));
    INFO(name);
    REQUIRE(plan.has_value());
    if (!plan->compact) continue;
    CHECK_FALSE(verify(topology, collective, *plan->compact).fault.has_value());
    const Report report = run_native_compact(topology, collective, *plan->compact, options.model);
    CHECK(report.completion == plan->makespan);
    Time busiest;
    for (const LinkUse& use : report.links) busiest = std::max(busiest, use.busy);
    CHECK(static_cast<double>(plan->makespan.ps) < 1.01 * static_cast<double>(busiest.ps));
  }
}

} // namespace symmetric_unicasts_test
