// A name stands in texts as ${name}, in expressions without quotes and in the store as a column: it
// has to be a plain word in all three, so SQLite itself is asked whether it reads it as a name.
#include "experiments/driver/sweep/space/name_register.hpp"

#include "experiments/driver/sweep/space/expression.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::sweep {

namespace {

// Columns of the store beside those of values and results.
constexpr std::array store_columns{
    "id",         "position",      "key",    "status",    "message",     "experiment_seed",
    "owner",      "expected_work", "tutti",  "commit_id", "cpu_seconds", "synthesis_seconds",
    "peak_bytes", "facts",         "results"};

// Words that SQLite takes for names where they can't be words, and readers wouldn't.
constexpr std::array words{"end", "false", "glob", "like", "match", "regexp", "true"};

/// Whether an expression can speak of it without quotes.
bool is_plain_in_expressions(const std::string& name) {
  if (std::find(words.begin(), words.end(), lower_case(name)) != words.end()) return false;
  try {
    return !Expression(name, {&name, 1}).names().empty();
  } catch (const InputError&) {
    return false;
  }
}

} // namespace

bool is_identifier(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

NameRegister::NameRegister() : reserved_(store_columns.begin(), store_columns.end()) {}

void NameRegister::reserve(const std::vector<std::string>& names) {
  reserved_.insert(names.begin(), names.end());
}

void NameRegister::add(const std::string& name, const ConfigValue& value) {
  if (!is_identifier(name))
    throw value.error(
        fmt::format("\"{}\" is no name: letters, digits and _, a letter or _ first", name));
  if (reserved_.contains(lower_case(name)))
    throw value.error(fmt::format("the name \"{}\" is reserved: every point has one", name));
  if (!is_plain_in_expressions(name))
    throw value.error(fmt::format("\"{}\" is a word of expressions, not a name", name));
  if (!taken_.insert(lower_case(name)).second)
    throw value.error(
        fmt::format("the name \"{}\" is taken (small and large letters are the same)", name));
}

} // namespace tutti::sweep
