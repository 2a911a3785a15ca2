// Where the members of a process group are in a machine of servers and rails, and what has to move
// between them when every chunk has one source and one destination.
#pragma once

#include "algorithms/routed_schedule.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Members by server and rail. A rail joins NPUs of different servers without a server's own links:
/// by the switch that they are next to, or else those that have the same place in their servers.
struct ServerRails {
  static constexpr Rank nobody = UINT32_MAX;

  std::uint32_t servers = 0, rails = 0;
  std::vector<std::uint32_t> server, rail; ///< by rank
  std::vector<Rank> members;               ///< [server * rails + rail], or nobody
  std::string obstacle;                    ///< why there are none, in words; else empty

  [[nodiscard]] Rank at(std::uint32_t in_server, std::uint32_t on_rail) const {
    return members[in_server * rails + on_rail];
  }
};

/// Servers as NCCL would see them. A network of one GPU machine is one server.
/// Cost: O(links log links + servers * rails).
[[nodiscard]] ServerRails find_server_rails(const Topology& topology,
                                            std::span<const NodeId> group);

/// A chunk on its way from one member to another.
struct UnicastChunk {
  ChunkId chunk;
  Rank from, to;
  std::int64_t bytes;
};

struct Unicast {
  std::vector<UnicastChunk> chunks; ///< those that have to move, in their order
  std::string obstacle;             ///< a chunk that isn't of this kind, in words; else empty
};

/// Cost: O(nodes + chunks).
[[nodiscard]] Unicast find_unicast(const Topology& topology, const Collective& collective);

/// From which sender to the same place on: (to - from) mod n, so that receivers take turns.
[[nodiscard]] inline Rank rotation(Rank from, Rank to, Rank n) {
  return to >= from ? to - from : to + n - from;
}

} // namespace tutti
