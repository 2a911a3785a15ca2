// What the network of a profile leaves out: a link has one rate, and memory hasn't. What caches
// hold is copied several times as fast as what they don't.
#pragma once

#include "sim/units.hpp"

#include <map>
#include <span>

namespace tutti {

struct ExecutionRun;

/// How many times as long runs of each size take as the profiled network says.
class SizeFactors {
public:
  /// Fits the runs that were measured and predicted and are `fitted`: the factor of each size is
  /// the geometric mean of measured over predicted, whatever the algorithm, which is least squares
  /// on logarithms.
  explicit SizeFactors(std::span<const ExecutionRun> runs);

  [[nodiscard]] bool empty() const { return factors_.empty(); }
  /// Factor at this size: between two fitted sizes on a line in logarithms of size and factor,
  /// beyond them that of the nearest. Pre: not empty.
  [[nodiscard]] double at(Bytes size) const;
  [[nodiscard]] const std::map<Bytes, double>& fitted() const { return factors_; }

private:
  std::map<Bytes, double> factors_;
};

} // namespace tutti
