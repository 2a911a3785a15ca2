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
#include "sim/expressions/whole_number.hpp"
#include "sim/files/files.hpp"
#include "sim/files/gzip.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
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

/// Calls `each` with every text in the value.
template <typename Each> void for_each_text(const ConfigValue& value, const Each& each) {
  if (value.is_string()) each(value);
  if (value.is_array())
    for (const ConfigValue& item : value.array()) for_each_text(item, each);
  if (!value.is_table()) return;
  ConfigTable table = value.table();
  for (const std::string& key : table.keys()) for_each_text(table.at(key), each);
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
    if (!value->is_string()) {
      sweep_.cost = read_cost_model(value->table());
      return;
    }
    const std::string file = beside(value->string(), sweep_.source_name);
    sweep_.cost = read_cost_model(value->located([&file] { return read_config(file); }));
  }

  void add_parameter(const std::string& name, const ConfigValue& value) {
    names_.add(name, value);
    parameters_.push_back({name, value});
  }

  void read_axes() {
    if (const auto parameters = root_.find("parameters")) {
      ConfigTable table = parameters->table();
      for (const std::string& name : table.keys()) {
        const ConfigValue value = table.at(name);
        add_parameter(name, value);
        Axis axis{{name}, {}};
        for (Value& each : values_of(value)) {
          if (std::find(axis.rows.begin(), axis.rows.end(), std::vector{each}) != axis.rows.end())
            throw value.error(fmt::format("{} is there twice", to_text(each)));
          axis.rows.push_back({std::move(each)});
        }
        sweep_.axes.push_back(std::move(axis));
      }
    }
    for (ConfigTable& table : root_.tables("zip")) read_zip(table);
    for (ConfigTable& table : root_.tables("sample")) {
      Axis axis = sample_of(table, sweep_.seed);
      ConfigTable sampled = table.at("parameters").table();
      for (const std::string& name : axis.names) add_parameter(name, sampled.at(name));
      sweep_.axes.push_back(std::move(axis));
    }
    for (const Axis& axis : sweep_.axes) require_seeds(axis);
  }

  void read_zip(ConfigTable& table) {
    Axis axis;
    for (const std::string& name : table.keys()) {
      const ConfigValue value = table.at(name);
      add_parameter(name, value);
      std::vector<Value> values = values_of(value);
      if (axis.names.empty()) axis.rows.resize(values.size());
      if (values.size() != axis.rows.size())
        throw value.error(fmt::format("\"{}\" has {} values, but \"{}\" has {}", name,
                                      values.size(), axis.names.front(), axis.rows.size()));
      axis.names.push_back(name);
      for (std::size_t i = 0; i < values.size(); ++i) axis.rows[i].push_back(std::move(values[i]));
    }
    if (axis.names.empty()) throw table.error("a zip needs parameters");
    sweep_.axes.push_back(std::move(axis));
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
    const std::vector<std::string> known = value_names(sweep_);
    for_each_text(experiment, [&](const ConfigValue& text) {
      for (const std::string& name : names_in(text.string()))
        if (std::find(known.begin(), known.end(), name) == known.end())
          throw text.error(unknown_name("name", name, known));
    });
    use(sweep_.experiment->names());
    ConfigTable topologies = experiment.table().at("topologies").table();
    sweep_.topology_place = place_of(topologies.at(topologies.keys().front()));
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
};

} // namespace

std::vector<std::string> parameter_names(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const Axis& axis : sweep.axes)
    names.insert(names.end(), axis.names.begin(), axis.names.end());
  return names;
}

std::vector<std::string> fact_names(const Sweep& sweep) {
  return network_fact_names(sweep.cost.has_value());
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
