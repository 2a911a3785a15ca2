// Names that keys and metrics had in earlier versions; readers refuse them with the new one.
#pragma once

#include "sim/files/config.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// Errors: InputError at a key of an expectation that has another name or form now, which it says.
void refuse_renamed(ConfigTable& table);

/// The metric's name now, of those that are known; empty where it had no other.
[[nodiscard]] std::string_view metric_now(std::string_view metric,
                                          std::span<const std::string> known);

/// The column's name now; empty where it had no other.
[[nodiscard]] std::string_view column_now(std::string_view column);

} // namespace tutti
