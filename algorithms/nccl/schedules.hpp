// What each of NCCL's algorithms sends, in which pieces and order.
#pragma once

#include "algorithms/nccl/communicator.hpp"

#include <cstdint>

namespace tutti::nccl {

/// A collective that is to be listed. Channel c has the chunks c, c + channels, ... of each block,
/// or of all blocks together where an algorithm doesn't know ranks (trees, heads).
struct Work {
  const Topology& topology;
  const System& system;
  const Graphs& graphs;
  Algorithm algorithm;
  std::uint32_t channels;
  Bytes own_piece; ///< Cut::own_piece
  RoutedSchedule& schedule;
};

/// In how many chunks a block is cut.
struct Cut {
  std::uint32_t pieces = 1;
  /// Size of one of NCCL's pieces, where their transfers would be too many to list and the pieces
  /// here are larger; else 0.
  Bytes own_piece = {};
  std::int64_t own_pieces = 1; ///< of NCCL's
  double loops = 1;            ///< of NCCL's kernel
};

/// As NCCL's loops over channels, chunks and slices do; `whole`: the size of the collective, of
/// which a block is one of `blocks` (RoutedSchedule); `tuned_for`: the size that chunks are cut
/// for, mostly the same.
[[nodiscard]] Cut cut_of(const System& system, const Graphs& graphs, CollectiveKind kind,
                         const Choice& choice, Bytes whole, std::uint32_t blocks, Bytes tuned_for);

void list_rings(const Work& work);
void list_trees(const Work& work);
void list_pat(const Work& work);
void list_point_to_point(const Work& work);
void list_all_pairs(const Work& work);
/// NVLS, NVLSTree and CollNet: heads that gather from their node, exchange, and spread.
/// Pre: the tuner says that it can be.
void list_heads(const Work& work);

} // namespace tutti::nccl
