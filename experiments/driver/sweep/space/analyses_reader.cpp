// Analyses name objectives and parameters that the sweep has read before. What would only fail
// after hours of simulation (a misspelt parameter, two analyses that write the same file) is
// refused here, with its place.
#include "experiments/driver/sweep/space/analyses_reader.hpp"

#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/sweep/space/value_reader.hpp"
#include "sim/error.hpp"
#include "sim/expressions/placeholders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tutti::sweep {

namespace {

class AnalysesReader {
public:
  explicit AnalysesReader(Sweep& sweep) : sweep_(sweep), parameters_(parameter_names(sweep)) {
    for (const Objective& objective : sweep.objectives) objectives_.push_back(objective.name);
    stems_.push_back(file_stem("", "points")); // points.csv
  }

  std::set<std::string> read(ConfigTable& root) {
    for (ConfigTable& table : root.tables("pareto")) sweep_.paretos.push_back(read_pareto(table));
    for (ConfigTable& table : root.tables("best")) sweep_.bests.push_back(read_best(table));
    for (ConfigTable& table : root.tables("sensitivity"))
      sweep_.sensitivities.push_back(read_sensitivity(table));
    for (ConfigTable& table : root.tables("curves")) sweep_.curves.push_back(read_curves(table));
    for (ConfigTable& table : root.tables("selection"))
      sweep_.selections.push_back(read_selection(table));
    return std::move(used_);
  }

private:
  ParetoAnalysis read_pareto(ConfigTable& table) {
    ParetoAnalysis analysis;
    begin(table, {"x", "y", "name"});
    analysis.head = head_at(table);
    analysis.x = objective_at(table, "x");
    analysis.y = objective_at(table, "y");
    if (analysis.x == analysis.y) throw table.error("\"x\" and \"y\" are the same objective");
    analysis.name = parameter_at(table, "name");
    return analysis;
  }

  BestAnalysis read_best(ConfigTable& table) {
    BestAnalysis analysis;
    begin(table, {"objective", "of", "x", "y"});
    analysis.head = head_at(table);
    analysis.objective = objective_at(table, "objective");
    analysis.of = needed_parameters_at(table, "of");
    analysis.x = needed_parameter_at(table, "x");
    analysis.y = parameter_at(table, "y");
    return analysis;
  }

  SensitivityAnalysis read_sensitivity(ConfigTable& table) {
    SensitivityAnalysis analysis;
    begin(table, {"objective", "of"});
    analysis.head = head_at(table);
    analysis.objective = objective_at(table, "objective");
    analysis.of = parameters_at(table, "of");
    return analysis;
  }

  CurvesAnalysis read_curves(ConfigTable& table) {
    CurvesAnalysis analysis;
    begin(table,
          {"objective", "x", "series", "replicates", "quantile", "logarithmic", "relative_to"});
    analysis.head = head_at(table);
    analysis.objective = objective_at(table, "objective");
    analysis.x = needed_parameter_at(table, "x");
    analysis.series = needed_parameter_at(table, "series");
    analysis.replicates = parameter_at(table, "replicates");
    if (const auto value = table.find("quantile")) {
      analysis.quantile = value->number();
      if (analysis.replicates.empty() || analysis.quantile <= 0 || analysis.quantile > 1)
        throw value->error("a quantile is of `replicates`, and lies above 0 and up to 1");
    }
    if (const auto value = table.find("logarithmic")) analysis.logarithmic = value->boolean();
    if (const auto value = table.find("relative_to"))
      analysis.relative_to = value_among(*value, analysis.series);
    return analysis;
  }

  SelectionAnalysis read_selection(ConfigTable& table) {
    SelectionAnalysis analysis;
    begin(table, {"objective", "of", "over"});
    analysis.head = head_at(table);
    analysis.objective = objective_at(table, "objective");
    analysis.of = needed_parameters_at(table, "of");
    analysis.over = needed_parameter_at(table, "over");
    return analysis;
  }

  void begin(ConfigTable& table, std::vector<std::string> keys) {
    named_.clear();
    for (const char* key : {"label", "title", "by"}) keys.emplace_back(key);
    table.allow_only(std::move(keys));
  }

