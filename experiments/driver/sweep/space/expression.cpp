// An expression is prepared twice. First as it stands, over an empty table whose columns are all
// known names, under an authorizer that says which of them it reads and refuses everything but
// values of columns and functions of a list: no second SELECT, no random numbers, no clock. Then
// over its own names as parameters, with every "/" a division of real numbers.
#include "experiments/driver/sweep/space/expression.hpp"

#include "experiments/driver/records/renames.hpp"
#include "experiments/driver/sweep/space/whole_number.hpp"
#include "experiments/driver/sweep/store/database.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tutti::sweep {

namespace {

// Those whose results depend on their arguments only, sorted.
constexpr std::array functions{
    "abs",    "acos",   "acosh", "asin",  "asinh",   "atan",   "atan2", "atanh", "ceil",
    "cos",    "cosh",   "exp",   "floor", "glob",    "ifnull", "iif",   "instr", "length",
    "like",   "ln",     "log",   "log10", "log2",    "lower",  "max",   "min",   "mod",
    "nullif", "pi",     "pow",   "power", "replace", "round",  "sign",  "sin",   "sinh",
    "sqrt",   "substr", "tan",   "tanh",  "trim",    "trunc",  "upper"};

constexpr int longest_text = 100'000; // of anything: replace() can't make gigabytes

using Connection = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;
using Prepared = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

Connection connection_in_memory() {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(":memory:", &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Connection connection(opened, &sqlite3_close_v2);
  if (code != SQLITE_OK) throw InputError(sqlite3_errstr(code));
  // Unknown names in double quotes are errors, not texts.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, longest_text);
  sqlite3_limit(opened, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(opened, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  return connection;
}

// What an expression reads, and what it tried and mustn't.
struct Examination {
  std::vector<std::string_view> read = {};
  std::string function = {}; ///< that isn't in the list
  int selects = 0;
};

int examine(void* data, int action, const char* table, const char* name, const char*, const char*) {
  auto& examination = *static_cast<Examination*>(data);
  switch (action) {
  case SQLITE_SELECT: return ++examination.selects == 1 ? SQLITE_OK : SQLITE_DENY;
  case SQLITE_READ:
    if (std::string_view(table) != "known") return SQLITE_DENY;
    if (*name != '\0') // the table, but no column
      examination.read.emplace_back(
          name); // of the table's definition or "ROWID", both of which stay
    return SQLITE_OK;
  case SQLITE_FUNCTION:
    if (std::find(functions.begin(), functions.end(), std::string_view(name)) != functions.end())
      return SQLITE_OK;
    examination.function = name;
    return SQLITE_DENY;
  default: return SQLITE_DENY;
  }
}

/// Calls `each` with every character outside quotes and its place.
template <typename Each> void outside_quotes(std::string_view text, const Each& each) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char begin = text[i];
    if (begin != '\'' && begin != '"' && begin != '`' && begin != '[') {
      each(begin, i);
      continue;
    }
    i = text.find(begin == '[' ? ']' : begin, i + 1);
    if (i == std::string_view::npos) throw InputError(fmt::format("a quote without an end"));
  }
}

/// Parentheses that close what was opened before the expression, several statements and comments
/// would make something else of the statement around it.
void require_one_expression(std::string_view text) {
  int depth = 0;
  outside_quotes(text, [&depth, text](char letter, std::size_t i) {
    depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
    const std::string_view two = text.substr(i, 2);
    if (letter == ';' || letter == '\0' || two == "--" || two == "/*")
      throw InputError("an expression is one, without \";\" and comments");
    if (letter == '%') throw InputError("\"%\" cuts to whole numbers: use mod(x, y)");
    if (letter == '?' || letter == ':' || letter == '@' || letter == '$' || letter == '#')
      throw InputError(fmt::format("an expression has no \"{}\"", letter));
    if (depth < 0) throw InputError("a parenthesis closes that none opens");
  });
  if (depth > 0) throw InputError("a parenthesis isn't closed");
}

/// What SQLite takes without a look at what it says: a collation that isn't used, any type.
void require_known_words(std::string_view text) {
  struct Followed {
    std::string_view word, what;
    std::vector<std::string> known;
  };
  const std::array followed{Followed{"collate", "collation", {"binary", "nocase", "rtrim"}},
                            Followed{"as", "type", {"integer", "real", "text"}}};
  std::string words(text.size(), ' '); // lower case, without quotes
  outside_quotes(text, [&words](char letter, std::size_t i) {
    const bool is_upper = letter >= 'A' && letter <= 'Z';
    const bool is_part = is_upper || (letter >= 'a' && letter <= 'z') || letter == '_' ||
                         (letter >= '0' && letter <= '9') || (letter & 0x80) != 0;
    if (is_part) words[i] = is_upper ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  words += " ."; // an end that is no word
  const Followed* before = nullptr;
  for (const std::string_view word : split(words, ' ')) {
    if (word.empty()) continue;
    if (before != nullptr &&
        std::find(before->known.begin(), before->known.end(), word) == before->known.end())
      throw InputError(unknown_name(before->what, word, before->known));
    const auto found = std::find_if(followed.begin(), followed.end(),
                                    [word](const Followed& each) { return each.word == word; });
    before = found == followed.end() ? nullptr : &*found;
  }
}

std::string with_real_divisions(std::string_view text) {
  std::string changed;
  std::size_t done = 0;
  outside_quotes(text, [&](char letter, std::size_t i) {
    if (letter != '/') return;
    changed += text.substr(done, i - done);
    changed += "* 1.0 /";
    done = i + 1;
  });
  return changed.append(text.substr(done));
}

/// Quantities in quotes become numbers, as they are where parameters have them: to SQL every number
/// is less than any text, so that size <= '2KiB' would hold for all.
std::string with_quantities(std::string_view text) {
  std::string changed;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = text.find_first_of("'\"`[", i);
    changed += text.substr(i, begin - i);
    if (begin == std::string_view::npos) break;
    const std::size_t end = text.find(text[begin] == '[' ? ']' : text[begin], begin + 1);
    const Value value = text_value(text.substr(begin + 1, end - begin - 1));
    const bool is_quantity = text[begin] == '\'' && value.kind == Value::Kind::number;
    changed += is_quantity ? fmt::format("{:.17e}", value.number)
                           : std::string(text.substr(begin, end + 1 - begin));
    i = end + 1;
  }
  return changed;
}

/// In the words of the other messages.
InputError refusal(sqlite3* connection, const Examination& examination,
                   std::span<const std::string> known) {
  const std::vector<std::string> known_functions(functions.begin(), functions.end());
  if (!examination.function.empty())
    return InputError(unknown_name("function", examination.function, known_functions));
  const std::string_view said = sqlite3_errmsg(connection);
  constexpr std::string_view column = "no such column: ", function = "no such function: ";
  if (said.starts_with(column))
    return InputError(unknown_column("name", said.substr(column.size()), known));
  if (said.starts_with(function))
    return InputError(unknown_name("function", said.substr(function.size()), known_functions));
  if (examination.selects > 1 || sqlite3_errcode(connection) == SQLITE_AUTH)
    return InputError("only names, numbers, texts, operators and functions make an expression");
  return InputError(std::string(said));
}

/// Errors: InputError.
Prepared prepared(sqlite3* connection, const std::string& sql, const Examination& examination,
                  std::span<const std::string> known) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(connection, sql.c_str(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) throw refusal(connection, examination, known);
  return {statement, &sqlite3_finalize};
}

/// Which of `known` the expression reads, in their order.
std::vector<std::string> names_read(sqlite3* connection, const std::string& text,
                                    std::span<const std::string> known) {
  std::string table = "CREATE TABLE known(\"\""; // a column that no name can be
  for (const std::string& name : known) table += ", " + quoted_name(name);
  if (sqlite3_exec(connection, (table + ")").c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    throw InputError(sqlite3_errmsg(connection));
  Examination examination;
  sqlite3_set_authorizer(connection, &examine, &examination);
  const Prepared statement =
      prepared(connection, "SELECT (" + text + ") FROM known", examination, known);
  sqlite3_set_authorizer(connection, nullptr, nullptr);
  if (sqlite3_column_count(statement.get()) != 1) throw InputError("an expression has one value");
  // max(x) is of all rows to SQL, of which there is one at a time: it would be x.
  (void)prepared(connection, "SELECT 1 FROM known WHERE (" + text + ")", examination, known);
  std::vector<std::string> names;
  for (const std::string& name : known)
    if (std::find(examination.read.begin(), examination.read.end(), name) != examination.read.end())
      names.push_back(name);
  for (const std::string_view read : examination.read)
    if (std::find(names.begin(), names.end(), read) == names.end())
      throw InputError(unknown_name("name", read, known));
  return names;
}

} // namespace

struct Expression::Statement {
  Statement(Connection its_connection, Prepared its_statement)
      : connection(std::move(its_connection)), prepared(std::move(its_statement)) {}

  Connection connection;
  Prepared prepared;

  void bind(int parameter, const Value* value) {
    if (code_of_bind(parameter, value) != SQLITE_OK)
      throw InputError(sqlite3_errmsg(connection.get()));
  }

private:
  int code_of_bind(int parameter, const Value* value) {
    sqlite3_stmt* to = prepared.get();
    if (value == nullptr) return sqlite3_bind_null(to, parameter);
    if (value->kind == Value::Kind::text)
      return sqlite3_bind_text64(to, parameter, value->text.data(), value->text.size(),
                                 SQLITE_STATIC, SQLITE_UTF8);
    if (is_whole(value->number)) // as text "4", not "4.0"
      return sqlite3_bind_int64(to, parameter, static_cast<std::int64_t>(value->number));
    return sqlite3_bind_double(to, parameter, value->number);
  }
};

Expression::Expression(std::string text, std::span<const std::string> known)
    : text_(std::move(text)) {
  require_one_expression(text_);
  require_known_words(text_);
  Connection connection = connection_in_memory();
  names_ = names_read(connection.get(), text_, known);
  std::string sql = "SELECT (" + with_real_divisions(with_quantities(text_)) + ")";
  for (std::size_t i = 0; i < names_.size(); ++i)
    sql +=
        fmt::format("{}?{} AS {}", i == 0 ? " FROM (SELECT " : ", ", i + 1, quoted_name(names_[i]));
  if (!names_.empty()) sql += ")";
  Prepared statement = prepared(connection.get(), sql, {}, known);
  statement_ = std::make_unique<Statement>(std::move(connection), std::move(statement));
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

bool Expression::evaluate(std::span<const Value* const> values, Value& result) {
  bool all_known = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all_known = all_known && values[i] != nullptr;
    statement_->bind(static_cast<int>(i + 1), values[i]);
  }
  sqlite3_stmt* statement = statement_->prepared.get();
  if (sqlite3_step(statement) != SQLITE_ROW) {
    const std::string said = sqlite3_errmsg(statement_->connection.get());
    sqlite3_reset(statement);
    throw InputError(fmt::format("\"{}\": {}", text_, said));
  }
  const int type = sqlite3_column_type(statement, 0);
  if (type == SQLITE_TEXT) {
    const void* letters = sqlite3_column_text(statement, 0);
    result.text.assign(static_cast<const char*>(letters),
                       static_cast<std::size_t>(sqlite3_column_bytes(statement, 0)));
    result.kind = Value::Kind::text;
    result.number = 0;
  } else {
    result.text.clear();
    result.kind = Value::Kind::number;
    result.number = sqlite3_column_double(statement, 0);
  }
  result.unit = Unit::none;
  sqlite3_reset(statement);
  if (type == SQLITE_BLOB) throw InputError(fmt::format("\"{}\" is no number or text", text_));
  if (type == SQLITE_NULL && all_known)
    throw InputError(fmt::format("\"{}\" has no value: a division by 0, or a function of what it "
                                 "isn't defined for",
                                 text_));
  if (type != SQLITE_NULL && !std::isfinite(result.number))
    throw InputError(fmt::format("\"{}\" is infinite", text_));
  return type != SQLITE_NULL;
}

bool Expression::holds(std::span<const Value* const> values) {
  Value result;
  if (!evaluate(values, result)) return false;
  if (result.kind == Value::Kind::text)
    throw InputError(
        fmt::format("\"{}\" is the text \"{}\", neither true nor false", text_, result.text));
  return result.number != 0;
}

} // namespace tutti::sweep
