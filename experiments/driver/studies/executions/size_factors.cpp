// A factor belongs to a size, never to an algorithm: what is judged is whether one network explains
// all schedules at sizes that it has not seen.
#include "experiments/driver/studies/executions/size_factors.hpp"

#include "experiments/driver/studies/executions/evaluation.hpp"

#include <cmath>
#include <iterator>
#include <utility>

namespace tutti {

SizeFactors::SizeFactors(std::span<const ExecutionRun> runs) {
  std::map<Bytes, std::pair<double, int>> logarithms; // sum and count
  for (const ExecutionRun& run : runs) {
    if (!run.fitted || run.ratio() <= 0) continue;
    auto& [sum, count] = logarithms[run.size];
    sum += std::log(run.ratio());
    ++count;
  }
  for (const auto& [size, sums] : logarithms)
    factors_[size] = std::exp(sums.first / static_cast<double>(sums.second));
}

double SizeFactors::at(Bytes size) const {
  const auto above = factors_.lower_bound(size);
  if (above == factors_.end()) return factors_.rbegin()->second;
  if (above == factors_.begin() || above->first == size) return above->second;
  const auto below = std::prev(above);
  const auto place = [](Bytes bytes) { return std::log(static_cast<double>(bytes.count)); };
  const double part =
      (place(size) - place(below->first)) / (place(above->first) - place(below->first));
  return below->second * std::pow(above->second / below->second, part);
}

} // namespace tutti
