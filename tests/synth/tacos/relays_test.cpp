#include "synth/tacos/relays.hpp"

#include "sim/collective_builder.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <vector>

namespace relays_test {

using namespace tutti;

namespace {

using Ids = std::vector<NodeId>;

Ids ids(std::initializer_list<std::uint32_t> numbers) {
  Ids made;
  for (const std::uint32_t number : numbers) made.emplace_back(number);
  return made;
}

Collective one_chunk(const Topology& topology, const Ids& held, const Ids& wanted) {
  CustomCollectiveBuilder builder(topology);
  builder.add_chunk({Bytes{1000}, builder.add_set(held), builder.add_set(wanted)});
  return builder.build();
}

Ids everyone(const Topology& topology) {
  Ids all;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) all.emplace_back(n);
  return all;
}

/// Whether all who want it are reached over sources, destinations and these relays.
bool reaches_all(const Topology& topology, const Ids& held, const Ids& wanted, const Ids& relays) {
  std::vector<bool> open(topology.node_count()), seen(topology.node_count());
  for (const Ids* set : {&held, &wanted, &relays})
    for (const NodeId npu : *set) open[npu.value] = true;
  Ids stack = held;
  for (const NodeId npu : held) seen[npu.value] = true;
  while (!stack.empty()) {
    const NodeId at = stack.back();
    stack.pop_back();
    for (const LinkId link : topology.out_links(at)) {
      const NodeId to = topology.link(link).to;
      if (!open[to.value] || seen[to.value]) continue;
      seen[to.value] = true;
      stack.push_back(to);
    }
  }
  return std::ranges::all_of(wanted, [&](NodeId npu) { return seen[npu.value]; });
}

} // namespace

TEST_CASE("relays are those between the sources and who wants a chunk") {
  const Topology line = samples::mesh(1, 6);
  const Ids all = everyone(line);
  const auto relays = [&](const Ids& held, const Ids& wanted, const Ids& participants) {
    return find_relays(line, one_chunk(line, held, wanted), participants);
  };
  CHECK(relays(ids({0}), ids({1, 2}), all)->front().empty());
  CHECK(relays(ids({0}), ids({3}), all)->front() == ids({1, 2}));
  CHECK(relays(ids({0, 4}), ids({3}), all)->front().empty()); // the other source is next to it
  CHECK(relays(ids({0, 1}), ids({0, 1, 3, 5}), all)->front() ==
        ids({2, 4}));                                 // sources want it, too
  CHECK(!relays(ids({0}), ids({3}), ids({0, 1, 3}))); // 2 doesn't take part
}

TEST_CASE("who wants a chunk relays it to others before anyone else does") {
  // 0 -> 4 over 1 and 3, who want it, rather than over 2, who doesn't.
  TopologyParts parts = samples::npus("two paths", 5);
  for (const auto& [from, to] : {std::pair{0U, 1U}, {1U, 3U}, {3U, 4U}, {0U, 2U}, {2U, 4U}})
    parts.add_link(samples::link(from, to));
  const Topology topology(std::move(parts));
  const auto find = [&](const Ids& wanted) {
    return find_relays(topology, one_chunk(topology, ids({0}), wanted), everyone(topology));
  };
  CHECK(find(ids({1, 3, 4}))->front().empty());
  CHECK(find(ids({4}))->front() == ids({2}));
  CHECK(find(ids({0, 1, 4}))->front().size() == 1);
}

TEST_CASE("relays are as few as can be for one who wants a chunk, and enough for several") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    TopologyParts parts = samples::npus("random", 7);
    for (std::uint32_t links = 6 + static_cast<std::uint32_t>(random.below(14)); links > 0;
         --links) {
      const auto from = static_cast<std::uint32_t>(random.below(7));
      const auto to = static_cast<std::uint32_t>(random.below(7));
      if (from != to) parts.add_link(samples::link(from, to));
    }
    const Topology topology(std::move(parts));
    Ids wanted;
    for (std::uint32_t n = 1; n < 7; ++n)
      if (random.below(3) == 0) wanted.emplace_back(n);
    if (wanted.empty()) wanted = ids({6});
    const Ids held = ids({0});
    const std::optional<Relays> found =
        find_relays(topology, one_chunk(topology, held, wanted), everyone(topology));
    std::size_t fewest = SIZE_MAX; // of all sets of relays
    for (std::uint32_t set = 0; set < 128; ++set) {
      Ids relays;
      for (std::uint32_t n = 0; n < 7; ++n)
        if ((set >> n) & 1) relays.emplace_back(n);
      if (reaches_all(topology, held, wanted, relays)) fewest = std::min(fewest, relays.size());
    }
    INFO(seed);
    REQUIRE(found.has_value() == (fewest != SIZE_MAX));
    if (!found) continue;
    CHECK(reaches_all(topology, held, wanted, found->front()));
    if (wanted.size() == 1) CHECK(found->front().size() == fewest);
    CHECK(found->front().size() <= wanted.size() * fewest);
  }
}

TEST_CASE("what reaches only idle relays is left out") {
  const Topology line = samples::mesh(1, 4); // 0 - 1 - 2 - 3
  const Collective collective = one_chunk(line, ids({1}), ids({2}));
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    for (const LinkId out : line.out_links(NodeId{from}))
      if (line.link(out).to.value == to) return out;
    return LinkId{};
  };
  Schedule schedule(line.link_count());
  for (const LinkId hop : {link(1, 0), link(1, 2), link(2, 3)})
    schedule.push(ChunkId{0}, hop, Op::copy);
  const Schedule pruned = without_idle_relays(line, collective, schedule);
  REQUIRE(pruned.size() == 1);
  CHECK(pruned[0].path == PathId{link(1, 2).value});

  const Collective far = one_chunk(line, ids({1}), ids({3})); // 2 is a relay that is needed
  CHECK(without_idle_relays(line, far, schedule).size() == 2);
  CHECK(verify(line, far, without_idle_relays(line, far, schedule)).correct());
}

} // namespace relays_test
