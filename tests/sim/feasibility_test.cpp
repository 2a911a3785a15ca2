// What is called infeasible against a search through all states that the definition allows, and by
// hand.

#include "sim/feasibility.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace feasibility_test {

using namespace tutti;
using samples::link;

namespace {

/// One chunk: who contributes or holds, who wants it.
Collective one_chunk(std::vector<NodeId> sources, std::vector<NodeId> destinations, bool reduces) {
  Collective collective;
  collective.sets = {std::move(sources), std::move(destinations)};
  collective.chunks = {{Bytes{1000}, 0, 1, reduces}};
  CollectivePart part;
  part.size = Bytes{1000};
  part.chunk_count = 1;
  collective.parts.push_back(part);
  return collective;
}

Collective custom(std::vector<std::uint32_t> sources, std::vector<std::uint32_t> destinations,
                  bool reduces) {
  std::vector<NodeId> from, to;
  for (const std::uint32_t n : sources) from.emplace_back(n);
  for (const std::uint32_t n : destinations) to.emplace_back(n);
  return one_chunk(std::move(from), std::move(to), reduces);
}

/// Three nodes and a collective of one chunk: what they can do, and who is linked, is anything.
struct SmallCase {
  Topology topology;
  Collective collective;
};

SmallCase small_case(Random& random, bool all_copy) {
  TopologyParts parts;
  parts.name = "small";
  const std::uint64_t npus = 2 + random.below(2);
  for (std::uint32_t n = 0; n < 3; ++n)
    parts.add_node({fmt::format("n{}", n),
                    n < npus ? NodeKind::npu : NodeKind::switching,
                    {random.below(2) == 0, all_copy || random.below(2) == 0, random.below(2) == 0},
                    {}});
  const std::uint64_t density = 1 + random.below(4);
  for (std::uint32_t from = 0; from < 3; ++from)
    for (std::uint32_t to = 0; to < 3; ++to)
      if (from != to && random.below(5) < density) parts.add_link(link(from, to));
  const auto some = [&] {
    std::vector<NodeId> nodes;
    while (nodes.empty())
      for (std::uint32_t n = 0; n < npus; ++n)
        if (random.below(2) == 0) nodes.emplace_back(n);
    return nodes;
  };
  std::vector<NodeId> sources = some();
  return {Topology(std::move(parts)), one_chunk(std::move(sources), some(), random.below(2) == 0)};
}

/// All states of one chunk on three nodes, by transfers over shortest paths and blocks of two and
/// three of them; what is found is held to verify().
class StateSearch {
public:
  explicit StateSearch(const SmallCase& given) : given_(given) {
    for (std::uint32_t from = 0; from < 3; ++from) find_paths(from);
  }

  [[nodiscard]] std::optional<Schedule> find() {
    const State start = begin();
    std::map<State, std::pair<State, std::vector<Move>>> came_from{{start, {start, {}}}};
    std::queue<State> open;
    open.push(start);
    while (!open.empty()) {
      const State at = open.front();
      open.pop();
      if (is_done(at)) return schedule(at, start, came_from);
      extend(at, at, {}, 0, [&](const State& next, const std::vector<Move>& moves) {
        if (came_from.emplace(next, std::pair{at, moves}).second) open.push(next);
      });
    }
    return std::nullopt;
  }

private:
  using State = std::array<std::uint8_t, 3>; // [node]: contributions
  struct Move {
    std::uint32_t from, to;
    Op op;
  };

  void find_paths(std::uint32_t from) {
    std::queue<std::uint32_t> open;
    open.push(from);
    while (!open.empty()) {
      const std::uint32_t at = open.front();
      open.pop();
      for (const LinkId l : given_.topology.out_links(NodeId{at})) {
        const std::uint32_t to = given_.topology.link(l).to.value;
        if (to == from || !paths_[from][to].empty()) continue;
        paths_[from][to] = paths_[from][at];
        paths_[from][to].push_back(l);
        open.push(to);
      }
    }
  }

  [[nodiscard]] bool reduces() const { return given_.collective.chunks.front().reduces; }

