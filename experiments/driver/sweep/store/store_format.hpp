// What makes a file a store of a study (store.hpp): its marks, its format and its tables.
#pragma once

#include "experiments/driver/sweep/store/database.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

} // namespace tutti::sweep
