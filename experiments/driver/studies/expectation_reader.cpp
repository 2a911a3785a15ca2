// Selectors pick rows that a study will have, and must be unambiguous: one row, or explicitly a
// summary of several. All is resolved to indices of rows here, so that what is judged later doesn't
// depend on names.
#include "experiments/driver/studies/expectation_reader.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/records/renames.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tutti {

namespace {

constexpr std::string_view label_column = "label", algorithm_column = "algorithm",
                           seed_column = "seed", any = "auto";

/// Sizes from one to another, both included.
struct SizeRange {
  Bytes least{0}, most{INT64_MAX};
  bool operator==(const SizeRange&) const = default;
};

/// What one key of `of` or `over` asks of a column.
struct Selector {
  std::size_t column = 0;
  std::set<std::string> texts; ///< of cells
  std::vector<SizeRange> ranges;

  [[nodiscard]] bool picks(const Cell& cell, Quantity quantity) const {
    if (!cell.is_known()) return false;
    return texts.contains(exact_text(cell, quantity)) ||
           std::ranges::any_of(ranges, [&](const SizeRange& range) {
             return Bytes{cell.whole()} >= range.least && Bytes{cell.whole()} <= range.most;
           });
  }
};

/// "1MB..", "..4MB", "1MB..4MB"
SizeRange parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  SizeRange range;
  if (dots > 0) range.least = parse_bytes(text.substr(0, dots));
  if (dots + 2 < text.size()) range.most = parse_bytes(text.substr(dots + 2));
  if (range.least > range.most) throw InputError(fmt::format("no size is in \"{}\"", text));
  return range;
}

// A text that no row has in the column is a slip.
std::string known_text(const ConfigValue& value, const Records& keys, std::size_t column) {
  const std::string text = value.is_integer() ? fmt::to_string(value.integer()) : value.string();
  std::vector<std::string> known;
  for (const std::vector<Cell>& row : keys.rows)
    if (std::string one = exact_text(row[column], Quantity::text);
        !one.empty() && std::ranges::find(known, one) == known.end())
      known.push_back(std::move(one));
  if (std::ranges::find(known, text) == known.end())
    throw value.error(unknown_name(name_without_unit(keys.columns[column]), text, known));
  return text;
}

void add_value(Selector& selector, const ConfigValue& value, const Records& keys) {
  switch (keys.columns[selector.column].quantity) {
  case Quantity::text: selector.texts.insert(known_text(value, keys, selector.column)); return;
  case Quantity::bytes:
    if (value.is_string() && value.string().find("..") != std::string::npos)
      selector.ranges.push_back(parsed(value, parse_range));
    else
      selector.texts.insert(fmt::to_string(value.bytes().count));
    return;
  case Quantity::time: selector.texts.insert(fmt::to_string(value.time().ps)); return;
  case Quantity::truth: selector.texts.insert(value.boolean() ? "true" : "false"); return;
  default: selector.texts.insert(fmt::to_string(value.integer())); return;
  }
}

std::string choice_text(const ConfigValue& value) {
  if (value.is_string()) return value.string();
  if (value.is_boolean()) return value.boolean() ? "true" : "false";
  return fmt::to_string(value.integer());
}

/// The rows that a selector like {topology = "Mesh", algorithm = ["ring", "direct"]} picks.
struct Selection {
  std::vector<Selector> selectors;
  std::vector<std::size_t> rows;

  [[nodiscard]] const Selector* of(std::size_t column) const {
    const auto found = std::ranges::find(selectors, column, &Selector::column);
    return found == selectors.end() ? nullptr : &*found;
  }
};

std::vector<Selector> read_selectors(const ConfigValue& value, const Records& keys) {
  std::vector<Selector> selectors;
  ConfigTable table = value.table();
  for (std::size_t c = 0; c < keys.columns.size(); ++c) {
    const auto wanted = table.find(std::string(name_without_unit(keys.columns[c])));
    if (!wanted) continue;
    selectors.push_back({c, {}, {}});
    for (const ConfigValue& each : list_of(*wanted)) add_value(selectors.back(), each, keys);
  }
  table.finish();
  return selectors;
}

