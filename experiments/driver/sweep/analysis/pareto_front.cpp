// Sorted by x, then by y, a point is on the front just if its y is less than that of all before it,
// and the last one found has the least.
#include "experiments/driver/sweep/analysis/pareto_front.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::sweep {

std::vector<FrontPoint> pareto_front(std::vector<Candidate> candidates, bool maximise_x,
                                     bool maximise_y) {
  for (Candidate& each : candidates) { // now less is better
    if (maximise_x) each.x = -each.x;
    if (maximise_y) each.y = -each.y;
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.x, a.y, a.row) < std::tie(b.x, b.y, b.row);
  });
  std::vector<FrontPoint> front;
  const Candidate* last = nullptr; // on the front
  for (const Candidate& each : candidates) {
    if (last != nullptr && each.x == last->x && each.y == last->y) {
      ++front.back().equals;
    } else if (last == nullptr || each.y < last->y) {
      front.push_back({each.row, 1});
      last = &each;
    }
  }
  if (maximise_x) std::reverse(front.begin(), front.end());
  return front;
}

} // namespace tutti::sweep
