// Which of many points no other beats in two numbers at once: by one sort and one pass, as in Kung,
// Luccio and Preparata 1975, "On finding the maxima of a set of vectors", sec. 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::sweep {

struct Candidate {
  double x = 0, y = 0;
  std::uint32_t row = 0;
};

struct FrontPoint {
  std::uint32_t row = 0;  ///< the first of equal points
  std::size_t equals = 1; ///< how many points have these x and y, itself among them
};

/// The candidates for which no other is as good in both and better in one, by ascending x, each
/// distinct (x, y) once. Less is better, or more where it is maximised. Pre: no NaN.
/// Cost: O(n log n).
[[nodiscard]] std::vector<FrontPoint> pareto_front(std::vector<Candidate> candidates,
                                                   bool maximise_x, bool maximise_y);

} // namespace tutti::sweep
