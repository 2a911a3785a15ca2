// Every bound has a proof that the checker confirms; and the checker confirms nothing that a
// schedule disproves, whatever it is told.
#include "sim/random.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/check.hpp"
#include "tests/catch.hpp"
#include "tests/synth/bounds/bound_cases.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::check_test {
namespace {

constexpr std::array chunkings{Chunking::any, Chunking::given};

std::string refuted(const samples::BoundCase& given, Chunking chunking, const Bound& bound) {
  return refuted(given.topology, given.collective, given.model, chunking, bound, given.starts);
}

/// What the checker says of all bounds of random cases, and of claims that are 1 % higher.
struct Verdicts {
  std::map<BoundKind, int> confirmed, higher_refuted;
  std::string refuted; ///< the first
};

Verdicts verdicts(std::uint64_t seed, int cases) {
  Random random(seed);
  Verdicts result;
  for (int i = 0; i < cases; ++i) {
    samples::BoundCase given = samples::random_bound_case(random);
    if (i % 2 == 1) given = samples::with_late_starts(std::move(given), random);
    for (const Chunking chunking : chunkings)
      for (Bound bound : samples::all_bounds(given, chunking)) {
        const std::string fault = refuted(given, chunking, bound);
        if (!fault.empty() && result.refuted.empty())
          result.refuted = fmt::format("seed {}, case {}, {}: {} by {} ({}): {}", seed, i,
                                       given.collective.name(), bound.time.ps, to_text(bound.kind),
                                       bound.certificate, fault);
        if (!fault.empty() || bound.time.ps == 0) continue;
        ++result.confirmed[bound.kind];
        bound.time.ps += 1 + bound.time.ps / 100;
        result.higher_refuted[bound.kind] += !refuted(given, chunking, bound).empty();
      }
  }
  return result;
}

TEST_CASE("the checker confirms every bound and hardly any that is 1 % higher", "[bounds][heavy]") {
  const Verdicts result = verdicts(1, 60);
  CHECK(result.refuted == "");
  CHECK(result.confirmed.size() == 14);
  for (const auto& [kind, count] : result.confirmed) {
    INFO(to_text(kind) << ": " << count);
    CHECK(4 * result.higher_refuted.at(kind) > count); // the checker may know better than a maker
  }
}

TEST_CASE("the checker confirms every bound of many cases", "[bounds][slow]") {
  for (std::uint64_t seed = 2; seed < 12; ++seed) CHECK(verdicts(seed, 500).refuted == "");
}

/// The first bound of named collectives on these networks that the checker refuses.
std::string refuted_on(const std::vector<std::string>& networks, bool with_flows) {
  for (const std::string& text : networks)
    for (const CollectiveKind kind : named_collectives())
      for (const LinkBusy busy : {LinkBusy::serialization, LinkBusy::latency_and_serialization})
        for (const Chunking chunking : chunkings) {
          samples::BoundCase given{make_topology(text), {}, {}};
          given.collective = make_collective(given.topology, {kind, Bytes{1 << 20}, {}, 0, 2});
          given.model.link_busy = busy;
          const std::vector<Bound> bounds =
              with_flows ? samples::all_bounds(given, chunking)
                         : lower_bounds(given.topology, given.collective, given.model, chunking);
          for (const Bound& bound : bounds)
            if (const std::string fault = refuted(given, chunking, bound); !fault.empty())
              return fmt::format("{} on {}: {} by {} ({}): {}", to_text(kind), text, bound.time.ps,
                                 to_text(bound.kind), bound.certificate, fault);
        }
  return "";
}

TEST_CASE("the checker confirms the bounds of real networks", "[bounds]") {
  CHECK(refuted_on({"dgx1", "dgx_a100x2", "rfs:2x2x4"}, false) == "");
}

TEST_CASE("the checker confirms the bounds of many real networks", "[bounds][slow]") {
  CHECK(refuted_on({"dgx1", "dgx2", "dgx_a100", "dgx_a100x2", "mi250x_x2", "ndv2x2", "torus2d:8x8",
                    "torus3d:4x4x4", "mesh2d:8x8", "dragonfly:7x8", "fat_tree:8", "rfs:2x4x8",
                    "hypercube:6", "multi_rail:8x4"},
                   true) == "");
}

/// Two clusters of many NPUs each, in a row, and chunks from the first for some or all NPUs of the
/// second: more than stand for all of them where they spread.
samples::BoundCase many_targets(Random& random) {
  const auto each = 66 + static_cast<std::uint32_t>(random.below(80));
  TopologyParts parts;
  for (std::uint32_t n = 0; n < 2 * each; ++n)
    parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
  const auto join = [&](std::uint32_t from, std::uint32_t to, std::int64_t rate) {
    parts.add_duplex({NodeId{from}, NodeId{to}, Time{static_cast<std::int64_t>(random.below(1000))},
                      Bandwidth{1'000'000'000 * rate}, -1});
  };
  for (std::uint32_t n = 0; n + 1 < 2 * each; ++n)
    if (n + 1 != each) join(n, n + 1, 8);
  join(0, each, 1);
  if (random.below(2) == 0) join(each - 1, 2 * each - 1, 1);
  Collective collective;
  collective.sets = {{NodeId{0}}, {}};
  for (std::uint32_t n = each; n < 2 * each; ++n) collective.sets[1].emplace_back(n);
  const bool reduces = random.below(2) == 0;
  for (std::uint64_t some = 2 + random.below(3); some > 0; --some) {
    const auto set = static_cast<SetId>(collective.sets.size());
    std::vector<NodeId>& wanted = collective.sets.emplace_back(collective.sets[1]);
    for (std::uint64_t without = random.below(8); without > 0; --without)
      wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(random.below(wanted.size())));
    const Bytes size{1 + static_cast<std::int64_t>(random.below(1'000'000))};
    collective.chunks.push_back(reduces ? Chunk{size, set, 0, true} : Chunk{size, 0, set, false});
  }
  samples::BoundCase result{Topology(std::move(parts)), std::move(collective), {}};
  if (random.below(2) == 0) result.model.link_busy = LinkBusy::latency_and_serialization;
  return result;
}

TEST_CASE("the checker confirms what spreads to more nodes than are looked at", "[bounds][heavy]") {
  Random random(3);
  int spreading = 0;
  for (int i = 0; i < 25; ++i) {
    const samples::BoundCase given = many_targets(random);
    for (const Chunking chunking : chunkings)
      for (const Bound& bound : lower_bounds(given.topology, given.collective, given.model,
                                             chunking, BoundEffort::least)) {
        INFO(i << ": " << bound.time.ps << " ps by " << bound.certificate);
        CHECK(refuted(given, chunking, bound) == "");
        spreading += bound.kind == BoundKind::spreading_cut && !bound.proof.credits.empty();
      }
  }
  CHECK(spreading > 10);
}

/// Certificates of any kind, honest ones with something changed or drawn at random.
class Liar {
public:
  Liar(const samples::BoundCase& given, Time longest, Random& random)
      : given_(given), longest_(longest), random_(random) {
    for (const Chunking chunking : chunkings)
      for (Bound& bound : samples::all_bounds(given, chunking)) honest_.push_back(std::move(bound));
  }

  [[nodiscard]] Bound certificate() {
    Bound bound = honest_[random_.below(honest_.size())];
    Certificate& proof = bound.proof;
    if (one_in(4)) bound.kind = static_cast<BoundKind>(random_.below(14));
    for (std::uint64_t changes = 1 + random_.below(4); changes > 0; --changes) change(proof);
    return bound;
  }

private:
  [[nodiscard]] bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  [[nodiscard]] std::uint32_t node() {
    return static_cast<std::uint32_t>(random_.below(given_.topology.node_count()));
  }
  [[nodiscard]] Time some_time() {
    const Link& link = given_.topology.link(
        LinkId{static_cast<std::uint32_t>(random_.below(given_.topology.link_count()))});
    return one_in(2) ? Time{link.latency.ps * static_cast<std::int64_t>(random_.below(3))}
                     : Time{static_cast<std::int64_t>(
                           random_.below(static_cast<std::uint64_t>(longest_.ps) + 2))};
  }

  void change(Certificate& proof) {
    const std::uint32_t nodes = given_.topology.node_count();
    switch (random_.below(9)) {
    case 0:
      if (proof.inside.size() != nodes || one_in(4)) {
        proof.inside.assign(nodes, false);
        for (std::uint32_t v = 0; v < nodes; ++v) proof.inside[v] = one_in(2);
      }
      proof.inside[node()].flip();
      break;
    case 1: proof.from = some_time(); break;
    case 2: proof.until = some_time(); break;
    case 3:
      if (proof.part_of.size() != nodes) proof.part_of.assign(nodes, 0);
      proof.part_of[node()] = node();
      break;
    case 4: proof.source = one_in(3) ? NodeId{} : NodeId{node()}; break;
    case 5: proof.destination = NodeId{node()}; break;
    case 6: {
      proof.prices.resize(given_.topology.link_count() + given_.topology.groups().size());
      double& price = proof.prices[random_.below(proof.prices.size())];
      price = static_cast<double>(random_.below(one_in(2) ? 8 : 1ULL << 40));
      break;
    }
    case 7: {
      std::set<NodeId> targets;
      for (std::uint64_t i = random_.below(4); i > 0; --i) targets.insert(NodeId{node()});
      if (one_in(2)) proof.targets.assign(targets.begin(), targets.end());
      std::erase_if(proof.targets, [&](NodeId) { return one_in(4); });
      break;
    }
    default:
      if (one_in(3)) proof.credits.clear();
      proof.credits.push_back({1 + static_cast<std::uint32_t>(random_.below(4)),
                               static_cast<std::int64_t>(random_.below(4))});
    }
  }

  const samples::BoundCase& given_;
  Time longest_;
  Random& random_;
  std::vector<Bound> honest_;
};

/// The first false claim that the checker confirms.
std::string believed(std::uint64_t seed, int cases, int lies) {
  Random random(seed);
  int told = 0;
  for (int i = 0; i < cases; ++i) {
    samples::BoundCase given = samples::random_bound_case(random);
    if (i % 2 == 1) given = samples::with_late_starts(std::move(given), random);
    Time least{INT64_MAX};
    for (const samples::Replay& replay : samples::replays_of(given))
      least = std::min(least, replay.time + replay.rounding);
    if (least.ps == INT64_MAX) continue;
    Liar liar(given, least, random);
    for (int lie = 0; lie < lies; ++lie, ++told) {
      Bound bound = liar.certificate();
      bound.time = least + Time{1};
      for (const Chunking chunking : chunkings)
        if (refuted(given, chunking, bound).empty())
          return fmt::format("seed {}, case {}: {} on {} needs more than {} ps by {}", seed, i,
                             given.collective.name(), given.topology.name(), least.ps,
                             to_text(bound.kind));
    }
  }
  return told > 0 ? "" : "no lies were told";
}

TEST_CASE("no certificate makes the checker believe what a schedule disproves", "[bounds]") {
  CHECK(believed(1, 8, 150) == "");
}

TEST_CASE("no certificate of many makes the checker believe what a schedule disproves",
          "[bounds][slow]") {
  for (std::uint64_t seed = 2; seed < 6; ++seed) CHECK(believed(seed, 250, 200) == "");
}

/// An All-Gather of 1 MB each on a ring of 4: each NPU gets 3 MB over 2 links of 1 MB/us.
struct Ring {
  samples::BoundCase given;
  Bound in_cut, work, path;

  Ring() : given{make_topology("ring:4,bandwidth=1000GB/s,latency=500ns"), {}, {}} {
    given.collective =
        make_collective(given.topology, {CollectiveKind::all_gather, Bytes{4'000'000}, {}, 0, 1});
    for (const Bound& bound : samples::all_bounds(given, Chunking::given)) {
      if (bound.kind == BoundKind::in_cut) in_cut = bound;
      if (bound.kind == BoundKind::total_work) work = bound;
      if (bound.kind == BoundKind::latency_path) path = bound;
    }
  }
  [[nodiscard]] std::string says(const Bound& bound) const {
    return refuted(given, Chunking::given, bound);
  }
};

TEST_CASE("the checker counts prices from an instant on", "[bounds]") {
  // npu2's half of a Gather on a row of 3 must cross to npu0 after it has come to npu1, at 500 ns.
  samples::BoundCase given{make_topology("mesh2d:1x3,bandwidth=1000GB/s,latency=500ns"), {}, {}};
  given.collective = make_collective(
      given.topology, {CollectiveKind::gather, Bytes{2'000'000}, {NodeId{0}, NodeId{2}}, 0, 1});
  Bound bound{Time{2'000'000}, BoundKind::flow_prices, {}, {}, {.from = Time{500'000}}};
  for (std::uint32_t l = 0; l < given.topology.link_count(); ++l)
    bound.proof.prices.push_back(given.topology.link(LinkId{l}).to == NodeId{0} ? 1 : 0);
  CHECK(refuted(given, Chunking::any, bound) == "");
  bound.time.ps += 1;
  CHECK(refuted(given, Chunking::any, bound) != "");
  bound.time.ps -= 1; // by then it can be on the way to npu0
  bound.proof.from = Time{500'001};
  CHECK(refuted(given, Chunking::any, bound) != "");
}

TEST_CASE("the checker counts what has far to go by latencies alone", "[bounds]") {
  // 1 MB crosses to npu1 in 1 ms, over one of two links, and has 100 ns and more to go. What is for
  // npu3 is small and 1 us away, but none of that is latency: with it, two chunks would count.
  TopologyParts parts;
  for (const char* name : {"npu0", "npu1", "npu2", "npu3"})
    parts.add_node({name, NodeKind::npu, {}, {}});
  const auto join = [&](std::uint32_t from, std::uint32_t to, std::int64_t ps, std::int64_t rate) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{ps}, Bandwidth{rate * 1'000'000'000}, -1});
  };
  join(0, 1, 0, 1);
  join(0, 1, 0, 1);
  join(1, 2, 100'000, 1000);
  join(1, 3, 0, 1);
  samples::BoundCase given{Topology(std::move(parts)), {}, {}};
  given.collective.sets = {{NodeId{0}}, {NodeId{2}}, {NodeId{3}}};
  given.collective.chunks = {{Bytes{1'000'000}, 0, 1, false}, {Bytes{1000}, 0, 2, false}};
  Bound bound{Time{1'000'101'000}, BoundKind::timed_cut, {}, {}, {.until = Time{100'000}}};
  bound.proof.inside = {false, true, true, true};
  CHECK(refuted(given, Chunking::given, bound) == "");
  bound.time.ps += 1;
  CHECK(refuted(given, Chunking::given, bound) != "");
}

TEST_CASE("what the checker says of lies", "[bounds]") {
  const Ring ring;
  CHECK(ring.says(ring.in_cut) == "");
  Bound lie = ring.in_cut;
  lie.time.ps += 1;
  CHECK(ring.says(lie) ==
        fmt::format("what must cross could do with less than {}", to_text(lie.time)));
  lie = ring.in_cut; // the cut of two nodes demands less than that of each
  for (std::uint32_t v = 0; v < 4; ++v) lie.proof.inside[v] = v < 2;
  CHECK(ring.says(lie) != "");
  lie.proof.inside.assign(4, true);
  CHECK(ring.says(lie) == "nothing has to enter these nodes");
  lie.proof.inside.pop_back();
  CHECK(ring.says(lie) == "no set of nodes");
  lie = ring.in_cut; // nothing comes from so far
  lie.proof.from = Time{10'000'000};
  CHECK(ring.says(lie) == "nothing has to enter these nodes from so far, or to go so far");

  lie = ring.work;
  lie.proof.part_of.assign(4, 0);
  CHECK(ring.says(lie) == "nothing has to get from part to part");
  lie = ring.work;
  lie.time.ps += 1;
  CHECK(ring.says(lie) != "");

  lie = ring.path;
  lie.proof.source = lie.proof.destination;
  CHECK(ring.says(lie) != "");
  lie.proof.destination = NodeId{};
  CHECK(ring.says(lie) == "no destination");

  lie = ring.in_cut;
  lie.kind = BoundKind::flow_prices;
  CHECK(ring.says(lie) == "no price for each link");
  lie.proof.prices.assign(ring.given.topology.link_count(), 0.5);
  CHECK(ring.says(lie) == "a price that isn't a whole number of 40 bits");
  lie.proof.prices.assign(ring.given.topology.link_count(), 0);
  CHECK(ring.says(lie) != "");
  // 4 x 3 deliveries of 1 MB over 8 links: 1.5 us and, at each link's end, its latency
  lie.proof.prices.assign(ring.given.topology.link_count(), 1);
  lie.time = Time{2'000'000};
  CHECK(ring.says(lie) == "");
  lie.time.ps += 1;
  CHECK(ring.says(lie) != "");

  lie = ring.in_cut;
  lie.kind = BoundKind::spreading_cut;
  CHECK(ring.says(lie) == "no targets");
  lie.proof.targets = {NodeId{0}, NodeId{0}};
  CHECK(ring.says(lie) == "targets that aren't different nodes");
  lie.proof.targets = {NodeId{0}, NodeId{1}};
  CHECK(ring.says(lie) == "targets on both sides of the cut");
}

} // namespace
} // namespace tutti::check_test
