// The blocks of a rank: one for each connection that starts or ends there, or for two that share.
#pragma once

#include "runtime/lowering/connections.hpp"
#include "runtime/program.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

struct ConnectionBlocks {
  std::vector<std::vector<Block>> of_rank; ///< by the first message of each in the list
  std::vector<std::uint32_t> at_start,
      at_end; ///< [connection]: the block that sends, that receives
};

/// Blocks without steps. Cost: O(connections log connections).
[[nodiscard]] ConnectionBlocks blocks_for(const MessageConnections& connections,
                                          std::uint32_t ranks);

} // namespace tutti::runtime
