// Few distinct values for latencies and bandwidths, so that many things happen at one instant.
// Schedules grow transfer by transfer on the state that verify() would track; spoiling one then
// gives those that must be refused.

#include "tests/sim/random_case.hpp"

#include "sim/random.hpp"
#include "tests/pick.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::testing {

namespace {

Topology random_topology(Random& random) {
  TopologyParts parts;
  parts.name = "random";
  const std::uint64_t npus = 2 + random.below(4), switches = random.below(3);
  for (std::uint64_t i = 0; i < npus; ++i)
    parts.add_node({"npu" + std::to_string(i), NodeKind::npu, {}, {}});
  for (std::uint64_t i = 0; i < switches; ++i)
    parts.add_node({"switch" + std::to_string(i),
                    NodeKind::switching,
                    {false, random.below(2) == 0, random.below(2) == 0},
                    {}});
  if (random.below(3) == 0)
    parts.add_node({"memory", NodeKind::memory, {true, random.below(2) == 0, false}, {}});

  // Few distinct values, so that many things happen at one instant.
  constexpr std::array<std::int64_t, 3> latencies{0, 1000, 2500};
  constexpr std::array<std::int64_t, 3> bandwidths{1'000'000'000, 2'000'000'000, 3'000'000'000};
  const auto nodes = static_cast<std::uint32_t>(parts.nodes.size());
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{pick(random, latencies)},
                    Bandwidth{pick(random, bandwidths)}, -1});
  };
  for (std::uint32_t n = 0; n < nodes; ++n) link(n, (n + 1) % nodes);
  for (std::uint64_t extra = random.below(2 * nodes); extra > 0; --extra) {
    const auto from = static_cast<std::uint32_t>(random.below(nodes));
    const auto to = static_cast<std::uint32_t>(random.below(nodes));
    if (from != to) link(from, to);
  }
  for (std::uint64_t g = random.below(3); g > 0; --g) {
    SharedGroup group{"group" + std::to_string(g), {}, Bandwidth{pick(random, bandwidths)}};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (random.below(3) == 0) group.links.emplace_back(l);
    if (!group.links.empty()) parts.groups.push_back(std::move(group));
  }
  return Topology(std::move(parts));
}

/// What verify() would track, in the plainest form; only to grow schedules that make sense.
class Growing {
public:
  Growing(Random& random, const Topology& topology) : random_(random), topology_(topology) {}

  void add_chunks(Collective& collective) {
    constexpr std::array<std::int64_t, 4> sizes{1, 1000, 3000, 4500};
    for (std::uint64_t count = 1 + random_.below(5); count > 0; --count) {
      std::set<NodeId> holders;
      for (std::uint64_t h = 1 + random_.below(3); h > 0; --h)
        holders.insert(NodeId{static_cast<std::uint32_t>(random_.below(topology_.npu_count()))});
      const ChunkId chunk{static_cast<std::uint32_t>(collective.chunks.size())};
      const bool reduces = random_.below(2) == 0;
      for (const NodeId node : holders)
        held_[{chunk, node}] = reduces ? std::set<NodeId>{node} : std::set<NodeId>{NodeId{0}};
      collective.sets.emplace_back(holders.begin(), holders.end());
      collective.sets.emplace_back();
      const auto set = static_cast<SetId>(collective.sets.size());
      collective.chunks.push_back({Bytes{pick(random_, sizes)}, set - 2, set - 1, reduces});
      full_.push_back(reduces ? holders : std::set<NodeId>{NodeId{0}});
    }
  }

  /// Tries to append one transfer of a random chunk over a random walk.
  void grow(Schedule& schedule, const Collective& collective) {
    const ChunkId chunk{static_cast<std::uint32_t>(random_.below(collective.chunks.size()))};
    std::vector<NodeId> holders;
    for (const auto& [key, set] : held_)
      if (key.first == chunk && !set.empty()) holders.push_back(key.second);
    const NodeId from = holders[random_.below(holders.size())];
    std::vector<LinkId> path;
    NodeId at = from;
    for (std::uint64_t hops = 1 + random_.below(3); hops > 0; --hops) {
      const auto out = topology_.out_links(at);
      path.push_back(out[random_.below(out.size())]);
      at = topology_.link(path.back()).to;
    }
    if (at == from) return;
    const std::optional<Op> op = move(chunk, from, at);
    if (!op) return;
    const bool together = follows_its_like(schedule, chunk, from, at);
    schedule.push({chunk, schedule.paths().intern(path), *op, together});
  }

