// NCCL and RCCL as they are: the channels that the search finds on machines by name, against what
// public logs show and what its rules come to by hand; the tuner's times, against those that NCCL
// itself has printed; and what the schedules reach, against what ports allow.
#include "algorithms/list.hpp"
#include "algorithms/nccl/communicator.hpp"
#include "algorithms/nccl/schedules.hpp"
#include "algorithms/nccl/settings.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/transport/transport.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/catch.hpp"
#include "tests/nccl_dump.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace nccl_test {

using namespace tutti;
using namespace tutti::nccl;

namespace {

std::vector<NodeId> everyone(const Topology& topology) {
  std::vector<NodeId> group;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) group.push_back(NodeId{n});
  return group;
}

/// A machine, with what NCCL finds on it.
struct Found {
  Topology topology;
  nccl::System system;
  Graphs graphs;

  explicit Found(const std::string& text, const std::string& gpu = "", bool collnet = false)
      : topology(make_topology(text)),
        system(system_of(topology, everyone(topology), gpu, "h100", 0)),
        graphs((system.gpu->is_amd ? rccl_graphs : nccl_graphs)(system, {}, collnet)) {}
};

/// The ring's ranks from 0 on.
std::vector<Rank> from_zero(std::vector<Rank> ring) {
  std::rotate(ring.begin(), std::find(ring.begin(), ring.end(), 0U), ring.end());
  return ring;
}

/// A chunk count of the library's own.
struct Answer {
  Collective collective;
  Outcome outcome;
  Report report;
};

Answer answer_of(const Topology& topology, const std::string& collective, Bytes size,
                 std::map<std::string, std::string> settings = {}, bool is_nccl = true) {
  CollectiveSpec spec = parse_collective(collective);
  spec.size = size;
  SynthesisOptions options;
  options.settings = std::move(settings);
  options.choose_chunks = true;
  Answer answer{make_collective(topology, spec), {}, {}};
  answer.outcome =
      (is_nccl ? nccl_algorithm : rccl_algorithm)(topology, answer.collective, options);
  REQUIRE(answer.outcome.schedule);
  spec.chunks_per_shard = answer.outcome.parts_per_chunk;
  answer.collective = make_collective(topology, spec);
  const Verdict verdict = verify(topology, answer.collective, *answer.outcome.schedule);
  INFO((verdict.fault ? verdict.fault->text : ""));
  REQUIRE(verdict.correct());
  answer.report = run_native(topology, answer.collective, *answer.outcome.schedule, {});
  CHECK(answer.report.completion >=
        lower_bound(topology, answer.collective, {}, Chunking::given).time);
  return answer;
}

double busbw_of(const Answer& answer) {
  return busbw(answer.collective, answer.report.completion) / 1e9;
}

constexpr Bytes mib{std::int64_t{1} << 20}, gib{std::int64_t{1} << 30};

Topology dumped_h100(std::int64_t servers) {
  const std::string text = dump_of_h100();
  return topologies::read_foreign(*topologies::foreign_format(text), {text, "node.xml", servers});
}

/// Of a schedule under the constants of NCCL's transport.
Time transported_time(const Topology& topology, const Answer& answer) {
  const Transport transport = read_transport("nccl");
  REQUIRE(answer.outcome.library);
  const Transported by = transported(topology, answer.collective, *answer.outcome.schedule,
                                     *answer.outcome.library, transport);
  return run_native(by.topology, answer.collective, by.schedule, {}).completion;
}

} // namespace

TEST_CASE("the search finds as many channels as fast as NCCL's rules come to") {
  struct Row {
    std::string machine;
    std::size_t rings;
    double speed;
    std::uint32_t channels;
    std::size_t heads;
    double head_speed, head_limit;
  };
  for (const Row& row :
       {Row{"dgx1_nvlinks", 6, 20, 12, 0, 0, 0}, Row{"dgx1", 6, 20, 12, 0, 0, 0},
        Row{"dgx_a100", 12, 20, 24, 0, 0, 0}, Row{"dgx_h100", 12, 30, 24, 8, 40, 60},
        Row{"dgx_b200", 16, 45, 32, 8, 80, 90}, Row{"gb200_nvl72", 16, 45, 32, 32, 20, 40},
        Row{"dgx_h100:2", 8, 48, 16, 8, 40, 48}}) {
    CAPTURE(row.machine);
    const Found found(row.machine);
    CHECK(found.graphs.ring.size() == row.rings);
    CHECK(found.graphs.ring.inside == row.speed);
    CHECK(found.graphs.channels == row.channels);
    CHECK(found.graphs.tree.size() == row.rings);
    CHECK(found.graphs.nvls.size() == row.heads);
    CHECK(found.graphs.nvls.inside == row.head_speed);
    CHECK(found.graphs.nvls.between == row.head_limit);
  }
}

TEST_CASE("servers of unknown GPUs are as many nodes as there are servers") {
  const std::string text = "\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \n";
  topologies::ForeignFile file{text, "node.txt", 2};
  file.options.emplace("nics", "2x25GB/s");
  const Topology two = topologies::read_foreign(*topologies::foreign_format(text), file);
  CHECK(system_of(two, everyone(two), "", "h100", 0).nodes == 2);
  // A network that is no machine's is one node, whatever its dimensions.
  const Topology torus = make_topology("torus2d:2x4");
  CHECK(system_of(torus, everyone(torus), "", "h100", 0).nodes == 1);
}