/// Another value of a column than the one that `of` and `over` may name.
struct Instead {
  std::size_t column;
  ConfigValue value;
};

/// One algorithm in the place of another.
struct Swap {
  std::string before, after;
};

std::optional<std::size_t> column_of(const std::string& name, const Records& keys) {
  const auto found = std::ranges::find_if(
      keys.columns, [&](const RecordColumn& column) { return name_without_unit(column) == name; });
  if (found == keys.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - keys.columns.begin());
}

/// How rows are picked besides by what `of` and `over` name.
struct Picking {
  std::span<const Instead> instead;
  std::optional<Swap> swap = {};
};

Selection selected(const std::optional<ConfigValue>& value, const PlannedRows& rows,
                   const Picking& picking, const ConfigTable& table) {
  Selection selection;
  if (value) selection.selectors = read_selectors(*value, rows.keys);
  for (const Instead& other : picking.instead) {
    std::erase_if(selection.selectors,
                  [&](const Selector& selector) { return selector.column == other.column; });
    selection.selectors.push_back({other.column, {}, {}});
    for (const ConfigValue& each : list_of(other.value))
      add_value(selection.selectors.back(), each, rows.keys);
  }
  if (picking.swap)
    for (Selector& selector : selection.selectors)
      if (rows.keys.columns[selector.column].name == algorithm_column &&
          selector.texts.erase(picking.swap->before) > 0)
        selector.texts.insert(picking.swap->after);
  const auto is_named = [&](const PlannedRows::OptIn& opt_in) {
    return std::ranges::any_of(selection.selectors, [&](const Selector& selector) {
      return rows.keys.columns[selector.column].name == opt_in.column;
    });
  };
  for (std::size_t r = 0; r < rows.keys.rows.size(); ++r) {
    if (std::ranges::any_of(rows.opt_in, [&](const PlannedRows::OptIn& opt_in) {
          return opt_in.rows[r] && !is_named(opt_in);
        }))
      continue;
    const bool is_picked = std::ranges::all_of(selection.selectors, [&](const Selector& selector) {
      return selector.picks(rows.keys.rows[r][selector.column],
                            rows.keys.columns[selector.column].quantity);
    });
    if (is_picked) selection.rows.push_back(r);
  }
  if (selection.rows.empty()) {
    const std::string none = "no row of the study is as asked for";
    throw value ? value->error(none) : table.error(none);
  }
  return selection;
}

std::vector<std::string> key_names(const Records& keys) {
  std::vector<std::string> names;
  for (const RecordColumn& column : keys.columns) names.emplace_back(name_without_unit(column));
  return names;
}

std::string key_text(const PlannedRows& rows, std::size_t row, std::size_t column) {
  return exact_text(rows.keys.rows[row][column], rows.keys.columns[column].quantity);
}

/// Rows that differ in nothing but their seed, as one.
using Group = std::vector<std::size_t>;
std::vector<Group> groups_of(const Selection& selection, const PlannedRows& rows) {
  std::vector<Group> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const std::size_t row : selection.rows) {
    std::vector<std::string> texts;
    for (std::size_t c = 0; c < rows.keys.columns.size(); ++c)
      if (rows.keys.columns[c].name != seed_column) texts.push_back(key_text(rows, row, c));
    const auto [at, is_new] = known.try_emplace(std::move(texts), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(row);
  }
  return groups;
}

/// Quotients whose rows differ in this column, too, as one with alternatives.
std::vector<Quotient> with_alternatives(std::vector<Quotient> quotients, const PlannedRows& rows,
                                        std::size_t column) {
  std::vector<Quotient> merged;
  std::map<std::vector<std::string>, std::size_t> known;
  for (Quotient& quotient : quotients) {
    std::vector<std::string> texts;
    for (std::size_t c = 0; c < rows.keys.columns.size(); ++c)
      if (rows.keys.columns[c].name != seed_column && c != column)
        texts.push_back(key_text(rows, quotient.of.front(), c));
    const auto [at, is_new] = known.try_emplace(std::move(texts), merged.size());
    if (is_new) {
      merged.push_back(std::move(quotient));
      continue;
    }
    Quotient& one = merged[at->second];
    if (one.over != quotient.over)
      throw InputError(fmt::format("\"over\" has several rows that differ in \"{}\": say which",
                                   name_without_unit(rows.keys.columns[column])));
    one.alternatives.push_back(std::move(quotient.of));
  }
  return merged;
}

