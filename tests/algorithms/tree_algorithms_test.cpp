// MultiTree, C-Cube and Blink on the topologies they are meant for, and on those they aren't: what
// they promise, against counts by hand, parity, and cuts by brute force.

#include "algorithms/arborescence_packing.hpp"
#include "algorithms/double_binary_tree.hpp"
#include "algorithms/tree_placement.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/one_in.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tree_algorithms_test {

using namespace tutti;
using namespace tutti::samples;
using testing::OneIn;

namespace {

const std::vector<std::string_view> tree_algorithms{"multitree", "ccube", "blink"};

Collective on(const Topology& topology, const std::string& text, std::uint32_t chunks_per_shard,
              std::int64_t bytes = 10'000'000) {
  CollectiveSpec spec = parse_collective(text);
  spec.size = Bytes{bytes};
  spec.chunks_per_shard = chunks_per_shard;
  return make_collective(topology, spec);
}

/// How many transfers cross each link.
std::vector<std::uint64_t> crossings(const Topology& topology, const Schedule& schedule) {
  std::vector<std::uint64_t> count(topology.link_count());
  for (std::size_t i = 0; i < schedule.size(); ++i)
    for (const LinkId link : schedule.paths().links(schedule[i].path)) ++count[link.value];
  return count;
}

std::vector<NodeId> all_npus(const Topology& topology) {
  std::vector<NodeId> group;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) group.emplace_back(n);
  return group;
}

/// The least capacity into any set of vertices without the root, by trying all sets.
std::int64_t least_cut(std::uint32_t vertices, const std::vector<PackingEdge>& edges,
                       std::uint32_t root) {
  std::int64_t least = INT64_MAX;
  for (std::uint32_t set = 1; set < (1U << vertices); ++set) {
    if ((set >> root) & 1) continue;
    std::int64_t capacity = 0;
    for (const PackingEdge& edge : edges)
      if (((set >> edge.to) & 1) && !((set >> edge.from) & 1)) capacity += edge.capacity;
    least = std::min(least, capacity);
  }
  return least;
}

/// Every tree spans, and no edge carries more than its capacity.
void check_packing(std::uint32_t vertices, const std::vector<PackingEdge>& edges,
                   std::uint32_t root, const ArborescencePacking& packing) {
  std::vector<std::int64_t> load(edges.size());
  for (const Arborescence& tree : packing.trees) {
    CHECK(tree.weight >= 1);
    for (std::uint32_t v = 0; v < vertices; ++v) {
      if (v == root) continue;
      REQUIRE(tree.edge_into[v] < edges.size());
      CHECK(edges[tree.edge_into[v]].to == v);
      load[tree.edge_into[v]] += tree.weight;
      std::uint32_t up = v;
      for (std::uint32_t steps = 0; up != root && steps < vertices; ++steps)
        up = edges[tree.edge_into[up]].from;
      CHECK(up == root);
    }
  }
  for (std::size_t e = 0; e < edges.size(); ++e) CHECK(load[e] <= edges[e].capacity);
}

std::int64_t total_weight(const ArborescencePacking& packing) {
  std::int64_t total = 0;
  for (const Arborescence& tree : packing.trees) total += tree.weight;
  return total;
}

/// One in `step` of all combinations.
void check_trees(std::uint32_t step) {
  OneIn is_due(step);
  for (const std::string name :
       {"mesh2d:3x4", "torus2d:4x4", "torus3d:2x3x4", "hypercube:4", "switch:6", "rfs:2x4x3",
        "dgx1", "dgx1_nvlinks", "dgx2", "z52_pcie", "two_level_switch:4x3", "dragonfly:3x4",
        "multi_rail:4x2x2", "mesh2d:4x4,without=npu7+npu9", "torus2d:4x4,without-link=npu0>npu1",
        "dgx1,fail-links=2"}) {
    const Topology topology = make_topology(name);
    for (const std::string text :
         {"all_reduce", "all_gather", "reduce_scatter", "broadcast,root=5", "reduce,root=2",
          "all_reduce,group=0-2+5", "broadcast,root=4,group=1+3-5", "reduce_scatter,group=2-4"})
      for (const std::uint32_t chunks_per_shard : {1U, 3U}) {
        if (!is_due()) continue;
        const Collective collective = on(topology, text, chunks_per_shard);
        for (const std::string_view algorithm : tree_algorithms) {
          INFO(algorithm << " for " << collective.name() << " on " << name);
          const Outcome outcome = run_baseline(algorithm, topology, collective);
          if (!outcome.schedule) {
            CHECK(outcome.note.ends_with("doesn't define " +
                                         std::string(to_text(collective.parts[0].kind))));
            continue;
          }
          const Verdict verdict = verify(topology, collective, *outcome.schedule);
          INFO((verdict.fault ? verdict.fault->text : ""));
          REQUIRE(verdict.correct());
          CHECK(verdict.redundant == 0);
          const Time native = run_native(topology, collective, *outcome.schedule, {}).completion;
          if (chunks_per_shard == 1 && text.find("group") == std::string::npos)
            CHECK(disagreement(*run_both(topology, collective, *outcome.schedule, {}).agreement) ==
                  "");
          CHECK(native >= lower_bound(topology, collective, {}, Chunking::given).time);
        }
      }
  }
}

} // namespace

