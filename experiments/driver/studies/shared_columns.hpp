// Columns that several kinds of studies have, each said once.
#pragma once

#include "experiments/driver/records/records.hpp"

#include <string>
#include <string_view>

namespace tutti {

/// The column of this name. Pre: several kinds have it.
[[nodiscard]] RecordColumn shared(std::string_view name);
/// The same where a kind means something more special by it.
[[nodiscard]] RecordColumn shared(std::string_view name, std::string meaning);

} // namespace tutti
