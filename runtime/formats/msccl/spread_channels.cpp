// A runtime keeps a table of the peers of each channel, of 32 rows: who talks to 63 others needs
// two channels, whatever the links.

#include "runtime/formats/msccl/spread_channels.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti::runtime {

namespace {

using ConnectionKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // from, to, channel

/// Connections in groups that share blocks, and so a channel.
class ChannelSpread {
public:
  ChannelSpread(const Program& program, const MscclLimits& limits)
      : program_(program), limits_(limits) {
    for (const RankProgram& rank : program.ranks) first_block_.push_back(add_blocks(rank));
    join_peers();
  }

  [[nodiscard]] bool needed() const {
    std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> peers;
    for (const auto& [key, unused] : connections_) {
      const auto& [from, to, channel] = key;
      if (++peers[{from, channel, true}] > limits_.peers) return true;
      if (++peers[{to, channel, false}] > limits_.peers) return true;
    }
    return false;
  }

  /// [block of all ranks]: its channel; nothing where there are too few.
  std::optional<std::vector<std::uint32_t>> channels() {
    std::map<std::uint32_t, std::vector<ConnectionKey>> groups; // by their first block
    for (const auto& [key, block] : connections_) groups[root(block)].push_back(key);
    std::vector<std::uint32_t> made(parents_.size());
    for (std::uint32_t b = 0; b < made.size(); ++b) made[b] = old_channel_[b];
    std::map<std::uint32_t, std::uint32_t> of_group;
    for (const auto& [group, members] : groups) {
      std::uint32_t channel = 0;
      while (channel < limits_.channels && !is_free(members, channel)) ++channel;
      if (channel == limits_.channels) return std::nullopt;
      for (const auto& [from, to, old] : members) take(from, to, channel);
      of_group[group] = channel;
    }
    for (std::uint32_t b = 0; b < made.size(); ++b)
      if (const auto at = of_group.find(root(b)); at != of_group.end()) made[b] = at->second;
    return made;
  }

  [[nodiscard]] std::uint32_t first_block(std::uint32_t rank) const { return first_block_[rank]; }

private:
  std::uint32_t add_blocks(const RankProgram& rank) {
    const auto first = static_cast<std::uint32_t>(parents_.size());
    for (const Block& block : rank.blocks) {
      parents_.push_back(static_cast<std::uint32_t>(parents_.size()));
      old_channel_.push_back(block.channel);
    }
    return first;
  }

  /// The two ends of a connection have one channel, and so has all else that they do.
  void join_peers() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b) {
        const Block& block = program_.ranks[r].blocks[b];
        if (block.sends_to) join({r, *block.sends_to, block.channel}, first_block_[r] + b);
        if (block.receives_from)
          join({*block.receives_from, r, block.channel}, first_block_[r] + b);
      }
  }

  void join(const ConnectionKey& key, std::uint32_t block) {
    const auto [at, fresh] = connections_.try_emplace(key, block);
    if (!fresh) parents_[root(block)] = root(at->second);
  }

  std::uint32_t root(std::uint32_t block) {
    while (parents_[block] != block) block = parents_[block] = parents_[parents_[block]];
    return block;
  }

  [[nodiscard]] bool is_free(const std::vector<ConnectionKey>& members, std::uint32_t channel) {
    std::map<std::pair<std::uint32_t, bool>, std::uint32_t> more;
    for (const auto& [from, to, old] : members) {
      if (taken_.contains({from, to, channel})) return false;
      if (peers_[{from, channel, true}] + ++more[{from, true}] > limits_.peers) return false;
      if (peers_[{to, channel, false}] + ++more[{to, false}] > limits_.peers) return false;
    }
    return true;
  }

  void take(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    taken_[{from, to, channel}] = true;
    ++peers_[{from, channel, true}];
    ++peers_[{to, channel, false}];
  }

  const Program& program_;
  const MscclLimits& limits_;
  std::vector<std::uint32_t> first_block_;             // [rank]
  std::vector<std::uint32_t> parents_, old_channel_;   // [block of all ranks]
  std::map<ConnectionKey, std::uint32_t> connections_; // one of its blocks
  std::map<ConnectionKey, bool> taken_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> peers_;
};

} // namespace

Program spread_channels(Program program, const MscclLimits& limits) {
  ChannelSpread spread(program, limits);
  if (!spread.needed()) return program;
  const auto channels = spread.channels();
  if (!channels) return program;
  std::map<ConnectionKey, std::uint32_t> moved;
  std::vector<RankProgram> ranks = program.ranks;
  for (std::uint32_t r = 0; r < ranks.size(); ++r)
    for (std::uint32_t b = 0; b < ranks[r].blocks.size(); ++b) {
      Block& block = ranks[r].blocks[b];
      const std::uint32_t channel = (*channels)[spread.first_block(r) + b];
      if (block.sends_to) moved[{r, *block.sends_to, block.channel}] = channel;
      block.channel = channel;
    }
  program.ranks = std::move(ranks);
  for (ConnectionPath& path : program.paths)
    if (const auto at = moved.find({path.from, path.to, path.channel}); at != moved.end())
      path.channel = at->second;
  std::ranges::sort(program.paths, {}, [](const ConnectionPath& path) {
    return std::tuple(path.from, path.to, path.channel);
  });
  return program;
}

} // namespace tutti::runtime
