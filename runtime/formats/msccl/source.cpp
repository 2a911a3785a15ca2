// Places in a file, for errors, and the checks that need several elements at once: two blocks on
// one connection, too many peers on a channel, dependencies on steps that aren't there.

#include "runtime/formats/msccl/elements.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::runtime {

namespace {

using ChannelPeers = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

/// One direction of a rank's connections.
void check_connections(const MscclElements& file, std::uint32_t rank, const MscclLimits& limits,
                       std::optional<std::uint32_t> Block::*peer, std::string_view what) {
  const std::vector<Block>& blocks = file.ranks[rank].blocks;
  ChannelPeers taken;                                // [peer, channel]: block
  std::map<std::uint32_t, std::uint32_t> on_channel; // peers
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    if (!(block.*peer)) continue;
    const auto [known, is_new] = taken.try_emplace({*(block.*peer), block.channel}, b);
    if (!is_new)
      file.source.refuse(file.block_at[rank][b],
                         fmt::format("blocks {} and {} of gpu {} both {} {} on channel {}",
                                     known->second, b, rank, what, *(block.*peer), block.channel));
    if (++on_channel[block.channel] > limits.peers)
      file.source.refuse(file.block_at[rank][b],
                         fmt::format("more than {} peers of gpu {} on channel {}", limits.peers,
                                     rank, block.channel));
  }
}

void check_dependencies(MscclElements& file, std::uint32_t rank) {
  std::vector<Block>& blocks = file.ranks[rank].blocks;
  for (std::uint32_t b = 0; b < blocks.size(); ++b)
    for (std::uint32_t s = 0; s < blocks[b].steps.size(); ++s) {
      std::optional<StepAt>& after = blocks[b].steps[s].after;
      if (!after) continue;
      const std::ptrdiff_t at = file.step_at[rank][b][s];
      if (after->block >= blocks.size() || after->step >= blocks[after->block].steps.size())
        file.source.refuse(at, fmt::format("it waits for step {} of block {}, which isn't there",
                                           after->step, after->block));
      if (after->block != b) continue;
      if (after->step >= s) file.source.refuse(at, "it waits for itself, or a later step");
      after.reset();
    }
}

} // namespace

std::string MscclSource::place(std::ptrdiff_t offset) const {
  const std::size_t length =
      std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), text_.size());
  const std::string_view before = text_.substr(0, length);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t line_start = before.rfind('\n') + 1; // npos + 1 == 0
  return fmt::format("{}:{}:{}", file_name_, line, length - line_start + 1);
}

void MscclSource::refuse(std::ptrdiff_t offset, std::string_view what) const {
  throw InputError(fmt::format("{}: {}", place(offset), what));
}

void check_msccl_neighbours(MscclElements& file, std::uint32_t rank, const MscclLimits& limits) {
  check_connections(file, rank, limits, &Block::sends_to, "send to");
  check_connections(file, rank, limits, &Block::receives_from, "receive from");
  check_dependencies(file, rank);
}

} // namespace tutti::runtime
