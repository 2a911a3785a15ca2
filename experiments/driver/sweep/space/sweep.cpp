// Reads a sweep as a whole before anything runs: parameters first, since all else names them; then
// definitions, the experiment, constraints, objectives and analyses, each checked against the names
// that there are by then. Whatever is wrong or unused is an error with its place, for a parameter
// that nothing uses would multiply the points and change none.
//
// A name stands in texts as ${name}, in expressions without quotes and in tables as a column: it
// has to be a plain word in all three.
#include "experiments/driver/sweep/space/sweep.hpp"

#include "experiments/driver/records/renames.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/sweep/space/analyses_reader.hpp"
#include "experiments/driver/sweep/space/dependencies.hpp"
#include "experiments/driver/sweep/space/network_facts.hpp"
#include "experiments/driver/sweep/space/point_results.hpp"
#include "experiments/driver/sweep/space/value_reader.hpp"
#include "sim/error.hpp"
#include "sim/expressions/expression.hpp"
#include "sim/expressions/placeholders.hpp"
#include "sim/expressions/whole_number.hpp"
#include "sim/files/files.hpp"
#include "sim/files/gzip.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tutti::sweep {

namespace {

/// "FILE:3:1", to make errors of later with.
std::string place_of(const ConfigValue& value) {
  std::string place = value.error("").what();
  place.resize(place.size() - 2); // ": "
  return place;
}

/// Whether a point's values stand in texts at these keys, or in a zip those of a row: what is made
/// of them then isn't known yet.
bool is_filled_later(std::string_view path) {
  const auto dots = std::count(path.begin(), path.end(), '.');
  const std::string_view table = path.substr(0, path.find('.'));
  if (table == "parameters" || table == "sample" || table == "limits") return false;
  if (table == "derived") return dots < 2 || (!path.ends_with(".from") && !path.ends_with(".to"));
  if (table == "zip") return dots == 1; // its ranges aren't
  return table == "experiment" || table == "cost" || table == "constraints" ||
         table == "objectives" || path.ends_with(".title");
}

/// A letter or _, then letters, digits and _.
bool is_identifier(const std::string& text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// What every point has in the store beside its values and results.
constexpr std::array store_columns{
    "id",         "position",      "key",    "status",    "message",     "experiment_seed",
    "owner",      "expected_work", "tutti",  "commit_id", "cpu_seconds", "synthesis_seconds",
    "peak_bytes", "facts",         "results"};

/// Whether an expression can speak of it without quotes.
bool is_plain_in_expressions(const std::string& name) {
  try {
    return !Expression(name, {&name, 1}).names().empty();
  } catch (const InputError&) {
    return false;
  }
}

/// Small and large letters are the same, as in SQL.
class NameRegister {
public:
  /// The store's own columns are reserved.
  NameRegister() : reserved_(store_columns.begin(), store_columns.end()) {}
  /// Names, in small letters, that every point has.
  void reserve(const std::vector<std::string>& names) {
    reserved_.insert(names.begin(), names.end());
  }
  /// Errors: InputError at the value's place for a name that is none, reserved, there already or a
  /// word of expressions.
  void add(const std::string& name, const ConfigValue& value) {
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

private:
  std::set<std::string> reserved_, taken_; ///< in small letters
};

class SweepReader {
public:
  SweepReader(ConfigTable root, const std::string& source_name) : root_(std::move(root)) {
    sweep_.source_name = source_name;
  }

  Sweep read() {
    root_.allow_only({"name", "title", "seed", "cost", "constraints", "parameters", "zip", "sample",
                      "derived", "limits", "experiment", "objectives", "pareto", "best",
                      "sensitivity", "curves", "selection"});
    list_names();
    root_ = root_.replaced([this](const std::string& text, const std::string& path) {
      return is_filled_later(path) ? std::nullopt : filled_for_all(text);
    });
    read_head();
    read_cost();
    const ConfigValue experiment = root_.at("experiment");
    sweep_.experiment =
        std::make_shared<const ExperimentTemplate>(experiment.table(), sweep_.source_name);
    results_ = result_columns(sweep_.experiment->kind());
    names_.reserve(result_names());
    names_.reserve(network_fact_names(true)); // it may have a cost model later
    read_axes();
    read_definitions();
    read_experiment_names(experiment);
    if (const auto limits = root_.find("limits")) read_limits(limits->table());
    if (const auto constraints = root_.find("constraints")) read_constraints(*constraints);
    if (const auto objectives = root_.find("objectives")) read_objectives(objectives->table());
    used_.merge(read_analyses(root_, sweep_));
    refuse_cycles(dependencies_of(sweep_), sweep_);
    refuse_unused();
    return std::move(sweep_);
  }

private:
  struct ParameterPlace {
    std::string name;
    ConfigValue value;
  };

  /// Before anything is read, since texts may name them wherever they stand.
  void list_names() {
    ConfigTable root = root_;
    const auto add = [this](ConfigTable table, bool may_be_one) {
      for (const std::string& name : table.keys()) {
        known_.push_back(name);
        if (may_be_one) given_.emplace(name, table.at(name));
      }
    };
    for (const char* key : {"parameters", "zip"})
      for (const ConfigTable& table : root.tables(key)) add(table, true);
    for (ConfigTable& table : root.tables("sample"))
      if (const auto sampled = table.find("parameters")) add(sampled->table(), false);
    if (const auto derived = root.find("derived")) add(derived->table(), false);
    for (std::string& fact : network_fact_names(root.has("cost")))
      known_.push_back(std::move(fact));
  }

  /// The value of a parameter that has no other; none, too, while it is looked for, so that nothing
  /// follows from itself.
  const std::optional<Value>& value_for_all(const std::string& name) {
    const auto [known, is_new] = constants_.try_emplace(name);
    const auto given = given_.find(name);
    if (!is_new || given == given_.end() || given->second.is_table()) return known->second;
    const std::vector<ConfigValue> items = list_of(given->second);
    if (items.size() != 1) return known->second;
    if (items.front().is_string() && items.front().string().find("${") != std::string::npos) {
      for (const std::string& other : names_in(items.front().string()))
        if (!value_for_all(other)) return known->second;
      known->second = filled_value(items.front().string(), value_for_all_);
    } else if (std::vector<Value> values = values_of(items.front()); values.size() == 1) {
      known->second = std::move(values.front());
    }
    return known->second;
  }

  std::optional<ConfigScalar> filled_for_all(const std::string& text) {
    require_values(text, {});
    return filled_scalar(text, value_for_all_);
  }

  /// What the text names are values of a row of these names, or of all points.
  void require_values(const std::string& text, const std::vector<std::string>& row) {
    for (const std::string& name : known_names_in(text, known_)) {
      if (std::find(row.begin(), row.end(), name) == row.end() && !value_for_all(name))
        throw InputError(fmt::format("\"{}\" isn't one value for all points: what follows from it "
                                     "stands in [derived] or in [experiment]",
                                     name));
      used_.insert(name);
    }
  }

  void read_head() {
    sweep_.name = plain_name(root_.at("name"));
    sweep_.title = string_at(root_, "title");
    if (sweep_.title.empty()) sweep_.title = sweep_.name;
    if (const auto seed = root_.find("seed"))
      sweep_.seed = static_cast<std::uint64_t>(seed->integer(0));
  }

  void read_cost() {
    const auto value = root_.find("cost");
    if (!value) return;
    std::set<std::string> names;
    for_each_text(*value, [&](const std::string& text) {
      for (const std::string& name : known_names_in(text, known_)) names.insert(name);
    });
    if (names.empty()) {
      sweep_.cost = cost_model_of(*value, sweep_.source_name, value_for_all_);
      return;
    }
    sweep_.cost_template = value;
    sweep_.cost_names.assign(names.begin(), names.end());
    use(sweep_.cost_names);
  }

  void add_parameter(const std::string& name, const ConfigValue& value) {
    names_.add(name, value);
    parameters_.push_back({name, value});
  }

  void read_axes() {
    if (const auto parameters = root_.find("parameters")) {
      ConfigTable table = parameters->table();
      for (const std::string& name : table.keys()) read_axis(table, {name});
    }
    for (ConfigTable& table : root_.tables("zip")) {
      if (table.keys().empty()) throw table.error("a zip needs parameters");
      read_axis(table, table.keys());
      fill_rows(sweep_.axes.back(), table);
    }
    for (const Axis& axis : sweep_.axes) refuse_twice(axis);
    for (ConfigTable& table : root_.tables("sample")) {
      Axis axis = sample_of(table, sweep_.seed);
      ConfigTable sampled = table.at("parameters").table();
      for (const std::string& name : axis.names) add_parameter(name, sampled.at(name));
      sweep_.axes.push_back(std::move(axis));
    }
    for (const Axis& axis : sweep_.axes) require_seeds(axis);
  }

  /// An axis of these keys, whose values belong together.
  void read_axis(ConfigTable& table, const std::vector<std::string>& names) {
    Axis axis;
    for (const std::string& name : names) {
      const ConfigValue value = table.at(name);
      add_parameter(name, value);
      std::vector<Value> values = values_of(value);
      if (axis.names.empty()) axis.rows.resize(values.size());
      if (values.size() != axis.rows.size())
        throw value.error(fmt::format("\"{}\" has {} value{}, but \"{}\" has {}", name,
                                      values.size(), values.size() == 1 ? "" : "s",
                                      axis.names.front(), axis.rows.size()));
      axis.names.push_back(name);
      for (std::size_t i = 0; i < values.size(); ++i) axis.rows[i].push_back(std::move(values[i]));
    }
    sweep_.axes.push_back(std::move(axis));
  }

  /// In a zip, texts with names of others of their row.
  void fill_rows(Axis& axis, ConfigTable& table) {
    for (const std::string& name : axis.names)
      for_each_text(table.at(name),
                    [&](const std::string& text) { require_values(text, axis.names); });
    enum class State : std::uint8_t { open, begun, done };
    for (std::vector<Value>& row : axis.rows) {
      std::vector<State> states(row.size());
      const std::function<const Value&(std::size_t)> filled = [&](std::size_t i) -> const Value& {
        if (states[i] == State::begun)
          throw table.at(axis.names[i])
              .error(fmt::format("\"{}\" follows from itself", axis.names[i]));
        const bool is_open = states[i] == State::open && row[i].kind == Value::Kind::text;
        states[i] = State::begun;
        if (is_open)
          row[i] = filled_value(row[i].text, [&](const std::string& name) {
            const auto column = std::find(axis.names.begin(), axis.names.end(), name);
            return column == axis.names.end()
                       ? *value_for_all(name)
                       : filled(static_cast<std::size_t>(column - axis.names.begin()));
          });
        states[i] = State::done;
        return row[i];
      };
      for (std::size_t i = 0; i < row.size(); ++i) (void)filled(i);
    }
  }

  void refuse_twice(const Axis& axis) const {
    std::set<std::vector<std::string>> known;
    for (const std::vector<Value>& row : axis.rows) {
      std::vector<std::string> texts;
      for (const Value& each : row) texts.push_back(to_text(each));
      if (!known.insert(texts).second)
        throw place_of_parameter(axis.names.front())
            .error(joined(texts, " with ") + " is there twice");
    }
  }

  /// A parameter `seed` is the experiment's.
  void require_seeds(const Axis& axis) {
    const auto name = std::find(axis.names.begin(), axis.names.end(), "seed");
    if (name == axis.names.end()) return;
    used_.insert("seed");
    const auto column = static_cast<std::size_t>(name - axis.names.begin());
    for (const auto& row : axis.rows) {
      const Value& seed = row[column];
      if (seed.kind != Value::Kind::number || seed.unit != Unit::none || seed.number < 0 ||
          !is_whole(seed.number))
        throw place_of_parameter("seed").error(
            fmt::format("\"{}\" is no seed: whole numbers from 0 on", to_text(seed)));
    }
  }

  [[nodiscard]] const ConfigValue& place_of_parameter(const std::string& name) const {
    return std::find_if(parameters_.begin(), parameters_.end(),
                        [&name](const ParameterPlace& place) { return place.name == name; })
        ->value;
  }

  void read_definitions() {
    const auto derived = root_.find("derived");
    if (!derived) return;
    ConfigTable table = derived->table();
    for (const std::string& name : table.keys()) {
      const ConfigValue value = table.at(name);
      if (name == "seed")
        throw value.error("\"seed\" is the experiment's: it can be a parameter, not derived");
      names_.add(name, value);
      sweep_.definitions.push_back({name, what_of(value), place_of(value)});
    }
    const std::vector<std::string> known = value_names(sweep_);
    for (const Definition& definition : sweep_.definitions) {
      const ConfigValue value = table.at(definition.name);
      use(value.located([&] { return names_of(definition, known); }));
    }
  }

  static std::variant<TextDefinition, NumberDefinition, LargestDefinition>
  what_of(const ConfigValue& value) {
    if (value.is_string()) return TextDefinition{value.string()};
    ConfigTable table = value.table();
    if (!table.has("largest")) {
      table.allow_only({"expression", "unit", "largest"});
      const auto unit = table.find("unit");
      return NumberDefinition{table.at("expression").string(),
                              unit ? parsed(*unit, parse_unit) : Unit::none};
    }
    table.allow_only({"largest", "from", "to"});
    const ValueRange range = range_of(table, true);
    return LargestDefinition{table.at("largest").string(), range.from, range.to};
  }

  void read_experiment_names(const ConfigValue& experiment) {
    const std::vector<std::string> known = value_names(sweep_), facts = fact_names(sweep_);
    for_each_text(experiment,
                  [&known](const std::string& text) { (void)known_names_in(text, known); });
    use(sweep_.experiment->names());
    ConfigTable topologies = experiment.table().at("topologies").table();
    const ConfigValue topology = topologies.at(topologies.keys().front());
    sweep_.topology_place = place_of(topology);
    std::vector<std::string> names = names_in(sweep_.experiment->topology_text());
    names.insert(names.end(), sweep_.cost_names.begin(), sweep_.cost_names.end());
    for (const std::string& name : names)
      if (std::find(facts.begin(), facts.end(), name) != facts.end())
        throw topology.error(fmt::format("\"{}\" follows from the network and its cost, which "
                                         "can't follow from it",
                                         name));
  }

  void read_limits(ConfigTable table) {
    table.allow_only({"time", "memory"});
    if (const auto time = table.find("time")) {
      sweep_.limits.seconds = time->time().seconds();
      if (sweep_.limits.seconds <= 0) throw time->error("a limit is more than 0s");
    }
    if (const auto memory = table.find("memory")) {
      sweep_.limits.bytes = memory->bytes().count;
      if (sweep_.limits.bytes <= 0) throw memory->error("a limit is more than 0B");
    }
  }

  void read_constraints(const ConfigValue& value) {
    for (const ConfigValue& item : list_of(value)) {
      sweep_.constraints.push_back({item.string(), place_of(item)});
      use_expression(item, value_names(sweep_));
    }
  }

  void read_objectives(ConfigTable table) {
    std::vector<std::string> known = value_names(sweep_);
    for (const std::string& name : result_names()) known.push_back(name);
    for (const std::string& name : table.keys()) {
      const ConfigValue value = table.at(name);
      if (!is_identifier(name) || !is_plain_in_expressions(name))
        throw value.error(fmt::format("\"{}\" is no name", name));
      sweep_.objectives.push_back(objective_of(name, value, known));
      require_no_other(name, trimmed(sweep_.objectives.back().expression), known, value);
    }
  }

  /// A column that an objective is called by has to be that objective.
  static void require_no_other(const std::string& name, std::string_view expression,
                               std::vector<std::string> known, const ConfigValue& value) {
    known.insert(known.end(), store_columns.begin(), store_columns.end());
    for (const std::string& column : known)
      if (lower_case(column) == lower_case(name) && column != expression)
        throw value.error(
            fmt::format("the name \"{}\" is taken: every point has a value of it", name));
  }

  [[nodiscard]] std::vector<std::string> result_names() const {
    std::vector<std::string> names;
    for (const ResultColumn& column : results_) names.push_back(column.name);
    return names;
  }

  Objective objective_of(const std::string& name, const ConfigValue& value,
                         const std::vector<std::string>& known) {
    Objective objective;
    objective.name = name;
    if (value.is_string()) {
      read_expression(value, known, objective);
      return objective;
    }
    ConfigTable table = value.table();
    table.allow_only({"expression", "maximise", "unit"});
    read_expression(table.at("expression"), known, objective);
    if (const auto maximise = table.find("maximise")) objective.maximise = maximise->boolean();
    if (const auto unit = table.find("unit")) objective.unit = parsed(*unit, parse_unit);
    return objective;
  }

  /// And the unit, where the expression is one result.
  void read_expression(const ConfigValue& value, const std::vector<std::string>& known,
                       Objective& objective) {
    use_expression(value, known);
    objective.expression = value.string();
    for (const ResultColumn& column : results_)
      if (column.name == trimmed(objective.expression)) objective.unit = column.unit;
  }

  void use(const std::vector<std::string>& names) { used_.insert(names.begin(), names.end()); }
  void use_expression(const ConfigValue& value, const std::vector<std::string>& known) {
    use(parsed(value, [&known](const std::string& text) {
      return Expression(text, known, unknown_column).names();
    }));
  }

  void refuse_unused() const {
    for (const ParameterPlace& parameter : parameters_)
      if (!used_.contains(parameter.name))
        throw parameter.value.error(
            fmt::format("nothing uses the parameter \"{}\"", parameter.name));
  }

  ConfigTable root_;
  Sweep sweep_;
  std::vector<ResultColumn> results_;
  NameRegister names_;
  std::set<std::string> used_;
  std::vector<ParameterPlace> parameters_;
  std::vector<std::string> known_;           ///< all names, before values are read
  std::map<std::string, ConfigValue> given_; ///< values of parameters that could have one alone
  std::map<std::string, std::optional<Value>> constants_;
  const ValueOf value_for_all_ = [this](const std::string& name) { return *value_for_all(name); };
};

} // namespace

std::vector<std::string> parameter_names(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const Axis& axis : sweep.axes)
    names.insert(names.end(), axis.names.begin(), axis.names.end());
  return names;
}

std::vector<std::string> fact_names(const Sweep& sweep) {
  return network_fact_names(sweep.cost || sweep.cost_template);
}

CostModel cost_model_of(const ConfigValue& cost, const std::string& source_name,
                        const ValueOf& value_of) {
  if (cost.is_string()) {
    const std::string file = beside(filled_in(cost.string(), value_of), source_name);
    return read_cost_model(cost.located([&file] { return read_config(file); }));
  }
  return read_cost_model(cost.table().replaced(
      [&value_of](const std::string& text, const auto&) { return filled_scalar(text, value_of); }));
}

std::vector<std::string> value_names(const Sweep& sweep) {
  std::vector<std::string> names = parameter_names(sweep);
  for (const Definition& definition : sweep.definitions) names.push_back(definition.name);
  const std::vector<std::string> facts = fact_names(sweep);
  names.insert(names.end(), facts.begin(), facts.end());
  return names;
}

Sweep parse_sweep(std::string_view toml, const std::string& source_name, ProgramGate gate) {
  Sweep sweep = SweepReader(parse_config(toml, source_name, std::move(gate)), source_name).read();
  sweep.toml = toml;
  return sweep;
}

Sweep read_sweep(const std::string& file, ProgramGate gate) {
  return parse_sweep(read_input_file(file), file, std::move(gate));
}

} // namespace tutti::sweep
