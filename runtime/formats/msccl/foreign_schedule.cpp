// A program imported as a schedule: its messages become transfers (foreign_moves.hpp) in an order
// in which the list means what the program does; while the list is performed, each transfer becomes
// a copy where that loses nothing, else a reduction. What a step waits for across thread blocks, or
// by its place in one, becomes dependencies.
//
// The order is found in a graph of moves: edges say which must come before which, some strictly.
// Strongly connected components are moves that are performed together; components are then sorted
// topologically, by the moves' own order where they are free.

#include "runtime/formats/msccl/foreign_moves.hpp"
#include "runtime/formats/msccl/runtime_paths.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "sim/graphs/components.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

namespace tutti::runtime {

namespace {

/// Moves in the order of the list.
struct ForeignOrder {
  std::vector<std::uint32_t> moves;
  std::vector<bool> together; ///< with the one before: both read the state from before
};

struct MoveEdge {
  std::uint32_t to = 0;
  bool strict = false; ///< can't be together
  bool waits = false;  ///< by the program's order alone, of which a list needn't keep all
};
using MoveEdges = std::vector<std::vector<MoveEdge>>;

/// Moves sorted by (unit, rank) at one of their ends: those of a pair are next to each other.
std::vector<std::uint32_t> sorted_by_end(std::span<const ForeignMove> moves,
                                         std::uint32_t ForeignMove::*end) {
  std::vector<std::uint32_t> made(moves.size());
  for (std::uint32_t m = 0; m < made.size(); ++m) made[m] = m;
  std::ranges::stable_sort(
      made, {}, [&](std::uint32_t m) { return std::pair(moves[m].unit, moves[m].*end); });
  return made;
}

void add_edges_at(std::span<const ForeignMove> moves, std::span<const std::uint32_t> sent,
                  std::span<const std::uint32_t> arrived, MoveEdges& edges) {
  for (const std::uint32_t s : sent) {
    for (const std::uint32_t a : arrived) {
      if (std::ranges::binary_search(moves[s].made_from, a)) continue;
      if (!is_within(moves[a].holds, moves[s].holds)) edges[s].push_back({a, false});
    }
  }
  for (const std::uint32_t part : arrived)
    for (const std::uint32_t whole : arrived)
      if (moves[part].holds != moves[whole].holds &&
          is_within(moves[part].holds, moves[whole].holds))
        edges[part].push_back({whole, true});
}

MoveEdges edges_of(std::span<const ForeignMove> moves) {
  MoveEdges edges(moves.size());
  for (std::uint32_t m = 0; m < moves.size(); ++m)
    for (const std::uint32_t before : moves[m].made_from) edges[before].push_back({m, true});
  const std::vector<std::uint32_t> sent = sorted_by_end(moves, &ForeignMove::from);
  const std::vector<std::uint32_t> arrived = sorted_by_end(moves, &ForeignMove::to);
  for (std::size_t a = 0, s = 0; a < arrived.size();) {
    const std::pair key(moves[arrived[a]].unit, moves[arrived[a]].to);
    std::size_t a_end = a;
    while (a_end < arrived.size() &&
           std::pair(moves[arrived[a_end]].unit, moves[arrived[a_end]].to) == key)
      ++a_end;
    while (s < sent.size() && std::pair(moves[sent[s]].unit, moves[sent[s]].from) < key) ++s;
    std::size_t s_end = s;
    while (s_end < sent.size() &&
           std::pair(moves[sent[s_end]].unit, moves[sent[s_end]].from) == key)
      ++s_end;
    add_edges_at(moves, std::span(sent).subspan(s, s_end - s),
                 std::span(arrived).subspan(a, a_end - a), edges);
    a = a_end;
    s = s_end;
  }
  for (std::uint32_t m = 0; m < moves.size(); ++m)
    for (const AwaitedMove& awaited : moves[m].after)
      edges[awaited.move].push_back({m, false, true});
  return edges;
}

/// Groups of moves that all come before each other.
Components groups_of(const MoveEdges& edges) {
  return strong_components(
      static_cast<std::uint32_t>(edges.size()),
      [&](std::uint32_t move) { return edges[move].size(); },
      [&](std::uint32_t move, std::size_t i) { return std::optional(edges[move][i].to); });
}

/// Without waits within a group. Whether there were any.
bool drop_waits_within(MoveEdges& edges, const Components& groups) {
  std::size_t dropped = 0;
  for (std::uint32_t m = 0; m < edges.size(); ++m)
    dropped += std::erase_if(edges[m], [&](const MoveEdge& edge) {
      return edge.waits && groups.of[edge.to] == groups.of[m];
    });
  return dropped > 0;
}

/// In a list of transfers an NPU has one state of each chunk, to which arrivals add; a program may
/// keep an arrival aside. So a move comes after those that its value is made from, and before
/// those to its sender that would add something else to it; partial values arrive before what
/// includes them. Moves that must all come before each other, as in an exchange of partial sums,
/// are together. What the program has wait comes after what it waits for, as far as all this
/// allows. What is free follows the moves' own order.
/// Errors: InputError where no list does that.
/// Cost: O(moves * log + sends * arrivals of each unit at each rank).
ForeignOrder foreign_order(std::span<const ForeignMove> moves) {
  MoveEdges edges = edges_of(moves);
  Components groups = groups_of(edges);
  if (drop_waits_within(edges, groups)) groups = groups_of(edges);
  std::vector<std::vector<std::uint32_t>> members(groups.count);
  std::vector<std::uint32_t> missing(groups.count, 0);
  for (std::uint32_t m = 0; m < moves.size(); ++m) {
    members[groups.of[m]].push_back(m);
    for (const MoveEdge& edge : edges[m]) {
      if (groups.of[edge.to] != groups.of[m])
        ++missing[groups.of[edge.to]];
      else if (edge.strict)
        throw InputError(fmt::format("rank {} keeps partial sums apart in a way that a schedule, "
                                     "with one state of a chunk at an NPU, can't express",
                                     moves[m].to));
    }
  }
  using Entry = std::pair<std::uint32_t, std::uint32_t>; // first member, group
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (std::uint32_t g = 0; g < groups.count; ++g)
    if (missing[g] == 0) ready.emplace(members[g].front(), g);
  ForeignOrder order;
  while (!ready.empty()) {
    const std::uint32_t g = ready.top().second;
    ready.pop();
    for (const std::uint32_t m : members[g]) {
      order.moves.push_back(m);
      order.together.push_back(m != members[g].front());
      for (const MoveEdge& edge : edges[m]) {
        const std::uint32_t next = groups.of[edge.to];
        if (next != g && --missing[next] == 0) ready.emplace(members[next].front(), next);
      }
    }
  }
  return order;
}

/// Each unit as a chunk of its own, under the same conditions.
Collective by_units(const Program& program) {
  const Collective& whole = program.collective;
  Collective made{whole.sets, {}, whole.parts};
  std::vector<std::uint32_t> first_unit;
  for (std::uint32_t c = 0; c < whole.chunks.size(); ++c) {
    first_unit.push_back(static_cast<std::uint32_t>(made.chunks.size()));
    const std::int64_t units = program.chunk_units[c], bytes = whole.chunks[c].size.count;
    if (bytes < units)
      throw InputError(fmt::format("{} bytes can't be cut into {} units", bytes, units));
    for (std::int64_t u = 0; u < units; ++u) { // parts that differ by at most a byte
      Chunk unit = whole.chunks[c];
      unit.size = Bytes{bytes / units + (u < bytes % units ? 1 : 0)};
      made.chunks.push_back(unit);
    }
  }
  first_unit.push_back(static_cast<std::uint32_t>(made.chunks.size()));
  for (CollectivePart& part : made.parts) {
    const std::uint32_t first = part.first.value;
    if (part.kind != CollectiveKind::custom && !has_shares(part.kind))
      part.chunks_per_shard *= program.chunk_units[first];
    part.chunk_count = first_unit[first + part.chunk_count] - first_unit[first];
    part.first = ChunkId{first_unit[first]};
  }
  return made;
}

/// What is known of a connection, else the route that is asked for, else what runtimes take.
class RankPaths {
public:
  RankPaths(const Topology& topology, const std::vector<ConnectionPath>& known,
            std::optional<Router> router)
      : otherwise_(topology), router_(std::move(router)) {
    for (const ConnectionPath& path : known)
      known_[{path.from, path.to, path.channel}] = path.links;
  }

