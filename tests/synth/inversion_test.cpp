#include "synth/inversion.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace inversion_test {

using namespace tutti;

TEST_CASE("what is reduced somewhere is copied from there, inverted") {
  const Topology ring = make_topology("ring:3");
  const Collective reduce = make_collective(ring, {CollectiveKind::reduce, Bytes{300}, {}, 1});
  CHECK(reduces(reduce));
  const Collective turned = inverted(reduce);
  CHECK_FALSE(reduces(turned));
  CHECK(turned.sources(ChunkId{0}).size() == 1);
  CHECK(turned.sources(ChunkId{0})[0] == NodeId{1});
  CHECK(turned.destinations(ChunkId{0}).size() == 3);
}

TEST_CASE("what is named says the same chunks as what is inverted") {
  const Topology ring = make_topology("ring:5");
  for (const auto& [kind, inverse] :
       {std::pair(CollectiveKind::reduce, CollectiveKind::broadcast),
        std::pair(CollectiveKind::reduce_scatter, CollectiveKind::all_gather)})
    for (const std::uint32_t chunks_per_shard : {1U, 3U})
      for (const std::vector<NodeId>& group :
           {std::vector<NodeId>{}, std::vector{NodeId{4}, NodeId{1}, NodeId{2}}}) {
        const Bytes size{1'001}; // doesn't divide
        const Collective turned =
            inverted(make_collective(ring, {kind, size, group, 0, chunks_per_shard}));
        const Collective named = make_collective(ring, {inverse, size, group, 0, chunks_per_shard});
        CHECK(turned.fingerprint() == named.fingerprint());
        CHECK(turned.name() == named.name());
      }
}

TEST_CASE("inverted, who could reduce can copy") {
  TopologyParts parts;
  parts.name = "star";
  parts.add_node({"a", NodeKind::npu, {}, {}});
  parts.add_node({"b", NodeKind::npu, {}, {}});
  parts.add_node({"s", NodeKind::switching, {false, true, false}, {}});
  const Link link{NodeId{0}, NodeId{2}, {}, {1'000'000'000}, -1};
  parts.add_link(link);
  parts.add_link({NodeId{2}, NodeId{1}, {}, {1'000'000'000}, -1});
  const Topology turned = reversed_with_copies(Topology(parts));
  CHECK(turned.link(LinkId{0}).from == NodeId{2});
  CHECK(turned.link(LinkId{0}).to == NodeId{0});
  CHECK_FALSE(turned.node(NodeId{2}).can.copy);
  CHECK(turned.node(NodeId{0}).can.copy);
}

} // namespace inversion_test
