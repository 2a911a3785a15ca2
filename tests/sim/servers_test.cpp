// Servers by bandwidths: sets that were counted by hand, of networks that say nothing else.
#include "sim/graphs/servers.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace servers_test {

using namespace tutti;

namespace {

constexpr std::int64_t gb = 1'000'000'000;

/// So many NPUs and switches, and links of so many GB/s both ways.
struct Sketch {
  TopologyParts parts;

  Sketch(std::uint32_t npus, std::uint32_t switches) {
    for (std::uint32_t n = 0; n < npus; ++n)
      parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
    for (std::uint32_t s = 0; s < switches; ++s)
      parts.add_node({fmt::format("s{}", s), NodeKind::switching, {false, false, false}, {}});
  }
  void join(std::uint32_t a, std::uint32_t b, std::int64_t speed) {
    parts.add_duplex({NodeId{a}, NodeId{b}, Time{500'000}, Bandwidth{speed * gb}});
  }
  /// [NPU]: its set.
  [[nodiscard]] std::vector<std::uint32_t> sets() const {
    const Topology topology(parts);
    std::vector<std::uint32_t> found = sets_joined_by_speed(topology);
    if (!found.empty()) found.resize(topology.npu_count());
    return found;
  }
};

using Sets = std::vector<std::uint32_t>;

/// Two servers of three GPUs, on a switch of their own (6, 7) and one for both (8); spine 9.
Sketch two_servers(std::int64_t inside, std::int64_t between, std::int64_t up) {
  Sketch sketch(6, 4);
  for (std::uint32_t n = 0; n < 6; ++n) {
    sketch.join(n, 6 + n % 2, inside);
    sketch.join(n, 8, between);
  }
  sketch.join(8, 9, up);
  return sketch;
}

} // namespace

TEST_CASE("what a fast switch joins is a server, however fast the network's own links are") {
  const Sets alternating{0, 1, 0, 1, 0, 1};
  CHECK(two_servers(450, 50, 100).sets() == alternating);
  CHECK(two_servers(450, 50, 50).sets() == alternating);
  Sketch idle = two_servers(450, 50, 100); // an NPU without links is no server
  idle.parts.nodes.insert(idle.parts.nodes.begin(), {"idle", NodeKind::npu, {}, {}});
  for (Link& link : idle.parts.links)
    link = {NodeId{link.from.value + 1}, NodeId{link.to.value + 1}, link.latency, link.bandwidth};
  CHECK(idle.sets() == Sets{0, 1, 2, 1, 2, 1, 2});
  CHECK(two_servers(450, 50, 800).sets() == alternating);
  CHECK(two_servers(50, 50, 100).sets().empty()); // all alike
  CHECK(two_servers(74, 50, 100).sets().empty()); // as xGMI and PCIe in a server differ
}

TEST_CASE("GPUs with fast links of their own are a server, parallel ones together") {
  Sketch sketch(8, 1);
  for (const std::uint32_t first : {0U, 4U})
    for (std::uint32_t a = first; a < first + 4; ++a)
      for (std::uint32_t b = a + 1; b < first + 4; ++b)
        for (int parallel = 0; parallel < ((b - a) == 2 ? 4 : 2); ++parallel) sketch.join(a, b, 10);
  for (std::uint32_t n = 0; n < 8; ++n) sketch.join(n, 8, 10);
  // Pairs have 40, others 20, the network 10: of two equal steps the larger set.
  CHECK(sketch.sets() == Sets{0, 0, 0, 0, 4, 4, 4, 4});
}

TEST_CASE("the largest step is a server's, not that of the racks on a leaf switch") {
  Sketch sketch(8, 7); // four pairs on switches 8 to 11, two leaves, a spine
  for (std::uint32_t n = 0; n < 8; ++n) {
    sketch.join(n, 8 + n / 2, 300);
    sketch.join(n, 12 + n / 4, 25);
  }
  sketch.join(12, 14, 10);
  sketch.join(13, 14, 10);
  CHECK(sketch.sets() == Sets{0, 0, 2, 2, 4, 4, 6, 6});
}

TEST_CASE("networks that show no servers") {
  CHECK(Sketch(4, 1).sets().empty()); // nothing is joined
  Sketch leaves(6, 3);                // hosts on leaves, uplinks as fast
  for (std::uint32_t n = 0; n < 6; ++n) leaves.join(n, 6 + n / 3, 50);
  leaves.join(6, 8, 50);
  leaves.join(7, 8, 50);
  CHECK(leaves.sets().empty());
  Sketch apart(4, 0); // nothing joins the pairs
  apart.join(0, 1, 50);
  apart.join(2, 3, 50);
  CHECK(apart.sets().empty());
  Sketch alone(3, 0); // a pair, and an NPU by itself
  alone.join(0, 1, 50);
  alone.join(1, 2, 10);
  CHECK(alone.sets().empty());
  Sketch many(100, 0); // of as many speeds as links
  for (std::uint32_t n = 0; n + 1 < 100; ++n) many.join(n, n + 1, n % 2 == 0 ? 1000 + n : 1 + n);
  CHECK(many.sets().empty());
}

} // namespace servers_test
