// Closed forms against the formulas of Shapley 2025, appendix A, and never above better bounds.
#include "synth/bounds/bounds.hpp"
#include "tests/sim/random_case.hpp"
#include "topologies/list.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace tutti::closed_forms_test {
namespace {

using K = CollectiveKind;

constexpr std::int64_t gb = 1'000'000'000;

const Bound* closed_form_in(const std::vector<Bound>& bounds) {
  const auto found = std::find_if(bounds.begin(), bounds.end(), [](const Bound& bound) {
    return bound.kind == BoundKind::closed_form;
  });
  return found == bounds.end() ? nullptr : &*found;
}

Bound closed_form_of(const Topology& topology, const CollectiveSpec& spec) {
  const std::vector<Bound> bounds =
      lower_bounds(topology, make_collective(topology, spec), TimeModel{}, Chunking::given);
  const Bound* found = closed_form_in(bounds);
  REQUIRE(found != nullptr);
  return *found;
}

} // namespace

TEST_CASE("closed forms: NPUs of a ring of four send and receive 100 GB/s", "[bounds]") {
  // Two links of 50 GB/s; 12 GB take 120 ms.
  const Topology ring = make_topology("ring:4,bandwidth=50GB/s");
  struct Expected {
    K kind;
    std::int64_t share; // GB of 12
    std::string certificate;
  };
  for (const Expected& expected : std::vector<Expected>{
           {K::broadcast, 12, "Theorem 9: 12GB"},
           {K::reduce, 12, "Theorem 13: 12GB"},
           {K::gather, 9, "as Theorem 13: 3/4 of 12GB"},
           {K::scatter, 9, "as Theorem 9: 3/4 of 12GB"},
           {K::all_gather, 9, "Theorem 11: 3/4 of 12GB"},
           {K::reduce_scatter, 9, "Theorem 17: 3/4 of 12GB"},
           {K::all_reduce, 18, "Theorem 19: 6/4 of 12GB"},
           {K::all_to_all, 9, "as Theorem 11: 3/4 of 12GB"},
       }) {
    INFO(expected.certificate);
    const Bound bound = closed_form_of(ring, {expected.kind, Bytes{12 * gb}, {}, 0, 1});
    CHECK(bound.time.ps == expected.share * 10'000'000'000);
    CHECK_THAT(bound.certificate, ContainsSubstring(expected.certificate + " through at most "));
    CHECK_THAT(bound.certificate, ContainsSubstring("100GB/s"));
    CHECK(bound.inside.empty());
  }
}

TEST_CASE("closed forms: the fastest NPU counts, and shared groups", "[bounds]") {
  // npu0 - npu1 - npu2: npu1 has two links, but may send over both no more than 60 GB/s.
  TopologyParts parts;
  for (int n = 0; n < 3; ++n) parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  parts.add_duplex({NodeId{0}, NodeId{1}, Time{0}, Bandwidth{50 * gb}, -1});
  parts.add_duplex({NodeId{1}, NodeId{2}, Time{0}, Bandwidth{50 * gb}, -1});
  parts.groups.push_back({"out", {LinkId{1}, LinkId{2}}, Bandwidth{60 * gb}});
  const Topology line(parts);
  // Each contributes 4 of its 6 GB to others' shards: 4 / 60. On average 4 GB come in, at most at
  // 100 GB/s.
  const Bound scattered = closed_form_of(line, {K::reduce_scatter, Bytes{6 * gb}, {}, 0, 1});
  CHECK(scattered.time.ps == 66'666'666'666);
  CHECK(scattered.certificate == "Theorem 17: 2/3 of 6GB through at most 60GB/s out of a member");
  const Bound gathered = closed_form_of(line, {K::all_gather, Bytes{6 * gb}, {}, 0, 1});
  CHECK(gathered.time.ps == 40'000'000'000);
  CHECK(gathered.certificate == "Theorem 11: 2/3 of 6GB through at most 100GB/s into a member");
}

TEST_CASE("closed forms: what is true on average only where nobody else reduces", "[bounds]") {
  // Three of the four NPUs of a ring: the fourth may add for them. 12 GB must leave and enter each.
  const Topology ring = make_topology("ring:4,bandwidth=50GB/s");
  const std::vector<NodeId> three{NodeId{0}, NodeId{1}, NodeId{2}};
  const Bound group = closed_form_of(ring, {K::all_reduce, Bytes{12 * gb}, three, 0, 1});
  CHECK(group.time.ps == 120'000'000'000);
  CHECK_THAT(group.certificate, ContainsSubstring("as Theorems 9 and 13: 12GB through"));
  // A switch that adds: one sum comes back to each of four, 12 GB at 50 GB/s; else 18.
  TopologyParts parts = make_topology("switch:4,bandwidth=50GB/s").parts();
  const CollectiveSpec all_reduce{K::all_reduce, Bytes{12 * gb}, {}, 0, 1};
  CHECK(closed_form_of(Topology(parts), all_reduce).time.ps == 360'000'000'000);
  parts.nodes.back().can.reduce = true;
  CHECK(closed_form_of(Topology(parts), all_reduce).time.ps == 240'000'000'000);
}

TEST_CASE("closed forms: of several collectives the longest, of none else any", "[bounds]") {
  const Topology ring = make_topology("ring:4,bandwidth=50GB/s");
  const std::vector<Collective> both{
      make_collective(ring, {K::broadcast, Bytes{gb}, {}, 0, 1}),
      make_collective(ring, {K::all_to_all, Bytes{4 * gb}, {}, 0, 1})};
  const std::vector<Bound> bounds = lower_bounds(ring, merge(both), TimeModel{}, Chunking::given);
  const Bound* found = closed_form_in(bounds);
  REQUIRE(found != nullptr);
  CHECK(found->time.ps == 30'000'000'000);
  CHECK(std::ranges::is_sorted(bounds, {}, &Bound::kind));

  Collective custom = make_collective(ring, {K::broadcast, Bytes{gb}, {}, 0, 1});
  custom.parts.front().kind = K::custom;
  CHECK(closed_form_in(lower_bounds(ring, custom, TimeModel{}, Chunking::given)) == nullptr);
}

TEST_CASE("closed forms say no more than cuts and total work", "[bounds]") {
  // But where others than NPUs copy: total work then counts what these receive, Theorem 19 doesn't.
  int checked = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const testing::RandomCase c = testing::random_case(seed, false);
    const bool only_npus =
        std::all_of(c.topology.nodes().begin(), c.topology.nodes().end(),
                    [](const Node& node) { return node.kind == NodeKind::npu || !node.can.copy; });
    if (!only_npus) continue;
    for (const K kind : named_collectives()) {
      CAPTURE(seed, to_text(kind));
      const Collective collective =
          make_collective(c.topology, {kind, Bytes{1000 + static_cast<int>(seed)}, {}, 0, 1});
      std::vector<Bound> bounds;
      try {
        bounds = lower_bounds(c.topology, collective, c.model, Chunking::given, BoundEffort::least);
      } catch (const std::exception&) {
        continue; // someone is out of reach
      }
      const Bound* found = closed_form_in(bounds);
      REQUIRE(found != nullptr);
      const Time closed = found->time;
      std::erase_if(bounds,
                    [](const Bound& bound) { return bound.kind == BoundKind::closed_form; });
      REQUIRE(closed <= best_of(bounds).time);
      ++checked;
    }
  }
  CHECK(checked > 200);
}

} // namespace tutti::closed_forms_test
