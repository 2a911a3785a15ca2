// Parts of a partition, all at once, against each of them as a set of its own.
#include "sim/random.hpp"
#include "synth/bounds/cuts.hpp"
#include "synth/bounds/demand.hpp"
#include "synth/bounds/partition.hpp"
#include "tests/samples.hpp"

#include "tests/catch.hpp"

#include <cstdint>
#include <vector>

namespace tutti::bounds::partition_test {
namespace {

constexpr std::uint32_t nodes = 8;

Collective random_collective(Random& random) {
  Collective collective;
  for (int s = 0; s < 6; ++s) {
    std::vector<NodeId>& set = collective.sets.emplace_back();
    for (std::uint32_t v = 0; v < nodes; ++v)
      if (random.below(1 + static_cast<std::uint64_t>(s)) == 0) set.emplace_back(v);
    if (set.empty()) set.emplace_back(static_cast<std::uint32_t>(random.below(nodes)));
  }
  for (int c = 0; c < 12; ++c)
    collective.chunks.push_back({Bytes{1 + static_cast<std::int64_t>(random.below(3))},
                                 static_cast<SetId>(random.below(6)),
                                 static_cast<SetId>(random.below(6)), random.below(2) == 0});
  return collective;
}

TEST_CASE("what a part demands is what its set of nodes demands", "[bounds]") {
  Random random(9);
  for (int round = 0; round < 300; ++round) {
    const Collective collective = random_collective(random);
    const std::vector<ChunkClass> classes = chunk_classes(collective);
    Partition partition{{}, 1 + static_cast<std::uint32_t>(random.below(5))};
    for (std::uint32_t v = 0; v < nodes; ++v)
      partition.part_of.push_back(static_cast<std::uint32_t>(random.below(partition.parts)));
    const NodeDemands demands =
        node_demands(quotient(collective, classes, partition), classes, partition.parts);
    for (std::uint32_t part = 0; part < partition.parts; ++part) {
      std::vector<bool> inside;
      for (std::uint32_t v = 0; v < nodes; ++v) inside.push_back(partition.part_of[v] == part);
      const Demand in = demand_across(collective, classes, inside, false);
      const Demand out = demand_across(collective, classes, inside, true);
      CAPTURE(round, part);
      CHECK(demands.in[part].chunks == in.chunks);
      CHECK((demands.in[part].bytes == in.bytes));
      CHECK(demands.out[part].chunks == out.chunks);
      CHECK((demands.out[part].bytes == out.bytes));
    }
  }
}

TEST_CASE("nodes without a part join the one they mostly belong to", "[bounds]") {
  // npu0 and npu1 on switch 4, npu2 and npu3 on switch 5, the switches on 6
  TopologyParts parts = samples::npus("tree", 4);
  for (const char* name : {"left", "right", "top"})
    parts.add_node({name, NodeKind::switching, {false, false, false}, {}});
  for (const auto& [down, up] :
       {std::pair{0U, 4U}, {1U, 4U}, {2U, 5U}, {3U, 5U}, {4U, 6U}, {5U, 6U}})
    parts.add_duplex(samples::link(down, up));
  const Topology topology(parts);
  const Partition pairs = completed(topology, {7, 7, 3, 3, no_part, no_part, no_part});
  CHECK(pairs.part_of == std::vector<std::uint32_t>{0, 0, 1, 1, 0, 1, 2}); // the top is torn
  CHECK(pairs.parts == 3);
  // by switches: the same, found by itself
  const std::vector<Partition> found = clusters(topology);
  REQUIRE(found.size() == 1);
  CHECK(found[0].part_of == pairs.part_of);
}

TEST_CASE("parts by dimension: rows, columns, and what is inside of the rest", "[bounds]") {
  const std::vector<Partition> grid = dimension_parts(samples::mesh(2, 3));
  REQUIRE(grid.size() == 2);
  CHECK(grid[0].part_of == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1});
  CHECK(grid[1].part_of == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2});
  CHECK(dimension_parts(samples::ring(4)).empty());

  TopologyParts cube = samples::npus("cube", 16); // 2 x 2 x 2 x 2, coordinates are the bits
  cube.shape = {2, 2, 2, 2};
  for (int v = 0; v < 16; ++v)
    cube.coordinates.push_back({v & 1, v >> 1 & 1, v >> 2 & 1, v >> 3 & 1});
  // 4 of one dimension, 4 of all others, and the first two against the last two
  CHECK(dimension_parts(Topology(cube)).size() == 10);
}

} // namespace
} // namespace tutti::bounds::partition_test
