// Reads an experiment's file as a whole before anything runs, topologies first: all studies refer
// to them by label. What a kind of study reads, checks and runs stands in its folder; here is what
// is done with each alike.
#include "experiments/driver/studies/experiment.hpp"

#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/not_built.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "sim/files/gzip.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tutti {

namespace {

std::vector<LabelledTopology> read_topologies(ConfigTable& root, const std::string& source_name) {
  std::vector<LabelledTopology> topologies;
  ConfigTable table = root.at("topologies").table();
  for (const std::string& label : table.keys()) {
    const ConfigValue value = table.at(label);
    value.located([&] { require_one_line(label); });
    const std::string text = value.string();
    topologies.push_back(
        {label, text, value.located([&] { return topology_named(text, value, source_name); })});
  }
  if (topologies.empty()) throw table.error("no topology is named");
  return topologies;
}

/// A study for each table of the kind, unless it is one of all of them.
template <typename Kind>
std::vector<Kind> read_all(ConfigTable& root, const Experiment& experiment,
                           const std::string& source_name) {
  if constexpr (requires { Kind::read_all(root, experiment, source_name); }) {
    return Kind::read_all(root, experiment, source_name);
  } else {
    std::vector<Kind> studies;
    for (const ConfigTable& table : root.tables(std::string(Kind::kind)))
      studies.push_back(Kind::read(table, experiment, source_name, studies));
    return studies;
  }
}

// All but the head.
void read_parts(ConfigTable& root, const std::string& source_name, Experiment& experiment) {
  const std::vector<std::string> kinds = kind_names();
  const bool only_includes =
      root.has("include") && !root.has("topologies") &&
      std::ranges::none_of(kinds, [&](const std::string& kind) { return root.has(kind); });
  if (only_includes) return;
  experiment.topologies = read_topologies(root, source_name);
  for_each_kind([&]<typename Kind>(std::type_identity<Kind>) {
    try {
      for (Kind& study : read_all<Kind>(root, experiment, source_name))
        experiment.studies.emplace_back(std::move(study));
    } catch (const NotBuilt&) {
      if (root.has(std::string(Kind::kind))) throw; // else there is nothing to read
    }
  });
  if (experiment.studies.empty())
    throw root.error(fmt::format("needs a study: [[{}]]", joined(kinds, "]], [[")));
}

Experiment read(ConfigTable root, const std::string& source_name, bool may_include = true);

// Another file's executions and their topologies.
void include_executions(const ConfigValue& value, const std::string& source_name,
                        Experiment& experiment) {
  const std::string name = plain_name(value), file = beside(name + ".toml", source_name);
  Experiment other = value.located([&] { return read(read_config(file), file, false); });
  const std::size_t first_topology = experiment.topologies.size();
  for (LabelledTopology& each : other.topologies) experiment.topologies.push_back(std::move(each));
  std::vector<ExecutionStudy> others;
  for (const ExecutionStudy* each : experiment.all<ExecutionStudy>()) others.push_back(*each);
  for (AnyStudy& each : other.studies) {
    auto* study = std::get_if<ExecutionStudy>(&each);
    if (study == nullptr) throw value.error("\"" + name + "\" has more than executions");
    study->label = study->execution.label = name + ": " + study->label;
    require_own_files(value, study->label, others);
    study->topology += first_topology;
    others.push_back(*study);
    experiment.studies.push_back(std::move(each));
  }
}

Experiment read(ConfigTable root, const std::string& source_name, bool may_include) {
  Experiment experiment;
  std::vector<std::string> keys{"name",       "title",   "seed",    "cpu_time",
                                "topologies", "include", "figures", "expect"};
  for (std::string& kind : kind_names()) keys.push_back(std::move(kind));
  root.allow_only(keys);
  experiment.name = plain_name(root.at("name"));
  experiment.title = string_at(root, "title");
  if (experiment.title.empty()) experiment.title = experiment.name;
  if (const auto seed = root.find("seed"))
    experiment.seed = static_cast<std::uint64_t>(seed->integer(0));
  if (const auto time = root.find("cpu_time")) (void)time->time(); // for the catalogue
  read_parts(root, source_name, experiment);
  if (const auto names = root.find("include")) {
    if (!may_include) throw names->error("what another experiment includes includes no others");
    if (names->array().empty()) throw names->error("\"include\" is empty");
    std::vector<std::string> included;
    for (const ConfigValue& value : names->array()) {
      if (std::ranges::find(included, value.string()) != included.end())
        throw value.error("\"" + value.string() + "\" is included twice");
      included.push_back(value.string());
      include_executions(value, source_name, experiment);
    }
  }
  root.finish();
  return experiment;
}

} // namespace

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for_each_kind(
      [&names]<typename Kind>(std::type_identity<Kind>) { names.emplace_back(Kind::kind); });
  return names;
}

std::vector<RecordColumn> columns_of_kind(std::string_view kind) {
  std::vector<RecordColumn> columns;
  for_each_kind([&]<typename Kind>(std::type_identity<Kind>) {
    if (Kind::kind == kind) columns = columns_of<Kind>();
  });
  return columns;
}

std::size_t case_count(const AnyStudy& study) {
  return std::visit([](const auto& each) { return each.case_count(); }, study);
}

std::string_view kind_of(const AnyStudy& study) {
  return std::visit([](const auto& each) { return std::decay_t<decltype(each)>::kind; }, study);
}

const std::string& label_of(const AnyStudy& study) {
  return std::visit([](const auto& each) -> const std::string& { return each.label; }, study);
}

void require_sound(const AnyStudy& study, Networks networks) {
  std::visit([networks](const auto& each) { require_sound(each, networks); }, study);
}

StudyResult run_study(const AnyStudy& study, const StudyRun& how) {
  return std::visit([&how](const auto& each) { return run_study(each, how); }, study);
}

Experiment parse_experiment(std::string_view toml, const std::string& source_name,
                            ProgramGate gate) {
  return read(parse_config(toml, source_name, std::move(gate)), source_name);
}

Experiment parse_experiment(ConfigTable table, const std::string& source_name) {
  return read(std::move(table), source_name);
}

Experiment unnamed_experiment(ConfigTable table, const std::string& source_name,
                              std::uint64_t seed) {
  Experiment experiment;
  experiment.seed = seed;
  read_parts(table, source_name, experiment);
  table.finish();
  return experiment;
}

Experiment read_experiment(const std::string& file) {
  return parse_experiment(read_input_file(file), file);
}

} // namespace tutti