TEST_CASE("what NCCL dumped of a server takes the times of the same server by its name") {
  for (const int servers : {1, 2}) {
    const Topology dumped = dumped_h100(servers),
                   named = make_topology(fmt::format("dgx_h100:{}", servers));
    const nccl::System system = system_of(dumped, everyone(dumped), "", "h100", 0);
    CHECK(system.gpu->model == "h100");
    CHECK(system.nics.size() == (servers == 1 ? 0 : 8));
    for (std::uint32_t nic = 0; nic < system.nics.size(); ++nic)
      CHECK(system.nics[nic].gpu == nic); // each is at the GPU of its switch
    for (const char* collective : {"all_reduce", "all_gather", "all_to_all"})
      for (const Bytes size : {Bytes{std::int64_t{64} << 10}, mib, gib}) {
        CAPTURE(servers, collective, size.count);
        const Answer by_dump = answer_of(dumped, collective, size),
                     by_name = answer_of(named, collective, size);
        CHECK(by_dump.report.completion == by_name.report.completion);
        CHECK(transported_time(dumped, by_dump) == transported_time(named, by_name));
      }
  }
}

TEST_CASE(
    "a GPU without NVLink leaves NCCL one slow ring, and nothing that reduces in the switch") {
  // Its NVLinks are gone: to the others lead PCIe and, to four of them, what is between the CPUs,
  // which carries less than the slowest speed that is tried inside a node of H100 (3 GB/s).
  Topology whole = dumped_h100(1);
  TopologyParts parts = whole.parts();
  const NodeId faulty = whole.find_node("npu5");
  const auto is_nvlink = [&](const Link& link) {
    return link.dimension == 0 && (link.from == faulty || link.to == faulty);
  };
  parts.groups.clear();
  CHECK(std::erase_if(parts.links, is_nvlink) == 2);
  for (Link& link : parts.links)
    if (parts.nodes[link.from.value].name.starts_with("cpu") &&
        parts.nodes[link.to.value].name.starts_with("cpu"))
      link.bandwidth = Bandwidth{2'000'000'000};
  const auto system = [](const TopologyParts& network) {
    const Topology topology(network);
    return system_of(topology, everyone(topology), "", "h100", 0);
  };
  const nccl::System found = system(parts);
  CHECK(found.nodes == 1);
  CHECK(found.path(5, 0).speed == 2);
  CHECK(found.path(0, 5).type == PathType::system);
  CHECK(found.path(5, 4).speed > 60); // PCIe at one CPU: 16 lanes of 32 GT/s, 63 GB/s
  CHECK(found.path(5, 4).speed < 64);
  CHECK(found.path(3, 4).type == PathType::nvlink);
  // All of the rings between 5 and a neighbour by number are there at up to 63 GB/s.
  const Graphs near = nccl_graphs(found, {}, false);
  CHECK(near.nvls.size() == 0);
  CHECK(near.ring.inside > 3);
  // With a PCIe as slow there is none: the order by number, at 0.1 GB/s, doubled.
  TopologyParts apart = parts;
  for (Link& link : apart.links)
    if (link.from == faulty || link.to == faulty) link.bandwidth = Bandwidth{2'000'000'000};
  const Graphs slow = nccl_graphs(system(apart), {}, false);
  CHECK(slow.ring.size() == 1);
  CHECK(slow.ring.inside == 0.1);
  CHECK(slow.channels == 2);
  CHECK(slow.nvls.size() == 0);
  // Where nothing but NVLink leads to a GPU, losing it leaves the pair apart.
  std::erase_if(parts.links,
                [&](const Link& link) { return link.from == faulty || link.to == faulty; });
  CHECK(system(parts).path(5, 4).type == PathType::none);
  CHECK(nccl_graphs(system(parts), {}, false).ring.size() == 1);
}

TEST_CASE("on eight V100 the rings use every NVLink once in each direction") {
  const Found found("dgx1_nvlinks");
  std::map<std::pair<Rank, Rank>, int> uses;
  for (std::uint32_t c = 0; c < 6; ++c) {
    const std::vector<Rank> ring = ring_of(found.system, found.graphs, c);
    for (std::size_t i = 0; i < ring.size(); ++i) ++uses[{ring[i], ring[(i + 1) % ring.size()]}];
  }
  std::map<std::pair<Rank, Rank>, int> links;
  for (const Link& link : found.topology.links()) ++links[{link.from.value, link.to.value}];
  CHECK(uses == links);
}

// https://github.com/NVIDIA/nccl/issues/507: 8 of the 16 V100 of a DGX-2, 12 channels, each
// "3/-1/-1->2->1".
// https://github.com/NVIDIA/nccl-tests/issues/100: 8 A100, 24 channels, likewise.
TEST_CASE("rings and trees of one NVSwitch are those of public logs") {
  for (const auto& [machine, gpu, channels] :
       {std::tuple{"switch:8,bandwidth=150GB/s", "v100", 12U}, {"dgx_a100", "a100", 24U}}) {
    const Found found(machine, gpu);
    CHECK(found.graphs.channels == channels);
    for (std::uint32_t c = 0; c < channels; ++c) {
      CHECK(ring_of(found.system, found.graphs, c) == std::vector<Rank>{0, 1, 2, 3, 4, 5, 6, 7});
      const RankTree tree = tree_of(found.system, found.graphs, c);
      CHECK(tree.root == 0);
      for (Rank r = 1; r < 8; ++r) CHECK(tree.parent[r] == r - 1);
    }
  }
}

// https://github.com/NVIDIA/nccl-tests/issues/128: two nodes of 4 GPUs on one NIC each: "Channel
// 01/02 : 0 3 2 1 4 7 6 5", and trees "[0] 1/4/-1->0->-1 [1] 1/-1/-1->0->4" at rank 0, "[0]
// 5/-1/-1->4->0 [1] 5/0/-1->4->-1" at rank 4.
TEST_CASE("rings and trees of two nodes on one NIC each are those of a public log") {
  const Found found("dgx_h100:2,npus=4,nics=1");
  CHECK(from_zero(ring_of(found.system, found.graphs, 1)) ==
        std::vector<Rank>{0, 3, 2, 1, 4, 7, 6, 5});
  const std::uint32_t found_once = found.graphs.tree.size();
  const RankTree first = tree_of(found.system, found.graphs, 0),
                 second = tree_of(found.system, found.graphs, found_once);
  CHECK(first.root == 0);
  CHECK(first.parent[4] == 0);
  CHECK(second.root == 4);
  CHECK(second.parent[0] == 4);
  for (const RankTree& tree : {first, second}) {
    for (const Rank r : {1U, 2U, 3U}) CHECK(tree.parent[r] == r - 1);
    for (const Rank r : {5U, 6U, 7U}) CHECK(tree.parent[r] == r - 1);
  }
}

TEST_CASE("rings over nodes keep to their rails, there and back between the same two NICs") {
  const Found found("dgx_h100:2");
  CHECK(found.graphs.ring.cross_nic == 2);
  const std::vector<Rank> ring = ring_of(found.system, found.graphs, 0);
  CHECK(ring == std::vector<Rank>{0, 7, 6, 5, 4, 3, 2, 1, 9, 10, 11, 12, 13, 14, 15, 8});
  for (std::uint32_t c = 0; c < found.graphs.channels; ++c)
    CHECK(ring_in(found.system, found.graphs, 0, c).nic_out ==
          ring_in(found.system, found.graphs, 1, c).nic_in);
}

TEST_CASE("trees over nodes are double: who is within in one is a leaf in the other") {
  const Found found("dgx_h100:4");
  const std::uint32_t once = found.graphs.tree.size();
  for (std::uint32_t c = 0; c < once; ++c) {
    std::set<std::uint32_t> within[2];
    for (const std::uint32_t which : {0U, 1U}) {
      const RankTree tree = tree_of(found.system, found.graphs, c + which * once);
      for (Rank r = 0; r < 32; ++r)
        if (r != tree.root && tree.parent[r] / 8 != r / 8) within[which].insert(tree.parent[r] / 8);
    }
    for (const std::uint32_t node : within[0]) CHECK_FALSE(within[1].contains(node));
  }
}

// https://github.com/NVIDIA/nccl/issues/1453, NCCL_DEBUG_SUBSYS=TUNING on H100 servers: "4096 Bytes
// -> Algo 0 proto 0 time 25.874907", "8192 ... 26.549810", "65536 ... 37.798233", "131072 Bytes ->
// Algo 0 proto 1". Its latency, 6.8 + 2 (7 * 0.6 + 5) us, is that of two or three nodes of eight,
// and its bandwidth that of more than two.
TEST_CASE("the tuner's times are those that NCCL has printed") {
  const Found found("dgx_h100:3");
  const NcclTuner tuner(found.system, found.graphs, Processor::intel, {});
  for (const auto& [size, us] :
       {std::pair{4096, 25.874907}, {8192, 26.549810}, {65536, 37.798233}}) {
    const auto choice = tuner.choose(CollectiveKind::all_reduce, Bytes{size});
    REQUIRE(choice);
    CHECK(choice->algorithm == Algorithm::tree);
    CHECK(choice->protocol == Protocol::ll);
    CHECK(choice->microseconds == Approx(us).epsilon(2e-7));
  }
  const auto next = tuner.choose(CollectiveKind::all_reduce, Bytes{131072});
  CHECK(next->algorithm == Algorithm::tree);
  CHECK(next->protocol == Protocol::ll128);
}

TEST_CASE("the tuner's table by hand: eight H100 in a node") {
  const Found found("dgx_h100");
  const NcclTuner tuner(found.system, found.graphs, Processor::intel, {});
  const auto us = [&](Algorithm algorithm, Protocol protocol, std::int64_t size) {
    return tuner.time(CollectiveKind::all_reduce, algorithm, protocol, Bytes{size}).value_or(-1);
  };
  const double size = 1 << 26; // 2^20 blocks of 64 B
  // 12 rings of 30 GB/s, 14 steps: busbw 360, algbw 360 * 8 / 14
  CHECK(us(Algorithm::ring, Protocol::simple, 1 << 26) ==
        Approx(8.4 + 14 * 3.4 + size / (1000 * 360 * 8 / 14.0)));
  CHECK(us(Algorithm::ring, Protocol::ll, 1 << 26) ==
        Approx(6.6 + 14 * 0.6 + size / (1000 * 141 * 8 / 14.0)));
  CHECK(us(Algorithm::ring, Protocol::ll128, 1 << 26) ==
        Approx(14 + 14 * 1.9 + size / (1000 * 360 * 0.92 * 8 / 14)));
  // 8 heads of 40 GB/s
  CHECK(us(Algorithm::nvls, Protocol::simple, 1 << 26) ==
        Approx(25 + size / (1000 * 8 * std::min(40 * 0.85 * 7 / 8 * 2, 60.0) * 8 / 14)));
  // a chain, at 0.8 for that size
  CHECK(us(Algorithm::tree, Protocol::simple, 1 << 26) ==
        Approx(8.4 + 2 * 7 * 4 + size / (1000 * std::min(360 * 0.92, 12 * 38.7) * 0.5 * 0.8)));
  CHECK(us(Algorithm::nvls_tree, Protocol::simple, 1 << 26) == -1); // of several nodes only
  CHECK(us(Algorithm::pat, Protocol::simple, 1 << 26) == -1);
  CHECK(us(Algorithm::collnet_direct, Protocol::simple, 1 << 26) == -1);
}

TEST_CASE("what is picked changes with size, as on eight H100, and can be said") {
  const Topology topology = make_topology("dgx_h100");
  const auto picked = [&](Bytes size, const std::map<std::string, std::string>& settings) {
    return answer_of(topology, "all_reduce", size, settings).outcome.planned_on;
  };
  CHECK(picked(Bytes{1024}, {}) == "NCCL: ring, ll, 1 channel");
  CHECK(picked(mib, {}) == "NCCL: ring, ll, 24 channels");
  CHECK(picked(gib, {}) == "NCCL: nvls, simple, 16 channels");
  CHECK(picked(gib, {{"algo", "^nvls"}}) == "NCCL: ring, simple, 24 channels");
  CHECK(picked(gib, {{"algo", "Ring"}, {"proto", "Simple"}, {"channels", "8"}}) ==
        "NCCL: ring, simple, 8 channels");
  CHECK(picked(mib, {{"algo", "tree"}, {"proto", "LL128"}}) == "NCCL: tree, ll128, 24 channels");
}

TEST_CASE("a tuner's table overrides, and says where it is wrong") {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/tuner.conf";
  const auto written = [&](const std::string& text) {
    write_file(file, text);
    return file;
  };
  const Topology topology = make_topology("dgx_h100");
  written("# a comment\nallreduce,0,65536,tree,simple,2,1,-1,-1,1\n"
          "allreduce,65537,4294967295,ring,ll128,-1,-1,8\n");
  const std::map<std::string, std::string> settings{{"tuner", file}};
  CHECK(answer_of(topology, "all_reduce", Bytes{4096}, settings).outcome.planned_on ==
        "NCCL: tree, simple, 2 channels");
  CHECK(answer_of(topology, "all_reduce", mib, settings).outcome.planned_on ==
        "NCCL: ring, ll128, 24 channels");
  CHECK(answer_of(topology, "all_gather", mib, settings).outcome.planned_on ==
        "NCCL: ring, ll, 24 channels");
  CHECK_THROWS_WITH(TunerTable(written("allreduce,0,1,ring,simple\n")),
                    file + ":1:1: 5 values (8 to 10 are known: collective, least and most bytes, "
                           "algorithm, protocol, channels, nodes, ranks, pipeline operations, "
                           "registered)");
  CHECK_THROWS_WITH(
      TunerTable(written("\nallreduce,0,1,rign,simple,-1,-1,-1\n")),
      ContainsSubstring(file + ":2:15: unknown algorithm \"rign\" (known: tree, ring"));
  CHECK_THROWS_WITH(TunerTable(written("allreduce,0,1,ring,simple,x,-1,-1\n")),
                    ContainsSubstring(file + ":1:27: channels \"x\""));
  CHECK_THROWS_WITH(TunerTable(written("# nothing\n")), file + ": has no row");
  CHECK_THROWS_AS(TunerTable(folder.path() + "/none"), InputError);
}

TEST_CASE("settings that aren't known are told") {
  CHECK_THROWS_WITH(read_settings({{"algo", "rings"}}),
                    ContainsSubstring("unknown algo \"rings\" (known: tree, ring, collnet_direct"));
  CHECK_THROWS_WITH(read_settings({{"proto", "ll+l128"}}),
                    ContainsSubstring("unknown proto \"l128\" (known: ll, ll128, simple"));
  CHECK_THROWS_AS(read_settings({{"channels", "0"}}), InputError);
  CHECK_THROWS_AS(read_settings({{"channels", "65"}}), InputError);
  CHECK_THROWS_AS(read_settings({{"cross_nic", "3"}}), InputError);
  CHECK_THROWS_AS(read_settings({{"collnet", "maybe"}}), InputError);
  CHECK_THROWS_AS(read_settings({{"cpu", "power"}}), InputError);
  const Topology topology = make_topology("dgx_h100");
  SynthesisOptions options;
  options.settings = {{"gpu", "h1000"}};
  CHECK_THROWS_WITH(nccl_algorithm(topology, make_collective(topology, {}), options),
                    ContainsSubstring("unknown model of GPU \"h1000\" (known: p100, v100, t4"));
}

TEST_CASE("what a ring, NVLS and both over nodes reach is what their ports allow") {
  // 6 NVLinks of 25 GB/s; 450 GB/s a port, NVLS through it 1 + 1/8 times each way; 8 NICs of 50
  // GB/s, and 1/8 through each in a double tree, both ways.
  CHECK(busbw_of(answer_of(make_topology("dgx1_nvlinks"), "all_reduce", gib)) ==
        Approx(150).epsilon(0.01));
  CHECK(busbw_of(answer_of(make_topology("dgx_h100"), "all_reduce", gib, {{"algo", "ring"}})) ==
        Approx(450).epsilon(0.01));
  CHECK(busbw_of(answer_of(make_topology("dgx_h100"), "all_reduce", gib)) ==
        Approx(450 * 14.0 / 8 / (1 + 1.0 / 8)).epsilon(0.01));
  CHECK(busbw_of(answer_of(make_topology("dgx_h100:2"), "all_reduce", gib, {{"algo", "ring"}})) ==
        Approx(400).epsilon(0.01));
  CHECK(busbw_of(answer_of(make_topology("dgx_h100:2"), "all_reduce", gib)) ==
        Approx(400 * 30.0 / 16).epsilon(0.02));
  CHECK(busbw_of(answer_of(make_topology("dgx_h100:2,nics=16x25GB/s"), "all_reduce", gib)) ==
        Approx(400 * 30.0 / 16).epsilon(0.02));
  CHECK(busbw_of(answer_of(make_topology("mi300x"), "all_reduce", gib, {}, false)) ==
        Approx(448).epsilon(0.01));
  CHECK(busbw_of(answer_of(make_topology("dgx_spark:2"), "all_gather", gib)) ==
        Approx(25).epsilon(0.01));
}

namespace {

/// `nodes` of 8 GPUs at an NVSwitch each, every GPU with a NIC of 50 GB/s.
TopologyParts nodes_of_eight(std::uint32_t nodes) {
  TopologyParts parts;
  parts.name = "nodes of eight";
  parts.npu_model = "h100";
  const std::uint8_t nvlink = parts.link_part("nvlink4");
  for (std::uint32_t n = 0; n < 8 * nodes; ++n)
    parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const NodeId hub = parts.add_node(
        {fmt::format("nvswitch{}", node), NodeKind::switching, Abilities{false, false, false}, {}});
    for (std::uint32_t g = 0; g < 8; ++g) {
      Link link{NodeId{8 * node + g}, hub, Time{350'000}, Bandwidth{450'000'000'000}};
      link.part = nvlink;
      parts.add_duplex(link);
    }
  }
  return parts;
}

void add_cable(TopologyParts& parts, NodeId a, NodeId b, std::int64_t gigabytes = 50) {
  Link link{a, b, Time{1'000'000}, Bandwidth{gigabytes * 1'000'000'000}};
  link.part = parts.link_part("rdma");
  parts.add_duplex(link);
}

NodeId add_switch(TopologyParts& parts, const std::string& name) {
  return parts.add_node({name, NodeKind::switching, Abilities{false, false, false}, {}});
}

} // namespace

TEST_CASE("NCCL's channels share spines: a network as wide as the NICs costs nothing") {
  // Two nodes at each of two leaves, 16 cables in and 8 spines with two cables to each.
  TopologyParts parts = nodes_of_eight(4);
  std::vector<NodeId> leaves, spines;
  for (int l = 0; l < 2; ++l) leaves.push_back(add_switch(parts, fmt::format("leaf{}", l)));
  for (int s = 0; s < 8; ++s) spines.push_back(add_switch(parts, fmt::format("spine{}", s)));
  for (std::uint32_t n = 0; n < 32; ++n) add_cable(parts, NodeId{n}, leaves[n / 16]);
  for (const NodeId leaf : leaves)
    for (const NodeId spine : spines)
      for (int twice = 0; twice < 2; ++twice) add_cable(parts, leaf, spine);
  const Topology topology(std::move(parts));
  CHECK(busbw_of(answer_of(topology, "all_gather", gib, {{"algo", "ring"}})) ==
        Approx(400).epsilon(0.01));
}

TEST_CASE("on rails that nothing joins an odd number of nodes hands over in a node") {
  for (const std::uint32_t nodes : {2U, 3U}) {
    TopologyParts parts = nodes_of_eight(nodes);
    std::vector<NodeId> rails;
    for (int r = 0; r < 8; ++r) rails.push_back(add_switch(parts, fmt::format("rail{}", r)));
    for (std::uint32_t n = 0; n < 8 * nodes; ++n) add_cable(parts, NodeId{n}, rails[n % 8]);
    const Topology topology(std::move(parts));
    CAPTURE(nodes);
    // A NIC for each of the 8 rings, twice, however many nodes there are.
    CHECK(busbw_of(answer_of(topology, "all_gather", gib, {{"algo", "ring"}})) ==
          Approx(400).epsilon(0.02));
  }
}

TEST_CASE("of NPUs that are cabled to each other each sends over the cable to the next one") {
  for (const std::uint32_t npus : {3U, 4U}) {
    TopologyParts parts;
    parts.name = "cabled in a circle";
    parts.npu_model = "gb10";
    for (std::uint32_t n = 0; n < npus; ++n)
      parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
    for (std::uint32_t n = 0; n < npus; ++n)
      add_cable(parts, NodeId{n}, NodeId{(n + 1) % npus}, 25);
    const Topology topology(std::move(parts));
    const Answer answer = answer_of(topology, "all_reduce", gib, {{"algo", "ring"}});
    CHECK(answer.outcome.routing.empty()); // no way over a third NPU
    for (std::uint32_t t = 0; t < answer.outcome.schedule->size(); ++t)
      REQUIRE(answer.outcome.schedule->paths().links((*answer.outcome.schedule)[t].path).size() ==
              1);
    // All of NCCL's rings go from each node to the next (connect.cc), over one of two cables.
    CHECK(busbw_of(answer) == Approx(25).epsilon(0.01));
  }
}

TEST_CASE("NVLS says what it sends that is there already") {
  const Topology topology = make_topology("dgx_h100");
  const Answer answer = answer_of(topology, "all_reduce", mib, {{"algo", "nvls"}});
  // For each chunk: from its head to the switch, and from there back to the head.
  CHECK(verify(topology, answer.collective, *answer.outcome.schedule).redundant ==
        2 * answer.collective.chunks.size());
}

TEST_CASE("RCCL's rings on a full mesh use all links alike") {
  const Found found("mi300x");
  CHECK(found.graphs.ring.size() == 28);
  CHECK(found.graphs.ring.inside == Approx(12));
  CHECK(found.graphs.channels == 56);
  std::map<std::pair<Rank, Rank>, int> uses;
  for (std::uint32_t c = 0; c < 28; ++c) {
    const std::vector<Rank> ring = ring_of(found.system, found.graphs, c);
    CHECK(std::set<Rank>(ring.begin(), ring.end()).size() == 8);
    for (std::size_t i = 0; i < 8; ++i) ++uses[{ring[i], ring[(i + 1) % 8]}];
  }
  CHECK(uses.size() == 56);
  for (const auto& [link, count] : uses) CHECK(count == 4);
  const Found two("mi300x:2");
  CHECK(two.graphs.channels == 64);
  for (std::uint32_t c = 0; c < 64; ++c)
    CHECK(ring_in(two.system, two.graphs, 0, c).nic_out ==
          ring_in(two.system, two.graphs, 1, c).nic_in);
  const auto picked = [&](Bytes size) {
    const Outcome outcome = answer_of(found.topology, "all_reduce", size, {}, false).outcome;
    return outcome.planned_on + outcome.note;
  };
  CHECK(picked(Bytes{65536}) == "RCCL: all_pairs, ll, 56 channels");
  CHECK(picked(mib) == "RCCL: all_pairs, simple, 56 channels");
  CHECK(picked(gib) == "RCCL: ring, simple, 56 channels");
}

TEST_CASE("all collectives on machines of all kinds are correct, by every algorithm they have",
          "[heavy]") {
  using enum CollectiveKind;
  const std::map<CollectiveKind, std::vector<std::string>> algorithms{
      {all_reduce, {"", "tree", "nvls", "nvls_tree", "collnet_direct", "collnet_chain"}},
      {all_gather, {"", "nvls", "pat", "collnet_direct"}},
      {reduce_scatter, {"", "nvls", "pat", "collnet_direct"}}};
  for (const char* machine : {"dgx1_nvlinks", "ndv2x2", "dgx_a100x2", "dgx_h100:3,npus=5",
                              "dgx_h100:2,npus=4,nics=2", "dgx_h100:2,fabric=switch,npus=4",
                              "dgx_b200:2,sharp=on", "dgx_spark:5", "mi300x:2", "ring:5"}) {
    CAPTURE(machine);
    const Topology topology = make_topology(machine);
    const bool is_amd = topology.parts().npu_model == "mi300x";
    for (const CollectiveKind kind : named_collectives()) {
      const Collective collective = make_collective(topology, {kind, Bytes{100'003}, {}, 0, 1});
      const auto named = algorithms.find(kind);
      for (const std::string& algorithm :
           named == algorithms.end() ? std::vector<std::string>{""} : named->second) {
        CAPTURE(to_text(kind), algorithm);
        SynthesisOptions options;
        if (!algorithm.empty()) options.settings = {{"algo", algorithm}, {"collnet", "yes"}};
        const Outcome outcome =
            (is_amd ? rccl_algorithm : nccl_algorithm)(topology, collective, options);
        if (!outcome.schedule) {
          CHECK_FALSE(outcome.note.empty());
          continue;
        }
        const Verdict verdict = verify(topology, collective, *outcome.schedule);
        INFO((verdict.fault ? verdict.fault->text : ""));
        CHECK(verdict.correct());
      }
    }
  }
}

TEST_CASE("the order in which links are listed changes nothing") {
  for (const char* machine : {"dgx_h100:2", "dgx_h100:2,sharp=on", "ndv2x2", "mi300x:2"}) {
    CAPTURE(machine);
    const Topology topology = make_topology(machine);
    const bool is_nccl = !topology.parts().npu_model.starts_with("mi");
    TopologyParts parts = topology.parts();
    // Groups name links by number: only those of machines without any are listed backwards.
    if (!parts.groups.empty()) continue;
    std::ranges::reverse(parts.links);
    const Topology backwards(std::move(parts));
    for (const char* collective : {"all_reduce", "all_gather", "all_to_all"}) {
      CAPTURE(collective);
      const Bytes size{std::int64_t{16} << 20};
      const Answer one = answer_of(topology, collective, size, {}, is_nccl);
      const Answer other = answer_of(backwards, collective, size, {}, is_nccl);
      CHECK(one.outcome.planned_on == other.outcome.planned_on);
      CHECK(one.report.completion == other.report.completion);
    }
  }
}

TEST_CASE("damaged nodes, missing heads and groups across rails are answered or refused") {
  const Bytes size{std::int64_t{16} << 20};
  // The second node's switch isn't next to all of its GPUs.
  const Topology damaged = make_topology("dgx_h100:2,without-link=npu8-nvswitch1");
  CHECK_THAT(answer_of(damaged, "all_reduce", size).outcome.planned_on, !ContainsSubstring("nvls"));
  const auto note = [](const std::string& machine, std::map<std::string, std::string> settings) {
    const Topology topology = make_topology(machine);
    SynthesisOptions options;
    options.settings = std::move(settings);
    return nccl_algorithm(
               topology,
               make_collective(topology, {CollectiveKind::all_gather, Bytes{1 << 20}, {}, 0, 1}),
               options)
        .note;
  };
  CHECK(note("dgx_h100", {{"algo", "nvls"}, {"search_channels", "4"}}) ==
        "NCCL has no nvls for all_gather here");
  CHECK(
      note("dgx_h100:2,nics=4x50GB/s,sharp=on", {{"algo", "collnet_direct"}, {"collnet", "yes"}}) ==
      "NCCL has no collnet_direct for all_gather here");
  CHECK(note("dgx_h100:2", {{"algo", "collnet_direct"}, {"collnet", "yes"}}) ==
        "NCCL has no collnet_direct for all_gather here"); // its switches don't reduce
  // GPUs of the first node on rails 0 to 3, of the second on 4 to 7.
  const Topology topology = make_topology("dgx_h100:2");
  const Answer across = answer_of(topology, "all_reduce,group=0-3+12-15", size);
  const Answer along = answer_of(topology, "all_reduce,group=0-3+8-11", size);
  CHECK(across.report.completion.seconds() < 4 * along.report.completion.seconds());
}

TEST_CASE("nodes that aren't alike agree on what all can do") {
  const Bytes size{std::int64_t{64} << 20};
  const auto seconds = [&](const std::string& machine, const std::string& collective) {
    const Topology topology = make_topology(machine);
    return answer_of(topology, collective, size).report.completion.seconds();
  };
  for (const char* collective : {"all_reduce", "all_gather", "all_to_all", "broadcast"}) {
    CAPTURE(collective);
    // A GPU less, a NIC less, slower NICs and NVLinks in one of two nodes.
    const double whole = seconds("dgx_h100:2,nvls=off", collective);
    for (const char* machine :
         {"dgx_h100:2,nvls=off,without=npu3", "dgx_h100:2,nvls=off,without-link=npu3-rail3",
          "a100:1+h100:1", "dgx_h100:2,nvls=off,without=npu9+npu10+npu11"}) {
      CAPTURE(machine);
      CHECK(seconds(machine, collective) < 16 * whole);
    }
  }
  // Two nodes with half of the NICs' speed in one are both as slow as that one.
  CHECK(seconds("a100:1+h100:1", "all_reduce") ==
        Approx(seconds("a100:2", "all_reduce")).epsilon(0.15));
}

TEST_CASE("AMD's GPUs have RCCL, and NVIDIA's have NCCL") {
  const auto note = [](const std::string& machine, SynthesisFunction run) {
    const Topology topology = make_topology(machine);
    return run(topology, make_collective(topology, {}), {}).note;
  };
  CHECK(note("mi300x", nccl_algorithm) == "AMD's GPUs have RCCL (algorithm rccl)");
  CHECK(note("dgx_h100", rccl_algorithm) == "no AMD GPUs (gpu=mi300x takes them for some)");
}

TEST_CASE("chunks that stand for several of NCCL's say how large its own are") {
  const Found rack("gb200_nvl72");
  const auto cut = [&](std::int64_t mebibytes) {
    const Bytes size{mebibytes * mib.count};
    const Choice choice = *NcclTuner(rack.system, rack.graphs, Processor::arm, {})
                               .choose(CollectiveKind::all_reduce, size);
    return cut_of(rack.system, rack.graphs, CollectiveKind::all_reduce, choice, size, 72, size);
  };
  CHECK(cut(3 * 1024).own_piece.count == 0);
  // From 64 * 24 channels * 32 heads * 128 KiB on NCCL's chunks are twice as large.
  constexpr std::int64_t kib = 1024;
  CHECK(cut(6 * 1024 - 1).own_piece.count > 63 * kib);
  CHECK(cut(6 * 1024 - 1).own_piece.count <= 64 * kib);
  CHECK(cut(6 * 1024).own_piece.count == 0);
  CHECK(cut(8 * 1024).own_piece.count > 127 * kib);
  CHECK(cut(8 * 1024).own_piece.count <= 128 * kib);
  CHECK(cut(8 * 1024).pieces == cut(64 * 1024).pieces);
}

TEST_CASE("the time of 72 GPUs grows as the size does, in chunks of NCCL's own or larger",
          "[slow]") {
  const Topology rack = make_topology("gb200_nvl72");
  const Topology planned = with_latencies(rack, read_transport("nccl"));
  const auto per_byte = [&](std::int64_t mebibytes) {
    const Bytes size{mebibytes * mib.count};
    const double ideal = answer_of(rack, "all_reduce", size).report.completion.seconds();
    const double carried =
        transported_time(planned, answer_of(planned, "all_reduce", size)).seconds();
    return std::array{ideal / static_cast<double>(size.count),
                      carried / static_cast<double>(size.count)};
  };
  // Below and from 6 GiB NCCL's chunks are 64 and 128 KiB: under a transport a jump of its own.
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2048, 2560, 3072, 3400, 3584, 4096, 4608, 4864, 5120, 5632, 6143},
        std::vector<std::int64_t>{6144, 6656, 7168, 8192, 10240, 12288, 16384, 32768}}) {
    std::optional<std::array<double, 2>> before;
    for (const std::int64_t mebibytes : sizes) {
      CAPTURE(mebibytes);
      const std::array<double, 2> now = per_byte(mebibytes);
      for (std::size_t i = 0; before && i < now.size(); ++i) {
        CHECK(now[i] < 1.005 * (*before)[i]);
        CHECK(now[i] > 0.99 * (*before)[i]);
      }
      before = now;
    }
  }
}

TEST_CASE("sendrecv, hypercube and alltoallv are sends as nccl-tests makes them") {
  using enum CollectiveKind;
  constexpr std::int64_t size = 64 << 20;
  const auto seconds_on = [&](const char* machine, CollectiveKind kind) {
    const Topology topology = make_topology(machine);
    const Collective collective =
        make_collective(topology, {kind, Bytes{size}, {}, 0, kind == all_to_all_v ? 8U : 1U});
    const Outcome outcome = nccl_algorithm(topology, collective, {});
    REQUIRE(outcome.schedule);
    const Verdict verdict = verify(topology, collective, *outcome.schedule);
    INFO(machine << ", " << collective.name() << (verdict.fault ? ": " + verdict.fault->text : ""));
    CHECK(verdict.correct());
    CHECK(verdict.redundant == 0);
    return run_native(topology, collective, *outcome.schedule, {}).completion.seconds();
  };
  // Through a port of 450 GB/s goes the whole buffer; 7/8 of it, doubling from 1/8 on, each time
  // when the one before is over; and all but a rank's own shard.
  const double port = double(size) / 450e9;
  CHECK(seconds_on("dgx_h100", sendrecv) == Approx(port).epsilon(0.05));
  CHECK(seconds_on("dgx_h100", hypercube) == Approx(7 / 8.0 * port).epsilon(0.1));
  // The shards of rank r of 8 are 4, 1, 2, ... 7 steps of 1/32 for the ranks from -r on; that of
  // rank 4 or 0 for itself has 4, those of others for themselves 2 or 6: 30/32 leave some rank.
  CHECK(seconds_on("dgx_h100", all_to_all_v) == Approx(30 / 32.0 * port).epsilon(0.15));
  CHECK(seconds_on("dgx_h100:2", sendrecv) > 2 * port); // over NICs of 50 GB/s between nodes
  const Topology six = make_topology("dgx_h100,npus=6");
  const Outcome none =
      nccl_algorithm(six, make_collective(six, {hypercube, Bytes{size}, {}, 0, 1}), {});
  CHECK(none.status == Status::unsupported);
  CHECK(none.note == "hypercube needs 2^k NPUs, as in nccl-tests");
}

TEST_CASE("algorithms of papers don't define collectives of tests, or plan their chunks") {
  using enum CollectiveKind;
  const Topology topology = make_topology("mesh2d:2x3");
  for (const CollectiveKind kind : {sendrecv, hypercube, all_to_all_v}) {
    CAPTURE(to_text(kind));
    const Collective collective = make_collective(topology, {kind, Bytes{72'000}, {}, 0, 2});
    for (const AlgorithmRow& row : baseline_algorithms()) {
      CAPTURE(row.name);
      const Outcome outcome = synthesize(row, topology, collective, {});
      if (row.name == "direct" || (row.name == "nccl" && kind != hypercube)) {
        REQUIRE(outcome.schedule);
        CHECK(verify(topology, collective, *outcome.schedule).correct());
      } else {
        CHECK(outcome.status == Status::unsupported);
        if (row.name == "ring")
          CHECK(outcome.note == fmt::format("ring doesn't define {}", to_text(kind)));
      }
    }
  }
}

} // namespace nccl_test
