// The best of all schedules of tiny collectives, found by trying every one, doesn't beat a bound.
#include "sim/bounds.hpp"
#include "sim/engines/engine.hpp"
#include "sim/random.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {
namespace {

std::int64_t highest(const Topology& topology, const Collective& collective,
                     const TimeModel& model) {
  return lower_bound(topology, collective, model).time.ps;
}

/// Three NPUs with random links, or around a switch with random abilities; sometimes a group.
Topology small_topology(Random& random) {
  TopologyParts parts;
  for (int n = 0; n < 3; ++n) parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{500 * static_cast<int>(random.below(4))},
                    Bandwidth{1'000'000'000 * (1 + static_cast<std::int64_t>(random.below(3)))},
                    -1});
  };
  if (random.below(2) == 0) {
    parts.add_node(
        {"switch", NodeKind::switching, {false, random.below(2) == 0, random.below(2) == 0}, {}});
    for (std::uint32_t n = 0; n < 3; ++n) {
      link(n, 3);
      link(3, n);
    }
  } else {
    for (std::uint32_t n = 0; n < 3; ++n) {
      link(n, (n + 1) % 3);
      if (random.below(3) > 0) link((n + 1) % 3, n);
    }
  }
  if (random.below(3) == 0) {
    SharedGroup group{"group", {}, Bandwidth{2'000'000'000}};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (random.below(2) == 0) group.links.emplace_back(l);
    if (!group.links.empty()) parts.groups.push_back(group);
  }
  return Topology(std::move(parts));
}

/// Every order of useful transfers, depth first, on contribution sets as bit masks.
class Exhaustive {
public:
  Exhaustive(const Topology& topology, const Collective& collective, const TimeModel& model)
      : topology_(topology), collective_(collective), model_(model),
        schedule_(topology.link_count()), masks_(collective.chunks.size()) {
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
      paths_.push_back({LinkId{l}});
      const NodeId middle = topology.link(LinkId{l}).to;
      if (topology.node(middle).kind != NodeKind::switching) continue;
      for (const LinkId second : topology.out_links(middle))
        if (topology.link(second).to != topology.link(LinkId{l}).from)
          paths_.push_back({LinkId{l}, second});
    }
    for (std::uint32_t c = 0; c < masks_.size(); ++c) {
      masks_[c].assign(topology.node_count(), 0U);
      for (const NodeId node : collective.held_by(ChunkId{c}))
        masks_[c][node.value] = collective.chunks[c].reduces ? 1U << node.value : 1U;
      full_.push_back(0);
      for (const unsigned mask : masks_[c]) full_.back() |= mask;
    }
  }

  /// The least time, and how many complete schedules were tried.
  std::pair<std::int64_t, int> best(std::size_t transfers) {
    search(transfers);
    return {best_, tried_};
  }

private:
  [[nodiscard]] bool complete() const {
    for (std::uint32_t c = 0; c < masks_.size(); ++c)
      for (const NodeId node : collective_.wanted_by(ChunkId{c}))
        if (masks_[c][node.value] != full_[c]) return false;
    return true;
  }

  void search(std::size_t left) {
    if (complete()) {
      const Time time = run_native(topology_, collective_, schedule_, model_).completion;
      best_ = std::min(best_, time.ps);
      ++tried_;
      return;
    }
    if (left == 0) return;
    for (std::uint32_t c = 0; c < masks_.size(); ++c)
      for (const std::vector<LinkId>& path : paths_) {
        const NodeId from = topology_.link(path.front()).from, to = topology_.link(path.back()).to;
        const bool exchange = !schedule_.empty() && reverse_of_last(ChunkId{c}, from, to);
        transfer(c, path, from, to, false, masks_[c][from.value], left);
        if (exchange) transfer(c, path, from, to, true, before_last_, left);
      }
  }

  /// Could this transfer and the last one be an exchange of partial sums?
  [[nodiscard]] bool reverse_of_last(ChunkId chunk, NodeId from, NodeId to) const {
    const Transfer last = schedule_[schedule_.size() - 1];
    const auto links = schedule_.paths().links(last.path);
    return !last.together && last.chunk == chunk && topology_.node(from).can.copy &&
           topology_.link(links.front()).from == to && topology_.link(links.back()).to == from;
  }

  void transfer(std::uint32_t c, const std::vector<LinkId>& path, NodeId from, NodeId to,
                bool together, unsigned sent, std::size_t left) {
    const std::vector<unsigned> saved = masks_[c];
    const unsigned have = saved[to.value];
    const bool superset = (sent & have) == have && sent != have;
    const bool disjoint = (sent & have) == 0 && topology_.node(to).can.reduce;
    if (sent == 0 || (!superset && !disjoint)) return;
    const Schedule before = schedule_;
    const unsigned before_last = before_last_;
    schedule_.push(
        {ChunkId{c}, schedule_.paths().intern(path), superset ? Op::copy : Op::reduce, together});
    before_last_ = have;
    if (!topology_.node(from).can.copy) masks_[c][from.value] = 0;
    masks_[c][to.value] = sent | have;
    search(left - 1);
    masks_[c] = saved;
    before_last_ = before_last;
    schedule_ = before;
  }

  const Topology& topology_;
  const Collective& collective_;
  TimeModel model_;
  Schedule schedule_;
  std::vector<std::vector<LinkId>> paths_;
  std::vector<std::vector<unsigned>> masks_; // [chunk][node]
  std::vector<unsigned> full_;               // [chunk]
  unsigned before_last_ = 0;                 // what the last transfer's receiver held before
  std::int64_t best_ = INT64_MAX;
  int tried_ = 0;
};

