// Why: a path may name anything; a store is told by SQLite's marks for applications, and by having
// what its format says.
#include "experiments/driver/sweep/store/store_format.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

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

} // namespace tutti::sweep
