#include "runtime/lowering/rank_blocks.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace tutti::runtime {

namespace {

/// The lanes that a block serves at a rank; one of them may be no_lane.
struct LanesOfBlock {
  std::uint32_t rank = 0, channel = 0;
  std::optional<std::uint32_t> to, from; // peers
  std::uint32_t out = no_lane, in = no_lane;
  std::uint32_t first = no_message; ///< of all messages that it sends or receives
};

std::vector<LanesOfBlock> lanes_of_blocks(const MessageLanes& lanes) {
  std::vector<LanesOfBlock> all;
  for (std::uint32_t l = 0; l < lanes.lanes.size(); ++l) {
    const MessageLane& lane = lanes.lanes[l];
    LanesOfBlock sender{
        lane.from, lane.channel, lane.to, std::nullopt, l, lanes.shared_at_start[l]};
    if (sender.in != no_lane) sender.from = lanes.lanes[sender.in].from;
    all.push_back(sender);
    if (lanes.shared_at_end[l] == no_lane)
      all.push_back({lane.to, lane.channel, std::nullopt, lane.from, no_lane, l});
  }
  std::vector<std::uint32_t> first(lanes.lanes.size(), no_message);
  for (std::uint32_t m = 0; m < lanes.of_message.size(); ++m)
    first[lanes.of_message[m]] = std::min(first[lanes.of_message[m]], m);
  for (LanesOfBlock& served : all)
    for (const std::uint32_t lane : {served.out, served.in})
      if (lane != no_lane) served.first = std::min(served.first, first[lane]);
  std::ranges::sort(all, {}, [](const LanesOfBlock& b) {
    return std::tuple(b.rank, b.first, b.channel, b.to, b.from);
  });
  return all;
}

} // namespace

LaneBlocks blocks_for(const MessageLanes& lanes, std::uint32_t ranks) {
  LaneBlocks blocks;
  blocks.of_rank.resize(ranks);
  blocks.at_start.resize(lanes.lanes.size());
  blocks.at_end.resize(lanes.lanes.size());
  for (const LanesOfBlock& served : lanes_of_blocks(lanes)) {
    std::vector<Block>& of_rank = blocks.of_rank[served.rank];
    const auto index = static_cast<std::uint32_t>(of_rank.size());
    of_rank.push_back({served.to, served.from, served.channel, {}});
    if (served.out != no_lane) blocks.at_start[served.out] = index;
    if (served.in != no_lane) blocks.at_end[served.in] = index;
  }
  return blocks;
}

} // namespace tutti::runtime
