// What a foreign program is for: the file's word for a collective and its numbers of ranks and
// chunks are turned into a Collective and the places where its chunks lie.
#pragma once

#include "runtime/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::runtime {

/// What a file says.
struct MscclLayout {
  std::string coll;
  std::uint32_t chunks_per_loop = 0;
  bool in_place = false;
  std::vector<RankProgram> declared; ///< [npu], buffers only
};

struct MscclSkeleton {
  Program program; ///< without blocks
  /// Units of the program for each of the file's: all_reduce of a number of chunks that the ranks
  /// don't divide is cut finer.
  std::uint32_t scale = 1;
};

/// Where only one rank can be the root, it is: who alone declares the buffer that only the root
/// has, or else who alone never receives (broadcast, scatter) or never sends (reduce, gather).
/// `ranks` has the blocks' peers for that.
/// Errors: InputError for an unknown collective, a number of chunks that doesn't fit it, sizes
/// below a byte a chunk, a root that could be several ranks.
[[nodiscard]] MscclSkeleton msccl_skeleton(const MscclLayout& layout,
                                           const std::vector<RankProgram>& ranks, Bytes size,
                                           const Collective* custom);

} // namespace tutti::runtime
