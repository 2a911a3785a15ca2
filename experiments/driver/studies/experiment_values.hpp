// Values that several parts of an experiment's file have in common: lists, names of topologies and
// collectives, texts that a parser of their own reads.
#pragma once

#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/study.hpp"
#include "sim/files/config.hpp"
#include "sim/synthesizer.hpp"
#include "sim/words.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The items of a list, or the one value that stands for a list of one.
[[nodiscard]] std::vector<ConfigValue> list_of(const ConfigValue& value);

/// The value's text through a parser that knows nothing of places.
template <typename Parse> auto parsed(const ConfigValue& value, Parse&& parse) {
  const std::string text = value.string();
  return value.located([&] { return parse(text); });
}

/// The value that its word names.
template <typename Enum, std::size_t count>
Enum parsed(const ConfigValue& value, const Words<Enum, count>& words) {
  return parsed(value, [&words](std::string_view text) { return words.parse(text); });
}

template <typename Enum, std::size_t count>
Enum parsed_at(ConfigTable& table, const std::string& key, Enum otherwise,
               const Words<Enum, count>& words) {
  const auto value = table.find(key);
  return value ? parsed(*value, words) : otherwise;
}

template <typename Parse>
auto parsed_at(ConfigTable& table, const std::string& key, const char* otherwise, Parse&& parse) {
  const auto value = table.find(key);
  return value ? parsed(*value, parse) : parse(std::string(otherwise));
}

/// What `read` makes of each item of a list (or of one value), or the default.
template <typename T, typename Read>
std::vector<T> list_at(ConfigTable& table, const std::string& key, std::vector<T> otherwise,
                       Read&& read) {
  const auto value = table.find(key);
  if (!value) return otherwise;
  std::vector<T> values;
  for (const ConfigValue& item : list_of(*value)) values.push_back(read(item));
  if (values.empty()) throw value->error("\"" + key + "\" is empty");
  return values;
}

/// Errors: InputError at control characters.
void require_one_line(const std::string& label);

/// Text of one line, for tables, messages and packs. Errors: InputError at control characters.
[[nodiscard]] std::string plain_label(const ConfigValue& value);

/// Errors: InputError at the value where a study of this label would have the files of another.
template <typename Studies>
void require_own_files(const ConfigValue& value, const std::string& label, const Studies& others) {
  const std::string stem = file_stem("", label);
  if (stem.empty()) throw value.error("a label needs letters or digits");
  for (const auto& other : others)
    if (file_stem("", other.label) == stem)
      throw value.error("\"" + label + "\" would have the same files as \"" + other.label + "\"");
}

/// The label of a study, which names its files: with letters or digits, and other files than those
/// of `others`. The first of a kind may have none.
template <typename Studies> std::string label_at(ConfigTable& table, const Studies& others) {
  if (others.empty() && !table.find("label")) return "";
  const ConfigValue value = table.at("label");
  std::string label = plain_label(value);
  require_own_files(value, label, others);
  return label;
}

/// As beside() for a topology's text, if it begins with a file: "net.toml:nodes=8,fail-links=3".
[[nodiscard]] std::string topology_beside(const std::string& text, const std::string& source_name);
/// The network of such a text, which stands at this value. Errors: as make_topology(); InputError
/// where a program prints it that the file may not run (ConfigValue::admit).
[[nodiscard]] Topology topology_named(const std::string& text, const ConfigValue& value,
                                      const std::string& source_name);

/// Empty where the key isn't there.
[[nodiscard]] std::string string_at(ConfigTable& table, const std::string& key);

/// Errors of the rest: InputError with the value's place and what is known.

/// A name that becomes part of a file's path: letters, digits, - and _.
[[nodiscard]] std::string plain_name(const ConfigValue& value);
/// Index of the topology that this label names.
[[nodiscard]] std::size_t topology_index(const ConfigValue& value, Networks networks);
/// Index of the topology at the key `topology`, which may be missing where there is only one.
[[nodiscard]] std::size_t topology_at(ConfigTable& table, Networks networks);
/// Those of the key `algorithms`, at least one: names, or "all".
[[nodiscard]] std::vector<AlgorithmRow> algorithms_at(ConfigTable& table);
/// The text of a collective; a file is looked for beside `source_name`, as beside() does.
[[nodiscard]] std::string collective_beside(const std::string& text,
                                            const std::string& source_name);
/// The collectives of one case: one, or several that run at once.
[[nodiscard]] std::vector<std::string> texts_of(const ConfigValue& value,
                                                const std::string& source_name);
/// The sizes of one or several texts (`1GiB`, `1KiB..1GiB`), or those of `otherwise`.
[[nodiscard]] std::vector<Bytes> sizes_at(ConfigTable& table, const std::string& key,
                                          const std::string& otherwise);
/// What every synthesis takes: link_busy, forwarding, limit and settings, of which those that name
/// files look for them beside `source_name`, as beside() does.
[[nodiscard]] SynthesisOptions options_of(ConfigTable& table, std::uint64_t seed,
                                          const std::string& source_name);
/// Chunks per shard, a number or "auto" (none).
[[nodiscard]] std::optional<std::uint32_t> chunks_of(const ConfigValue& value);

} // namespace tutti
