// Two written lists, one after the other. Code that depends on what an algorithm is called goes
// wrong when one is added: all commands, tests and completions walk these rows.
#include "experiments/driver/studies/registry.hpp"

#include "algorithms/list.hpp"
#include "experiments/driver/outside/outside.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/not_built.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "synth/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace tutti {

std::vector<AlgorithmRow> all_algorithms() {
  const auto baselines = baseline_algorithms();
  std::vector<AlgorithmRow> rows(baselines.begin(), baselines.end());
  const auto others = synthesizers();
  rows.insert(rows.end(), others.begin(), others.end());
  return rows;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const AlgorithmRow& row : all_algorithms()) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> algorithm_names_or_all() {
  std::vector<std::string> names = algorithm_names();
  names.emplace_back("all");
  return names;
}

namespace {

/// Rows of the names in these texts, each by `find`.
template <typename Find>
std::vector<AlgorithmRow> rows_of(std::span<const std::string> names, const Find& find) {
  std::vector<AlgorithmRow> found;
  const auto add = [&found](AlgorithmRow row) {
    if (std::ranges::find(found, row.name, &AlgorithmRow::name) != found.end())
      throw InputError(fmt::format("algorithm \"{}\" is named twice", row.name));
    found.push_back(std::move(row));
  };
  for (const std::string& text : names)
    for (const std::string_view item : split(text, ',')) {
      const std::string_view name = trimmed(item);
      if (name != "all") {
        add(find(name));
        continue;
      }
      for (const AlgorithmRow& row : all_algorithms())
        add(find_algorithm(row.name)); // which requires it to be built
    }
  return found;
}

} // namespace

AlgorithmRow find_algorithm(std::string_view name) {
  if (const std::optional<OutsideName> outside = outside_name(name))
    return outside_algorithm(std::string(name), *outside);
  for (const AlgorithmRow& row : all_algorithms())
    if (row.name == name) {
      require_built(row.run);
      return row;
    }
  throw InputError(unknown_name("algorithm", name, algorithm_names()));
}

AlgorithmRow find_algorithm_at(std::string_view name, const ConfigValue& value) {
  std::optional<OutsideName> outside = outside_name(name);
  if (!outside || value.source().empty()) return find_algorithm(name);
  if (outside->runs())
    outside->file = beside(outside->file, value.source());
  else
    outside->folder = std::filesystem::path(value.source()).parent_path().string();
  if (outside->runs()) value.admit(outside->file);
  return outside_algorithm(std::string(name), *outside, value.program_keeper());
}

AlgorithmRow algorithm_of(const ConfigValue& value) {
  return parsed(value,
                [&value](const std::string& name) { return find_algorithm_at(name, value); });
}

std::vector<AlgorithmRow> find_algorithms(std::span<const std::string> names) {
  return rows_of(names, find_algorithm);
}

std::vector<AlgorithmRow> algorithms_of(const ConfigValue& value) {
  std::vector<std::string> names;
  for (const ConfigValue& item : list_of(value)) names.push_back(item.string());
  return value.located([&] {
    return rows_of(names,
                   [&value](std::string_view name) { return find_algorithm_at(name, value); });
  });
}

void require_known_settings(std::span<const AlgorithmRow> rows, const SynthesisOptions& options) {
  std::vector<std::string> known;
  for (const AlgorithmRow& row : rows)
    for (const Setting& setting : row.settings) known.emplace_back(setting.name);
  if (std::ranges::any_of(rows, [](const AlgorithmRow& row) { return row.outside != nullptr; }))
    return; // which settings there are is its own affair
  for (const auto& [key, value] : options.settings)
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw InputError(known.empty()
                           ? fmt::format("unknown setting \"{}\" (no algorithm here has any)", key)
                           : unknown_name("setting", key, known));
}

SynthesisOptions options_for(const AlgorithmRow& row, SynthesisOptions options) {
  std::erase_if(options.settings, [&](const auto& entry) { return !row.has_setting(entry.first); });
  return options;
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const EngineRow& row : engines()) names.emplace_back(row.name);
  return names;
}

std::vector<const EngineRow*> all_engines() {
  return {&find_engine("native"), &find_engine("simgrid")};
}

std::vector<const EngineRow*> parse_engines(const std::string& text) {
  if (text == "both") return all_engines();
  return {&find_engine(text)};
}

} // namespace tutti
