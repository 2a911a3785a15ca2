// Plans in rounds, for problems that are too large for one program (TE-CCL sec. 4.2, "A*"): each
// round decides some epochs by the integer program, and is paid for what it brings closer to where
// it is wanted, too.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/teccl/epoch_answer.hpp"

#include <cstdint>
#include <optional>

namespace tutti {

struct RoundSettings {
  std::optional<std::uint32_t> epochs; ///< of a round; else by the problem's size
  std::uint32_t most_rounds = 1000;
  std::int64_t most_nodes = 200; ///< of each round's search tree
};

struct RoundsAnswer {
  EpochAnswer answer;
  std::uint32_t rounds = 0, epochs_per_round = 0;
};

/// What is under way when a round ends, and what limits still count, is carried into the next.
/// Ends when nobody lacks anything; timed_out where a round brings nothing closer (says so in
/// answer.method), or by the limit.
[[nodiscard]] RoundsAnswer epoch_rounds(const EpochProblem& problem, const RoundSettings& settings,
                                        const WorkLimit& limit);

} // namespace tutti
