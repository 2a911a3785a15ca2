// Plans in rounds, for problems that are too large for one program (TE-CCL sec. 4.2, "A*"): each
// round decides some epochs by the integer program, and is paid for what it brings closer to its
// destinations, too.
//
// The program of a round looks further than the round: what goes into a switch in its last epochs
// is worth nothing without what follows. The next round decides those epochs anew. A round takes a
// greedy plan where Cbc finds none that is worth more, or where the program would be too large.
// (The public code takes rounds of 15 epochs; ours are as short as Cbc needs them to be.)
#pragma once

#include "sim/work_limit.hpp"
#include "synth/teccl/answer.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

struct RoundSettings {
  std::optional<std::uint32_t> epochs; ///< of a round; else as many as its program's size allows
  std::uint32_t most_rounds = 1000;
  std::int64_t most_nodes = 20; ///< of each round's search tree
  /// The most columns of a round's program that say what is sent (the others follow). Where not
  /// even one epoch has so few, the round is greedy.
  std::size_t most_columns = 800;
};

struct RoundsAnswer {
  EpochAnswer answer;
  std::uint32_t rounds = 0, epochs_per_round = 0; ///< the longest
  std::uint32_t improved = 0; ///< rounds in which Cbc's plan was worth more than the greedy one
  /// K of the rounds' plan and of the greedy one alone, which is the answer where rounds take no
  /// fewer. Nothing where that is incomplete.
  std::optional<std::uint32_t> rounds_epochs, greedy_epochs;
};

/// What is under way when a round ends, and what limits still count, is carried into the next.
/// Ends when all demands are met; timed_out where a round brings nothing closer (says so in
/// answer.method), or by the limit, if not even the greedy plan is complete; infeasible where a
/// destination is out of reach.
[[nodiscard]] RoundsAnswer epoch_rounds(const EpochProblem& problem, const RoundSettings& settings,
                                        const WorkLimit& limit);

} // namespace tutti
