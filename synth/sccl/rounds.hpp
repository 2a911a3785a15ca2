// How few rounds per chunk there can be, by linear programs checked in exact arithmetic.
#pragma once

#include "sim/ratio.hpp"
#include "sim/work_limit.hpp"
#include "synth/sccl/problem.hpp"
#include "synth/sccl/symmetry.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// The b_l of Algorithm 1 without `steps`: a lower bound on R / C for every k-synchronous schedule
/// with `steps` steps, or, without `steps`, for all: the optimum of the time-expanded (or static)
/// multicommodity flow, in which rounds need not be whole and what several want may be coded
/// together, as proven by its rounded duals. Automorphisms merge variables: averaging over them
/// changes neither feasibility nor rounds. Where that program is too large (50,000 sends, after
/// merging) or the limit ends it: what a node is to receive over what can enter it. Pre: steps >=
/// fewest_steps(problem).
[[nodiscard]] Ratio least_rounds(const StepProblem& problem,
                                 std::span<const StepAutomorphism> generators,
                                 std::optional<std::uint32_t> steps, const WorkLimit& limit);

/// Rounds per step with which every destination could take in each chunk after as many steps as it
/// is away; what is left goes to the first step. Empty where these are more rounds than the
/// instance has. Where every link is busy all the time, the steps' rounds are all but forced to
/// this, and a search that needn't find them is faster by orders of magnitude.
[[nodiscard]] std::vector<std::uint32_t> earliest_rounds(const StepProblem& problem,
                                                         const StepInstance& instance);

} // namespace tutti
