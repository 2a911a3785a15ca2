// A program imported as a schedule: its messages become transfers (foreign_moves.hpp) in an order
// in which the list means what the program does (foreign_order.hpp); while the list is performed,
// each transfer becomes a copy where that loses nothing, else a reduction. What a step waits for
// across thread blocks, or by its place in one, becomes dependencies.

#include "runtime/formats/msccl/foreign_moves.hpp"
#include "runtime/formats/msccl/foreign_order.hpp"
#include "runtime/formats/msccl/runtime_paths.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace tutti::runtime {

namespace {

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
    if (part.kind != CollectiveKind::custom) part.chunks_per_shard *= program.chunk_units[first];
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
      for (const AwaitedMove& awaited : move.after)
        if (place[awaited.move] < begin)
          made.schedule.add_dependency(
              i, {place[awaited.move], awaited.arrived ? Milestone::arrived : Milestone::left});
    }
    begin = end;
  }
  return made;
}

} // namespace tutti::runtime
