// Reads in one pass and one snapshot, and checks as it reads: each row by its checksums, and that
// these are the rows that were written by their tally. A report on rows that are damaged or missing
// would be wrong without looking so, and is refused.
#include "experiments/driver/sweep/store/stored_table.hpp"

#include "experiments/driver/sweep/store/point_documents.hpp"
#include "experiments/driver/sweep/store/store_file.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::sweep {

namespace {

constexpr Words<Role, 5> role_words{"role", {"parameter", "derived", "fact", "result", "record"}};

// What every point has, whatever the sweep: these in columns of its row, then others in the
// documents.
std::vector<TableColumn> record_columns() {
  return {{"position"},
          {"key"},
          {"status"},
          {"expected_work"},
          {"experiment_seed"},
          {"message"},
          {"tutti"},
          {"commit_id"},
          {"cpu_seconds", Role::record, Unit::seconds},
          {"synthesis_seconds", Role::record, Unit::seconds},
          {"peak_bytes", Role::record, Unit::bytes}};
}

std::vector<TableColumn> wanted_columns(Database& database, std::span<const std::string> names) {
  std::vector<TableColumn> known;
  Statement statement(database, "SELECT name, role, unit FROM columns ORDER BY place");
  while (statement.step())
    known.push_back({std::string(statement.text(0)), role_words.parse(statement.text(1)),
                     parse_unit(statement.text(2))});
  if (names.empty()) return known;
  std::ranges::move(record_columns(), std::back_inserter(known));
  std::vector<TableColumn> wanted;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name, &TableColumn::name);
    if (found == known.end()) {
      std::vector<std::string> all;
      for (const TableColumn& each : known) all.push_back(each.name);
      throw InputError(database.file() + ": " + unknown_name("column", name, all));
    }
    wanted.push_back(*found);
  }
  return wanted;
}

constexpr std::array row_columns{"position", "key", "status", "expected_work"};
constexpr const char* rows_of_sweep =
    "SELECT {}, entered_sum, entered, results, position, key, status, expected_work FROM points "
    "WHERE position IS NOT NULL OR entered_sum IS NOT NULL ORDER BY position";
constexpr int documents = 2, position = 4, key = 5; // columns of these rows

// Takes rows into the columns of a table.
class RowReader {
public:
  explicit RowReader(PointTable& table) : table_(table), cells_(table.columns.size()) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) places_[table.columns[i].name] = i;
  }

  void add(const Statement& row) {
    const auto set = [this](const std::string& name, Value value) {
      const auto place = places_.find(name);
      if (place != places_.end()) cells_[place->second] = std::move(value);
    };
    for (int i = 0; const char* name : row_columns) {
      const int column = position + i++;
      set(name, row.is_text(column)
                    ? Value{Value::Kind::text, Unit::none, 0, std::string(row.text(column))}
                    : number_value(row.number(column)));
    }
    for (const int document : {documents, documents + 1})
      if (!row.is_nothing(document)) read_document(row.text(document), set);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (cells_[i])
        table_.columns[i].add(*cells_[i]);
      else
        table_.columns[i].add_nothing();
      cells_[i].reset();
    }
    ++table_.rows;
  }

private:
  PointTable& table_;
  std::vector<std::optional<Value>> cells_; // of a row
  std::unordered_map<std::string, std::size_t> places_;
};

} // namespace

void set_columns(Database& database, const PointSpace& space,
                 std::span<const ResultColumn> results) {
  database.run("DELETE FROM columns");
  Statement enter(database, "INSERT INTO columns VALUES(?1, ?2, ?3, ?4)");
  std::int64_t place = 0;
  const auto add = [&](const std::string& name, Role role, Unit unit) {
    enter.bind(1, std::string_view(name));
    enter.bind(2, role_words.text(role));
    enter.bind(3, to_text(unit));
    enter.bind(4, place++);
    enter.run();
  };
  for (std::size_t i = 0; i < space.names.size(); ++i)
    add(space.names[i],
        i < space.parameters                       ? Role::parameter
        : i < space.parameters + space.definitions ? Role::derived
                                                   : Role::fact,
        space.units[i]);
  for (const ResultColumn& result : results) add(result.name, Role::result, result.unit);
}

PointTable stored_table(Database& database, std::span<const std::string> names) {
  Transaction snapshot(database, Transaction::Access::read);
  require_whole_description(database);
  PointTable table;
  table.columns = wanted_columns(database, names);
  RowReader reader(table);
  std::vector<std::string> damaged;
  RowTally tally;
  Statement row(database, fmt::format(rows_of_sweep, is_whole()));
  while (row.step()) {
    tally.add(row.integer(1));
    if (row.integer(0) != 0)
      reader.add(row);
    else
      damaged.push_back(row_text(row, position, key));
  }
  if (!damaged.empty())
    throw InputError(damage_text(database.file(), damaged) +
                     "; the command without --report or --where simulates them again");
  require_all_rows(database, tally);
  snapshot.commit();
  return table;
}

} // namespace tutti::sweep
