// One chunk at a time, so that memory holds the values of one chunk (a bit per contribution and
// node) however many chunks there are. The index of deliveries by chunk is built once by a counting
// sort.

#include "sim/repair/chunk_replay.hpp"

#include <algorithm>
#include <bit>
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
    std::vector<bool> came = segment.delivered;
    for (const std::uint32_t i : segment.waiting) came[i] = true;
    for (std::size_t i = 0; i < segment.schedule.size(); ++i)
      if (came[i]) ++sorted.begin[segment.schedule[i].chunk.value + 1];
    for (std::size_t c = 1; c < sorted.begin.size(); ++c) sorted.begin[c] += sorted.begin[c - 1];
    sorted.items.resize(sorted.begin.back());
    std::vector<std::uint32_t> next(sorted.begin.begin(), sorted.begin.end() - 1);
    for (std::uint32_t i = 0; i < segment.schedule.size(); ++i) {
      if (!came[i]) continue;
      const Transfer transfer = segment.schedule[i];
      Item& item = sorted.items[next[transfer.chunk.value]++];
      item.transfer = i;
      item.path = transfer.path.value & 0x3fffffffU;
      item.reduces = transfer.op == Op::reduce;
      item.waits = !segment.delivered[i];
    }
  }
}

bool ChunkReplay::has_any(NodeId node) const {
  return std::ranges::any_of(value(node), [](Word word) { return word != 0; });
}

std::optional<std::size_t> ChunkReplay::input_bit(NodeId node) const {
  const Collective& whole = segments_.front().collective;
  const std::span<const NodeId> inputs = whole.sources(chunk_);
  const auto found = std::ranges::lower_bound(inputs, node);
  if (found == inputs.end() || *found != node) return std::nullopt;
  return whole.chunks[chunk_.value].reduces ? static_cast<std::size_t>(found - inputs.begin())
                                            : std::size_t{0};
}

bool ChunkReplay::has_all(NodeId node, std::span<const Word> some) const {
  const std::span<const Word> have = value(node);
  bool all = true;
  for (std::size_t w = 0; w < words_ && all; ++w) all = (some[w] & ~have[w]) == 0;
  return all || input_has_all(node, some);
}

bool ChunkReplay::input_has_all(NodeId node, std::span<const Word> some) const {
  int count = 0;
  for (std::size_t w = 0; w < words_; ++w) count += std::popcount(some[w]);
  if (count > 1) return false; // without a search for its one bit
  const std::optional<std::size_t> own = input_bit(node);
  for (std::size_t w = 0; w < words_; ++w)
    if (some[w] & ~(own && *own / 64 == w ? Word{1} << (*own % 64) : Word{0})) return false;
  return true;
}

void ChunkReplay::prepare(ChunkId chunk) {
  const Collective& whole = segments_.front().collective;
  chunk_ = chunk;
  const std::size_t bits =
      whole.chunks[chunk.value].reduces ? whole.sources(chunk).size() : std::size_t{1};
  words_ = (bits + 63) / 64;
  state_.assign(topology_.node_count() * words_, 0);
  waiting_.clear();
  stale_.assign(topology_.node_count(), false);
}

void ChunkReplay::choose(std::uint32_t segment, ChunkId local) {
  const Segment& begun = segments_[segment];
  const bool sums = segments_.front().collective.chunks[chunk_.value].reduces;
  stale_.assign(stale_.size(), true);
  const std::span<const NodeId> sources = begun.collective.sources(local);
  for (std::size_t h = 0; h < sources.size(); ++h) {
    stale_[sources[h].value] = false;
    const Start start = begun.starts.of(local, h);
    if (!has_present(start)) clear(sources[h]);
    if (has_input(start)) add_input(sources[h]);
    if (start == Start::present && !sums) // of a copy it doesn't matter which
      *set_of(sources[h]) = 1;
  }
  for (const Waiting& one : waiting_)
    if (std::ranges::binary_search(begun.takes_in, one.arrival))
      for (std::size_t w = 0; w < words_; ++w) set_of(one.at)[w] |= one.value[w];
  waiting_.clear();
  for (std::uint32_t n = 0; n < stale_.size(); ++n)
    if (stale_[n] && (begun.anew || n >= topology_.npu_count())) clear(NodeId{n});
}

void ChunkReplay::back_to_inputs() {
  std::ranges::fill(state_, Word{0});
  waiting_.clear();
  stale_.assign(stale_.size(), false);
  for (const NodeId source : segments_.front().collective.sources(chunk_)) add_input(source);
}

void ChunkReplay::add_input(NodeId node) {
  const std::optional<std::size_t> bit = input_bit(node);
  assert(bit);
  set_of(node)[*bit / 64] |= Word{1} << (*bit % 64);
}

/// One block: all is read before anything is written.
void ChunkReplay::perform() {
  if (block_.size() == 1 && topology_.node(block_[0].from).can.copy)
    return receive(block_[0], set_of(block_[0].from));
  kept_.clear();
  for (const Delivery& one : block_)
    kept_.insert(kept_.end(), set_of(one.from), set_of(one.from) + words_);
  for (const Delivery& one : block_)
    if (!topology_.node(one.from).can.copy) clear(one.from);
  for (std::size_t k = 0; k < block_.size(); ++k) receive(block_[k], kept_.data() + k * words_);
}

void ChunkReplay::receive(Delivery& one, const Word* got) {
  if (one.waits) {
    waiting_.push_back({one.to, {one.segment, one.transfer}, {got, got + words_}});
    return;
  }
  Word* have = set_of(one.to);
  one.overwrites = one.op == Op::copy || stale_[one.to.value];
  stale_[one.to.value] = false;
  if (one.overwrites) {
    std::copy_n(got, words_, have);
    return;
  }
  for (std::size_t w = 0; w < words_; ++w) {
    assert((have[w] & got[w]) == 0);
    have[w] |= got[w];
  }
}

} // namespace tutti
