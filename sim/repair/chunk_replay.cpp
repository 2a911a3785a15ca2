#include "sim/repair/chunk_replay.hpp"

#include <algorithm>
#include <cassert>

namespace tutti {

namespace {

std::vector<std::uint32_t> first_of_block(const Schedule& schedule) {
  std::vector<std::uint32_t> start;
  for (std::uint32_t i = 1; i < schedule.size(); ++i) {
    if (!schedule[i].together) continue;
    if (start.empty()) {
      start.resize(schedule.size());
      for (std::uint32_t j = 0; j < schedule.size(); ++j) start[j] = j;
    }
    start[i] = start[i - 1];
  }
  return start;
}

} // namespace

ChunkReplay::ChunkReplay(const Topology& topology, std::span<const Segment> segments)
    : topology_(topology), segments_(segments), sorted_(segments.size()) {
  const std::size_t all = segments.front().collective.chunks.size();
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& segment = segments[s];
    std::vector<std::uint32_t>& local = local_.emplace_back(all, none);
    for (std::uint32_t c = 0; c < segment.chunk.size(); ++c) local[segment.chunk[c].value] = c;

    Sorted& sorted = sorted_[s];
    const PathTable& paths = segment.schedule.paths();
    for (std::uint32_t p = 0; p < paths.size(); ++p)
      sorted.ends.emplace_back(topology.link(paths.first(PathId{p})).from,
                               topology.link(paths.last(PathId{p})).to);
    sorted.block = first_of_block(segment.schedule);
    sorted.begin.assign(segment.collective.chunks.size() + 1, 0);
    for (std::size_t i = 0; i < segment.schedule.size(); ++i)
      if (segment.delivered[i]) ++sorted.begin[segment.schedule[i].chunk.value + 1];
    for (std::size_t c = 1; c < sorted.begin.size(); ++c) sorted.begin[c] += sorted.begin[c - 1];
    sorted.items.resize(sorted.begin.back());
    std::vector<std::uint32_t> next(sorted.begin.begin(), sorted.begin.end() - 1);
    for (std::uint32_t i = 0; i < segment.schedule.size(); ++i) {
      if (!segment.delivered[i]) continue;
      const Transfer transfer = segment.schedule[i];
      Item& item = sorted.items[next[transfer.chunk.value]++];
      item.transfer = i;
      item.path = transfer.path.value & 0x7fffffffU;
      item.reduces = transfer.op == Op::reduce;
    }
  }
}

bool ChunkReplay::has_any(NodeId node) const {
  return std::ranges::any_of(value(node), [](Word word) { return word != 0; });
}

void ChunkReplay::prepare(ChunkId chunk) {
  const Collective& whole = segments_.front().collective;
  const std::size_t bits =
      whole.chunks[chunk.value].reduces ? whole.held_by(chunk).size() : std::size_t{1};
  words_ = (bits + 63) / 64;
  state_.assign(topology_.node_count() * words_, 0);
}

/// At the begin of a segment: its holders keep what they have, or go back to their inputs; all
/// others hold nothing.
void ChunkReplay::choose(std::uint32_t segment, ChunkId local, ChunkId chunk) {
  const std::span<const NodeId> holders = segments_[segment].collective.held_by(local);
  if (segment == 0 || segments_[segment].from_inputs[local.value])
    return back_to_inputs(chunk, holders);
  kept_.clear();
  for (const NodeId holder : holders)
    kept_.insert(kept_.end(), set_of(holder), set_of(holder) + words_);
  std::ranges::fill(state_, Word{0});
  for (std::size_t h = 0; h < holders.size(); ++h)
    std::copy_n(kept_.data() + h * words_, words_, set_of(holders[h]));
}

void ChunkReplay::back_to_inputs(ChunkId chunk, std::span<const NodeId> holders) {
  std::ranges::fill(state_, Word{0});
  const Collective& whole = segments_.front().collective;
  const std::span<const NodeId> inputs = whole.held_by(chunk);
  const bool reduces = whole.chunks[chunk.value].reduces;
  for (std::size_t h = 0; h < holders.size(); ++h) {
    std::size_t bit = 0;
    if (reduces && holders.size() == inputs.size()) {
      bit = h;
    } else if (reduces) {
      const auto input = std::ranges::lower_bound(inputs, holders[h]);
      assert(input != inputs.end() && *input == holders[h]);
      bit = static_cast<std::size_t>(input - inputs.begin());
    }
    set_of(holders[h])[bit / 64] |= Word{1} << (bit % 64);
  }
}

/// One block: all is read before anything is written.
void ChunkReplay::perform() {
  if (block_.size() == 1 && topology_.node(block_[0].from).can.copy)
    return receive(block_[0], set_of(block_[0].from));
  kept_.clear();
  for (const Delivery& one : block_)
    kept_.insert(kept_.end(), set_of(one.from), set_of(one.from) + words_);
  for (const Delivery& one : block_)
    if (!topology_.node(one.from).can.copy) std::fill_n(set_of(one.from), words_, Word{0});
  for (std::size_t k = 0; k < block_.size(); ++k) receive(block_[k], kept_.data() + k * words_);
}

void ChunkReplay::receive(const Delivery& one, const Word* got) {
  Word* have = set_of(one.to);
  if (one.op == Op::copy) {
    std::copy_n(got, words_, have);
    return;
  }
  for (std::size_t w = 0; w < words_; ++w) {
    assert((have[w] & got[w]) == 0);
    have[w] |= got[w];
  }
}

} // namespace tutti
