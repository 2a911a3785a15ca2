// Columns of a store's points in memory.
#pragma once

#include "experiments/sweep/database.hpp"
#include "experiments/sweep/point_table.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tutti::sweep {

[[nodiscard]] std::string_view to_text(Role role); ///< "parameter", ..., "record"

/// Points of the study in order, with these columns; empty: all named ones. Booleans come as 1
/// and 0. Errors: InputError for an unknown column. Cost: O(rows), a microsecond or so each.
[[nodiscard]] PointTable stored_table(Database& database, std::span<const std::string> names);

} // namespace tutti::sweep
