// What a store (store.hpp) knows of a study before anything is simulated: its columns, and a row
// for each point.
#pragma once

#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/store/database.hpp"
#include "experiments/driver/sweep/store/point_results.hpp"
#include "experiments/driver/sweep/store/store.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::sweep {

/// Fingerprint of all that rows hold before simulation: if it is equal, they need no update.
[[nodiscard]] std::string fingerprint_of(const PointSpace& space);

struct NamedColumn {
  std::string name;
  Role role;
  Unit unit;
};

[[nodiscard]] std::vector<NamedColumn> columns_of(const PointSpace& space,
                                                  std::span<const ResultColumn> results);

/// Columns that the study doesn't have any more keep their content, unnamed.
void set_columns(Database& database, const std::vector<NamedColumn>& columns);

/// Makes rows for the points of this shard (none: all) that have none. Where the study has
/// `changed`, all rows are numbered anew: those that it doesn't have any more lose their position.
void enter_points(Database& database, const PointSpace& space, const std::optional<Shard>& shard,
                  bool changed);

} // namespace tutti::sweep