  AnalysisHead head_at(ConfigTable& table) {
    const ConfigValue label = table.at("label");
    AnalysisHead head{label.string(), string_at(table, "title"), parameters_at(table, "by")};
    if (head.label.find("${") != std::string::npos)
      throw label.error("a label names files: it has no ${...} but those that are filled in");
    if (head.title.empty()) head.title = head.label;
    if (const auto title = table.find("title")) title->located([&] { require_values(head); });
    std::string stem = file_stem("", head.label);
    if (stem.empty()) throw label.error("a label needs letters or digits");
    if (std::find(stems_.begin(), stems_.end(), stem) != stems_.end())
      throw label.error(fmt::format("\"{}\" would have the same files as another", head.label));
    stems_.push_back(std::move(stem));
    return head;
  }

  /// A title is that of one combination of `by`.
  void require_values(const AnalysisHead& head) {
    for (const std::string& name : known_names_in(head.title, parameters_)) {
      const bool is_one = std::ranges::any_of(sweep_.axes, [&name](const Axis& axis) {
        return axis.rows.size() == 1 && std::ranges::count(axis.names, name) > 0;
      });
      if (!is_one && std::ranges::count(head.by, name) == 0)
        throw InputError(
            fmt::format("\"{}\" is neither in \"by\" nor one value for all points", name));
      used_.insert(name);
    }
  }

  std::string objective_at(ConfigTable& table, const std::string& key) {
    const ConfigValue value = table.at(key);
    std::string name = value.string();
    if (std::find(objectives_.begin(), objectives_.end(), name) == objectives_.end())
      throw value.error(unknown_name("objective", name, objectives_));
    return name;
  }

  // A parameter has one role in an analysis: as x and as `by` it would be a point for each curve.
  std::string parameter_of(const ConfigValue& value) {
    std::string name = value.string();
    if (std::find(parameters_.begin(), parameters_.end(), name) == parameters_.end())
      throw value.error(unknown_name("parameter", name, parameters_));
    if (!named_.insert(name).second) throw value.error(fmt::format("\"{}\" is named twice", name));
    used_.insert(name);
    return name;
  }
  std::string parameter_at(ConfigTable& table, const std::string& key) {
    const auto value = table.find(key);
    return value ? parameter_of(*value) : "";
  }
  std::string needed_parameter_at(ConfigTable& table, const std::string& key) {
    return parameter_of(table.at(key));
  }
  std::vector<std::string> parameters_at(ConfigTable& table, const std::string& key) {
    std::vector<std::string> names;
    if (const auto value = table.find(key))
      for (const ConfigValue& item : list_of(*value)) names.push_back(parameter_of(item));
    return names;
  }
  std::vector<std::string> needed_parameters_at(ConfigTable& table, const std::string& key) {
    const ConfigValue value = table.at(key);
    std::vector<std::string> names = parameters_at(table, key);
    if (names.empty()) throw value.error(fmt::format("\"{}\" is empty", key));
    return names;
  }

  /// As to_text() has it.
  std::string value_among(const ConfigValue& value, const std::string& parameter) {
    std::vector<std::string> known;
    for (const Axis& axis : sweep_.axes) {
      const auto name = std::find(axis.names.begin(), axis.names.end(), parameter);
      if (name == axis.names.end()) continue;
      const auto column = static_cast<std::size_t>(name - axis.names.begin());
      for (const auto& row : axis.rows) known.push_back(to_text(row[column]));
    }
    std::string text = to_text(scalar_of(value));
    if (std::find(known.begin(), known.end(), text) == known.end())
      throw value.error(unknown_name(fmt::format("value of \"{}\"", parameter), text, known));
    return text;
  }

  Sweep& sweep_;
  std::vector<std::string> parameters_, objectives_, stems_;
  std::set<std::string> named_; ///< by the analysis that is being read
  std::set<std::string> used_;
};

} // namespace

std::set<std::string> read_analyses(ConfigTable& root, Sweep& sweep) {
  return AnalysesReader(sweep).read(root);
}

} // namespace tutti::sweep
