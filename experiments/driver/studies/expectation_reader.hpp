// The tables of what is expected, for every kind of study: format at the head of expectation.hpp.
#pragma once

#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/study.hpp"
#include "sim/files/config.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What is known of a study's rows before it runs, so that an expectation of none, or of too many,
/// is an error before hours of work.
struct PlannedRows {
  /// The columns that distinguish rows, in their order. A cell that isn't known agrees with any
  /// other.
  Records keys;
  std::vector<bool> chooses_chunks = {}; ///< [row]: whether its "auto" agrees with any, too
  /// Rows that count only where a selector names a column: an iteration with failures, ...
  struct OptIn {
    std::string column;
    std::vector<bool> rows; ///< [row]: whether it is one
  };
  std::vector<OptIn> opt_in = {};
  std::vector<RecordColumn> columns; ///< of the records to come, for metrics
  std::string metric;                ///< where none is named, without its unit: "algbw"
};

/// The number that a name means, with or without its unit, and also "fact:NAME". Errors: InputError
/// with the known names.
[[nodiscard]] RecordColumn metric_column(const std::string& text,
                                         std::span<const RecordColumn> columns);
/// The same for a column that counts how large a problem is.
[[nodiscard]] RecordColumn size_column(const std::string& text,
                                       std::span<const RecordColumn> columns);

/// One, or one for each of the table's "rows". Errors: InputError with file:line:column.
[[nodiscard]] std::vector<Expectation> read_expectation(ConfigTable table, const PlannedRows& rows);

/// The expectations of all tables. Errors: as above.
[[nodiscard]] std::vector<Expectation> read_expectations(const std::vector<ConfigTable>& tables,
                                                         const PlannedRows& rows);

} // namespace tutti
