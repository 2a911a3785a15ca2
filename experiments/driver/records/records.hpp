// What a study comes to: rows of typed columns. A column says once what it is called, what it
// counts and what it is for; CSV, JSON and tables are written from it.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "sim/units.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tutti {

/// What a column counts, which decides how its values are written.
enum class Quantity : std::uint8_t {
  text,
  texts,   ///< several, in an order
  truth,   ///< true or false
  count,   ///< whole
  bytes,   ///< whole; names end in _bytes
  time,    ///< picoseconds, whole; names end in _ps
  rate,    ///< bytes per second; names end in _bytes_per_s
  ratio,   ///< of two values of one quantity: a gap, a slowdown
  part,    ///< of a whole, 0 .. 1; per cent for people
  numeral, ///< a text that is read as a number: "3/2", "auto: 8"
  number,  ///< anything else, to six digits
  amount,  ///< large: in millions and more for people
  fact,    ///< what an algorithm states of its answer, to ten digits
  seconds, ///< measured by a clock; names end in _seconds
  effort,  ///< CPU seconds; names end in _seconds
};

/// What a column is for.
enum class ColumnRole : std::uint8_t {
  key,    ///< which case it was: rows that agree in all keys are of the same one
  metric, ///< what came out, the same in every run of the same case
  note,   ///< in words
  cost,   ///< what it took, which differs from run to run
};

/// Where a column has values.
enum class Presence : std::uint8_t {
  always,    ///< in every row
  sometimes, ///< a value may not be known
  optional,  ///< the column itself is there only where some row has a value
  family,    ///< stands for columns that a study names: "fact:NAME", "lower_bound_at_K_ps"
};

/// Which of two values is the better one.
enum class Better : std::uint8_t { lower, higher };

/// Words for columns: `using namespace column_words` where some are listed.
namespace column_words {
using enum Quantity;
using enum ColumnRole;
using enum Presence;
using enum Better;
} // namespace column_words

struct RecordColumn {
  RecordColumn() = default;
  RecordColumn(std::string column, Quantity counts, ColumnRole is_for, Presence where,
               std::string means, std::uint8_t may_go = 0, std::string heading = {},
               Better which = Better::lower)
      : name(std::move(column)), quantity(counts), role(is_for), presence(where),
        better(counts == Quantity::rate ? Better::higher : which), meaning(std::move(means)),
        spare(may_go), title(std::move(heading)) {}
  /// A column of tables for people.
  RecordColumn(std::string column, Quantity counts, ColumnRole is_for = ColumnRole::metric,
               std::uint8_t may_go = 0, std::string heading = {})
      : RecordColumn(std::move(column), counts, is_for, Presence::sometimes, {}, may_go,
                     std::move(heading)) {}

  [[nodiscard]] RecordColumn as(ColumnRole is_for) const;
  [[nodiscard]] RecordColumn shown(std::uint8_t may_go, std::string heading = {}) const;

  std::string name; ///< with its unit: "collective_time_ps"
  Quantity quantity = Quantity::text;
  ColumnRole role = ColumnRole::metric;
  Presence presence = Presence::sometimes;
  Better better = Better::lower;
  std::string meaning;    ///< for docs/columns.md and docs/schemas/rows.json, without the unit
  std::uint8_t spare = 0; ///< as Column::spare
  std::string title;      ///< for people; empty: the words of the name, without unit
};

/// "lower_bound" of "lower_bound_ps": for people, and for whoever writes units with values.
[[nodiscard]] std::string_view name_without_unit(const RecordColumn& column);
/// "lower bound", or its title: units stand with the values.
[[nodiscard]] std::string title_of(const RecordColumn& column);

/// A value of a column; nothing where it isn't known.
class Cell {
public:
  Cell() = default;
  Cell(std::string text) : value_(std::move(text)) {}                // NOLINT: values are cells
  Cell(std::string_view text) : value_(std::string(text)) {}         // NOLINT
  Cell(const char* text) : value_(std::string(text)) {}              // NOLINT
  Cell(std::vector<std::string> texts) : value_(std::move(texts)) {} // NOLINT
  Cell(bool holds) : value_(holds) {}                                // NOLINT
  Cell(Time time) : value_(time.ps) {}                               // NOLINT
  Cell(Bytes size) : value_(size.count) {}                           // NOLINT
  Cell(Bandwidth rate) : value_(rate.bytes_per_second) {}            // NOLINT
  Cell(std::floating_point auto number) : value_(number) {} // NOLINT: not finite: not known
  Cell(std::integral auto count) : value_(static_cast<std::int64_t>(count)) {} // NOLINT
  template <typename T> Cell(const std::optional<T>& value) {                  // NOLINT
    if (value) *this = Cell(*value);
  }

