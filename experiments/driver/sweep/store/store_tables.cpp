// Why: a path may name anything; a store is recognised by SQLite's marks for applications, and by
// having what its format says. A study may be changed and started again; rows are found by their
// key, and written only where the study isn't the one that the store has already.
#include "experiments/driver/sweep/store/store_tables.hpp"

#include "experiments/driver/sweep/store/store_checks.hpp"
#include "experiments/driver/sweep/store/stored_table.hpp"
#include "sim/error.hpp"
#include "sim/hash.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <unordered_map>

namespace tutti::sweep {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t application_id = 0x54757474; // "Tutt": tells our files from others

// Positions are found by key and claims by these two indexes, which hold unfinished rows only.
constexpr const char* schema = R"(
  CREATE TABLE study(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
  CREATE TABLE columns(name TEXT PRIMARY KEY, role TEXT, unit TEXT, place INTEGER);
  CREATE TABLE owners(id INTEGER PRIMARY KEY, host TEXT, process INTEGER, began TEXT);
  CREATE TABLE points(id INTEGER PRIMARY KEY, position INTEGER, key TEXT UNIQUE, status TEXT,
    message TEXT, experiment_seed INTEGER, owner INTEGER, expected_work REAL, tutti TEXT,
    commit_id TEXT,
    cpu_seconds REAL, synthesis_seconds REAL, peak_bytes INTEGER,
    entered_sum INTEGER, result_sum INTEGER);
  CREATE INDEX points_pending ON points(expected_work DESC, position) WHERE status = 'pending';
  CREATE INDEX points_running ON points(owner) WHERE status = 'running';
)";

struct Row {
  std::int64_t id = 0;
  bool in_study = false;
};
using Rows = std::unordered_map<std::string, Row>; // by key; never iterated for output

void bind(Statement& statement, int parameter, const Value& value) {
  if (value.kind == Value::Kind::text)
    statement.bind(parameter, std::string_view(value.text));
  else
    statement.bind(parameter, value.number);
}

bool is_of(const Point& point, const std::optional<Shard>& shard) {
  return !shard || point.position % shard->count == shard->index;
}

void bind_point(Statement& statement, const Point& point) {
  statement.bind(1, static_cast<std::int64_t>(point.position));
  statement.bind(3, static_cast<std::int64_t>(point.seed));
  statement.bind(4, point.expected_work);
  for (std::size_t i = 0; i < point.values.size(); ++i)
    bind(statement, static_cast<int>(i) + 5, point.values[i]);
}

void drop_positions(Database& database, const Rows& rows) {
  Statement drop(database, "UPDATE points SET position = NULL, entered_sum = NULL WHERE id = ?1");
  for (const auto& [key, row] : rows) { // in any order: the effect is the same
    if (row.in_study) continue;
    drop.bind(1, row.id);
    drop.run();
  }
}

} // namespace

bool is_there(const std::string& file) {
  require_name_of_file(file);
  std::error_code error;
  if (fs::is_directory(file, error)) throw InputError(file + ": is a folder, not a store");
  if (!fs::exists(file, error)) return false;
  if (!fs::is_regular_file(file, error))
    throw InputError(file + ": isn't a file that can keep rows");
  return fs::file_size(file, error) > 0;
}

std::int64_t require_store(Database& database) {
  if (database.single_integer("PRAGMA application_id") != application_id)
    throw InputError(database.file() + ": is no store of a study");
  const std::int64_t found = database.single_integer("PRAGMA user_version").value_or(0);
  if (found > store_format)
    throw InputError(fmt::format("{}: was made by a newer Tutti (format {}, this one knows {})",
                                 database.file(), found, store_format));
  const bool has_sums = database.single_integer("SELECT count(*) FROM pragma_table_info('points') "
                                                "WHERE name IN ('entered_sum', 'result_sum')") == 2;
  if (found < 1 || has_sums != (found >= first_with_sums))
    throw InputError(fmt::format("{}: is damaged: it says that its format is {}, and isn't of it",
                                 database.file(), found));
  return found;
}

std::optional<std::string> study_text(Database& database, std::string_view name) {
  Statement statement(database, "SELECT value FROM study WHERE name = ?1");
  statement.bind(1, name);
  if (!statement.step()) return std::nullopt;
  return std::string(statement.text(0));
}

