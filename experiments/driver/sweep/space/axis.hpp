// One direction of a parameter space: names that vary together, and the rows of values they take.
// A list is an axis of one name, a zip one of several, a sample one with drawn rows; the space is
// the product of its axes.
#pragma once

#include "sim/expressions/value.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

struct Axis {
  std::vector<std::string> names;       ///< at least one
  std::vector<std::vector<Value>> rows; ///< at least one; each has a value per name
  bool drawn = false;                   ///< a sample: that a value has one of another is chance
};

/// How many points the product has: 1 without axes. Errors: InputError beyond `most`.
[[nodiscard]] std::size_t point_count(std::span<const Axis> axes, std::size_t most);

/// One continuous or listed direction of a sample.
struct SampledRange {
  std::string name;
  std::vector<Value> choices; ///< a list to choose from; empty: a range
  Value from = {}, to = {};   ///< numbers of one unit, from < to; drawn is from <= x < to
  bool logarithmic = false;   ///< evenly in the logarithm; from > 0
  bool whole = false;         ///< the whole numbers from, from + 1, ..., to alike
};
enum class SampleMethod : std::uint8_t {
  random,          ///< independent draws
  latin_hypercube, ///< each name takes each of `count` equal parts of its range exactly once
};
/// Rows drawn by the house generator: same seed, same rows, whatever the machine. Numbers are
/// tidied (tidied_number). Pre: count >= 1.
[[nodiscard]] Axis sampled_axis(SampleMethod method, std::span<const SampledRange> ranges,
                                std::size_t count, std::uint64_t seed);

/// The number without what binary fractions add to it: with a unit what its text says (whole bytes,
/// picoseconds, bytes per second), without one to 12 significant digits, so that 0.1 + 2 * 0.1 is
/// 0.3.
[[nodiscard]] Value tidied_number(double number, Unit unit);

} // namespace tutti::sweep
