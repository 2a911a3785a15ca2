// What makes a file a store of a study (store.hpp): its marks, its format and its tables; and what
// these hold before anything is simulated: the study's columns, and a row for each point.
#pragma once

#include "experiments/driver/sweep/space/point_results.hpp"
#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/store/database.hpp"
#include "experiments/driver/sweep/store/store.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::sweep {

inline constexpr std::int64_t store_format = 2, first_with_sums = 2;

/// Is there a file with something in it? Errors: InputError where it can't be one that keeps rows.
[[nodiscard]] bool is_there(const std::string& file);

/// Its format. Errors: InputError where it is no store, one of a newer format, or damaged.
[[nodiscard]] std::int64_t require_store(Database& database);

/// A line of the store's description.
[[nodiscard]] std::optional<std::string> study_text(Database& database, std::string_view name);

/// As a store is that was begun and has no schema yet.
[[nodiscard]] bool is_empty(Database& database);

void make_schema(Database& database);

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
