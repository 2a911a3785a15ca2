#include "experiments/experiment_values.hpp"

#include "sim/error.hpp"

namespace tutti {

std::vector<ConfigValue> list_of(const ConfigValue& value) {
  return value.is_array() ? value.array() : std::vector{value};
}

std::string string_at(ConfigTable& table, const std::string& key) {
  const auto value = table.find(key);
  return value ? value->string() : "";
}

std::size_t topology_index(const ConfigValue& value,
                           const std::vector<LabelledTopology>& topologies) {
  const std::string label = value.string();
  std::vector<std::string> known;
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    if (topologies[i].label == label) return i;
    known.push_back(topologies[i].label);
  }
  throw value.error(unknown_name("topology label", label, known));
}

std::vector<std::string> texts_of(const ConfigValue& value) {
  std::vector<std::string> texts;
  for (const ConfigValue& item : list_of(value)) {
    const std::string text = item.string();
    if (!is_collective_file(text)) parsed(item, parse_collective);
    texts.push_back(text);
  }
  if (texts.empty()) throw value.error("no collective is named");
  return texts;
}

std::optional<std::uint32_t> chunks_of(const ConfigValue& value) {
  if (value.is_integer()) return static_cast<std::uint32_t>(value.integer(1, most_chunks));
  return parsed(value, parse_chunks);
}

} // namespace tutti
