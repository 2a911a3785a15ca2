// Chunk by chunk: in the reverse of a random order ranks pass on what they have, reducing it on its
// path, then it is copied to its destinations. The latest access to each unit of memory says which
// dependencies a step needs; some that it doesn't need are added.

#include "tests/runtime/random_program.hpp"

#include "sim/random.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

using namespace runtime;

namespace {

constexpr std::uint32_t channels = 3;

class ProgramGenerator {
public:
  ProgramGenerator(const Collective& collective, std::uint32_t npus, std::uint32_t instances,
                   std::uint64_t seed)
      : program_(empty_program(collective, npus, instances, false)), random_(seed) {
    program_.name = "random " + std::to_string(seed);
  }

  Program make() {
    std::vector<std::uint32_t> chunks(program_.collective.chunks.size());
    std::iota(chunks.begin(), chunks.end(), 0U);
    random_.shuffle(chunks);
    for (const std::uint32_t c : chunks) {
      const ChunkId chunk{c};
      const auto& wanted = program_.collective.destinations(chunk);
      if (program_.collective.chunks[c].reduces)
        reduce_to(wanted[random_.below(wanted.size())].value, chunk);
      else
        current_[program_.collective.sources(chunk).front().value] =
            at(program_.inputs, program_.collective.sources(chunk).front().value, chunk);
      spread(chunk);
    }
    return std::move(program_);
  }

private:
  using Cell = std::tuple<std::uint32_t, Buffer, std::uint32_t>; // rank, buffer, unit

  /// Where the chunk is among a rank's inputs or outputs, if there.
  static std::optional<Place> at(const std::vector<std::vector<ChunkPlace>>& places,
                                 std::uint32_t rank, ChunkId chunk, Buffer buffer = Buffer::input) {
    for (const ChunkPlace& place : places[rank])
      if (place.chunk == chunk) return Place{buffer, place.unit};
    return std::nullopt;
  }
  Place output(std::uint32_t rank, ChunkId chunk) {
    if (const auto place = at(program_.outputs, rank, chunk, Buffer::output)) return *place;
    const std::uint32_t unit = program_.ranks[rank].scratch;
    program_.ranks[rank].scratch += program_.chunk_units[chunk.value];
    return {Buffer::scratch, unit};
  }

  /// The block for one end of a connection: its own, or one whose other direction is free.
  std::uint32_t block_for(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel,
                          std::optional<std::uint32_t> Block::*end,
                          std::optional<std::uint32_t> Block::*other) {
    std::vector<Block>& blocks = program_.ranks[rank].blocks;
    for (std::uint32_t b = 0; b < blocks.size(); ++b)
      if (blocks[b].*end == peer && blocks[b].channel == channel) return b;
    for (std::uint32_t b = 0; b < blocks.size(); ++b)
      if (blocks[b].channel == channel && !(blocks[b].*end) && blocks[b].*other &&
          random_.below(2) == 0) {
        blocks[b].*end = peer;
        return b;
      }
    blocks.emplace_back();
    blocks.back().channel = channel;
    blocks.back().*end = peer;
    return static_cast<std::uint32_t>(blocks.size()) - 1;
  }

  std::uint32_t local_block(std::uint32_t rank) {
    std::vector<Block>& blocks = program_.ranks[rank].blocks;
    for (std::uint32_t b = 0; b < blocks.size(); ++b)
      if (!blocks[b].sends_to && !blocks[b].receives_from && random_.below(3) > 0) return b;
    blocks.emplace_back();
    return static_cast<std::uint32_t>(blocks.size()) - 1;
  }