TEST_CASE("the best of all schedules doesn't beat a bound", "[bounds]") {
  const std::vector<std::pair<CollectiveKind, std::size_t>> cases{
      {CollectiveKind::broadcast, 3}, {CollectiveKind::reduce, 3}, {CollectiveKind::all_gather, 6}};
  Random random(7);
  int found = 0, reached = 0;
  for (int round = 0; round < 24; ++round)
    for (const auto& [kind, transfers] : cases) {
      const Topology topology = small_topology(random);
      const bool direct = topology.node_count() == 3;
      if (kind == CollectiveKind::all_gather && !direct) continue; // too many
      const Collective collective =
          make_collective(topology, {kind,
                                     Bytes{kind == CollectiveKind::all_gather ? 6000 : 2000},
                                     {},
                                     static_cast<std::uint32_t>(random.below(3)),
                                     1});
      TimeModel model;
      if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
      if (random.below(3) == 0) model.forwarding = Forwarding::cut_through;
      const auto [time, tried] = Exhaustive(topology, collective, model).best(transfers);
      if (tried == 0) continue;
      CAPTURE(round, to_text(kind), tried);
      CHECK(highest(topology, collective, model) <= time);
      ++found;
      reached += highest(topology, collective, model) == time;
    }
  CHECK(found > 50);
  CHECK(reached > found / 2);
}

TEST_CASE("the best All-Reduce of a chunk over three NPUs doesn't beat a bound", "[bounds]") {
  Random random(11);
  int reached = 0;
  for (int round = 0; round < 16; ++round) {
    const Topology topology = small_topology(random);
    Collective collective;
    collective.sets = {{NodeId{0}, NodeId{1}, NodeId{2}}};
    collective.chunks = {{Bytes{2000}, 0, 0, true}};
    const auto [time, tried] = Exhaustive(topology, collective, TimeModel{}).best(5);
    CAPTURE(round, tried);
    REQUIRE(tried > 0);
    CHECK(highest(topology, collective, TimeModel{}) <= time);
    reached += highest(topology, collective, TimeModel{}) == time;
  }
  CHECK(reached > 0);
}

/// npu0 and npu1 with fast links, npu2 and npu3 outside; one or two ways across, in chains or not.
Topology pair_behind_cut(Random& random) {
  TopologyParts parts;
  for (int n = 0; n < 4; ++n) parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  const auto join = [&](std::uint32_t from, std::uint32_t to, std::int64_t rate) {
    parts.add_duplex({NodeId{from}, NodeId{to}, Time{500 * static_cast<int>(random.below(3))},
                      Bandwidth{1'000'000'000 * rate}, -1});
  };
  join(0, 1, 1 + static_cast<std::int64_t>(random.below(4)));
  join(0, 2, 1);
  if (random.below(3) > 0)
    join(1, 3, 1 + static_cast<std::int64_t>(random.below(2)));
  else
    join(2, 3, 2);
  return Topology(std::move(parts));
}

TEST_CASE("the best way to spread behind a cut, or to gather before it, doesn't beat a bound",
          "[bounds]") {
  Random random(13);
  int spreading = 0, reached = 0;
  for (int round = 0; round < 60; ++round) {
    const Topology topology = pair_behind_cut(random);
    Collective collective;
    collective.sets = {{NodeId{0}, NodeId{1}}, {NodeId{2}}, {NodeId{3}}};
    const Bytes other{random.below(3) == 0 ? 3000 : 2000};
    if (random.below(2) == 0)
      collective.chunks = {{Bytes{2000}, 1, 0, false}, {other, 2, 0, false}};
    else
      collective.chunks = {{Bytes{2000}, 0, 1, true}, {other, 0, 2, true}};
    TimeModel model;
    if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
    if (random.below(3) == 0) model.forwarding = Forwarding::cut_through;
    const auto [time, tried] = Exhaustive(topology, collective, model).best(5);
    CAPTURE(round, tried);
    REQUIRE(tried > 0);
    const Bound bound = lower_bound(topology, collective, model);
    CHECK(bound.time.ps <= time);
    spreading += bound.kind == BoundKind::spreading_cut;
    reached += bound.kind == BoundKind::spreading_cut && bound.time.ps == time;
  }
  CHECK(spreading > 10);
  CHECK(reached > 2);
}

} // namespace
} // namespace tutti
