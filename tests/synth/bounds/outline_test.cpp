// Bounds of an All-to-All without a list of its chunks are those with one.
#include "sim/error.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/check.hpp"
#include "synth/bounds/outline.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::outline_test {
namespace {

std::vector<NodeId> nodes(const std::vector<std::uint32_t>& ids) {
  return {ids.begin(), ids.end()};
}

struct Case {
  const char* topology;
  Bytes size;
  std::uint32_t chunks_per_shard;
  std::vector<std::uint32_t> group = {};
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"ring:4", Bytes{1 << 20}, 1},
      {"ring:7", Bytes{12'345}, 3}, // shards and chunks differ by a byte
      {"switch:6", Bytes{1'000'003}, 1},
      {"torus2d:4x4", Bytes{1 << 20}, 1, {9, 3, 0, 14, 7}},
      {"torus3d:4x2x2", Bytes{9'999}, 5},
      {"dgx_a100x2", Bytes{77'777}, 2},
      {"fat_tree:4", Bytes{1 << 20}, 1},
      {"rfs:2x2x4", Bytes{100'000}, 4, {0, 1, 2, 3, 8, 9, 10}},
      {"random:12,degree=2,seed=5", Bytes{65'537}, 1},
  };
  return all;
}

/// An outline without a list.
bounds::Outline unlisted(const Topology& topology, const CollectiveSpec& spec) {
  bounds::Outline outline = bounds::outline(topology, spec, 0);
  REQUIRE(outline.collective.chunks.empty());
  return outline;
}

void check_alike(const std::vector<Bound>& without, const std::vector<Bound>& with) {
  REQUIRE(without.size() == with.size());
  for (std::size_t i = 0; i < with.size(); ++i) {
    INFO(without[i].certificate << " / " << with[i].certificate);
    CHECK(without[i].kind == with[i].kind);
    CHECK(without[i].time == with[i].time);
  }
}

TEST_CASE("bounds of All-to-All need no list of chunks", "[bounds]") {
  for (const Case& c : cases())
    for (const LinkBusy busy : {LinkBusy::serialization, LinkBusy::latency_and_serialization}) {
      CAPTURE(c.topology, c.size.count, c.chunks_per_shard);
      const Topology topology = make_topology(c.topology);
      const CollectiveSpec spec{CollectiveKind::all_to_all, c.size, nodes(c.group), 0,
                                c.chunks_per_shard};
      const Collective listed = make_collective(topology, spec);
      TimeModel model;
      model.link_busy = busy;
      const Bounds without =
          all_bounds(topology, unlisted(topology, spec), model, BoundEffort::least);
      const Bounds with = all_bounds(topology, listed, model, BoundEffort::least);
      check_alike(without.any, with.any);
      check_alike(without.given, with.given);
      for (const Bound& bound : without.any)
        CHECK(refuted(topology, listed, model, Chunking::any, bound) == "");
      for (const Bound& bound : without.given)
        CHECK(refuted(topology, listed, model, Chunking::given, bound) == "");
    }
}

TEST_CASE("an outline lists no more than it should", "[bounds]") {
  const Topology topology = make_topology("ring:6");
  const auto listed = [&](CollectiveKind kind, std::size_t most) {
    return bounds::outline(topology, {kind, Bytes{1 << 20}, {}, 0, 2}, most)
        .collective.chunks.size();
  };
  CHECK(listed(CollectiveKind::all_to_all, 72) == 72);
  CHECK(listed(CollectiveKind::all_to_all, 71) == 0);
  CHECK(listed(CollectiveKind::all_gather, 0) == 12);
  CHECK_THROWS_AS(bounds::outline(topology, {CollectiveKind::all_to_all, Bytes{35}, {}, 0, 6}, 0),
                  InputError);
  CHECK_THROWS_AS(
      bounds::outline(topology, {CollectiveKind::all_to_all, Bytes{1 << 20}, {}, 0, 1 << 23}, 0),
      InputError);
}

TEST_CASE("an outline asks that all members reach each other", "[bounds]") {
  TopologyParts parts = samples::npus("one way", 3);
  parts.add_link({NodeId{0}, NodeId{1}, Time{0}, Bandwidth{1'000'000'000}, -1});
  parts.add_duplex({NodeId{1}, NodeId{2}, Time{0}, Bandwidth{1'000'000'000}, -1});
  const Topology topology(std::move(parts));
  const auto of = [&](const std::vector<std::uint32_t>& group) {
    return bounds::outline(topology, {CollectiveKind::all_to_all, Bytes{900}, nodes(group), 0, 1},
                           0);
  };
  CHECK_THROWS_AS(of({}), InputError);
  CHECK_THROWS_AS(of({1, 0}), InputError);
  CHECK(of({2, 1}).classes.size() == 1);
}

TEST_CASE("the bound of All-to-All over 8,192 NPUs", "[bounds]") {
  // Half of them send half of their buffers to the others, over 2 x 256 links of 50 GB/s.
  const Topology topology = make_topology("torus3d:32x16x16,bandwidth=50GB/s,latency=0s");
  const bounds::Outline outline =
      bounds::outline(topology, {CollectiveKind::all_to_all, Bytes{1 << 30}, {}, 0, 1});
  CHECK(outline.collective.chunks.empty());
  const Bounds bounds = all_bounds(topology, outline, TimeModel{}, BoundEffort::least);
  const std::int64_t bytes = std::int64_t{1 << 30} / 8192 * 4096 * 4096;
  CHECK(bounds.best().time.ps == bytes / 512 * 1000 / 50);
}

} // namespace
} // namespace tutti::outline_test
