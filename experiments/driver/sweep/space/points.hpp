// The points of a sweep: every combination of its axes with what follows from it, less what
// constraints leave out.
#pragma once

#include "experiments/driver/sweep/space/sweep.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::sweep {

struct Point {
  std::size_t position = 0;  ///< in the sweep, from 0 without gaps
  std::vector<Value> values; ///< of parameters, definitions and facts: PointSpace::names
  std::string key;           ///< 32 hexadecimal digits: of all that decides the results
  std::uint64_t seed = 1;    ///< of the experiment
  double expected_work = 0;  ///< in any unit: the longest go first
};

struct PointSpace {
  /// Names of all values: parameters, then definitions, then facts.
  std::vector<std::string> names;
  std::size_t parameters = 0, definitions = 0; ///< how many of each
  std::vector<Unit> units;                     ///< [name]: unit of its numbers
  std::vector<Point> points;
  std::size_t left_out = 0;      ///< by constraints, drawn twice, or without_value
  std::size_t without_value = 0; ///< of `left_out`: no value fulfils the condition of `largest`
  /// What files of other programs didn't say of the networks (TopologyParts::assumed), with their
  /// names.
  std::vector<std::string> assumed;
};

/// Where a sample draws the same row twice, the first is kept and the others count as `left_out`.
/// Errors: InputError with a place: an empty space, constraints that exclude all points (and which
/// excludes how many), a topology that can't be made (with the values), more than 10,000,000.
/// Cost: O(points), plus the making of each distinct topology.
[[nodiscard]] PointSpace points_of(const Sweep& sweep);

} // namespace tutti::sweep
