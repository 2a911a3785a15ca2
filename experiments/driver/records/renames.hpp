// Names that keys and columns had in earlier versions; readers refuse them with the new one.
#pragma once

#include "sim/files/config.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// Errors: InputError at a key of an expectation that has another name or form now, which it says.
void refuse_renamed(ConfigTable& table);

/// unknown_name() for a column of results, or its new name if an earlier version called it so.
[[nodiscard]] std::string unknown_column(std::string_view what, std::string_view name,
                                         std::span<const std::string> known);

} // namespace tutti