  [[nodiscard]] State begin() {
    State state{};
    std::uint32_t bit = 0;
    for (const NodeId source : given_.collective.sources(ChunkId{0})) {
      state[source.value] = static_cast<std::uint8_t>(1U << (reduces() ? bit++ : 0));
      full_ |= state[source.value];
    }
    return state;
  }

  [[nodiscard]] bool is_done(const State& state) const {
    for (const NodeId node : given_.collective.destinations(ChunkId{0}))
      if (state[node.value] != full_) return false;
    return true;
  }

  /// What the node has after a value has come, where that is allowed.
  [[nodiscard]] std::optional<std::uint8_t> received(std::uint32_t node, unsigned had, unsigned got,
                                                     Op op) const {
    if (op == Op::copy)
      return (had & ~got) == 0 ? std::optional(static_cast<std::uint8_t>(got)) : std::nullopt;
    if (had == 0) return static_cast<std::uint8_t>(got);
    if ((had & got) != 0 || !given_.topology.node(NodeId{node}).can.reduce) return std::nullopt;
    return static_cast<std::uint8_t>(had | got);
  }

  /// Every block that begins with `moves`: all senders read `before`, those that can't copy send
  /// once and lose what they had before anything comes.
  template <typename Found>
  void extend(const State& before, const State& start, const std::vector<Move>& moves,
              unsigned senders_moved, const Found& found) {
    if (moves.size() == 3) return;
    for (std::uint32_t from = 0; from < 3; ++from)
      for (std::uint32_t to = 0; to < 3; ++to)
        for (const Op op : {Op::copy, Op::reduce}) {
          if (paths_[from][to].empty() || start[from] == 0) continue;
          unsigned moved = senders_moved;
          if (!given_.topology.node(NodeId{from}).can.copy) {
            if ((moved >> from & 1U) != 0) continue;
            moved |= 1U << from;
          }
          std::vector<Move> longer = moves;
          longer.push_back({from, to, op});
          State after = before;
          for (std::uint32_t n = 0; n < 3; ++n)
            if ((moved >> n & 1U) != 0) after[n] = 0;
          bool allowed = true;
          for (const Move& move : longer) {
            const auto now = received(move.to, after[move.to], start[move.from], move.op);
            allowed = allowed && now;
            if (now) after[move.to] = *now;
          }
          if (allowed) found(after, longer);
          extend(before, start, longer, moved, found);
        }
  }

  template <typename CameFrom>
  [[nodiscard]] Schedule schedule(State at, const State& start, const CameFrom& came_from) const {
    std::vector<std::vector<Move>> blocks;
    while (at != start) {
      blocks.push_back(came_from.at(at).second);
      at = came_from.at(at).first;
    }
    Schedule made(given_.topology.link_count());
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
      for (std::size_t i = 0; i < block->size(); ++i) {
        const Move& move = (*block)[i];
        made.push({ChunkId{0}, made.paths().intern(paths_[move.from][move.to]), move.op, i > 0});
      }
    return made;
  }

  const SmallCase& given_;
  std::array<std::array<std::vector<LinkId>, 3>, 3> paths_;
  unsigned full_ = 0;
};

/// Whether the sufficient condition is part of what infeasibility() promises.
bool is_exact(const SmallCase& given) {
  if (!given.collective.chunks.front().reduces) return true;
  if (given.collective.destinations(ChunkId{0}).size() < 2) return true;
  for (const NodeId source : given.collective.sources(ChunkId{0}))
    if (!given.topology.node(source).can.copy) return false;
  return true;
}

} // namespace

TEST_CASE("what is infeasible has no schedule among all states, and what isn't has one") {
  Random random(1);
  int feasible = 0, infeasible = 0, silent = 0;
  for (int i = 0; i < 2000; ++i) {
    const SmallCase given = small_case(random, i % 4 == 0);
    const std::string why = infeasibility(given.topology, given.collective);
    const std::optional<Schedule> schedule = StateSearch(given).find();
    INFO("case " << i << ": " << why);
    if (schedule) {
      ++feasible;
      const Verdict verdict = verify(given.topology, given.collective, *schedule);
      INFO((verdict.fault ? verdict.fault->text : ""));
      REQUIRE(verdict.correct());
      REQUIRE(why.empty());
    } else {
      why.empty() ? ++silent : ++infeasible;
      REQUIRE((!why.empty() || !is_exact(given)));
    }
  }
  CHECK(feasible > 500);
  CHECK(infeasible > 500);
  CHECK(silent < 20);
}

