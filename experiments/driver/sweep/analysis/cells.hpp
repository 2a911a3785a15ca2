// How values stand in files, tables and figures: exact in CSV, short for readers.
#pragma once

#include "experiments/driver/sweep/analysis/levels.hpp"
#include "sim/expressions/value.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::sweep {

/// The shortest text that reads back as the same number; "" for NaN.
[[nodiscard]] std::string exact_text(double number);
/// Numbers exactly, in SI units.
[[nodiscard]] std::string exact_text(const Value& value);
/// "size [bytes]", "latency [s]", "bandwidth [bytes/s]"; the name alone where there is no unit or
/// the name ends in it ("collective_time_s").
[[nodiscard]] std::string column_title(const std::string& name, Unit unit);

/// For readers: "1.5 ms", "4 KiB", "torus"; four digits, without zeros at the end.
[[nodiscard]] std::string display_text(const Value& value);
[[nodiscard]] std::string display_text(double number, Unit unit);

/// "1.06x", "2750x"; "" for NaN.
[[nodiscard]] std::string times_text(double ratio);
/// "tacos" or "torus, tacos": values of one row in some columns.
[[nodiscard]] std::string values_text(std::span<const Levels* const> columns, std::uint32_t row);

/// The same in a sentence: "torus with tacos", "flows with chunks 8"; numbers don't tell of what
/// they are.
[[nodiscard]] std::string values_words(std::span<const Levels* const> columns, std::uint32_t row,
                                       std::string_view between = " with ");

/// The unit in which an axis counts.
struct AxisUnit {
  double divisor = 1;
  std::string text; ///< "us"; empty: none

  /// "time [us]", "price"
  [[nodiscard]] std::string label(std::string_view what) const;
};
/// That in which a typical value has one to three digits before the point.
[[nodiscard]] AxisUnit axis_unit(Unit unit, double typical);
/// For values from `least` to `largest`: on a logarithmic axis the middle is typical, else the
/// largest.
[[nodiscard]] AxisUnit axis_unit(Unit unit, double least, double largest, bool logarithmic);

} // namespace tutti::sweep
