// A schedule in the making, for algorithms that think in ranks of a process group: what a rank
// sends to another follows the routed path between their NPUs.
#pragma once

#include "sim/synthesizer.hpp"
#include "sim/work_limit.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

/// Position in CollectivePart::group.
using Rank = std::uint32_t;

/// A *block* is what goes to one place as a whole in a collective's definition: the shard of a
/// rank, the part of an All-to-All from rank i to rank j (block i * n + j), or the whole buffer of
/// Broadcast and Reduce (block 0). Its chunks are consecutive: `chunks_per_shard` of them, or where
/// shares differ some number, 0 included.
class RoutedSchedule {
public:
  /// `collective` has one part. All arguments must outlive this object, which throws
  /// LimitReached where that of the options is reached.
  RoutedSchedule(const Topology& topology, const Collective& collective,
                 const SynthesisOptions& options);

  [[nodiscard]] const CollectivePart& part() const { return part_; }
  /// The first chunk of a block, and how many it has.
  [[nodiscard]] std::pair<ChunkId, std::uint32_t> chunks_of(std::uint32_t block) const;
  [[nodiscard]] Rank size() const { return static_cast<Rank>(part_.group.size()); }

  /// All chunks of a block, then the next call's: list them step by step.
  /// Errors: InputError where there is no path.
  void send(Rank from, Rank to, std::uint32_t block, Op op);
  /// Only the chunks first_chunk, first_chunk + stride, ... of the block.
  void send(Rank from, Rank to, std::uint32_t block, Op op, std::uint32_t first_chunk,
            std::uint32_t stride);
  void send_chunk(Rank from, Rank to, ChunkId chunk, Op op);
  /// On a path of path() or of the caller's own.
  void send_along(PathId path, ChunkId chunk, Op op);
  /// The transfer that was listed last waits for an earlier one, by its position.
  void wait_for(std::uint32_t transfer, Milestone milestone = Milestone::arrived);
  [[nodiscard]] std::size_t transfers() const { return schedule_.size(); }

  /// The path that a send takes on a channel: for send() and send_chunk() the chunk's number in its
  /// shard. Errors: InputError where there is none.
  [[nodiscard]] PathId path(Rank from, Rank to, std::uint32_t channel);
  [[nodiscard]] PathTable& paths() { return schedule_.paths(); }

  /// Links of a path that send() would take.
  [[nodiscard]] std::size_t hops(Rank from, Rank to);

  /// For paths of the caller's own that share links with these.
  [[nodiscard]] Router& router();

  /// For what comes before transfers are sent. Errors: LimitReached.
  void require_time() const { limit_.require(); }

  /// From now on `from` sends to `to` over this link.
  void use_link(Rank from, Rank to, LinkId link);

  /// Feasible, with the schedule and the routing that was used. Moves the schedule out.
  [[nodiscard]] Outcome outcome() &&;

private:
  const Topology& topology_;
  const CollectivePart& part_;
  std::vector<std::uint32_t> offsets_; // block_offsets(), where shares differ
  WorkLimit limit_;
  Routing routing_;
  Bytes largest_chunk_;
  std::optional<Router> router_; // made when first needed
  Schedule schedule_;
  struct PathsOfPair {
    PathId any; // for all channels, where there is only one
    std::vector<PathId> by_channel;
  };
  std::unordered_map<std::uint64_t, PathsOfPair> paths_; // by pair of ranks; never iterated
  struct PlacedFlow {
    Flow flow;
    PathId path;
  };
  std::vector<PlacedFlow> flows_; // those that had a choice, in the order of their first sends

  void balance();
};

} // namespace tutti