TEST_CASE("tree algorithms are correct on every kind of network, in groups and with parts missing",
          "[heavy]") {
  check_trees(3);
}

TEST_CASE("tree algorithms are correct in every combination", "[slow]") { check_trees(1); }

TEST_CASE("MultiTree fills a torus: as many steps as shards have to arrive per link") {
  // 15 shards come in over 4 links, 24 over 4, 63 over 4: at least 4, 6, 16 steps. Without latency
  // the time of an All-Gather is steps x shard / B if nothing waits out of step.
  for (const auto& [side, steps] : {std::pair{4, 4}, std::pair{5, 6}, std::pair{8, 16}}) {
    const std::string shape = std::to_string(side) + "x" + std::to_string(side);
    const Topology topology = make_topology("torus2d:" + shape + ",bandwidth=50GB/s,latency=0us");
    const std::int64_t shard = 50'000, n = side * side;
    const Collective collective = on(topology, "all_gather", 1, shard * n);
    const Schedule schedule = schedule_of("multitree", topology, collective);
    const Time time = run_native(topology, collective, schedule, {}).completion;
    const std::int64_t step = shard * 20; // ps
    CHECK(time.ps >= steps * step);
    CHECK(time.ps <= (steps + 1) * step); // the last step may be needed for a few
    const std::vector<std::uint64_t> loads = crossings(topology, schedule);
    CHECK(*std::ranges::max_element(loads) <= static_cast<std::uint64_t>(steps) + 1);
  }
}

TEST_CASE("MultiTree on a full graph is direct, on a ring half around either way") {
  const Topology graph = full(6);
  const Collective on_graph = on(graph, "all_reduce", 1);
  const Schedule direct = schedule_of("multitree", graph, on_graph);
  CHECK(direct.size() == 2 * 6 * 5);
  CHECK(crossings(graph, direct) == std::vector<std::uint64_t>(30, 2));

  // Every tree takes both of its ends' links in every step: 3 steps each way on seven NPUs.
  const Topology around = ring(7);
  const Schedule halves = schedule_of("multitree", around, on(around, "all_gather", 1));
  CHECK(crossings(around, halves) == std::vector<std::uint64_t>(14, 3));
}

