// Reads in one pass and one snapshot, and checks as it reads: each row by its checksums, and that
// these are the rows that were written by their tally. A report on rows that are damaged or missing
// would be wrong without looking so, and is refused.
#include "experiments/driver/sweep/store/stored_table.hpp"

#include "experiments/driver/sweep/store/store_checks.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::sweep {

namespace {

struct ColumnHead {
  std::string name;
  Role role = Role::record;
  Unit unit = Unit::none;
};

constexpr std::array<std::pair<Role, std::string_view>, 5> role_names{
    {{Role::parameter, "parameter"},
     {Role::derived, "derived"},
     {Role::fact, "fact"},
     {Role::result, "result"},
     {Role::record, "record"}}};

Role parse_role(std::string_view text) {
  for (const auto& [role, name] : role_names)
    if (name == text) return role;
  return Role::record;
}

// What every point has, whatever the study.
const std::vector<ColumnHead>& record_columns() {
  static const std::vector<ColumnHead> columns{{"position"},
                                               {"key"},
                                               {"status"},
                                               {"message"},
                                               {"experiment_seed"},
                                               {"expected_work"},
                                               {"tutti"},
                                               {"commit_id"},
                                               {"cpu_seconds", Role::record, Unit::seconds},
                                               {"synthesis_seconds", Role::record, Unit::seconds},
                                               {"peak_bytes", Role::record, Unit::bytes}};
  return columns;
}

std::vector<ColumnHead> named_columns(Database& database) {
  std::vector<ColumnHead> columns;
  Statement statement(database, "SELECT name, role, unit FROM columns ORDER BY place");
  while (statement.step())
    columns.push_back({std::string(statement.text(0)), parse_role(statement.text(1)),
                       parse_unit(statement.text(2))});
  return columns;
}

std::vector<ColumnHead> wanted_columns(Database& database, std::span<const std::string> names) {
  std::vector<ColumnHead> known = named_columns(database);
  if (names.empty()) return known;
  known.insert(known.end(), record_columns().begin(), record_columns().end());
  std::vector<ColumnHead> wanted;
  for (const std::string& name : names) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& each) { return each.name == name; });
    if (found == known.end()) {
      std::vector<std::string> all;
      for (const ColumnHead& each : known) all.push_back(each.name);
      throw InputError(database.file() + ": " + unknown_name("column", name, all));
    }
    wanted.push_back(*found);
  }
  return wanted;
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

// Fills a column row by row; texts that repeat cost a look-up at most.
class ColumnWriter {
public:
  explicit ColumnWriter(TableColumn& column) : column_(&column) {}

  void add(const Statement& statement, int index) {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    if (statement.is_text(index)) {
      column_->numbers.push_back(nothing);
      column_->texts.push_back(number_of(statement.text(index)));
      return;
    }
    column_->numbers.push_back(statement.is_nothing(index) ? nothing : statement.number(index));
    column_->texts.push_back(0);
  }

private:
  std::uint32_t number_of(std::string_view text) {
    std::vector<std::string>& dictionary = column_->dictionary;
    if (last_ != 0 && dictionary[last_ - 1] == text) return last_;
    auto found = numbers_.find(text);
    if (found == numbers_.end()) {
      dictionary.emplace_back(text);
      found = numbers_.emplace(text, static_cast<std::uint32_t>(dictionary.size())).first;
    }
    return last_ = found->second;
  }

  TableColumn* column_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> numbers_;
  std::uint32_t last_ = 0;
};

template <typename T> void reorder(std::vector<T>& values, const std::vector<std::size_t>& order) {
  std::vector<T> ordered(values.size());
  std::transform(order.begin(), order.end(), ordered.begin(),
                 [&](std::size_t row) { return values[row]; });
  values = std::move(ordered);
}

// Rows lie in the order in which they were made, which is that of positions unless the study has
// changed. Sorting here is faster than to have SQLite do it with all that belongs to a row.
void sort_rows(PointTable& table, const std::vector<std::int64_t>& positions) {
  if (std::is_sorted(positions.begin(), positions.end())) return;
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return positions[a] < positions[b]; });
  for (TableColumn& column : table.columns) {
    reorder(column.numbers, order);
    reorder(column.texts, order);
  }
}

} // namespace

std::string_view to_text(Role role) {
  return std::find_if(role_names.begin(), role_names.end(),
                      [role](const auto& row) { return row.first == role; })
      ->second;
}

PointTable stored_table(Database& database, std::span<const std::string> names, bool has_sums) {
  Transaction snapshot(database, Transaction::Access::read);
  if (has_sums) require_whole_description(database);
  PointTable table;
  const std::string checks =
      has_sums ? is_whole(checked_columns(database)) + ", entered_sum" : "1, 0";
  std::string sql = "SELECT position, key, " + checks;
  for (const ColumnHead& head : wanted_columns(database, names)) {
    table.columns.push_back({head.name, head.role, head.unit, {}, {}, {}});
    sql += ", " + quoted_name(head.name);
  }
  std::vector<ColumnWriter> writers(table.columns.begin(), table.columns.end());
  std::vector<std::int64_t> positions;
  std::vector<std::string> damaged;
  RowTally tally;
  Statement statement(database, sql + " FROM points WHERE position IS NOT NULL" +
                                    (has_sums ? " OR entered_sum IS NOT NULL" : ""));
  while (statement.step()) {
    if (statement.integer(2) == 0) damaged.push_back(row_text(statement, 0, 1));
    tally.add(statement.integer(3));
    positions.push_back(statement.integer(0));
    for (std::size_t i = 0; i < writers.size(); ++i)
      writers[i].add(statement, static_cast<int>(i) + 4);
  }
  if (!damaged.empty())
    throw InputError(damage_text(database.file(), damaged) +
                     "; without --report they are simulated again");
  if (has_sums) require_all_rows(database, tally);
  snapshot.commit();
  table.rows = positions.size();
  sort_rows(table, positions);
  return table;
}

} // namespace tutti::sweep