/// Whether a ratio of these rows compares like with like.
class Pairing {
public:
  Pairing(const Selection& of, const Selection& over, const PlannedRows& rows) : rows_(rows) {
    for (std::size_t c = 0; c < rows.keys.columns.size(); ++c) {
      const std::string& name = rows.keys.columns[c].name;
      const Selector *a = of.of(c), *b = over.of(c);
      const bool is_opt_in =
          std::ranges::find(rows.opt_in, name, &PlannedRows::OptIn::column) != rows.opt_in.end();
      const bool is_compared = b == nullptr
                                   ? is_opt_in // `over` has the others then
                                   : a == nullptr || a->texts != b->texts || a->ranges != b->ranges;
      if (name != label_column && name != seed_column && !is_compared) shared_.push_back(c);
    }
  }

  [[nodiscard]] bool agree(std::size_t a, std::size_t b) const {
    return std::ranges::all_of(shared_, [&](std::size_t column) {
      const std::string x = key_text(rows_, a, column), y = key_text(rows_, b, column);
      return x == y || x.empty() || y.empty() || (x == any && chooses(a)) ||
             (y == any && chooses(b));
    });
  }

  /// "topology, size"
  [[nodiscard]] std::string shared() const {
    std::vector<std::string> names;
    for (const std::size_t column : shared_)
      names.emplace_back(name_without_unit(rows_.keys.columns[column]));
    return joined(names, ", ");
  }

private:
  [[nodiscard]] bool chooses(std::size_t row) const {
    return !rows_.chooses_chunks.empty() && rows_.chooses_chunks[row];
  }

  const PlannedRows& rows_;
  std::vector<std::size_t> shared_; ///< columns in which they must agree
};

/// "ring on Mesh", or whatever tells rows apart.
std::string row_text(const PlannedRows& rows, std::size_t row) {
  std::vector<std::string> texts;
  for (const char* name : {"algorithm", "topology", "policy", "variant"})
    for (std::size_t c = 0; c < rows.keys.columns.size(); ++c)
      if (rows.keys.columns[c].name == name && !key_text(rows, row, c).empty())
        texts.push_back(key_text(rows, row, c));
  return joined(texts, " on ");
}

// Ratios of several rows are taken problem by problem, as papers do: a ratio of means would be
// decided by the slowest problem. One row over one other is taken as it was requested.
std::vector<Quotient> quotients_of(const ConfigValue& of_value, const Selection& of,
                                   const Selection& over, const PlannedRows& rows) {
  const std::vector<Group> above = groups_of(of, rows), below = groups_of(over, rows);
  if (above.size() == 1 && below.size() == 1) return {{above.front(), below.front()}};
  const Pairing pairing(of, over, rows);
  std::vector<Quotient> quotients;
  for (const Group& a : above) {
    const std::size_t before = quotients.size();
    for (const Group& b : below)
      if (pairing.agree(a.front(), b.front())) quotients.push_back({a, b});
    if (quotients.size() == before)
      throw of_value.error(fmt::format("\"over\" has no row of the same {} as {}", pairing.shared(),
                                       row_text(rows, a.front())));
  }
  return quotients;
}

/// The column in which rows may differ of which the best counts.
std::optional<std::size_t> alternatives_at(ConfigTable& table, const Records& keys) {
  const auto name = table.find("best_of");
  if (!name) return std::nullopt;
  const std::optional<std::size_t> column = column_of(name->string(), keys);
  if (!column) throw name->error(unknown_name("column", name->string(), key_names(keys)));
  return column;
}

