// MSCCL's runtime gives a block one peer to send to and one to receive from, on one channel; which
// two connections share a block was decided in connections.cpp.

#include "runtime/lowering/rank_blocks.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace tutti::runtime {

namespace {

/// The connections that a block serves at a rank; one of them may be no_connection.
struct ServedConnections {
  std::uint32_t rank = 0, channel = 0;
  std::optional<std::uint32_t> to, from; // peers
  std::uint32_t out = no_connection, in = no_connection;
  std::uint32_t first = no_message; ///< of all messages that it sends or receives
};

std::vector<ServedConnections> served_connections(const MessageConnections& connections) {
  std::vector<ServedConnections> all;
  for (std::uint32_t c = 0; c < connections.all.size(); ++c) {
    const MessageConnection& connection = connections.all[c];
    ServedConnections sender{connection.from,
                             connection.channel,
                             connection.to,
                             std::nullopt,
                             c,
                             connections.shared_at_start[c]};
    if (sender.in != no_connection) sender.from = connections.all[sender.in].from;
    all.push_back(sender);
    if (connections.shared_at_end[c] == no_connection)
      all.push_back(
          {connection.to, connection.channel, std::nullopt, connection.from, no_connection, c});
  }
  std::vector<std::uint32_t> first(connections.all.size(), no_message);
  for (std::uint32_t m = 0; m < connections.of_message.size(); ++m)
    first[connections.of_message[m]] = std::min(first[connections.of_message[m]], m);
  for (ServedConnections& served : all)
    for (const std::uint32_t connection : {served.out, served.in})
      if (connection != no_connection) served.first = std::min(served.first, first[connection]);
  std::ranges::sort(all, {}, [](const ServedConnections& b) {
    return std::tuple(b.rank, b.first, b.channel, b.to, b.from);
  });
  return all;
}

} // namespace

ConnectionBlocks blocks_for(const MessageConnections& connections, std::uint32_t ranks) {
  ConnectionBlocks blocks;
  blocks.of_rank.resize(ranks);
  blocks.at_start.resize(connections.all.size());
  blocks.at_end.resize(connections.all.size());
  for (const ServedConnections& served : served_connections(connections)) {
    std::vector<Block>& of_rank = blocks.of_rank[served.rank];
    const auto index = static_cast<std::uint32_t>(of_rank.size());
    of_rank.push_back({served.to, served.from, served.channel, {}});
    if (served.out != no_connection) blocks.at_start[served.out] = index;
    if (served.in != no_connection) blocks.at_end[served.in] = index;
  }
  return blocks;
}

} // namespace tutti::runtime
