// One round of TE-CCL's "A*" (sec. 4.2) as an integer program: what it is paid for beside arrivals.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/teccl/one_shot/program.hpp"
#include "synth/teccl/rounds/switch_paths.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// The program of a horizon that needn't finish. Worth of a chunk to each unserved destination:
/// `arrival_worth` if it is there in the end, and 1 for each epoch that it is there before; while
/// it isn't, `arrival_worth` times the closeness of the nearest node that has it in the end. That
/// is the most that one logical edge from a source brings, so it needs no edge for each pair: for
/// each distance, nodes so close together let the chunk count as so close (a row), and destinations
/// with the same nodes share them.
class EpochRound {
public:
  static constexpr double arrival_worth = 4;

  /// Problem and distances must outlive this. Pre: !horizon.must_finish.
  EpochRound(const EpochProblem& problem, const EpochDistances& distances,
             const EpochHorizon& horizon);

  /// The sends of the horizon: those of `start`, or what Cbc finds within so many nodes of its
  /// search tree if that is worth more.
  [[nodiscard]] EpochPlan improved(const EpochPlan& start, std::int64_t most_nodes,
                                   const WorkLimit& limit) const;

private:
  /// Nodes of which one at least has to hold a chunk in the end, so that `column` counts.
  struct Near {
    std::uint32_t column;
    std::vector<std::uint32_t> holds; ///< columns
  };

  void add_closeness(const EpochProblem& problem, const EpochDistances& distances, ChunkId chunk,
                     Epoch last);
  [[nodiscard]] double cost(std::vector<double> columns) const;

  EpochProgram program_;
  std::vector<Near> near_;
};

/// The number of columns of a horizon's program that say what is sent. Cost: O(chunks * lanes *
/// log nodes).
[[nodiscard]] std::size_t sends_of_horizon(const EpochProblem& problem,
                                           const EpochHorizon& horizon);

} // namespace tutti