  /// Other chunks may share the send of the last transfer.
  void join(Schedule& schedule, const Collective& collective) {
    const Transfer last = schedule[schedule.size() - 1];
    if (last.together) return;
    const NodeId from = topology_.link(schedule.paths().first(last.path)).from,
                 to = topology_.link(schedule.paths().last(last.path)).to;
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
      if (ChunkId{c} == last.chunk || held_[{ChunkId{c}, from}].empty()) continue;
      if (random_.below(3) == 0) continue;
      if (const std::optional<Op> op = move(ChunkId{c}, from, to, last.op))
        schedule.push({ChunkId{c}, last.path, *op, false, true});
    }
  }

  /// Two neighbours that hold disjoint partial sums exchange them in one block.
  void exchange(Schedule& schedule, const Collective& collective) {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
      for (const LinkId back : topology_.out_links(topology_.link(LinkId{l}).to)) {
        const NodeId a = topology_.link(LinkId{l}).from, b = topology_.link(LinkId{l}).to;
        if (topology_.link(back).to != a || random_.below(3) != 0) continue;
        const ChunkId chunk{static_cast<std::uint32_t>(random_.below(collective.chunks.size()))};
        std::set<NodeId>& at_a = held_[{chunk, a}];
        std::set<NodeId>& at_b = held_[{chunk, b}];
        std::set<NodeId> both = at_a;
        both.insert(at_b.begin(), at_b.end());
        if (at_a.empty() || at_b.empty() || both.size() != at_a.size() + at_b.size()) continue;
        if (!able(a) || !able(b)) continue;
        schedule.push({chunk, PathId{l}, Op::reduce, false});
        schedule.push({chunk, PathId{back.value}, Op::reduce, true});
        at_a = both;
        at_b = both;
        return;
      }
  }

  void want_what_is_there(Collective& collective) {
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
      for (const auto& [key, set] : held_)
        if (key.first == ChunkId{c} && set == full_[c])
          collective.sets[collective.chunks[c].destinations].push_back(key.second);
  }

private:
  /// What the chunk may do on its way from one node to the other, which it does; as `wanted`, where
  /// that is said.
  std::optional<Op> move(ChunkId chunk, NodeId from, NodeId to, std::optional<Op> wanted = {}) {
    const std::set<NodeId> got = held_[{chunk, from}];
    std::set<NodeId>& have = held_[{chunk, to}];
    std::set<NodeId> both = have;
    both.insert(got.begin(), got.end());
    const bool disjoint = both.size() == have.size() + got.size();
    const bool superset = both.size() == got.size() && !have.empty();
    Op op = Op::copy;
    if (have.empty()) {
      op = wanted ? *wanted : random_.below(2) == 0 ? Op::copy : Op::reduce;
    } else if (disjoint && topology_.node(to).can.reduce) {
      op = Op::reduce;
    } else if (!superset) {
      return std::nullopt;
    }
    if (wanted && op != *wanted) return std::nullopt;
    have = both;
    if (!topology_.node(from).can.copy) held_[{chunk, from}].clear();
    return op;
  }
  [[nodiscard]] bool able(NodeId node) const {
    return topology_.node(node).can.copy && topology_.node(node).can.reduce;
  }
  /// Whether the last transfer is a send of this chunk by the same node to another one: the next
  /// may join it.
  [[nodiscard]] bool follows_its_like(const Schedule& schedule, ChunkId chunk, NodeId from,
                                      NodeId to) const {
    if (schedule.empty() || !topology_.node(from).can.copy) return false;
    const Transfer last = schedule[schedule.size() - 1];
    return !last.together && !last.contiguous && last.chunk == chunk &&
           topology_.link(schedule.paths().first(last.path)).from == from &&
           topology_.link(schedule.paths().last(last.path)).to != to;
  }

  Random& random_;
  const Topology& topology_;
  std::map<std::pair<ChunkId, NodeId>, std::set<NodeId>> held_;
  std::vector<std::set<NodeId>> full_;
};

