// Whether a k-synchronous schedule exists, by trying all: what encodings are compared with on tiny
// problems. Knows the rules of Cai et al. 2021, sec. 3.3, and nothing of how they are encoded.
#pragma once

#include "synth/sccl/problem.hpp"

#include <cstdint>

namespace tutti::testing {

enum class Existence : std::uint8_t {
  exists,
  impossible,
  undecided, ///< too many choices
};

struct ExhaustiveAnswer {
  Existence existence = Existence::undecided;
  StepSchedule schedule; ///< where it exists
};

/// Depth first over the states V_0, V_1, ...: which nodes hold which chunks before a step. From
/// each, every number of rounds for the step, and every set of sends that the limits allow and that
/// can't be extended: who has more can't do worse. States from which nothing led to the end are
/// remembered. Left out is only what can't matter: sends to who couldn't pass the chunk on to a
/// destination in the steps that are left, states from which a destination is too many steps away
/// or can't take in all that it wants, and all orders but one of pieces that are alike. Pre: at
/// most 32 nodes. Cost: exponential; ends undecided after `most_choices` choices of a lane.
[[nodiscard]] ExhaustiveAnswer try_all_schedules(const StepProblem& problem,
                                                 const StepInstance& instance,
                                                 std::uint64_t most_choices);

} // namespace tutti::testing
