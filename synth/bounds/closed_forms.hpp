// Bounds in closed form (Shapley 2025, "Algorithmic Techniques for Optimal Collective
// Communication", appendix A): no NPU sends or receives faster than the fastest of them all. Simple
// enough to check by hand; they know nothing of latency, nor of what lies between NPUs.
#pragma once

#include "synth/bounds/bounds.hpp"
#include "synth/bounds/problem.hpp"

#include <optional>

namespace tutti::bounds {

/// b_up and b_down: the most that the links out of and into any member carry together, shared
/// groups considered. The part of a named kind that takes longest counts; nothing where there is
/// none.
///   Theorem 9   Broadcast       S leaves the root and enters every other
///   Theorem 11  All-Gather      (n-1)/n S enters everyone
///   Theorem 13  Reduce          S leaves every other and enters the root
///   Theorem 17  Reduce-Scatter  (n-1)/n S leaves everyone and, on average, enters
///   Theorem 19  All-Reduce      (2n-2)/n S enters on average
/// and likewise for Scatter, Gather and All-to-All. What is true on average (Lemma 14, Theorem 18)
/// needs that only members can reduce; else S must leave and enter everyone in an All-Reduce.
/// Rounded down. Cost: O(links + chunks log chunks + set sizes).
[[nodiscard]] std::optional<Bound> closed_form(const Problem& problem);

} // namespace tutti::bounds
