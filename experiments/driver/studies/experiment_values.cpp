// A value is read by the parser that the command line uses for the same text; what it refuses is
// reported at the value's line and column.
#include "experiments/driver/studies/experiment_values.hpp"

#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/requests/work_limits.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/shares/shares.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace tutti {

std::vector<ConfigValue> list_of(const ConfigValue& value) {
  return value.is_array() ? value.array() : std::vector{value};
}

void require_one_line(const std::string& label) {
  if (printable(label) != label)
    throw InputError(fmt::format("\"{}\" has characters that can't be shown: a label is one line",
                                 printable(label)));
}

std::string plain_label(const ConfigValue& value) {
  std::string label = value.string();
  value.located([&] { require_one_line(label); });
  return label;
}

std::string plain_name(const ConfigValue& value) {
  std::string name = value.string();
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (!plain)
    throw value.error(fmt::format("\"{}\" must consist of letters, digits, - and _", name));
  return name;
}

std::string topology_beside(const std::string& text, const std::string& source_name) {
  const std::string_view file =
      topology_file(text, std::filesystem::path(source_name).parent_path().string());
  return file.empty() ? text : beside(std::string(file), source_name) + text.substr(file.size());
}

Topology topology_named(const std::string& text, const ConfigValue& value,
                        const std::string& source_name) {
  return make_topology(topology_beside(text, source_name),
                       [&value](const std::string& program) { value.admit(program); });
}

std::string string_at(ConfigTable& table, const std::string& key) {
  const auto value = table.find(key);
  return value ? value->string() : "";
}

std::size_t topology_index(const ConfigValue& value, Networks networks) {
  const std::string label = value.string();
  std::vector<std::string> known;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    if (networks[i].label == label) return i;
    known.push_back(networks[i].label);
  }
  throw value.error(unknown_name("topology label", label, known));
}

std::string collective_beside(const std::string& text, const std::string& source_name) {
  if (is_collective_file(text)) return beside(text, source_name);
  return with_files(with_own_name(text),
                    [&](const std::string& file) { return beside(file, source_name); });
}

std::vector<std::string> texts_of(const ConfigValue& value, const std::string& source_name) {
  std::vector<std::string> texts;
  for (const ConfigValue& item : list_of(value)) {
    const std::string text = item.string();
    if (!is_collective_file(text)) parsed(item, parse_collective);
    texts.push_back(collective_beside(text, source_name));
  }
  if (texts.empty()) throw value.error("no collective is named");
  return texts;
}

std::vector<Bytes> sizes_at(ConfigTable& table, const std::string& key,
                            const std::string& otherwise) {
  std::vector<Bytes> sizes;
  for (const auto& some :
       list_at(table, key, std::vector<std::vector<Bytes>>{parse_sizes(otherwise)},
               [](const ConfigValue& item) { return parsed(item, parse_sizes); }))
    sizes.insert(sizes.end(), some.begin(), some.end());
  return sizes;
}

std::size_t topology_at(ConfigTable& table, Networks networks) {
  const auto value = table.find("topology");
  if (!value && networks.size() == 1) return 0;
  return topology_index(table.at("topology"), networks);
}

namespace {

/// Whether some algorithm has a setting of this name that names a file.
bool names_file(const std::string& setting) {
  return std::ranges::any_of(all_algorithms(), [&](const AlgorithmRow& row) {
    const auto found = std::ranges::find(row.settings, setting, &Setting::name);
    return found != row.settings.end() && found->reads_file;
  });
}

} // namespace

SynthesisOptions options_of(ConfigTable& table, std::uint64_t seed,
                            const std::string& source_name) {
  SynthesisOptions options;
  options.seed = seed;
  read_keys(table, std::array{link_busy_option, forwarding_option}, options.model);
  if (const auto limit = table.find("limit"))
    parsed(*limit, [&options](const std::string& text) { return set_limits(options, text); });
  if (const auto settings = table.find("settings")) {
    ConfigTable pairs = settings->table();
    for (const std::string& key : pairs.keys()) {
      const std::string text = pairs.at(key).string();
      options.settings[key] = names_file(key) ? beside(text, source_name) : text;
    }
  }
  return options;
}

std::optional<std::uint32_t> chunks_of(const ConfigValue& value) {
  if (value.is_integer()) return static_cast<std::uint32_t>(value.integer(1, most_chunks));
  if (!value.is_string() && !value.is_boolean() && !value.is_array() && !value.is_table())
    throw value.error(
        fmt::format("chunks per shard are a whole number or \"auto\", not {}", value.number()));
  return parsed(value, parse_chunks);
}

std::vector<AlgorithmRow> algorithms_at(ConfigTable& table) {
  const ConfigValue value = table.at("algorithms");
  std::vector<AlgorithmRow> rows = algorithms_of(value);
  if (rows.empty()) throw value.error("\"algorithms\" is empty");
  return rows;
}

} // namespace tutti
