// Checksums are made by SQLite itself, with the function checksum() of every connection
// (database.hpp), so that what is written and what is read are summed in the same way. One is of
// columns in their order, and so of a list of columns: where the list changes, Store writes all
// anew.
#include "experiments/driver/sweep/store/store_checks.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::sweep {

namespace {

const std::vector<std::string> entered_before{"position", "key", "experiment_seed",
                                              "expected_work"};
const std::vector<std::string> results_before{
    "key",       "status",      "message",           "tutti",
    "commit_id", "cpu_seconds", "synthesis_seconds", "peak_bytes"};

std::string sum_of(const std::vector<std::string>& first, const std::vector<std::string>& then,
                   const std::string& table) {
  std::vector<std::string> expressions;
  for (const std::vector<std::string>* names : {&first, &then})
    for (const std::string& name : *names) expressions.push_back(table + quoted_name(name));
  return checksum_of(expressions);
}

// Checksum of all that says what the rows are.
std::string description_sum(Database& database) {
  Fingerprint hash;
  for (const char* sql :
       {"SELECT name, value FROM study WHERE name <> 'checksum' ORDER BY name",
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

void set_study_text(Database& database, std::string_view name, std::string_view value) {
  Statement statement(database, "INSERT INTO study VALUES(?1, ?2) "
                                "ON CONFLICT(name) DO UPDATE SET value = excluded.value");
  statement.bind(1, name);
  statement.bind(2, value);
  statement.run();
}

CheckedColumns checked_columns(Database& database) {
  CheckedColumns columns;
  Statement statement(database, "SELECT name, role FROM columns ORDER BY place");
  while (statement.step())
    (statement.text(1) == "result" ? columns.results : columns.entered)
        .emplace_back(statement.text(0));
  return columns;
}

std::string checksum_of(std::span<const std::string> expressions) {
  constexpr std::size_t most_arguments = 100; // SQLite allows a function 127
  std::string sum;
  for (std::size_t done = 0; done < expressions.size() || sum.empty(); done += most_arguments) {
    std::string arguments = sum;
    for (const std::string& each :
         expressions.subspan(done, std::min(most_arguments, expressions.size() - done)))
      arguments += (arguments.empty() ? "" : ", ") + each;
    sum = "checksum(" + arguments + ")";
  }
  return sum;
}

std::string entered_sum(const CheckedColumns& columns, const std::string& table) {
  return sum_of(entered_before, columns.entered, table);
}

std::string result_sum(const CheckedColumns& columns, const std::string& table) {
  return sum_of(results_before, columns.results, table);
}

std::string is_whole(const CheckedColumns& columns, const std::string& table) {
  std::string nothing = table + "result_sum IS NULL";
  for (const std::string& name : columns.results)
    nothing += " AND " + table + quoted_name(name) + " IS NULL";
  return fmt::format(
      "({0}entered_sum IS CASE WHEN {0}position IS NOT NULL THEN {1} END AND "
      "CASE WHEN {0}status IN ('pending', 'running') THEN {2} ELSE {0}result_sum IS {3} END)",
      table, entered_sum(columns, table), nothing, result_sum(columns, table));
}

std::string no_results(const CheckedColumns& columns) {
  std::string assignments = "result_sum = NULL";
  for (const std::string& name : columns.results)
    assignments += ", " + quoted_name(name) + " = NULL";
  return assignments;
}

std::string RowTally::text() const { return fmt::format("{} {:016x}", rows_, sums_); }

void seal(Database& database) {
  RowTally tally;
  Statement rows(database, "SELECT entered_sum FROM points WHERE position IS NOT NULL");
  while (rows.step()) tally.add(rows.integer(0));
  set_study_text(database, "rows", tally.text());
  set_study_text(database, "checksum", description_sum(database));
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
  if (database.single_text("SELECT value FROM study WHERE name = 'checksum'") !=
      description_sum(database))
    throw InputError(database.file() + ": its description of the study is damaged, so that its "
                                       "rows can't be understood; begin another store");
}

void require_all_rows(Database& database, const RowTally& tally) {
  const std::string sealed =
      database.single_text("SELECT value FROM study WHERE name = 'rows'").value_or("");
  if (sealed != tally.text())
    throw InputError(fmt::format("{}: is damaged: {} rows are there, and not the {} that were "
                                 "written; without --report, what is missing is simulated again",
                                 database.file(), tally.rows(),
                                 sealed.substr(0, sealed.find(' '))));
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
