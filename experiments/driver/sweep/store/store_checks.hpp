// What tells a damaged store from a whole one. SQLite notices most damage to its own structures,
// but a number that has changed in place is a number to it. So every row has two checksums, of what
// was entered before the point was simulated and of what came of it, and the store one of its
// description and of how many rows there are.
#pragma once

#include "experiments/driver/sweep/store/database.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::sweep {

/// Writes a line of the store's description, in place of what it was.
void set_study_text(Database& database, std::string_view name, std::string_view value);

/// The columns of `points` that depend on the study, in the order in which checksums take them.
struct CheckedColumns {
  std::vector<std::string> entered, results;
};
[[nodiscard]] CheckedColumns checked_columns(Database& database);

/// The SQL expression of the checksum of these expressions.
[[nodiscard]] std::string checksum_of(std::span<const std::string> expressions);
/// SQL expressions of what a row's checksums should be, by the columns of `table` ("" or "other.").
[[nodiscard]] std::string entered_sum(const CheckedColumns& columns, const std::string& table = "");
[[nodiscard]] std::string result_sum(const CheckedColumns& columns, const std::string& table = "");
/// The SQL condition of a row as it was written: its checksums are right, and it has results only
/// where it is finished.
[[nodiscard]] std::string is_whole(const CheckedColumns& columns, const std::string& table = "");
/// SQL assignments that leave a row without results.
[[nodiscard]] std::string no_results(const CheckedColumns& columns);

/// Adds the rows of points one by one.
class RowTally {
public:
  void add(std::int64_t entered_sum) {
    ++rows_;
    sums_ ^= static_cast<std::uint64_t>(entered_sum);
  }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::size_t rows() const { return rows_; }

private:
  std::size_t rows_ = 0;
  std::uint64_t sums_ = 0;
};

/// Writes the checksum of the description, after it was changed: of the tables study and columns,
/// with the tally of rows.
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
/// Position and key of a row: "point 17, key 0123".
[[nodiscard]] std::string row_text(const Statement& statement, int position, int key);

} // namespace tutti::sweep
