// What is reported of an execution: the median, which a few disturbed runs don't move.

#include "runtime/executor.hpp"

#include <algorithm>
#include <cassert>

namespace tutti::runtime {

double Execution::median_seconds() const {
  assert(!seconds.empty());
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

} // namespace tutti::runtime