bool is_empty(Database& database) {
  return database.single_integer("SELECT count(*) FROM sqlite_master") == 0 &&
         database.single_integer("PRAGMA application_id") == 0;
}

void make_schema(Database& database) {
  Transaction transaction(database); // all of it or nothing, whenever the process dies
  database.run(schema);
  database.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id,
                           store_format));
  transaction.commit();
}

std::string fingerprint_of(const PointSpace& space) {
  Fingerprint hash;
  for (const std::string& name : space.names) hash.add(name);
  for (const Point& point : space.points) {
    hash.add(point.key);
    hash.add(std::bit_cast<std::uint64_t>(point.expected_work));
    for (const Value& value : point.values) {
      hash.add(value.text);
      hash.add(std::bit_cast<std::uint64_t>(value.number));
    }
  }
  return fmt::format("{:016x}", hash.value());
}

std::vector<NamedColumn> columns_of(const PointSpace& space,
                                    std::span<const ResultColumn> results) {
  std::vector<NamedColumn> columns;
  for (std::size_t i = 0; i < space.names.size(); ++i) {
    const Role role = i < space.parameters                       ? Role::parameter
                      : i < space.parameters + space.definitions ? Role::derived
                                                                 : Role::fact;
    columns.push_back({space.names[i], role, space.units[i]});
  }
  for (const ResultColumn& result : results)
    columns.push_back({result.name, Role::result, result.unit});
  return columns;
}

void set_columns(Database& database, const std::vector<NamedColumn>& columns) {
  std::vector<std::string> there;
  Statement known(database, "SELECT name FROM pragma_table_info('points')");
  while (known.step()) there.emplace_back(known.text(0));
  database.run("DELETE FROM columns");
  Statement enter(database, "INSERT INTO columns VALUES(?1, ?2, ?3, ?4)");
  std::int64_t place = 0;
  for (const NamedColumn& column : columns) {
    // Without a type, so that the text "8" stays one.
    if (std::find(there.begin(), there.end(), column.name) == there.end())
      database.run("ALTER TABLE points ADD COLUMN " + quoted_name(column.name) +
                   (column.role == Role::result ? " REAL" : ""));
    enter.bind(1, std::string_view(column.name));
    enter.bind(2, to_text(column.role));
    enter.bind(3, to_text(column.unit));
    enter.bind(4, place++);
    enter.run();
  }
}

void enter_points(Database& database, const PointSpace& space, const std::optional<Shard>& shard,
                  bool changed) {
  Rows rows;
  Statement known(database, "SELECT key, id FROM points NOT INDEXED");
  while (known.step()) rows[std::string(known.text(0))] = {known.integer(1)};
  std::string names, marks, assignments;
  std::vector<std::string> summed{"?1", "?2", "?3", "?4"}; // as entered_sum() has them
  for (std::size_t i = 0; i < space.names.size(); ++i) {
    names += ", " + quoted_name(space.names[i]);
    marks += fmt::format(", ?{}", i + 5);
    assignments += fmt::format(", {} = ?{}", quoted_name(space.names[i]), i + 5);
    summed.push_back(fmt::format("?{}", i + 5));
  }
  Statement insert(
      database,
      "INSERT INTO points(position, key, experiment_seed, expected_work, status, entered_sum" +
          names + ") VALUES(?1, ?2, ?3, ?4, 'pending', " + checksum_of(summed) + marks + ")");
  summed[1] = "key";
  Statement update(database,
                   "UPDATE points SET position = ?1, experiment_seed = ?3, expected_work = ?4, "
                   "entered_sum = " +
                       checksum_of(summed) + assignments + " WHERE id = ?2");
  for (const Point& point : space.points) {
    const auto row = rows.find(point.key);
    const bool is_new = row == rows.end();
    if (!is_new) row->second.in_study = true;
    if (is_new ? !is_of(point, shard) : !changed) continue;
    Statement& statement = is_new ? insert : update;
    if (is_new)
      statement.bind(2, std::string_view(point.key));
    else
      statement.bind(2, row->second.id);
    bind_point(statement, point);
    statement.run();
  }
  if (changed) drop_positions(database, rows);
}

} // namespace tutti::sweep
