// How tables are written on this terminal.
#pragma once

#include "experiments/driver/records/table.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace tutti {

/// What the command line says of tables.
struct TableArguments {
  bool wide = false;                  ///< whatever the terminal's width
  std::optional<std::string> columns; ///< names with commas; none: all
  /// Names of the columns of all tables that are written.
  std::shared_ptr<std::set<std::string>> titles = std::make_shared<std::set<std::string>>();
};

/// Form of tables on stdout. On a terminal: no wider than it is, and in colour unless NO_COLOR is
/// set or TERM is dumb. Elsewhere: as wide as tables are, or as COLUMNS says.
/// Errors: InputError for an empty name among the columns, or one that is there twice.
[[nodiscard]] TableForm table_form(const TableArguments& arguments);

/// How many cells stderr has on a line; none where it is no terminal.
[[nodiscard]] std::optional<std::size_t> stderr_width();

} // namespace tutti
