// A point's experiment is the sweep's own table with the names in its texts and keys replaced, so
// that a sweep can vary whatever an experiment can say, with no second grammar. Replacing happens
// in the parsed table and not in its text: places of errors stay those of the sweep's file, and a
// value can't become syntax.
#include "experiments/driver/sweep/space/experiment_template.hpp"

#include "experiments/driver/outside/outside.hpp"
#include "experiments/driver/outside/schedule_files.hpp"
#include "experiments/driver/records/provenance.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/hash.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"
#include "topologies/machines.hpp"
#include "workloads/model.hpp"
#include "workloads/npu_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include <unistd.h>

namespace tutti::sweep {

namespace {

namespace fs = std::filesystem;

// Raised by one when the same experiment comes to other numbers than before.
constexpr int results_version = 6;

// Keys of an experiment whose texts may name files.
constexpr std::array file_keys{"algorithm", "algorithms", "collective", "collectives", "events",
                               "file",      "groups",     "measured",   "model",       "npu",
                               "settings",  "start_file", "trace",      "transport",   "workload"};

/// What an algorithm from outside may read, as far as its name says that; of any other text
/// nothing.
std::vector<std::string> files_outside(const std::string& name, const std::string& source_name) {
  std::optional<OutsideName> outside;
  try {
    outside = outside_name(name);
  } catch (const InputError&) { // which the point says itself
  }
  if (!outside) return {};
  if (!outside->runs())
    return files_for(fs::path(source_name).parent_path().string(), outside->file);
  std::vector<std::string> files;
  outside->arguments.push_back(outside->file);
  for (const std::string& word : outside->arguments) files.push_back(beside(word, source_name));
  return files;
}

// The texts under file_keys, wherever in the table they stand.
void add_file_texts(ConfigTable table, std::vector<std::string>& texts) {
  for (const std::string& key : table.keys()) {
    const ConfigValue value = table.at(key);
    if (std::find(file_keys.begin(), file_keys.end(), key) != file_keys.end())
      for_each_text(value, [&texts](const std::string& text) { texts.push_back(text); });
    if (value.is_table()) add_file_texts(value.table(), texts);
    if (!value.is_array()) continue;
    for (const ConfigValue& item : value.array())
      if (item.is_table()) add_file_texts(item.table(), texts);
  }
}

// One study and not several: a point has one row of results.
std::string kind_of(ConfigTable& table) {
  std::vector<std::string> found;
  for (const std::string& kind : kind_names())
    found.insert(found.end(), table.tables(kind).size(), kind);
  if (found.size() != 1)
    throw table.error(fmt::format("a point is one study, of [[experiment.{}]]; these are {}",
                                  joined(kind_names(), "]], [[experiment."), found.size()));
  return found.front();
}

ConfigValue topology_of(ConfigTable& table) {
  ConfigTable topologies = table.at("topologies").table();
  const std::vector<std::string> labels = topologies.keys();
  if (labels.size() != 1)
    throw topologies.error(fmt::format("a point has one topology, not {}: vary its text with "
                                       "${{names}} of parameters",
                                       labels.size()));
  return topologies.at(labels.front());
}

std::string content_fingerprint(const fs::path& file) {
  Fingerprint hash;
  hash.add(read_file(file.string()));
  return fmt::format("{} {:016x}\n", file.filename().string(), hash.value());
}

} // namespace

ExperimentTemplate::ExperimentTemplate(const ConfigTable& table, std::string source_name)
    : table_(table), source_name_(std::move(source_name)) {
  ConfigTable root = table;
  std::vector<std::string> parts = kind_names();
  parts.emplace_back("topologies");
  root.allow_only(parts);
  topology_ = topology_of(root);
  topology_text_ = topology_->string();
  kind_ = kind_of(root);
  std::set<std::string> names;
  for_each_text(table, [&names](const std::string& text) {
    for (const std::string& name : names_in(text)) names.insert(name);
  });
  names_.assign(names.begin(), names.end());
  fingerprint_text_ = fmt::format("tutti {} results {}\n{}", tutti_version(), results_version,
                                  table.canonical_text());
  add_file_texts(table, file_texts_);
  file_texts_.push_back(topology_text_);
}

Experiment ExperimentTemplate::experiment(const ValueOf& value_of, std::uint64_t seed) const {
  const auto filled = [&value_of](const std::string& text, const auto&) {
    return filled_scalar(text, value_of);
  };
  return unnamed_experiment(table_.replaced(filled), source_name_, seed);
}

// A point whose topology, model or trace has been edited since is another point: its result in the
// store must not be taken for the new one's. Whether a text names a file isn't known here, so that
// every file that it could name counts.
const std::string& ExperimentTemplate::fingerprint_of(const std::string& text) const {
  const auto [found, is_new] = fingerprints_.try_emplace(text);
  if (!is_new) return found->second;
  std::error_code error;
  const std::string beside_it = fs::path(source_name_).parent_path().string();
  std::string named(topology_file(text, beside_it)); // options of a topology may follow
  if (named.empty()) named = text.substr(0, text.find(','));
  const fs::path file = beside(named, source_name_);
  std::set<fs::path> files{file.lexically_normal()};
  for (const std::string_view item : split(text, ',')) // the names of algorithms from outside
    for (const fs::path path : files_outside(std::string(trimmed(item)), source_name_))
      files.insert(path.lexically_normal());
  for (const fs::path& each : files)
    if (fs::is_regular_file(each, error)) found->second += content_fingerprint(each);
  if (const auto machine = topologies::machine_file(named.substr(0, named.find(':'))))
    found->second += content_fingerprint(*machine);
  for (const std::string& folder : {model_folder(), npu_folder()})
    if (const fs::path data = fs::path(folder) / (named + ".toml");
        fs::is_regular_file(data, error))
      found->second += content_fingerprint(data);
  for (int rank = 0;; ++rank) { // traces are named by their prefix
    const fs::path trace = fmt::format("{}.{}.et", file.string(), rank);
    if (!fs::is_regular_file(trace, error)) break;
    found->second += content_fingerprint(trace);
  }
  return found->second;
}

std::vector<std::string> ExperimentTemplate::programs() const {
  std::set<std::string> programs;
  const auto look = [&](const std::string& text) {
    for (const std::string_view item : split(text, ',')) {
      const std::string name(trimmed(item));
      const std::string file = beside(name.substr(0, name.find(':')), source_name_);
      std::error_code error;
      if (name.starts_with("program:") ||
          (fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0))
        programs.insert(name);
    }
  };
  for_each_text(table_, look);
  return {programs.begin(), programs.end()};
}

Topology ExperimentTemplate::topology(const std::string& text) const {
  return topology_named(text, *topology_, source_name_);
}

std::string ExperimentTemplate::file_fingerprints(const ValueOf& value_of) const {
  std::string fingerprints;
  for (const std::string& text : file_texts_)
    fingerprints += fingerprint_of(filled_in(text, value_of));
  return fingerprints;
}

} // namespace tutti::sweep
