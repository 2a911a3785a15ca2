// The largest number of four significant digits for which something holds.
#pragma once

#include "sim/expressions/value.hpp"

#include <functional>
#include <optional>

namespace tutti::sweep {

/// `to` where the condition holds there, nothing where it doesn't hold at `from`; else the largest
/// number of four digits between them for which it holds (`from` where there is none), if it holds
/// below some number and not above. Cost: log2(9000 decades) + 2 calls.
/// Pre: 0 < from < to, of one unit.
[[nodiscard]] std::optional<Value>
largest_of_four_digits(const Value& from, const Value& to,
                       const std::function<bool(const Value&)>& holds);

/// Whether the number can be written in this unit.
[[nodiscard]] bool has_text(double number, Unit unit);

} // namespace tutti::sweep
