// What a matching works on: participants and the links among them, laid out for speed.
#pragma once

#include "sim/units.hpp"
#include "synth/tacos/matching.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A link between participants. `from` is a dense index.
struct Channel {
  LinkId link;
  std::uint32_t from = 0, to = 0;
  std::int64_t occupied = 0; ///< how long a chunk occupies it, ps
  std::int64_t cost = 0;     ///< until the chunk has arrived, ps
};

/// Participants by dense index: breadth-first from the first one, so that neighbours lie close to
/// each other in memory. Links only join nodes of one level or of adjacent ones.
struct MatchingNetwork {
  explicit MatchingNetwork(const MatchingProblem& problem);

  std::vector<NodeId> node;            ///< [dense index]
  std::vector<std::uint32_t> index;    ///< [node]; UINT32_MAX for others
  std::vector<std::uint32_t> level;    ///< [level]: its first node; one past the end
  std::vector<Channel> channels;       ///< grouped by `to`, fastest first, then by id or seed
  std::vector<std::uint32_t> in_begin; ///< [dense index]: into channels; one past the end
  std::uint32_t most_in = 0;           ///< the highest number of channels into one node
  Bytes chunk_size;                    ///< the largest
  std::vector<std::uint32_t> demand;   ///< [dense index]: chunks that it wants and doesn't hold
  bool everyone_takes_all = false;     ///< each participant holds or wants each chunk

  [[nodiscard]] std::uint32_t levels() const {
    return static_cast<std::uint32_t>(level.size() - 1);
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(node.size()); }
  [[nodiscard]] std::span<const Channel> into(std::uint32_t v) const {
    return {channels.data() + in_begin[v], in_begin[v + 1] - in_begin[v]};
  }
  /// Whether a chunk takes equally long on all of them.
  [[nodiscard]] bool uniform() const;
  /// No matching is faster: the node that needs longest to receive its demand over its channels.
  /// Cost: O(channels log time).
  [[nodiscard]] Time least_makespan() const;

private:
  void count_demand(const Collective& collective);
};

} // namespace tutti
