// All points of a sweep as CSV: parameters, derived values, facts, results, status and message.
#pragma once

#include "experiments/driver/sweep/space/point_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::sweep {

/// Nothing that is measured. Numbers in SI units, the shortest that read back the same; a unit
/// stands in the header. Cost: O(cells).
[[nodiscard]] std::string points_csv(const PointTable& table);

/// The same as rows: the header, and at most so many points.
[[nodiscard]] std::vector<std::vector<std::string>> point_rows(const PointTable& table,
                                                               std::size_t most);

} // namespace tutti::sweep
