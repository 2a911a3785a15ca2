// Values as JSON has them.
#pragma once

#include "sim/expressions/value.hpp"

#include <nlohmann/json.hpp>

namespace tutti::sweep {

/// Whole numbers without ".0"; null for NaN and infinity, which JSON doesn't have.
[[nodiscard]] nlohmann::ordered_json value_json(double number);
[[nodiscard]] nlohmann::ordered_json value_json(const Value& value);

} // namespace tutti::sweep