std::vector<Quotient> read_values(ConfigTable& table, Summary summary, const PlannedRows& rows,
                                  const Picking& picking) {
  const std::optional<ConfigValue> of_value = table.find("of");
  const Selection of = selected(of_value, rows, picking, table);
  const std::optional<std::size_t> alternatives = alternatives_at(table, rows.keys);
  std::vector<Quotient> quotients;
  if (const auto over_value = table.find("over")) {
    if (summary == Summary::exponent)
      throw over_value->error("an exponent is of values, not of ratios: remove \"over\"");
    quotients = quotients_of(of_value.value_or(*over_value), of,
                             selected(over_value, rows, picking, table), rows);
    if (std::ranges::all_of(quotients, [](const Quotient& q) { return q.of == q.over; }))
      throw over_value->error("it selects the rows of \"of\": every ratio would be 1");
  } else {
    for (Group& group : groups_of(of, rows)) quotients.push_back({std::move(group), {}});
  }
  if (alternatives)
    quotients = table.at("best_of").located(
        [&] { return with_alternatives(std::move(quotients), rows, *alternatives); });
  if (summary != Summary::single || quotients.size() == 1) return quotients;
  const std::string message =
      fmt::format("{} values are as asked for ({}, {}{}): say which by {}, or set \"summary\"",
                  quotients.size(), row_text(rows, quotients[0].of.front()),
                  row_text(rows, quotients[1].of.front()), quotients.size() > 2 ? ", ..." : "",
                  joined(key_names(rows.keys), ", "));
  throw of_value ? of_value->error(message) : table.error(message);
}

/// The values once more, with the other algorithm wherever `of` and `over` name the one.
std::optional<Beside> read_beside(ConfigTable& table, const Expectation& expectation,
                                  const PlannedRows& rows, std::span<const Instead> instead) {
  const auto value = table.find("beside");
  if (!value) return std::nullopt;
  ConfigTable names = value->table();
  const auto column = column_of(std::string(algorithm_column), rows.keys);
  if (names.keys().size() != 1 || !column)
    throw value->error("one algorithm in the place of another: {tacos = \"tacos_paper\"}");
  Beside beside;
  beside.in_place_of = names.keys().front();
  const ConfigValue algorithm = names.at(beside.in_place_of);
  beside.algorithm = known_text(algorithm, rows.keys, *column);
  beside.values = algorithm.located([&] {
    return read_values(table, expectation.summary, rows,
                       {instead, Swap{beside.in_place_of, beside.algorithm}});
  });
  if (beside.values == expectation.values)
    throw value->error(fmt::format("neither \"of\" nor \"over\" names {}", beside.in_place_of));
  return beside;
}

} // namespace

RecordColumn metric_column(const std::string& text, std::span<const RecordColumn> columns) {
  if (text.starts_with("fact:") && text.size() > 5)
    return {text, Quantity::fact, ColumnRole::metric};
  std::vector<std::string> known;
  for (const RecordColumn& column : columns) {
    const bool is_number = column.quantity != Quantity::text && column.quantity != Quantity::truth;
    if (!is_number || column.role == ColumnRole::key || column.role == ColumnRole::note) continue;
    if (text == column.name || text == name_without_unit(column)) return column;
    known.emplace_back(column.role == ColumnRole::cost ? std::string_view(column.name)
                                                       : name_without_unit(column));
  }
  throw InputError(unknown_column("metric", text, known));
}

RecordColumn size_column(const std::string& text, std::span<const RecordColumn> columns) {
  std::vector<std::string> known;
  for (const RecordColumn& column : columns) {
    if (column.quantity != Quantity::count && column.quantity != Quantity::bytes) continue;
    if (text == column.name || text == name_without_unit(column)) return column;
    known.emplace_back(name_without_unit(column));
  }
  throw InputError(unknown_name("problem size", text, known));
}

