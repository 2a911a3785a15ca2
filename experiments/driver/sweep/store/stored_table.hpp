// Columns of a store's points in memory.
#pragma once

#include "experiments/driver/sweep/space/point_table.hpp"
#include "experiments/driver/sweep/store/database.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tutti::sweep {

[[nodiscard]] std::string_view to_text(Role role); ///< "parameter", ..., "record"

/// Points of the study in order, with these columns; empty: all named ones. Booleans come as 1
/// and 0. `has_sums`: the store is of a format with checksums. Errors: InputError for an unknown
/// column, and where anything isn't as it was written. Cost: O(rows), some microseconds each.
[[nodiscard]] PointTable stored_table(Database& database, std::span<const std::string> names,
                                      bool has_sums);

} // namespace tutti::sweep