TEST_CASE("MultiTree takes links as alike, whatever their bandwidth") {
  const Collective collective = on(mesh(3, 3), "all_gather", 1);
  TopologyParts parts = mesh_parts(3, 3);
  const Schedule before = schedule_of("multitree", Topology(parts), collective);
  for (std::size_t l = 0; l < parts.links.size(); ++l)
    parts.links[l].bandwidth = {1'000'000'000 * static_cast<std::int64_t>(1 + l % 7)};
  CHECK(schedule_of("multitree", Topology(parts), collective) == before);
}

TEST_CASE("C-Cube's trees on a DGX-1 have NVLinks of their own, four of six at most") {
  const Topology topology = make_topology("dgx1_nvlinks");
  const std::vector<NodeId> group = all_npus(topology);
  const auto trees = double_tree(8);
  const TreePlacement placement = place_trees(topology, group, trees, false);
  REQUIRE(placement.found);
  for (const auto& at : placement.at)
    CHECK(std::set<std::uint32_t>(at.begin(), at.end()).size() == 8);
  std::set<LinkId> used;
  std::vector<int> ways(8);
  for (std::size_t t = 0; t < 2; ++t)
    for (std::uint32_t v = 0; v < 8; ++v) {
      if (v == trees[t].root) continue;
      const NodeId child{placement.at[t][v]}, parent{placement.at[t][trees[t].parent[v]]};
      const LinkId up = placement.up[t][child.value], down = placement.down[t][child.value];
      CHECK((topology.link(up).from == child && topology.link(up).to == parent));
      CHECK((topology.link(down).from == parent && topology.link(down).to == child));
      CHECK(used.insert(up).second);
      CHECK(used.insert(down).second);
      ++ways[child.value];
      ++ways[parent.value];
    }
  CHECK(used.size() == 2 * 2 * 7);
  for (const int count : ways) CHECK(count <= 4);

  // All-Reduce: every chunk goes once up and once down each of its tree's links. With 16 chunks a
  // link carries 8 of them, and no other link anything.
  const Collective collective = on(topology, "all_reduce", 2);
  const Outcome outcome = run_baseline("ccube", topology, collective);
  CHECK(outcome.facts.at("trees_on_direct_links") == 2);
  const std::vector<std::uint64_t> loads = crossings(topology, *outcome.schedule);
  CHECK(std::ranges::count(loads, 8U) == 28);
  CHECK(std::ranges::count(loads, 0U) == 48 - 28);
}

TEST_CASE("C-Cube overlaps: a chunk comes down while others go up") {
  // Each tree has 8 of 16 chunks, and three levels. Nothing contends, so the first chunk takes six
  // hops, up and down, and the others follow at the distance of one chunk's serialization.
  const Topology topology = make_topology("dgx1_nvlinks");
  const std::int64_t chunk = 25'000;
  const Collective collective = on(topology, "all_reduce", 2, 16 * chunk);
  const Time time =
      run_native(topology, collective, schedule_of("ccube", topology, collective), {}).completion;
  const std::int64_t serialization = chunk * 40, latency = 700'000; // ps; 25 GB/s
  CHECK(time.ps == 6 * (latency + serialization) + 7 * serialization);
}

TEST_CASE("C-Cube finds a place where two NVLinks are one link of twice the bandwidth") {
  const Topology topology = make_topology("dgx1");
  const TreePlacement placement = place_trees(topology, all_npus(topology), double_tree(8), false);
  REQUIRE(placement.found);
  std::map<LinkId, int> uses;
  for (std::size_t t = 0; t < 2; ++t)
    for (std::uint32_t i = 0; i < 8; ++i) {
      if (placement.up[t][i].valid()) ++uses[placement.up[t][i]];
      if (placement.down[t][i].valid()) ++uses[placement.down[t][i]];
    }
  for (const auto& [link, count] : uses)
    CHECK(count * 25'000'000'000 <= topology.link(link).bandwidth.bytes_per_second);
}

TEST_CASE("C-Cube's trees for Broadcast and Reduce stand on their root") {
  // On a full graph of eight there is a place below every root.
  const Topology topology = full(8);
  for (const std::uint32_t root : {0U, 3U, 7U}) {
    const TreePlacement placement =
        place_trees(topology, all_npus(topology), double_tree_below(8, root), true);
    REQUIRE(placement.found);
    for (std::size_t t = 0; t < 2; ++t) {
      CHECK(placement.at[t][root] == root);
      CHECK_FALSE(placement.up[t][root].valid());
    }
    for (const std::string_view kind : {"broadcast", "reduce"}) {
      const Collective collective =
          on(topology, std::string(kind) + ",root=" + std::to_string(root), 4);
      const Schedule schedule = schedule_of("ccube", topology, collective);
      CHECK(schedule.size() == 4 * 7);
      // two chunks over each link of a tree, and those all different
      CHECK(std::ranges::count(crossings(topology, schedule), 2U) == 2 * 7);
    }
  }
}

TEST_CASE("C-Cube has no place on bipartite networks, and then is the double binary tree") {
  // A tree of 2^k NPUs, levels 1 (the root), 1, 2, 4, ..: its even and odd levels have unequal
  // numbers of NPUs (k > 2), those of an even torus or mesh equal ones.
  for (const std::string name : {"torus3d:4x4x4", "mesh3d:4x4x4", "torus2d:4x4", "mesh2d:2x4"}) {
    const Topology topology = make_topology(name);
    const Collective collective = on(topology, "all_reduce", 2);
    const Outcome outcome = run_baseline("ccube", topology, collective);
    CHECK(outcome.facts.at("trees_on_direct_links") == 0);
    CHECK(*outcome.schedule == schedule_of("dbt", topology, collective));
  }
}

TEST_CASE("arborescence packings reach the least cut of random graphs") {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const auto vertices = static_cast<std::uint32_t>(2 + random.below(6));
    std::vector<PackingEdge> edges;
    for (std::uint32_t v = 1; v < vertices; ++v) // all are reached
      edges.push_back({static_cast<std::uint32_t>(random.below(v)), v,
                       static_cast<std::int64_t>(1 + random.below(9))});
    for (std::uint64_t more = random.below(14); more > 0; --more) {
      const auto from = static_cast<std::uint32_t>(random.below(vertices));
      const auto to = static_cast<std::uint32_t>(random.below(vertices));
      if (from != to) edges.push_back({from, to, static_cast<std::int64_t>(1 + random.below(9))});
    }
    const ArborescencePacking packing = pack_arborescences(vertices, edges, 0);
    INFO("round " << round);
    CHECK(packing.rate == least_cut(vertices, edges, 0));
    CHECK(total_weight(packing) == packing.rate); // below 100: nothing is left out
    check_packing(vertices, edges, 0, packing);
  }
}

TEST_CASE("arborescence packings of large capacities leave a hundredth at most") {
  Random random(11);
  for (int round = 0; round < 20; ++round) {
    std::vector<PackingEdge> edges;
    for (std::uint32_t from = 0; from < 7; ++from)
      for (std::uint32_t to = 0; to < 7; ++to)
        if (from != to && random.below(3) > 0)
          edges.push_back({from, to, static_cast<std::int64_t>(1 + random.below(100'000'000'000))});
    if (least_cut(7, edges, 2) == 0) continue; // something isn't reached
    const ArborescencePacking packing = pack_arborescences(7, edges, 2);
    CHECK(packing.rate == least_cut(7, edges, 2));
    CHECK(total_weight(packing) <= packing.rate);
    CHECK(total_weight(packing) >= packing.rate - packing.rate / 100);
    CHECK(packing.trees.size() <= edges.size() + 7);
    check_packing(7, edges, 2, packing);
  }
}

TEST_CASE("Blink packs what the networks' cuts allow from one root") {
  // The cut around one NPU is the least: its links' bandwidth. Behind a switch it is one port's.
  struct Case {
    std::string topology;
    double gigabytes;
  };
  for (const Case& c :
       {Case{"torus2d:4x4,bandwidth=50GB/s", 4 * 50}, Case{"mesh2d:3x4,bandwidth=50GB/s", 2 * 50},
        Case{"hypercube:4,bandwidth=50GB/s", 4 * 50}, Case{"dgx1", 6 * 25},
        Case{"dgx1_nvlinks", 6 * 25}, Case{"switch:8,bandwidth=70GB/s", 70}}) {
    INFO(c.topology);
    const Topology topology = make_topology(c.topology);
    for (const std::string text : {"broadcast,root=0", "reduce,root=0", "all_reduce"}) {
      const Outcome outcome = run_baseline("blink", topology, on(topology, text, 1));
      for (const std::string way : {"broadcast", "reduce"})
        if (text.starts_with("all") || text.starts_with(way))
          CHECK(outcome.facts.at(way + "_bytes_per_second") == c.gigabytes * 1e9);
    }
  }
}

TEST_CASE("Blink's Broadcast comes near its rate in many chunks") {
  const Topology topology = make_topology("torus2d:4x4,bandwidth=50GB/s,latency=0us");
  const Collective collective = on(topology, "broadcast,root=0", 512, 512 * 50'000);
  const Schedule schedule = schedule_of("blink", topology, collective);
  // 128 chunks down each of four trees, of at most 15 levels.
  const std::int64_t chunk = 50'000 * 20; // ps
  const Time time = run_native(topology, collective, schedule, {}).completion;
  CHECK(time.ps >= 128 * chunk);
  CHECK(time.ps <= (128 + 15) * chunk);
}

} // namespace tree_algorithms_test
