// Two steps. The least length of the longest run is found by bisection, since a greedy cut tells
// whether a length suffices. Dynamic programming over stages and blocks then finds the least sum of
// squares among the cuts within that length.
#include "workloads/parallelism/stages.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace tutti {

namespace {

/// How many runs of at most `longest` a greedy cut needs.
std::size_t runs_within(std::span<const Time> costs, Time longest) {
  std::size_t runs = 1;
  Time run;
  for (const Time cost : costs) {
    if (run + cost > longest) {
      ++runs;
      run = {};
    }
    run += cost;
  }
  return runs;
}

/// The least length of the longest run; runs may be cut further, so fewer would do as well.
Time shortest_longest(std::span<const Time> costs, std::uint32_t stages) {
  Time low, high;
  for (const Time cost : costs) {
    low = std::max(low, cost);
    high += cost;
  }
  while (low < high) {
    const Time middle{low.ps + (high - low).ps / 2};
    if (runs_within(costs, middle) <= stages)
      high = middle;
    else
      low = middle + Time{1};
  }
  return low;
}

} // namespace

std::vector<std::uint32_t> balanced_stages(std::span<const Time> costs, std::uint32_t stages) {
  const std::size_t blocks = costs.size();
  assert(stages >= 1 && stages <= blocks);
  const Time longest = shortest_longest(costs, stages);
  constexpr double never = std::numeric_limits<double>::infinity();
  // [stages so far][blocks so far]: the least sum of squares, and where the last run begins.
  std::vector<std::vector<double>> squares(stages + 1, std::vector<double>(blocks + 1, never));
  std::vector<std::vector<std::uint32_t>> begins(stages + 1,
                                                 std::vector<std::uint32_t>(blocks + 1, 0));
  squares[0][0] = 0;
  for (std::size_t s = 1; s <= stages; ++s)
    for (std::size_t end = s; end <= blocks; ++end) {
      Time run;
      for (std::size_t begin = end; begin-- > s - 1;) {
        run += costs[begin];
        if (run > longest) break;
        const double length = static_cast<double>(run.ps);
        const double sum = squares[s - 1][begin] + length * length;
        if (sum < squares[s][end]) {
          squares[s][end] = sum;
          begins[s][end] = static_cast<std::uint32_t>(begin);
        }
      }
    }
  std::vector<std::uint32_t> cut(stages + 1, static_cast<std::uint32_t>(blocks));
  for (std::size_t s = stages; s > 0; --s) cut[s - 1] = begins[s][cut[s]];
  return cut;
}

} // namespace tutti