namespace {

constexpr Words<Summary, 5> summary_words{
    "summary",
    {"geometric_mean", "arithmetic_mean", "largest", "smallest", "error"},
    Summary::geometric_mean};

constexpr Words<Stated, 3> stated_words{
    "way of stating a value", {"up to", "about", "mean"}, Stated::up_to};

// A ratio, an exponent or an error has no unit; a value has its metric's, and TOML must say it.
double number_in_unit(const ConfigValue& value, const Expectation& expectation) {
  if (expectation.summary == Summary::exponent || expectation.summary == Summary::error ||
      !expectation.values.front().over.empty())
    return value.number();
  switch (expectation.metric.quantity) {
  case Quantity::rate: return static_cast<double>(value.bandwidth().bytes_per_second);
  case Quantity::time: return static_cast<double>(value.time().ps);
  case Quantity::bytes: return static_cast<double>(value.bytes().count);
  case Quantity::seconds:
  case Quantity::effort: return value.time().seconds();
  default: return value.number();
  }
}

void read_limit(ConfigTable& table, Expectation& expectation) {
  constexpr std::array<std::pair<const char*, Limit>, 3> limits{
      {{"value", Limit::equal}, {"at_most", Limit::at_most}, {"at_least", Limit::at_least}}};
  std::optional<ConfigValue> found;
  for (const auto& [key, limit] : limits) {
    const auto value = table.find(key);
    if (!value) continue;
    if (found)
      throw value->error("only one of \"value\", \"at_most\" and \"at_least\" is possible");
    found = value;
    expectation.limit = limit;
  }
  if (!found) throw table.error("needs a key \"value\", \"at_most\" or \"at_least\"");
  expectation.value = number_in_unit(*found, expectation);
  if (expectation.summary == Summary::error && expectation.values.front().over.empty() &&
      expectation.metric.quantity != Quantity::ratio)
    throw found->error("an error is of ratios: of a metric that is one, or with \"over\"");
  if (expectation.value <= 0) throw found->error("the expected value must be above 0");
  if (const auto tolerance = table.find("tolerance"))
    expectation.tolerance = parsed(*tolerance, parse_percentage);
  else if (expectation.limit == Limit::equal)
    throw table.error("needs a key \"tolerance\"");
  if (expectation.tolerance >= 1 && expectation.limit != Limit::at_most)
    throw table.at("tolerance").error("within 100% everything is as expected");
}

double tolerance_at(ConfigTable& table, const std::string& key, double otherwise) {
  const auto value = table.find(key);
  if (!value) return otherwise;
  const double tolerance = parsed(*value, parse_percentage);
  if (tolerance >= 1) throw value->error("within 100% everything is as expected");
  return tolerance;
}

/// What is known of ours beside the paper's value.
void read_known(ConfigTable& table, Expectation& expectation) {
  constexpr double known_tolerance = 0.01;
  if (const auto ours = table.find("ours")) {
    expectation.ours = {number_in_unit(*ours, expectation),
                        tolerance_at(table, "ours_tolerance", known_tolerance)};
    if (expectation.ours->value <= 0) throw ours->error("the known value must be above 0");
  } else if (const auto tolerance = table.find("ours_tolerance"))
    throw tolerance->error("it is of \"ours\", which isn't there");
  if (const auto stated = table.find("stated")) {
    expectation.stated = parsed(*stated, stated_words);
    if (expectation.limit != Limit::equal || expectation.values.front().over.empty() ||
        expectation.summary == Summary::error)
      throw stated->error("only the \"value\" of a ratio, with \"over\", has a direction");
  }
  expectation.apart = string_at(table, "apart");
}

std::optional<LeftOpen> read_left_open(ConfigTable& table, const Expectation& expectation,
                                       const PlannedRows& rows, std::span<const Instead> instead) {
  const auto value = table.find("left_open");
  if (!value) return std::nullopt;
  ConfigTable choices = value->table();
  if (choices.keys().size() != 1)
    throw value->error("one column with what it may be: {size = [\"16MB\", \"1GB\"]}");
  LeftOpen open{choices.keys().front(), {}};
  const std::optional<std::size_t> column = column_of(open.column, rows.keys);
  if (!column) throw value->error(unknown_name("column", open.column, key_names(rows.keys)));
  for (const ConfigValue& choice : list_of(choices.at(open.column))) {
    std::vector<Instead> with(instead.begin(), instead.end());
    with.push_back({*column, choice});
    open.choices.push_back(
        {choice_text(choice), read_values(table, expectation.summary, rows, {with})});
  }
  if (open.choices.size() < 2) throw value->error("one choice leaves nothing open");
  std::set<std::string> texts;
  for (const LeftOpen::Choice& choice : open.choices)
    if (!texts.insert(choice.text).second)
      throw value->error(fmt::format("\"{}\" stands twice", choice.text));
  return open;
}

void read_repeats(ConfigTable& table, const PlannedRows& rows, Expectation& expectation) {
  const auto within = table.find("repeats_within");
  if (!within) return;
  if (std::ranges::find(rows.columns, spread_column, &RecordColumn::name) == rows.columns.end())
    throw within->error("only what is measured repeats itself: [[executions]]");
  expectation.repeats_within = within->number();
  if (!(*expectation.repeats_within > 0)) throw within->error("it must be above 0");
}

std::vector<std::string> expectation_keys() {
  return {"label",          "of",         "over",     "metric",    "summary", "exponent_over",
          "value",          "at_most",    "at_least", "tolerance", "ours",    "ours_tolerance",
          "stated",         "left_open",  "apart",    "beside",    "rows",    "best_of",
          "repeats_within", "explanation"};
}

/// `instead`: of a row, which stands over its table.
Expectation read_one(ConfigTable table, const PlannedRows& rows, std::span<const Instead> instead) {
  Expectation expectation;
  expectation.label = plain_label(table.at("label"));
  expectation.metric =
      parsed_at(table, "metric", rows.metric.c_str(),
                [&](const std::string& text) { return metric_column(text, rows.columns); });
  const auto summary = table.find("summary"), exponent = table.find("exponent_over");
  if (summary && exponent)
    throw exponent->error("\"summary\" and \"exponent_over\" exclude each other");
  if (summary) expectation.summary = parsed(*summary, summary_words);
  if (exponent) {
    expectation.summary = Summary::exponent;
    expectation.size = parsed(
        *exponent, [&](const std::string& text) { return size_column(text, rows.columns).name; });
  }
  expectation.values = read_values(table, expectation.summary, rows, {instead});
  if (exponent && expectation.values.size() < 2)
    throw exponent->error("an exponent needs at least two values");
  expectation.beside = read_beside(table, expectation, rows, instead);
  read_limit(table, expectation);
  read_known(table, expectation);
  expectation.left_open = read_left_open(table, expectation, rows, instead);
  read_repeats(table, rows, expectation);
  expectation.explanation = string_at(table, "explanation");
  return expectation;
}

/// A row of the table's "rows": its keys stand over the table's, or name a column.
Expectation read_row(const ConfigTable& table, ConfigTable row, const PlannedRows& rows) {
  std::vector<Instead> instead;
  std::vector<std::string> known = expectation_keys(), texts;
  for (const std::string& key : row.keys())
    if (const auto column = column_of(key, rows.keys); column && key != label_column) {
      instead.push_back({*column, row.at(key)});
      for (const ConfigValue& each : list_of(instead.back().value))
        texts.push_back(choice_text(each));
    }
  const std::optional<ConfigValue> own = row.find("label");
  if (!own && texts.empty()) throw row.error("a row needs a column, or a \"label\"");
  std::erase(known, "rows"); // in rows
  std::ranges::copy(key_names(rows.keys), std::back_inserter(known));
  row.allow_only(known);
  ConfigTable whole = table;
  const std::string label = plain_label(whole.at("label"));
  Expectation expectation = read_one(table.overlaid(row), rows, instead);
  expectation.label = label + ", " + (own ? plain_label(*own) : joined(texts, ", "));
  return expectation;
}

} // namespace

std::vector<Expectation> read_expectation(ConfigTable table, const PlannedRows& rows) {
  refuse_renamed(table);
  table.allow_only(expectation_keys());
  const auto of_paper = table.find("rows");
  if (!of_paper) return {read_one(table, rows, {})};
  std::vector<Expectation> expectations;
  for (const ConfigTable& row : table.tables("rows"))
    expectations.push_back(read_row(table, row, rows));
  if (expectations.empty()) throw of_paper->error("no rows: nothing is expected");
  return expectations;
}

std::vector<Expectation> read_expectations(const std::vector<ConfigTable>& tables,
                                           const PlannedRows& rows) {
  std::vector<Expectation> expectations;
  for (const ConfigTable& table : tables)
    std::ranges::move(read_expectation(table, rows), std::back_inserter(expectations));
  return expectations;
}

} // namespace tutti
