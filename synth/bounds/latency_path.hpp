// The path of a single chunk that takes longest, through an otherwise empty network.
#pragma once

#include "synth/bounds/bounds.hpp"
#include "synth/bounds/cut_bounds.hpp"
#include "synth/bounds/least_times.hpp"
#include "synth/bounds/problem.hpp"

#include <cstdint>
#include <vector>

namespace tutti::bounds {

/// The slowest path that some chunk must take, of those that were looked at.
struct SlowestPath {
  std::int64_t time = 0;                   ///< ps; 0: none
  const ChunkClass* chunk_class = nullptr; ///< one of the problem's
  NodeId from, to;                         ///< `from` is not set where several hold the chunk
};

/// A latency path in words and numbers. Pre: there is one. Errors: InputError where it is over 26
/// days.
[[nodiscard]] Bound path_bound(const Problem& problem, const SlowestPath& path);

/// Paths from single nodes, of what they alone hold or what they contribute to: it must come from
/// there. The problem must outlive them.
class PathsFrom {
public:
  explicit PathsFrom(const Problem& problem);

  /// To the farthest of those who want any of it. Cost: a search of O(links log nodes) for each
  /// size, and O(sum of sets that want it). After 10 million links in all: none.
  [[nodiscard]] SlowestPath slowest(NodeId from);

private:
  const Problem& problem_;
  LeastTimes times_;
  Bytes size_{-1}; // of the chunk that travels
  std::uint64_t searches_;
  std::vector<std::vector<const ChunkClass*>> classes_of_; // by who holds them
  std::vector<std::vector<SetId>> sets_of_;                // by node, of those with any
};

/// The bound of the slowest path; its time is 0 where nothing has to move. `ends` takes what cuts
/// off the ends of the path, as far as they are known. Errors: InputError where it is over 26 days.
/// Cost: one search of O(links log nodes) for each distinct source and size, or each node that
/// wants something reduced, up to 10 million links in all; then one search for all other sources.
[[nodiscard]] Bound latency_path(const Problem& problem, WorstCuts& ends);

} // namespace tutti::bounds
