// Everything drawn is drawn from a sweep's seed by the house generator and then rounded to what a
// text can say (tidied_number): a point is simulated from its texts, and what is stored, shown and
// simulated must be one number. The Latin hypercube is that of McKay, Beckman and Conover 1979, "A
// comparison of three methods for selecting values of input variables".
#include "experiments/driver/sweep/space/axis.hpp"

#include "sim/error.hpp"
#include "sim/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>

namespace tutti::sweep {

namespace {

/// Uniform in [0, 1), in steps of 2^-53.
double unit_draw(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

/// What stands at this part (of [0, 1)) of the range.
Value value_at(const SampledRange& range, double part) {
  if (!range.choices.empty()) {
    const auto count = static_cast<double>(range.choices.size());
    return range.choices[static_cast<std::size_t>(part * count)];
  }
  const double from = range.from.number;
  // Whole numbers are drawn from [from, to + 1) and cut, so that each is as likely as the others.
  const double end = range.to.number + (range.whole ? 1 : 0);
  const double number =
      range.logarithmic ? from * std::pow(end / from, part) : from + part * (end - from);
  if (range.whole) return number_value(std::min(std::floor(number), range.to.number));
  return tidied_number(std::min(number, range.to.number), range.from.unit);
}

} // namespace

Value tidied_number(double number, Unit unit) {
  if (unit == Unit::none)
    return number_value(std::strtod(fmt::format("{:.12g}", number).c_str(), nullptr));
  return text_value(to_text(number_value(number, unit)));
}

std::size_t point_count(std::span<const Axis> axes, std::size_t most) {
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    assert(!axis.rows.empty());
    if (axis.rows.size() > most / count) // count * rows > most
      throw InputError(fmt::format("more than {} points", most));
    count *= axis.rows.size();
  }
  return count;
}

Axis sampled_axis(SampleMethod method, std::span<const SampledRange> ranges, std::size_t count,
                  std::uint64_t seed) {
  assert(count >= 1);
  Axis axis;
  axis.drawn = true;
  axis.rows.resize(count);
  Random random(seed);
  std::vector<std::size_t> parts(count); // [row]: its part in a Latin hypercube
  for (const SampledRange& range : ranges) {
    axis.names.push_back(range.name);
    for (std::size_t row = 0; row < count; ++row) parts[row] = row;
    if (method == SampleMethod::latin_hypercube) random.shuffle(parts);
    for (std::size_t row = 0; row < count; ++row) {
      double part = unit_draw(random);
      if (method == SampleMethod::latin_hypercube)
        part = (static_cast<double>(parts[row]) + part) / static_cast<double>(count);
      // Below 1 whatever the roundings: 1 would be beyond the last choice.
      axis.rows[row].push_back(value_at(range, std::min(part, 1 - 0x1p-53)));
    }
  }
  return axis;
}

} // namespace tutti::sweep