  void append(std::uint32_t rank, std::uint32_t block, StepKind kind, Place source, Place target,
              std::uint32_t count) {
    std::map<std::uint32_t, std::uint32_t> after; // [block]: step
    std::vector<Block>& blocks = program_.ranks[rank].blocks;
    const auto wait_for = [&](StepAt step) {
      if (step.block == block) return;
      std::uint32_t& last = after.try_emplace(step.block, step.step).first->second;
      last = std::max(last, step.step);
    };
    const auto each = [&](Place place, const auto& body) {
      for (std::uint32_t i = 0; i < count; ++i) body(Cell{rank, place.buffer, place.unit + i});
    };
    const bool reads = reads_source(kind), writes = writes_target(kind);
    const auto wait_for_writer = [&](const Cell& cell) {
      if (writers_.contains(cell)) wait_for(writers_[cell]);
    };
    if (reads) each(source, wait_for_writer);
    if (writes) each(target, wait_for_writer);
    if (writes)
      each(target, [&](const Cell& cell) {
        for (const StepAt reader : readers_[cell]) wait_for(reader);
      });
    // More than needed, too: of a block that isn't waited for yet, its last real step.
    const auto other = static_cast<std::uint32_t>(random_.below(blocks.size()));
    if (other != block && !after.contains(other) && !blocks[other].steps.empty() &&
        random_.below(4) == 0)
      after[other] = static_cast<std::uint32_t>(blocks[other].steps.size()) - 1;
    std::vector<Step>& steps = blocks[block].steps;
    for (const auto& [waited, step] : after)
      steps.push_back({StepKind::wait, {}, {}, 0, {{waited, step}}});
    std::optional<StepAt> own;
    if (!after.empty()) {
      own = steps.back().after;
      steps.pop_back();
    }
    steps.push_back({kind, reads ? source : Place{}, writes ? target : Place{}, count, own});
    const StepAt here{block, static_cast<std::uint32_t>(steps.size()) - 1};
    if (reads) each(source, [&](const Cell& cell) { readers_[cell].push_back(here); });
    if (writes)
      each(target, [&](const Cell& cell) {
        writers_[cell] = here;
        readers_[cell].clear();
      });
  }

  /// One message, in which `kind` receives into the target.
  void move(std::uint32_t from, Place what, std::uint32_t to, StepKind kind, Place source,
            Place target, std::uint32_t count) {
    const auto channel = static_cast<std::uint32_t>(random_.below(channels));
    append(from, block_for(from, to, channel, &Block::sends_to, &Block::receives_from),
           StepKind::send, what, {}, count);
    append(to, block_for(to, from, channel, &Block::receives_from, &Block::sends_to), kind, source,
           target, count);
  }

  /// In the reverse of a random order, everyone passes what it has to someone earlier.
  void reduce_to(std::uint32_t root, ChunkId chunk) {
    current_.clear();
    const std::uint32_t count = program_.chunk_units[chunk.value];
    std::vector<std::uint32_t> order;
    for (const NodeId npu : program_.collective.sources(chunk)) {
      current_[npu.value] = at(program_.inputs, npu.value, chunk);
      if (npu.value != root) order.push_back(npu.value);
    }
    random_.shuffle(order);
    order.insert(order.begin(), root);
    for (std::size_t i = order.size(); i-- > 1;) {
      const std::uint32_t from = order[i], to = order[random_.below(i)];
      const Place have = *current_[to];
      const Place sum = have.buffer == Buffer::input ? output(to, chunk) : have;
      if (random_.below(2) == 0) {
        move(from, *current_[from], to, StepKind::receive_reduce_copy, have, sum, count);
      } else {
        const Place part{Buffer::scratch, program_.ranks[to].scratch};
        program_.ranks[to].scratch += count;
        move(from, *current_[from], to, StepKind::receive, {}, part, count);
        if (!(sum == have)) append(to, local_block(to), StepKind::copy, have, sum, count);
        append(to, local_block(to), StepKind::reduce, part, sum, count);
      }
      current_[to] = sum;
    }
    const Place total = *current_[root];
    current_.clear();
    current_[root] = total;
  }

  /// From those who have it to those who want it, one after another; to its own output by a copy.
  void spread(ChunkId chunk) {
    const std::uint32_t count = program_.chunk_units[chunk.value];
    std::vector<std::uint32_t> have;
    for (const auto& [rank, place] : current_) have.push_back(rank);
    std::vector<std::uint32_t> want;
    for (const NodeId npu : program_.collective.destinations(chunk)) {
      const auto here = current_.find(npu.value);
      if (here == current_.end()) {
        want.push_back(npu.value);
        continue;
      }
      const Place target = output(npu.value, chunk);
      if (!(*here->second == target))
        append(npu.value, local_block(npu.value), StepKind::copy, *here->second, target, count);
    }
    random_.shuffle(want);
    for (const std::uint32_t to : want) {
      const std::uint32_t from = have[random_.below(have.size())];
      const Place target = output(to, chunk);
      move(from, *current_[from], to, StepKind::receive, {}, target, count);
      current_[to] = target;
      have.push_back(to);
    }
    current_.clear();
  }

  Program program_;
  Random random_;
  std::map<std::uint32_t, std::optional<Place>> current_; // [rank]: of the chunk in hand
  std::map<Cell, StepAt> writers_;
  std::map<Cell, std::vector<StepAt>> readers_;
};

} // namespace

Program random_program(const Collective& collective, std::uint32_t npus, std::uint32_t instances,
                       std::uint64_t seed) {
  return ProgramGenerator(collective, npus, instances, seed).make();
}

} // namespace tutti