  PathId path(std::uint32_t from, std::uint32_t to, std::uint32_t channel, PathTable& paths) {
    const auto [made, is_new] = paths_.try_emplace({from, to, channel});
    if (!is_new) return made->second;
    const auto known = known_.find({from, to, channel});
    made->second = paths.intern(known != known_.end() ? known->second
                                                      : routed(NodeId{from}, NodeId{to}, channel));
    return made->second;
  }

private:
  [[nodiscard]] std::vector<LinkId> routed(NodeId from, NodeId to, std::uint32_t channel) {
    if (!router_) return otherwise_.links(from, to, channel);
    const std::span<const LinkId> route = router_->route({from, to, channel});
    return {route.begin(), route.end()};
  }

  using Connection = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // from, to, channel

  RuntimePaths otherwise_;
  std::optional<Router> router_;
  std::map<Connection, std::vector<LinkId>> known_;
  std::map<Connection, PathId> paths_;
};

/// What each NPU has of each unit while the list is performed, as `verify` sees it.
class ListState {
public:
  ListState(const Collective& collective, std::uint32_t ranks)
      : collective_(collective), ranks_(ranks), held_(collective.chunks.size()) {}

  /// Whether the sender has that value, and nothing more, before the block that the move is in.
  void require_sender(const ForeignMove& move) {
    if (move.holds.empty() || at(move.unit, move.from) == move.holds) return;
    throw InputError(fmt::format("rank {} sends other contributions to unit {} than all that it "
                                 "has by then: a schedule can't express that",
                                 move.from, move.unit));
  }

