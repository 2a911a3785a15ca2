// Values of parameters in a sweep's file: lists, sizes that double, ranges, samples.
#pragma once

#include "experiments/driver/sweep/space/axis.hpp"
#include "sim/expressions/placeholders.hpp"
#include "sim/files/config.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::sweep {

/// Errors of all: InputError with a place.

/// The values of a list (in which "1KiB..1GiB" stands for sizes that double), of a range
/// ({from, to, step} or {from, to, factor}), or one. Numbers have one unit.
[[nodiscard]] std::vector<Value> values_of(const ConfigValue& value);
/// Two numbers of one unit, the first below the second; `positive`: both above 0.
struct ValueRange {
  Value from, to;
};
[[nodiscard]] ValueRange range_of(ConfigTable& table, bool positive);
/// [[sample]]. `seed`: where it gives none.
[[nodiscard]] Axis sample_of(ConfigTable table, std::uint64_t seed);

} // namespace tutti::sweep
