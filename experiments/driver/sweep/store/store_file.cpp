// A path may name anything; a store is recognised by SQLite's marks for applications. Checksums are
// made by SQLite itself, with the function checksum() of every connection (database.hpp), so that
// what is written and what is read are summed in the same way.
#include "experiments/driver/sweep/store/store_file.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <system_error>

namespace tutti::sweep {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t application_id = 0x54757474; // "Tutt": tells our files from others

// Claims are found by the two indexes, which hold unfinished rows only. What is read of all rows
// stands before the documents, which may be long.
constexpr const char* tables = R"(
  CREATE TABLE sweep(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
  CREATE TABLE columns(name TEXT PRIMARY KEY, role TEXT, unit TEXT, place INTEGER);
  CREATE TABLE owners(id INTEGER PRIMARY KEY, host TEXT, process INTEGER, began TEXT);
  CREATE TABLE points(id INTEGER PRIMARY KEY, position INTEGER, key TEXT UNIQUE, status TEXT,
    owner INTEGER, expected_work REAL, entered_sum INTEGER, result_sum INTEGER, entered TEXT,
    results TEXT);
  CREATE INDEX points_pending ON points(expected_work DESC, position) WHERE status = 'pending';
  CREATE INDEX points_running ON points(owner) WHERE status = 'running';
)";

// A checksum of all that says what the rows are.
std::string description_sum(Database& database) {
  Fingerprint hash;
  for (const char* sql :
       {"SELECT name, value FROM sweep WHERE name <> 'checksum' ORDER BY name",
        "SELECT name, role || ' ' || unit || ' ' || place FROM columns ORDER BY place, name"}) {
    Statement statement(database, sql);
    while (statement.step()) {
      hash.add(statement.text(0));
      hash.add(statement.text(1));
    }
    hash.add(std::uint64_t{0});
  }
  return fmt::format("{:016x}", hash.value());
}

} // namespace

std::string is_whole() {
  return fmt::format("(entered_sum IS CASE WHEN position IS NOT NULL THEN {} END AND CASE WHEN {} "
                     "THEN result_sum IS NULL AND results IS NULL ELSE result_sum IS {} END)",
                     entered_sum, is_unfinished, result_sum);
}

bool is_there(const std::string& file) {
  require_name_of_file(file);
  std::error_code error;
  if (fs::is_directory(file, error)) throw InputError(file + ": is a folder, not a store");
  if (!fs::exists(file, error)) return false;
  if (!fs::is_regular_file(file, error))
    throw InputError(file + ": isn't a file that can keep rows");
  return fs::file_size(file, error) > 0;
}

bool is_empty(Database& database) {
  return database.single_integer("SELECT count(*) FROM sqlite_master") == 0 &&
         database.single_integer("PRAGMA application_id") == 0;
}

void make_tables(Database& database) {
  database.run(tables);
  database.run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id,
                           store_format));
}

void require_store(Database& database) {
  if (database.single_integer("PRAGMA application_id") != application_id)
    throw InputError(database.file() + ": is no store of a sweep");
  const std::int64_t found = database.single_integer("PRAGMA user_version").value_or(0);
  if (found > store_format)
    throw InputError(fmt::format("{}: was made by a newer Tutti (format {}, this one knows {})",
                                 database.file(), found, store_format));
  if (found < store_format)
    throw InputError(fmt::format("{}: was made by an older Tutti (format {}, this one knows {}): "
                                 "delete it, or begin another store with --store; the points are "
                                 "simulated again",
                                 database.file(), found, store_format));
}

std::optional<std::string> sweep_text(Database& database, std::string_view name) {
  Statement statement(database, "SELECT value FROM sweep WHERE name = ?1");
  statement.bind(1, name);
  if (!statement.step()) return std::nullopt;
  return std::string(statement.text(0));
}

void set_sweep_text(Database& database, std::string_view name, std::string_view value) {
  Statement statement(database, "INSERT INTO sweep VALUES(?1, ?2) "
                                "ON CONFLICT(name) DO UPDATE SET value = excluded.value");
  statement.bind(1, name);
  statement.bind(2, value);
  statement.run();
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

std::string RowTally::text() const { return fmt::format("{} {:016x}", rows_, sums_); }

void seal(Database& database) {
  RowTally tally;
  Statement rows(database, "SELECT entered_sum FROM points WHERE position IS NOT NULL");
  while (rows.step()) tally.add(rows.integer(0));
  set_sweep_text(database, "rows", tally.text());
  set_sweep_text(database, "checksum", description_sum(database));
}

void require_whole_structure(Database& database) {
  const std::string found = database.single_text("PRAGMA quick_check(1)").value_or("");
  if (found != "ok")
    throw InputError(
        fmt::format("{}: is damaged: {}; another store can take over the rows that are "
                    "whole (--store, --merge)",
                    database.file(), found.substr(found.rfind('\n') + 1)));
}

void require_whole_description(Database& database) {
  if (sweep_text(database, "checksum") != description_sum(database))
    throw InputError(database.file() + ": its description of the sweep is damaged, so that its "
                                       "rows can't be understood; begin another store");
}

void require_all_rows(Database& database, const RowTally& tally) {
  const std::string sealed = sweep_text(database, "rows").value_or("");
  if (sealed != tally.text())
    throw InputError(
        fmt::format("{}: is damaged: {} rows are there, and not the {} that were "
                    "written; the command without --report or --where simulates what is missing",
                    database.file(), tally.rows(), sealed.substr(0, sealed.find(' '))));
}

std::string damage_text(const std::string& file, std::span<const std::string> damaged) {
  constexpr std::size_t most_named = 3;
  const std::span<const std::string> named = damaged.first(std::min(most_named, damaged.size()));
  return fmt::format(
      "{}: {} damaged {} ({}{})", file, damaged.size(), damaged.size() == 1 ? "row" : "rows",
      joined({named.begin(), named.end()}, "; "), damaged.size() > most_named ? "; ..." : "");
}

std::string row_text(const Statement& statement, int position, int key) {
  const std::string place = statement.is_nothing(position)
                                ? "of no point"
                                : fmt::format("point {}", statement.integer(position));
  return fmt::format("{}, key {}", place, statement.text(key));
}

} // namespace tutti::sweep
