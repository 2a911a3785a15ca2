// A schedule cut into many chunks repeats itself: chunks of one shard that take the same paths one
// after another (a ring's, a tree's). Where a runtime has too few steps for all of them, one step
// moves several, as msccl-tools' ncclize merges adjacent addresses (Cai et al. 2021, section 4).

#include "runtime/lowering/chunk_rolls.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>

namespace tutti::runtime {

namespace {

/// What a chunk does next: by which path, how, and whether together with what it did last.
struct ChunkMove {
  std::uint32_t path = 0;
  bool reduces = false, together = false;
  bool operator==(const ChunkMove&) const = default;
};

/// [chunk]: its moves in list order.
std::vector<std::vector<ChunkMove>> moves_of(std::size_t chunks, const Schedule& schedule) {
  std::vector<std::vector<ChunkMove>> moves(chunks);
  std::vector<std::size_t> last(chunks, schedule.size()); // the block that it moved in last
  for (std::size_t t = 0, block = 0; t < schedule.size(); ++t) {
    const Transfer transfer = schedule[t];
    if (!transfer.together) block = t;
    std::size_t& before = last[transfer.chunk.value];
    moves[transfer.chunk.value].push_back(
        {schedule.path_of(t).value, transfer.op == Op::reduce, before == block});
    before = block;
  }
  return moves;
}

bool are_alike(const Collective& collective, std::uint32_t a, std::uint32_t b) {
  const Chunk &one = collective.chunks[a], &other = collective.chunks[b];
  return one.reduces == other.reduces &&
         collective.sets[one.sources] == collective.sets[other.sources] &&
         collective.sets[one.destinations] == collective.sets[other.destinations];
}

} // namespace

ChunkRolls chunk_rolls(const Collective& collective, const Schedule& schedule, std::uint32_t most) {
  const auto count = static_cast<std::uint32_t>(collective.chunks.size());
  const auto moves = moves_of(count, schedule);
  ChunkRolls rolls{std::vector<std::uint32_t>(count), 1};
  for (std::uint32_t begin = 0, end = 0; begin < count; begin = end) {
    for (end = begin + 1; end < count; ++end)
      if (!are_alike(collective, begin, end) || moves[begin] != moves[end]) break;
    if (moves[begin].empty()) { // stays where it is
      for (std::uint32_t c = begin; c < end; ++c) rolls.leader[c] = c;
      continue;
    }
    const std::uint32_t run = end - begin;
    rolls.longest = std::max(rolls.longest, run);
    const std::uint32_t parts = most == 0 ? 1 : (run + most - 1) / most;
    for (std::uint32_t p = 0; p < parts; ++p) {
      const auto first = begin + static_cast<std::uint32_t>(std::uint64_t{run} * p / parts);
      const auto next = begin + static_cast<std::uint32_t>(std::uint64_t{run} * (p + 1) / parts);
      std::fill(rolls.leader.begin() + first, rolls.leader.begin() + next, first);
    }
  }
  return rolls;
}

Schedule transfers_of_leaders(const Schedule& schedule, const ChunkRolls& rolls) {
  Schedule made(schedule.paths().link_count());
  made.paths() = schedule.paths();
  std::vector<std::vector<std::uint32_t>> places(rolls.leader.size()); // [leader][move]: in `made`
  std::vector<std::uint32_t> moves(rolls.leader.size());               // [chunk]: so far
  std::vector<std::uint32_t> move_of;                                  // [transfer]
  std::vector<std::uint32_t> block_of; // [transfer of `made`]: where its block begins
  std::uint32_t block = 0;             // where the block that t is in begins in `made`
  bool open = false, sends = false;    // whether it, or the send, has a transfer by now
  for (std::size_t t = 0; t < schedule.size(); ++t) {
    Transfer transfer = schedule[t];
    const std::uint32_t chunk = transfer.chunk.value;
    open = open && transfer.together;
    sends = sends && transfer.contiguous;
    if (!open) block = static_cast<std::uint32_t>(made.size());
    move_of.push_back(moves[chunk]++);
    if (rolls.leader[chunk] != chunk) continue;
    transfer.together = open;
    transfer.contiguous = sends;
    places[chunk].push_back(static_cast<std::uint32_t>(made.size()));
    made.push(transfer);
    block_of.push_back(block);
    open = sends = true;
  }
  // A leader waits for what any waits for that it stands for, as far as that stands before it.
  const auto stand_in = [&](std::uint32_t t) {
    return places[rolls.leader[schedule[t].chunk.value]][move_of[t]];
  };
  std::set<std::tuple<std::uint32_t, std::uint32_t, Milestone>> names; // who waits, for whom
  for (std::uint32_t t = 0; t < schedule.size(); ++t)
    for (const Dependency& named : schedule.dependencies(t))
      if (const std::uint32_t waits = stand_in(t), awaited = stand_in(named.transfer);
          awaited < block_of[waits])
        names.insert({waits, awaited, named.milestone});
  for (const auto& [waits, awaited, milestone] : names)
    made.add_dependency(waits, {awaited, milestone});
  return made;
}

} // namespace tutti::runtime