TEST_CASE("a sum that a contributor can't form comes back to it") {
  TopologyParts parts = samples::npus("back", 3);
  parts.nodes[2].can.reduce = false;
  parts.add_link(link(0, 1));
  parts.add_link(link(1, 2));
  CHECK(infeasibility(Topology(parts), custom({0, 2}, {2}, true)) ==
        "chunk 0 is wanted by npu2, and no node that can reduce and that all 2 contributors reach "
        "(npu0, npu2) reaches it");
  parts.add_link(link(2, 1));
  CHECK(infeasibility(Topology(parts), custom({0, 2}, {2}, true)).empty());
}

TEST_CASE("who is out of reach is named, and only where somebody wants something of it") {
  TopologyParts parts = samples::npus("cut off", 5);
  for (std::uint32_t n = 0; n < 3; ++n) parts.add_duplex(link(n, (n + 1) % 3));
  parts.add_link(link(0, 3));
  const Topology topology(std::move(parts));
  const std::vector<NodeId> group{NodeId{0}, NodeId{1}, NodeId{2}};
  for (const CollectiveKind kind : named_collectives())
    CHECK(infeasibility(topology, make_collective(topology, {kind, Bytes{3000}, group})).empty());
  CHECK(infeasibility(topology, custom({0, 1}, {3}, false)).empty());
  CHECK(infeasibility(topology, custom({3}, {1}, false)) == "chunk 0 can't get from npu3 to npu1");
  CHECK(infeasibility(topology, custom({3, 4}, {1}, false)) ==
        "chunk 0 can't get from any of its 2 sources to npu1");
  CHECK(infeasibility(topology, custom({0, 4}, {1}, true)) ==
        "chunk 0 can't get from npu4 to npu1");
  CHECK(infeasibility(topology,
                      make_collective(topology, {CollectiveKind::all_gather, Bytes{5000}, {}})) ==
        "chunk 0 can't get from npu0 to npu4");
}

TEST_CASE("a chunk that nobody can copy is in as many places as at the start") {
  TopologyParts parts = samples::npus("tokens", 4);
  for (Node& node : parts.nodes) node.can.copy = false;
  for (std::uint32_t n = 0; n + 1 < 4; ++n) parts.add_duplex(link(n, n + 1));
  CHECK(infeasibility(Topology(parts), custom({0}, {3}, false)).empty());
  CHECK(infeasibility(Topology(parts), custom({0, 1}, {2, 3}, false)).empty());
  CHECK(infeasibility(Topology(parts), custom({0}, {2, 3}, false)) ==
        "chunk 0 is held by one node that can't copy (npu0), too few for 2 destinations (npu2, "
        "...)");
  CHECK(infeasibility(Topology(parts), custom({0, 1}, {2, 3}, true)) ==
        "chunk 0 is wanted by 2 nodes (npu2, ...), and no node that can copy and that the "
        "contributor npu0 reaches, which can't, reaches all of them");
  parts.nodes[1].can.copy = true;
  CHECK(infeasibility(Topology(parts), custom({0}, {2, 3}, false)).empty());
}

TEST_CASE("a collective on a disconnected topology names who can't be reached") {
  TopologyParts parts = samples::npus("islands", 4);
  parts.add_duplex(link(0, 1));
  parts.add_duplex(link(2, 3));
  const Topology topology(std::move(parts));
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_reduce;
  CHECK(message_of([&] { require_feasible(topology, make_collective(topology, spec)); }) ==
        "islands: chunk 0 can't get from npu2 to npu0");
  spec.group = {NodeId{2}, NodeId{3}};
  CHECK(message_of([&] { require_feasible(topology, make_collective(topology, spec)); }).empty());
  spec.kind = CollectiveKind::reduce;
  spec.group = {NodeId{3}, NodeId{1}};
  CHECK(message_of([&] { require_feasible(topology, make_collective(topology, spec)); }) ==
        "islands: chunk 0 can't get from npu1 to npu3");
}

} // namespace feasibility_test
