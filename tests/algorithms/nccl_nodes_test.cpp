// Which NPUs NCCL and RCCL take for a node: of networks that say no more than links and speeds, of
// machines, and what is asked for.
#include "algorithms/list.hpp"
#include "algorithms/nccl/nodes.hpp"
#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nccl_nodes_test {

using namespace tutti;
using namespace tutti::nccl;

namespace {

constexpr std::int64_t gb = 1'000'000'000;

/// Servers on a switch each and, GPU by GPU, on rails. `number(server, gpu)` is an NPU's.
template <typename Number>
Topology rails(std::uint32_t servers, std::uint32_t gpus, Number number) {
  TopologyParts parts;
  parts.name = "rails";
  for (std::uint32_t n = 0; n < servers * gpus; ++n)
    parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
  for (std::uint32_t s = 0; s < servers + gpus; ++s)
    parts.add_node({fmt::format("s{}", s), NodeKind::switching, {false, false, false}, {}});
  for (std::uint32_t s = 0; s < servers; ++s)
    for (std::uint32_t g = 0; g < gpus; ++g) {
      const NodeId npu{number(s, g)};
      parts.add_duplex({npu, NodeId{servers * gpus + s}, Time{350'000}, Bandwidth{450 * gb}});
      parts.add_duplex(
          {npu, NodeId{servers * (gpus + 1) + g}, Time{1'000'000}, Bandwidth{50 * gb}});
    }
  return Topology(std::move(parts));
}
Topology in_order(std::uint32_t servers, std::uint32_t gpus) {
  return rails(servers, gpus, [=](std::uint32_t s, std::uint32_t g) { return s * gpus + g; });
}
Topology scattered(std::uint32_t servers, std::uint32_t gpus) {
  return rails(servers, gpus, [=](std::uint32_t s, std::uint32_t g) { return g * servers + s; });
}

/// Servers of 8 GPUs, each GPU with a NIC at its server's leaf; leaves under two spines that carry
/// all of it. leaf_of: [server].
Topology leaves(const std::vector<std::uint32_t>& leaf_of) {
  TopologyParts parts;
  parts.name = "leaves";
  const auto servers = static_cast<std::uint32_t>(leaf_of.size());
  for (std::uint32_t n = 0; n < servers * 8; ++n)
    parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
  const auto add_switch = [&] {
    return parts.add_node(
        {fmt::format("s{}", parts.nodes.size()), NodeKind::switching, {false, false, false}, {}});
  };
  std::map<std::uint32_t, NodeId> found;
  for (const std::uint32_t leaf : leaf_of)
    if (!found.contains(leaf)) found.emplace(leaf, add_switch());
  for (std::uint32_t s = 0; s < servers; ++s) {
    const NodeId inside = add_switch();
    for (std::uint32_t g = 0; g < 8; ++g) {
      const NodeId npu{s * 8 + g};
      parts.add_duplex({npu, inside, Time{350'000}, Bandwidth{450 * gb}});
      parts.add_duplex({npu, found.at(leaf_of[s]), Time{1'000'000}, Bandwidth{50 * gb}});
    }
  }
  for (int spine = 0; spine < 2; ++spine) {
    const NodeId top = add_switch();
    for (const auto& [leaf, node] : found)
      parts.add_duplex({node, top, Time{1'000'000}, Bandwidth{400 * gb}});
  }
  return Topology(std::move(parts));
}

Outcome answer_of(const Topology& topology, std::map<std::string, std::string> settings = {},
                  SynthesisFunction run = nccl_algorithm, std::vector<NodeId> group = {}) {
  SynthesisOptions options;
  options.settings = std::move(settings);
  return run(topology,
             make_collective(topology,
                             {CollectiveKind::all_reduce, Bytes{1 << 24}, std::move(group), 0, 16}),
             options);
}

Time time_of(const Topology& topology, const Outcome& outcome) {
  REQUIRE(outcome.schedule);
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_reduce, Bytes{1 << 24}, {}, 0, 16});
  REQUIRE(verify(topology, collective, *outcome.schedule).correct());
  return run_native(topology, collective, *outcome.schedule, {}).completion;
}

} // namespace

TEST_CASE("a leaf with one server is a leaf") {
  const Topology together = leaves({0, 0, 0}), alone = leaves({0, 0, 1});
  const Outcome there = answer_of(together), here = answer_of(alone);
  CHECK(here.facts == there.facts);
  // As much as eight NICs carry, and latencies.
  CHECK(time_of(alone, here).seconds() < 1.5 * 2.0 * 23 / 24 * (1 << 24) / (8 * 50e9));
  CHECK(answer_of(leaves({0, 1, 1, 1})).schedule);
}

TEST_CASE("servers of a network without parts are nodes, in whichever order NPUs are numbered") {
  const Topology network = in_order(4, 8), mixed = scattered(4, 8);
  const Outcome plain = answer_of(network);
  CHECK(plain.facts.at("nodes") == 4);
  const Time time = time_of(network, plain);
  // A ring over rails: each NIC carries its channels' share of 2 x 31/32 of the buffer.
  CHECK(time.seconds() >= 2.0 * 31 / 32 * (1 << 24) / (8 * 50e9));
  CHECK(time.seconds() < 1.5 * 2.0 * 31 / 32 * (1 << 24) / (8 * 50e9));
  for (const Topology* topology : {&network, &mixed})
    for (const std::map<std::string, std::string>& settings :
         {std::map<std::string, std::string>{}, {{"node_size", "8"}}}) {
      const Outcome outcome = answer_of(*topology, settings);
      CHECK(outcome.facts.at("nodes") == 4);
      CHECK(time_of(*topology, outcome) == time);
    }
  CHECK(answer_of(mixed, {{"gpu", "mi300x"}}, rccl_algorithm).facts.at("nodes") == 4);
}

TEST_CASE("a group has the nodes that the whole network shows") {
  const Topology network = in_order(10, 8), alike = make_topology("switch:80");
  const auto group_of = [](std::uint32_t npus) {
    std::vector<NodeId> group;
    for (std::uint32_t n = 0; n < npus; ++n) group.emplace_back(n);
    return group;
  };
  const auto nodes = [&](std::uint32_t npus) {
    return answer_of(network, {}, nccl_algorithm, group_of(npus)).facts.at("nodes");
  };
  CHECK(nodes(4) == 1);
  CHECK(nodes(8) == 1);
  CHECK(nodes(16) == 2);
  CHECK(nodes(80) == 10);
  // Eight of 80 that are alike may be in one server or in eight.
  CHECK_FALSE(answer_of(alike, {}, nccl_algorithm, group_of(8)).facts.contains("nodes"));
}

TEST_CASE("a size of nodes that cannot be is refused in words") {
  const auto note = [](const Topology& topology, const std::string& size) {
    const Outcome outcome = answer_of(topology, {{"node_size", size}});
    CHECK(outcome.status == (outcome.schedule ? Status::feasible : Status::unsupported));
    return outcome.note;
  };
  CHECK(note(in_order(5, 8), "5") == "node_size=5 cuts through a server of 8 NPUs");
  CHECK(note(in_order(4, 8), "4") == "node_size=4 cuts through a server of 8 NPUs");
  CHECK(note(in_order(4, 8), "5") == "node_size=5 doesn't divide 32 NPUs");
  CHECK(note(scattered(4, 8), "16") ==
        "node_size=16 cuts through a server of 8 NPUs, as they are numbered");
  CHECK(answer_of(in_order(4, 8), {{"node_size", "16"}}).facts.at("nodes") == 2);
  CHECK(note(make_topology("dgx_h100:2"), "4") == "node_size=4 cuts through a server of 8 NPUs");
  CHECK(note(make_topology("switch:80"), "80") == "node_size=80: a node has at most 72 GPUs");
  CHECK(note(in_order(2, 80), "8") == "node_size=8 cuts through a server of 80 NPUs");
  CHECK(answer_of(in_order(2, 80)).note == "servers of 80 NPUs: a node has at most 72 GPUs");
}

TEST_CASE("links as they are measured join a node, cards between NPUs don't") {
  // V100s in a ring of four: NVLinks of 25 GB/s, measured with 22; two cards of 12.5 GB/s.
  TopologyParts parts;
  parts.name = "pairs";
  parts.npu_model = "v100";
  for (std::uint32_t n = 0; n < 4; ++n)
    parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
  for (std::uint32_t n = 0; n < 4; ++n)
    parts.add_duplex({NodeId{n}, NodeId{(n + 1) % 4}, Time{1'000'000},
                      Bandwidth{n % 2 == 0 ? 22 * gb : 12'500'000'000}});
  CHECK(NodesOfNpus(Topology(std::move(parts)), "", "h100").are_of(2));
}

TEST_CASE("servers of unequal sizes are a guess, however they come about") {
  // One has lost a GPU; or a fast cable joins two of three.
  TopologyParts joined = in_order(3, 4).parts();
  joined.add_duplex({NodeId{0}, NodeId{4}, Time{1'000}, Bandwidth{450'000'000'000}, -1});
  for (const Topology& network :
       {without(in_order(2, 4), std::vector{NodeId{1}}, {}), Topology(std::move(joined))}) {
    const Outcome outcome = answer_of(network);
    REQUIRE(outcome.schedule);
    CHECK_FALSE(outcome.facts.contains("nodes"));
    CHECK_THAT(outcome.planned_on + outcome.note, ContainsSubstring("only equal ones are known"));
    CHECK(answer_of(network, {{"node_size", "4"}}).schedule.has_value() ==
          (network.npu_count() == 12));
  }
}

TEST_CASE("without servers all NPUs are one node, a guess where NCCL has none so large") {
  CHECK(answer_of(make_topology("switch:72")).facts.at("nodes") == 1);
  const Outcome large = answer_of(make_topology("switch:73"));
  CHECK(large.schedule.has_value());
  CHECK_FALSE(large.facts.contains("nodes"));
  CHECK_THAT(large.planned_on,
             ContainsSubstring("taken for one node, though nodes have at most 72"));
  CHECK(answer_of(make_topology("switch:80"), {{"node_size", "8"}}).facts.at("nodes") == 10);
  // A rack is what it says that it is.
  CHECK(NodesOfNpus(make_topology("gb200_nvl72:2"), "", "h100").are_of(72));
  CHECK(NodesOfNpus(make_topology("z52"), "", "h100").are_of(8)); // xGMI is hardly above PCIe
}

} // namespace nccl_nodes_test
