// One connection of one process: SQLite itself keeps others out while it writes, and a statement
// that meets them waits up to a minute. Names in double quotes are names and never texts, so that a
// misspelt column is an error.
#include "experiments/driver/sweep/store/database.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <bit>
#include <cstddef>
#include <span>
#include <system_error>

namespace tutti::sweep {

namespace {

constexpr int patience_ms = 60'000;

int flags_of(Database::Mode mode) {
  switch (mode) {
  case Database::Mode::create: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  case Database::Mode::write: return SQLITE_OPEN_READWRITE;
  case Database::Mode::read: break;
  }
  return SQLITE_OPEN_READONLY;
}

// Checksum of values and their kinds, the same for -0 and 0, which SQLite doesn't keep apart.
// SQLite calls it for each row: it must neither throw nor depend on how SQLite happens to hold a
// value (a text may have been converted meanwhile).
void checksum(sqlite3_context* context, int count, sqlite3_value** values) {
  Fingerprint hash;
  std::uint64_t kinds = 1;
  for (sqlite3_value* value : std::span(values, static_cast<std::size_t>(count))) {
    const int kind = sqlite3_value_type(value);
    kinds = kinds * 8 + static_cast<std::uint64_t>(kind);
    switch (kind) {
    case SQLITE_INTEGER: hash.add(std::int64_t{sqlite3_value_int64(value)}); break;
    case SQLITE_FLOAT:
      hash.add(std::bit_cast<std::uint64_t>(sqlite3_value_double(value) + 0.0));
      break;
    case SQLITE_NULL: break;
    default: { // the content before its size, which may change with a conversion
      const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
      hash.add(std::string_view(bytes, static_cast<std::size_t>(sqlite3_value_bytes(value))));
    }
    }
    if (kinds >= std::uint64_t{1} << 60U) { // before the next would push the first out
      hash.add(kinds);
      kinds = 1;
    }
  }
  hash.add(kinds);
  sqlite3_result_int64(context, static_cast<std::int64_t>(hash.value()));
}

} // namespace

void require_name_of_file(const std::string& file) {
  if (file.empty()) throw InputError("a database needs the name of a file, not an empty one");
  if (file == ":memory:" || file.starts_with("file:"))
    throw InputError(fmt::format("{0}: isn't the name of a file to SQLite: a database lies in a "
                                 "file (./{0} is one)",
                                 file));
}

Statement::Statement(Database& database, const std::string& sql)
    : database_(&database), statement_(nullptr, &sqlite3_finalize) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v2(database.connection_.get(), sql.c_str(), static_cast<int>(sql.size()),
                           &statement, nullptr));
  statement_.reset(statement);
}

void Statement::check(int code) { database_->check(code); }

void Statement::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), parameter, value));
}

void Statement::bind(int parameter, double value) {
  check(sqlite3_bind_double(statement_.get(), parameter, value)); // SQLite makes NaN NULL
}

void Statement::bind(int parameter, std::string_view value) {
  check(sqlite3_bind_text64(statement_.get(), parameter, value.data(), value.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8)); // NOLINT: SQLite's own cast
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    sqlite3_reset(statement_.get()); // says the same again
    check(code);
  }
  reset();
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

void Statement::reset() { check(sqlite3_reset(statement_.get())); }

bool Statement::is_nothing(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool Statement::is_text(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_TEXT;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const void* text = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const char*>(text), static_cast<std::size_t>(size)};
}

Database::Database(const std::string& file, Mode mode)
    : file_(file), connection_(nullptr, &sqlite3_close_v2) {
  require_name_of_file(file);
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &connection, flags_of(mode), nullptr);
  connection_.reset(connection); // there also after most errors, to be asked and closed
  check(code);
  check(sqlite3_extended_result_codes(connection, 1));
  check(sqlite3_busy_timeout(connection, patience_ms));
  check(sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DML, 0, nullptr));
  check(sqlite3_db_config(connection, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr));
  check(sqlite3_create_function_v2(connection, "checksum", -1,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr,
                                   &checksum, nullptr, nullptr, nullptr));
}

void Database::run(const std::string& sql) {
  check(sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

std::optional<std::string> Database::single_text(const std::string& sql) {
  Statement statement(*this, sql);
  if (!statement.step() || statement.is_nothing(0)) return std::nullopt;
  return std::string(statement.text(0));
}

std::optional<std::int64_t> Database::single_integer(const std::string& sql) {
  Statement statement(*this, sql);
  if (!statement.step() || statement.is_nothing(0)) return std::nullopt;
  return statement.integer(0);
}

std::int64_t Database::changes() const { return sqlite3_changes64(connection_.get()); }

void Database::check(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  if (!connection_) throw InputError(fmt::format("{}: {}", file_, sqlite3_errstr(code)));
  std::string reason = sqlite3_errmsg(connection_.get());
  const int system = sqlite3_system_errno(connection_.get());
  if ((code & 0xff) == SQLITE_CANTOPEN && system != 0)
    reason += ": " + std::generic_category().message(system);
  throw InputError(fmt::format("{}: {}", file_, reason));
}

Transaction::Transaction(Database& database, Access access) : database_(&database) {
  database.run(access == Access::read ? "BEGIN" : "BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_->run("ROLLBACK");
  } catch (const InputError&) { // SQLite has rolled back by itself, as it does when a disk is full
    return;
  }
}

void Transaction::commit() {
  database_->run("COMMIT");
  open_ = false;
}

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char letter : name) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + '"';
}

} // namespace tutti::sweep