  /// Copies where that loses nothing, else reduces.
  Op arrive(const ForeignMove& move) {
    if (move.holds.empty()) return Op::copy;
    Contributions& there = at(move.unit, move.to);
    if (is_within(there, move.holds)) {
      there = move.holds;
      return Op::copy;
    }
    if (have_in_common(there, move.holds))
      throw InputError(fmt::format("rank {} gets a value of unit {} that it has partly: a "
                                   "schedule can't express that",
                                   move.to, move.unit));
    unite(there, move.holds);
    return Op::reduce;
  }

private:
  Contributions& at(std::uint32_t unit, std::uint32_t rank) {
    std::vector<Contributions>& states = held_[unit];
    if (states.empty()) {
      states.assign(ranks_, Contributions((ranks_ + 63) / 64, 0));
      for (const NodeId npu : collective_.sources(ChunkId{unit}))
        states[npu.value][npu.value / 64] |= std::uint64_t{1} << (npu.value % 64);
    }
    return states[rank];
  }

  const Collective& collective_;
  std::uint32_t ranks_;
  std::vector<std::vector<Contributions>> held_; // [unit][rank], of units that were asked for
};

} // namespace

ForeignSchedule schedule_of(const Topology& topology, const Program& program,
                            std::optional<Routing> routing) {
  const auto ranks = static_cast<std::uint32_t>(program.ranks.size());
  if (ranks != topology.npu_count())
    throw InputError(fmt::format("a program for {} ranks, but {} has {} NPUs", ranks,
                                 topology.name(), topology.npu_count()));
  ForeignSchedule made{by_units(program), Schedule(topology.link_count())};
  const std::vector<ForeignMove> moves = foreign_moves(program);
  const ForeignOrder order = foreign_order(moves);
  std::optional<Router> router;
  if (routing) router.emplace(topology, *routing, made.collective.largest_chunk());
  RankPaths paths(topology, program.paths, std::move(router));
  ListState state(made.collective, ranks);
  constexpr std::size_t most_blocks = 128;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> blocks; // by distance, channel
  made.schedule.reserve(moves.size());
  std::vector<std::uint32_t> place(moves.size(), UINT32_MAX); // [move]: in the list
  for (std::size_t begin = 0; begin < order.moves.size();) {
    std::size_t end = begin + 1;
    while (end < order.moves.size() && order.together[end]) ++end;
    for (std::size_t i = begin; i < end; ++i) state.require_sender(moves[order.moves[i]]);
    for (std::size_t i = begin; i < end; ++i) {
      const ForeignMove& move = moves[order.moves[i]];
      const PathId path = paths.path(move.from, move.to, move.channel, made.schedule.paths());
      place[order.moves[i]] = static_cast<std::uint32_t>(i);
      made.schedule.push({ChunkId{move.unit}, path, state.arrive(move), order.together[i]});
      const std::pair connection((move.to + ranks - move.from) % ranks, move.channel);
      const std::size_t block = blocks.try_emplace(connection, blocks.size()).first->second;
      made.block_of.push_back(static_cast<std::uint8_t>(block % most_blocks));
      for (const AwaitedMove& awaited : move.after)
        if (place[awaited.move] < begin)
          made.schedule.add_dependency(
              i, {place[awaited.move], awaited.arrived ? Milestone::arrived : Milestone::left});
    }
    begin = end;
  }
  return made;
}

// A thread block hands over what a slot of its connection's FIFO takes: an eighth of 4 MiB, and
// what 32 KiB and 600 KB of lines with flags carry of it (NCCL 2.30, enqueue.cc).
LibraryChoice library_of(const ForeignSchedule& foreign, std::string_view protocol) {
  LibraryChoice choice{"msccl", lower_case(protocol), 1, true};
  for (const std::uint8_t block : foreign.block_of)
    choice.channels = std::max<std::uint32_t>(choice.channels, block + 1U);
  choice.own_chunk = Bytes{choice.protocol == "ll"      ? 32 << 10
                           : choice.protocol == "ll128" ? 576'000
                                                        : 512 << 10};
  choice.channel_of = foreign.block_of;
  return choice;
}

} // namespace tutti::runtime
