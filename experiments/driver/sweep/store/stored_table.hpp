// The columns of a store's points: which there are, and their content in memory.
#pragma once

#include "experiments/driver/sweep/space/point_results.hpp"
#include "experiments/driver/sweep/space/point_table.hpp"
#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/store/database.hpp"

#include <span>
#include <string>

namespace tutti::sweep {

/// The sweep's columns are those of its space and these; others that documents have stay unnamed.
void set_columns(Database& database, const PointSpace& space,
                 std::span<const ResultColumn> results);

/// Points of the sweep in order, with these columns; empty: all of the sweep. Booleans come as 1
/// and 0. Errors: InputError for an unknown column, and where anything isn't as it was written.
/// Cost: O(rows), some microseconds each.
[[nodiscard]] PointTable stored_table(Database& database, std::span<const std::string> names);

} // namespace tutti::sweep