Schedule spoil(Random& random, const Schedule& schedule) {
  Schedule spoilt(schedule.paths().link_count());
  const std::uint64_t victim = random.below(schedule.size()), how = random.below(5);
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    Transfer transfer = schedule[i];
    transfer.path = spoilt.paths().intern(schedule.paths().links(transfer.path));
    if (i == victim && how == 0) continue;
    if (i == victim && how == 1) transfer.op = transfer.op == Op::copy ? Op::reduce : Op::copy;
    if (i == victim && how == 2) transfer.together = true;
    if (i == victim && how == 3)
      transfer.path = PathId{static_cast<std::uint32_t>(random.below(spoilt.paths().size()))};
    spoilt.push(transfer);
    if (i == victim && how == 4) spoilt.push(transfer);
  }
  return spoilt;
}

} // namespace

RandomTraffic random_traffic(Random& random, const Topology& topology, bool shares_sends) {
  Collective collective;
  Growing growing(random, topology);
  growing.add_chunks(collective);
  Schedule schedule(topology.link_count());
  for (std::uint64_t tries = 3 + random.below(40); tries > 0; --tries) {
    if (random.below(8) == 0) growing.exchange(schedule, collective);
    const std::size_t before = schedule.size();
    growing.grow(schedule, collective);
    if (shares_sends && schedule.size() > before) growing.join(schedule, collective);
  }
  growing.want_what_is_there(collective);
  CollectivePart part;
  part.chunk_count = static_cast<std::uint32_t>(collective.chunks.size());
  for (const Chunk& chunk : collective.chunks) part.size += chunk.size;
  collective.parts.push_back(part);
  return {std::move(collective), std::move(schedule)};
}

namespace {

TimeModel random_model(Random& random) {
  TimeModel model;
  model.link_busy =
      pick(random, std::array{LinkBusy::serialization, LinkBusy::latency_and_serialization});
  model.forwarding =
      pick(random, std::array{Forwarding::automatic, Forwarding::automatic, Forwarding::cut_through,
                              Forwarding::store_and_forward});
  return model;
}

} // namespace

void make_whole(RandomCase& c) {
  for (Chunk& chunk : c.collective.chunks) chunk.size.count *= 3;
  for (CollectivePart& part : c.collective.parts) part.size.count *= 3;
}

void add_dependencies(Random& random, RandomCase& c) {
  Schedule& schedule = c.schedule;
  std::uint32_t block = 0;
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    if (!schedule[i].together && !schedule[i].contiguous) block = i;
    const NodeId sender = c.topology.link(schedule.paths().first(schedule.path_of(i))).from;
    if (block == 0 || !c.topology.node(sender).can.store) continue;
    for (std::uint64_t names = random.below(3); names > 0; --names)
      schedule.add_dependency(i, {static_cast<std::uint32_t>(random.below(block)),
                                  random.below(2) == 0 ? Milestone::left : Milestone::arrived});
  }
}

RandomCase random_case(std::uint64_t seed, bool spoilt) {
  Random random(seed);
  Topology topology = random_topology(random);
  auto [collective, schedule] = random_traffic(random, topology);
  if (spoilt && random.below(2) == 0 && !schedule.empty()) schedule = spoil(random, schedule);

  const TimeModel model = random_model(random);
  return {std::move(topology), std::move(collective), std::move(schedule), model};
}

RandomCase random_case_of_sends(std::uint64_t seed) {
  Random random(seed);
  Topology topology = random_topology(random);
  auto [collective, schedule] = random_traffic(random, topology, true);
  const TimeModel model = random_model(random);
  return {std::move(topology), std::move(collective), std::move(schedule), model};
}

} // namespace tutti::testing
