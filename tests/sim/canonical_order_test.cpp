// Two listings of one network must get one order. Checked from the definition: what the orders make
// of both is compared link by link and group by group.

#include "sim/graphs/canonical_order.hpp"

#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/practical_networks.hpp"

#include <array>
#include <map>

namespace canonical_order_test {

using namespace tutti;

namespace {

using LinkText = std::array<std::int64_t, 4>;
/// All that decides a simulation, in the places that an order gives.
struct Picture {
  std::vector<LinkText> links;
  std::vector<std::vector<std::size_t>> groups;
  bool operator==(const Picture&) const = default;
};

Picture picture(const Topology& topology, const CanonicalOrder& order) {
  std::map<NodeId, std::int64_t> place;
  for (std::size_t i = 0; i < order.nodes.size(); ++i)
    place[order.nodes[i]] = static_cast<std::int64_t>(i);
  std::map<LinkId, std::size_t> link_place;
  Picture seen;
  for (const LinkId id : order.links) {
    const Link& link = topology.link(id);
    link_place[id] = seen.links.size();
    seen.links.push_back(
        {place.at(link.from), place.at(link.to), link.latency.ps, link.bandwidth.bytes_per_second});
  }
  for (const std::uint32_t g : order.groups) {
    auto& members = seen.groups.emplace_back();
    for (const LinkId link : topology.groups()[g].links) members.push_back(link_place.at(link));
    std::ranges::sort(members);
  }
  return seen;
}

std::vector<std::uint32_t> unmarked(const Topology& topology) {
  return std::vector<std::uint32_t>(topology.node_count());
}

} // namespace

TEST_CASE("two listings of a network have one canonical order", "[canonical_order]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Topology listed = samples::PracticalNetwork(seed).make();
    const auto [other, node_in] = samples::relisted(listed, seed + 1);
    CAPTURE(seed, listed.name());
    std::vector<std::uint32_t> marks = unmarked(listed), other_marks = unmarked(other);
    if (seed % 3 == 0) { // a root
      const std::size_t root = seed % listed.npu_count();
      marks[root] = 1;
      other_marks[node_in[root].value] = 1;
    }
    const CanonicalOrder order = canonical_order(listed, marks);
    CHECK(order.nodes.size() == listed.node_count());
    CHECK(order.links.size() == listed.link_count());
    CHECK(std::ranges::all_of(std::span(order.nodes).first(listed.npu_count()), [&](NodeId node) {
      return listed.node(node).kind == NodeKind::npu;
    }));
    CHECK(picture(listed, order) == picture(other, canonical_order(other, other_marks)));
  }
}

TEST_CASE("machines stay together in a canonical order, rails in one order", "[canonical_order]") {
  // Four servers of four GPUs, numbered rail by rail.
  TopologyParts parts = samples::npus("rails", 16);
  for (std::uint32_t s = 0; s < 8; ++s)
    parts.add_node({"switch" + std::to_string(s), NodeKind::switching, {false, false, false}, {}});
  for (std::uint32_t gpu = 0; gpu < 16; ++gpu) {
    Link inside = samples::link(gpu, 16 + gpu % 4);
    inside.bandwidth = Bandwidth{450'000'000'000};
    parts.add_duplex(inside);
    parts.add_duplex(samples::link(gpu, 20 + gpu / 4));
  }
  const Topology topology(std::move(parts));
  const CanonicalOrder order = canonical_order(topology, unmarked(topology));
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(order.nodes[i].value % 4 == order.nodes[i / 4 * 4].value % 4); // server
    CHECK(order.nodes[i].value / 4 == order.nodes[i % 4].value / 4);     // rail
  }
}

TEST_CASE("coordinates are an order, and families already stand in it", "[canonical_order]") {
  TopologyParts parts = samples::mesh_parts(3, 4);
  for (std::vector<int>& at : parts.coordinates) std::swap(at[0], at[1]);
  for (Link& link : parts.links) link.dimension = static_cast<std::int8_t>(1 - link.dimension);
  parts.shape = {4, 3};
  const Topology topology(std::move(parts));
  const CanonicalOrder order = canonical_order(topology, unmarked(topology));
  for (std::uint32_t n = 0; n < 12; ++n) CHECK(order.nodes[n] == NodeId{n});
}

TEST_CASE("links that break a symmetry are found", "[canonical_order]") {
  for (const bool both_ways : {false, true}) {
    TopologyParts parts = samples::ring(12).parts();
    const LinkId odd = parts.add_link(samples::link(3, 8));
    if (both_ways) parts.add_link(samples::link(8, 3));
    const Topology topology(std::move(parts));
    std::vector<LinkId> found = odd_links(topology, unmarked(topology));
    std::ranges::sort(found);
    REQUIRE(found.size() == (both_ways ? 2 : 1));
    CHECK(found.front() == odd);
  }
  const Topology ring = samples::ring(12), uneven = samples::uneven_mesh(3, 3);
  CHECK(odd_links(ring, unmarked(ring)).empty());
  CHECK(odd_links(uneven, unmarked(uneven)).empty());
}

} // namespace canonical_order_test
