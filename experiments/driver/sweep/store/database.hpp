// SQLite with values instead of pointers: a connection, statements that reset themselves, and
// errors as exceptions. SQLite's header is seen by few files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace tutti::sweep {

class Database;

/// A prepared statement. Bind all parameters, step until it is done; reset to use it again.
class Statement {
public:
  Statement(Database& database, const std::string& sql);

  /// Parameters count from 1.
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value); ///< NaN: nothing
  void bind(int parameter, std::string_view value);
  /// Whether there is a row. After the last one the statement is reset by itself.
  bool step();
  /// For one without rows: steps to its end.
  void run();
  void reset();

  /// Columns count from 0.
  [[nodiscard]] bool is_nothing(int column) const;
  [[nodiscard]] bool is_text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;
  [[nodiscard]] std::string_view text(int column) const; ///< until the next step

private:
  void check(int code);
  Database* database_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
};

/// Errors: InputError for names that aren't of files to SQLite: "", ":memory:", "file:...".
void require_name_of_file(const std::string& file);

/// A connection. Not for use after a fork. Its SQL has a function checksum(...): an integer that
/// follows from the values and kinds of its arguments, the same on every machine.
class Database {
public:
  enum class Mode : std::uint8_t { create, write, read };
  /// Waits up to a minute for other processes. Errors: InputError "FILE: ...", and those of
  /// require_name_of_file().
  Database(const std::string& file, Mode mode);

  void run(const std::string& sql); ///< one or several statements without rows
  [[nodiscard]] std::optional<std::string> single_text(const std::string& sql);
  [[nodiscard]] std::optional<std::int64_t> single_integer(const std::string& sql);
  /// Rows that the last statement changed.
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] const std::string& file() const { return file_; }

  /// Throws InputError "FILE: what SQLite says" where the code is an error.
  void check(int code);

private:
  friend class Statement;
  std::string file_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection_;
};

/// From BEGIN (to read one state of all tables) or BEGIN IMMEDIATE to commit(); rolls back where
/// that isn't reached.
class Transaction {
public:
  enum class Access : std::uint8_t { read, write };
  explicit Transaction(Database& database, Access access = Access::write);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

private:
  Database* database_;
  bool open_ = true;
};

/// An SQL identifier: "name", quotes doubled.
[[nodiscard]] std::string quoted_name(std::string_view name);

} // namespace tutti::sweep
