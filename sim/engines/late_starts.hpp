// Members that join a collective late, as RunOptions::starts says: until then they neither send nor
// take delivery, and what arrives waits at them, holding no link.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/dependencies.hpp"
#include "sim/engines/engine.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

class LateStarts {
public:
  /// A node that joins one part (or all, where parts aren't kept apart) after the run's beginning.
  struct Join {
    Time at;
    NodeId node;
    std::vector<std::uint32_t> connections; ///< from there
    std::vector<std::uint32_t> waiting;     ///< transfers that have arrived there
  };

  LateStarts() = default;
  /// Holds the connections of `dependencies` that late nodes send over.
  /// Pre: the options are checked (run_checks.hpp).
  LateStarts(const Topology& topology, const Collective& collective, const Schedule& schedule,
             const RunOptions& options, Dependencies& dependencies);

  [[nodiscard]] std::span<const Join> joins() const { return joins_; }
  [[nodiscard]] std::span<Join> joins() { return joins_; }
  /// The join that the arrival of a chunk at a node has to wait for.
  [[nodiscard]] std::optional<std::uint32_t> join_of(ChunkId chunk, NodeId node,
                                                     std::int64_t now) const {
    if (joins_.empty()) return std::nullopt;
    const std::uint32_t join = join_of_[place(chunk, node)];
    if (join == none || joins_[join].at.ps <= now) return std::nullopt;
    return join;
  }

private:
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] std::size_t place(ChunkId chunk, NodeId node) const {
    const std::size_t part = part_of_chunk_.empty() ? 0 : part_of_chunk_[chunk.value];
    return part * nodes_ + node.value;
  }

  std::size_t nodes_ = 0;
  std::vector<std::uint32_t> part_of_chunk_; // empty where all parts are one
  std::vector<std::uint32_t> join_of_;       // by part and node
  std::vector<Join> joins_;
};

/// When the last of those who hold or want something is there: of parts with a timing, after their
/// start. 0 without starts. Errors: InputError where starts aren't one per node, or out of range.
[[nodiscard]] Time last_start(const Collective& collective, std::span<const Time> starts,
                              std::span<const JobTiming> jobs = {});

} // namespace tutti
