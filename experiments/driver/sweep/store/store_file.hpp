// What makes a file a store of a sweep (store.hpp): its marks and tables, and what tells a damaged
// one from a whole one. SQLite notices most damage to its own structures, but a number that has
// changed in place is a number to it. So every row has two checksums, of what was entered before
// the point was simulated and of what came of it, and the store one of its description and of how
// many rows there are.
#pragma once

#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/store/database.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::sweep {

inline constexpr std::int64_t store_format = 3;

/// SQL of the table points: what a row's checksums should be, and the condition of a row as it was
/// written: they are right, and it has results only where it is finished.
inline constexpr const char *entered_sum = "checksum(position, key, expected_work, entered)",
                            *result_sum = "checksum(key, status, results)",
                            *is_unfinished = "status IN ('pending', 'running')";
[[nodiscard]] std::string is_whole();

/// Is there a file with something in it? Errors: InputError where it can't be one that keeps rows.
[[nodiscard]] bool is_there(const std::string& file);
/// As a store is that was begun and has no tables yet.
[[nodiscard]] bool is_empty(Database& database);
/// Pre: in a transaction, so that there are all or none whenever the process dies.
void make_tables(Database& database);
/// Errors: InputError where it is no store of this format.
void require_store(Database& database);

/// Lines of the store's description.
[[nodiscard]] std::optional<std::string> sweep_text(Database& database, std::string_view name);
void set_sweep_text(Database& database, std::string_view name, std::string_view value);

/// Fingerprint of all that rows hold before simulation: if it is equal, they need no update.
[[nodiscard]] std::string fingerprint_of(const PointSpace& space);

/// Adds the rows of points one by one.
class RowTally {
public:
  void add(std::int64_t sum) {
    ++rows_;
    sums_ ^= static_cast<std::uint64_t>(sum);
  }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::size_t rows() const { return rows_; }

private:
  std::size_t rows_ = 0;
  std::uint64_t sums_ = 0;
};

/// Writes the tally of rows and the checksum of the description, after either was changed.
void seal(Database& database);
/// Errors: InputError where the file's pages don't make tables: rows that are written into it could
/// be lost. Reads all of it.
void require_whole_structure(Database& database);
/// Errors: InputError where the description isn't what was sealed.
void require_whole_description(Database& database);
/// Errors: InputError where these aren't the rows that were there when the store was sealed.
void require_all_rows(Database& database, const RowTally& tally);

/// What to say of these rows, named by position and key: "FILE: 2 damaged rows (point 17, key ...;
/// ...)". At most 3 are named.
[[nodiscard]] std::string damage_text(const std::string& file,
                                      std::span<const std::string> damaged);
/// A row in words, by the columns with its position and key: "point 17, key 0123".
[[nodiscard]] std::string row_text(const Statement& statement, int position, int key);

} // namespace tutti::sweep