  /// Not known where it is empty.
  [[nodiscard]] static Cell of_text(const std::string& text) {
    return text.empty() ? Cell() : Cell(text);
  }

  [[nodiscard]] bool is_known() const;
  /// Pre: of such a value.
  [[nodiscard]] const std::string& text() const { return std::get<std::string>(value_); }
  [[nodiscard]] const std::vector<std::string>& texts() const {
    return std::get<std::vector<std::string>>(value_);
  }
  [[nodiscard]] bool holds() const { return std::get<bool>(value_); }
  [[nodiscard]] bool is_whole() const { return std::holds_alternative<std::int64_t>(value_); }
  [[nodiscard]] std::int64_t whole() const { return std::get<std::int64_t>(value_); }
  /// Also of whole ones, and 1 and 0 of true and false. Pre: known, and no text.
  [[nodiscard]] double number() const;

private:
  std::variant<std::monostate, std::string, std::vector<std::string>, bool, std::int64_t, double>
      value_;
};

/// Exact where the value is: whole numbers as they are, ratios to six places, CPU seconds to three.
/// Empty where it isn't known.
[[nodiscard]] std::string exact_text(const Cell& cell, Quantity quantity);
/// "0.017 s": the time of work, as tables have it.
[[nodiscard]] std::string seconds_text(double seconds);

/// "1.979 T", "25.56 M"
[[nodiscard]] std::string amount_text(double amount);

struct Records {
  std::vector<RecordColumn> columns;
  std::vector<std::vector<Cell>> rows; ///< each with a cell per column
};

/// The rows of both, with all columns of both; those of `more` that are new stand before what
/// it took. Cells of a column that a row's records don't have are empty.
void append(Records& records, const Records& more);

/// A header and the rows, for csv_text().
[[nodiscard]] std::vector<std::vector<std::string>> csv_rows(const Records& records);

/// The rows for people, in units that suit them. What is the same in all of several rows, and notes
/// and costs that none has, have no column.
[[nodiscard]] Table records_table(const Records& records);

/// The same with every column, whatever stands in it.
[[nodiscard]] Table whole_table(const Records& records);

/// A column that a table has, whatever stands in it.
struct ShownColumn {
  std::string name;       ///< of a record's column, without its unit
  std::uint8_t spare = 0; ///< as Column::spare
  std::string alias = {}; ///< another name by which it may be chosen
};

/// The rows with these columns, in this order. Where a form names columns, all others are there for
/// it to choose. The first of several columns of one name counts. Pre: each is a record's.
[[nodiscard]] Table records_table(const Records& records, std::span<const ShownColumn> shown,
                                  const TableForm& form);

/// How --columns may call the columns of such a table.
[[nodiscard]] std::vector<std::string> column_names(std::span<const RecordColumn> columns,
                                                    std::span<const ShownColumn> shown);

/// A column, and where its value stands in a `Row`.
template <typename Row> struct Field {
  RecordColumn column;
  std::function<Cell(const Row&)> value;
};
template <typename Row> using Fields = std::vector<Field<Row>>;

/// The fields of a part of a row: `part_of` gives a pointer to it, null where the row has none.
template <typename Row, typename Part, typename PartOf>
[[nodiscard]] Fields<Row> fields_through(const Fields<Part>& fields, PartOf part_of) {
  Fields<Row> all;
  for (const Field<Part>& field : fields)
    all.push_back({field.column, [value = field.value, part_of](const Row& row) {
                     const Part* part = part_of(row);
                     return part == nullptr ? Cell() : value(*part);
                   }});
  return all;
}

template <typename Row> void extend(Fields<Row>& fields, Fields<Row> more) {
  fields.insert(fields.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

/// A record for each row.
template <typename Row>
[[nodiscard]] Records records_of(const Fields<Row>& fields, std::span<const Row> rows) {
  Records records;
  for (const Field<Row>& field : fields) records.columns.push_back(field.column);
  for (const Row& row : rows) {
    std::vector<Cell>& cells = records.rows.emplace_back();
    cells.reserve(fields.size());
    for (const Field<Row>& field : fields) cells.push_back(field.value(row));
  }
  return records;
}

} // namespace tutti
