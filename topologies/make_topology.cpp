// The text form of a topology: `HEAD,key=value,...`, where HEAD is a family with its numbers, a
// machine or a file. A topology made by a family is named by its text in normal form: fixed order
// of the keys, shortest exact units, no defaults.
#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/text.hpp"
#include "sim/unwinding.hpp"
#include "topologies/failed_links.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"
#include "topologies/machines.hpp"
#include "topologies/named_links.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace tutti {

namespace {

/// Keys that any topology takes.
constexpr std::array changes{"without", "without-link", "fail-links", "fail-seed", "unwind"};

struct Option {
  std::string key, value;
};

struct TextForm {
  std::string head;
  std::vector<Option> options;

  /// The value of a key, or null.
  [[nodiscard]] const std::string* find(std::string_view key) const {
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.key == key; });
    return option == options.end() ? nullptr : &option->value;
  }
};

TextForm parse_text_form(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ',');
  TextForm form{std::string(trimmed(words.front())), {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string key(trimmed(words[i].substr(0, equals)));
    const std::string value(
        equals == std::string_view::npos ? "" : trimmed(words[i].substr(equals + 1)));
    if (key.empty() || value.empty())
      throw InputError(fmt::format("\"{}\" is not key=value", trimmed(words[i])));
    if (form.find(key) != nullptr) throw InputError(fmt::format("key \"{}\" is given twice", key));
    form.options.push_back({key, value});
  }
  return form;
}

void require_known_keys(const TextForm& form, const std::vector<std::string>& known) {
  for (const Option& option : form.options)
    if (std::find(known.begin(), known.end(), option.key) == known.end())
      throw InputError(unknown_name("key", option.key, known));
}

/// `200GB/s+100GB/s`; nothing for null.
template <typename Value>
std::vector<Value> parse_values(const std::string* text, Value (*parse)(std::string_view)) {
  std::vector<Value> values;
  if (text == nullptr) return values;
  for (const std::string_view word : split(*text, '+')) values.push_back(parse(trimmed(word)));
  return values;
}

template <typename Value>
void append_values(std::string& text, std::string_view key, const std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? fmt::format(",{}=", key) : "+") + to_text(values[i]);
}

TopologySpec parse_spec(const TextForm& form, const TopologyRow& row, std::string_view numbers) {
  TopologySpec spec;
  spec.name = row.name;
  if (!trimmed(numbers).empty())
    for (const std::string_view number : split(numbers, 'x')) {
      if (trimmed(number).empty())
        throw InputError(fmt::format("\"{}\" are no numbers with x between them", numbers));
      spec.shape.push_back(
          static_cast<int>(parse_integer(trimmed(number), "number", 1, topologies::most_npus)));
      spec.name += fmt::format("{}{}", spec.shape.size() == 1 ? ':' : 'x', spec.shape.back());
    }
  for (const TopologyOption& option : row.options)
    if (const std::string* value = form.find(option.key)) {
      spec.options.emplace(option.key, *value);
      spec.name += fmt::format(",{}={}", option.key, *value);
    }
  spec.bandwidth = parse_values(form.find("bandwidth"), parse_bandwidth);
  append_values(spec.name, "bandwidth", spec.bandwidth);
  spec.latency = parse_values(form.find("latency"), parse_time);
  append_values(spec.name, "latency", spec.latency);
  if (const std::string* directions = form.find("directions"))
    spec.unidirectional = parse_integer(*directions, "directions", 1, 2) == 1;
  if (spec.unidirectional) spec.name += ",directions=1";
  return spec;
}

Topology build_family(const TopologyRow& row, const TextForm& form, std::string_view numbers) {
  std::vector<std::string> known{"bandwidth", "latency", "directions"};
  known.insert(known.end(), changes.begin(), changes.end());
  for (const TopologyOption& option : row.options) known.emplace_back(option.key);
  require_known_keys(form, known);
  const TopologySpec spec = parse_spec(form, row, numbers);
  try {
    return row.build(spec);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{} ({} takes: {})", e.what(), row.name, row.shape));
  }
}

/// What `without` and `without-link` leave, named accordingly.
Topology without_named(Topology topology, const TextForm& form) {
  std::vector<NodeId> nodes;
  std::vector<LinkId> links;
  std::vector<std::string> node_names, link_names;
  if (const std::string* text = form.find("without"))
    for (const std::string_view name : split(*text, '+')) {
      nodes.push_back(topology.find_node(std::string(trimmed(name))));
      node_names.push_back(topology.node(nodes.back()).name);
    }
  if (const std::string* text = form.find("without-link"))
    for (const std::string_view name : split(*text, '+')) {
      const std::vector<LinkId> found = topologies::links_named(topology, name);
      links.insert(links.end(), found.begin(), found.end());
      for (const LinkId id : found) {
        const Link& link = topology.link(id);
        std::string direction = topology.node(link.from).name + ">" + topology.node(link.to).name;
        if (link_names.empty() || link_names.back() != direction)
          link_names.push_back(std::move(direction));
      }
    }
  if (nodes.empty() && links.empty()) return topology;
  TopologyParts parts = without(topology, nodes, links).parts();
  if (!nodes.empty()) parts.name += ",without=" + joined(node_names, "+");
  if (!links.empty()) parts.name += ",without-link=" + joined(link_names, "+");
  return Topology(std::move(parts));
}

/// What `fail-links` leaves, named accordingly.
Topology with_failed_links(Topology topology, const TextForm& form) {
  const std::string* failures = form.find("fail-links");
  const std::string* seed_text = form.find("fail-seed");
  if (failures == nullptr) {
    if (seed_text != nullptr) throw InputError("fail-seed is given, but no fail-links");
    return topology;
  }
  const auto seed = static_cast<std::uint64_t>(
      seed_text == nullptr ? 1 : parse_integer(*seed_text, "fail-seed", 0, INT64_MAX));
  const std::vector<LinkId> gone = topologies::failed_links(topology, *failures, seed);
  TopologyParts parts = without(topology, {}, gone).parts();
  parts.name += ",fail-links=" + *failures;
  if (seed_text != nullptr) parts.name += fmt::format(",fail-seed={}", seed);
  return Topology(std::move(parts));
}

/// With its switches as links between NPUs, where `unwind` asks for it.
Topology with_unwound_switches(Topology topology, const TextForm& form) {
  const std::string* text = form.find("unwind");
  if (text == nullptr) return topology;
  if (*text == "both") return unwound_network(topology, {.both_ways = true});
  if (text->find_first_not_of("0123456789") != std::string::npos)
    throw InputError(fmt::format("unwind: \"{}\" is neither a degree nor \"both\"", *text));
  return unwound_network(topology, {static_cast<std::uint32_t>(
                                       parse_integer(*text, "unwind", 1, topologies::most_npus))});
}

/// The topology with all that its keys take away, and its switches unwound.
Topology changed(Topology topology, const TextForm& form) {
  return with_unwound_switches(with_failed_links(without_named(std::move(topology), form), form),
                               form);
}

std::vector<std::string> known_topologies() {
  std::vector<std::string> known;
  for (const TopologyRow& row : topology_families()) known.emplace_back(row.name);
  for (const std::string& machine : topologies::machine_names()) known.push_back(machine);
  return known;
}

/// Puts the text that was asked for in front of an InputError.
template <typename Body> auto about(std::string_view text, const Body& body) {
  try {
    return body();
  } catch (const InputError& e) {
    throw InputError(fmt::format("topology \"{}\": {}", text, e.what()));
  }
}

bool names_file(std::string_view head) {
  constexpr std::array endings{".toml", ".json", ".yml", ".yaml", ".topo",   ".csv",
                               ".txt",  ".xml",  ".dot", ".gv",   ".graphml"};
  return head.find('/') != std::string_view::npos ||
         std::ranges::any_of(endings, [name = unpacked_name(head)](std::string_view end) {
           return name.ends_with(end);
         });
}

/// `FILE:N`: a file, and of how many nodes of its kind the network consists; else 1.
std::pair<std::string, std::int64_t> file_and_nodes(const std::string& head) {
  const std::size_t colon = head.rfind(':');
  if (colon == std::string::npos || !names_file(head.substr(0, colon)) ||
      std::filesystem::exists(head))
    return {head, 1};
  const std::string file = head.substr(0, colon), number = head.substr(colon + 1);
  const bool is_number =
      !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number && !std::filesystem::exists(file)) return {head, 1};
  return {file, parse_integer(number, "number of nodes", 1, 1'000'000)};
}

/// What `NAME:NUMBERS` begins with.
bool is_family_or_machine(std::string_view text) {
  const std::string name(trimmed(text.substr(0, text.find(':'))));
  return std::ranges::find(topology_families(), name, &TopologyRow::name) !=
             topology_families().end() ||
         topologies::machine_file(name);
}

/// `FILE+OTHER+OTHER`, unless there is a file of that name.
std::pair<std::string, std::vector<std::string>> file_and_others(const std::string& paths) {
  if (paths.find('+') == std::string::npos || std::filesystem::is_regular_file(paths))
    return {paths, {}};
  std::vector<std::string> files;
  for (const std::string_view file : split(paths, '+')) files.emplace_back(trimmed(file));
  return {files.front(), {files.begin() + 1, files.end()}};
}

std::vector<std::string> known_keys(const topologies::ForeignFormat& format) {
  std::vector<std::string> known(changes.begin(), changes.end());
  known.insert(known.end(), format.options.begin(), format.options.end());
  return known;
}

/// What lies beside a file and has the same ending, by name; at most so many.
std::vector<topologies::CompanionFile> files_beside(const std::filesystem::path& file) {
  constexpr std::size_t most_files = 100;
  constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 20;
  std::vector<std::filesystem::path> paths;
  std::error_code unreadable; // a folder that can't be listed has nothing to offer
  for (const auto& entry : std::filesystem::directory_iterator(
           file.has_parent_path() ? file.parent_path() : ".", unreadable)) {
    if (!entry.is_regular_file(unreadable) || entry.path().extension() != file.extension())
      continue;
    if (entry.path().filename() == file.filename() || entry.file_size(unreadable) > most_bytes)
      continue;
    paths.push_back(file.parent_path() / entry.path().filename());
  }
  std::ranges::sort(paths);
  paths.resize(std::min(paths.size(), most_files));
  std::vector<topologies::CompanionFile> files;
  for (const std::filesystem::path& path : paths)
    files.push_back({read_input_file(path.string()), path.string()});
  return files;
}

topologies::ForeignFile foreign_file(const topologies::ForeignFormat& format,
                                     std::string_view content, const std::string& path,
                                     std::int64_t nodes, const std::vector<std::string>& others,
                                     const TextForm& form) {
  topologies::ForeignFile file{content, path, nodes};
  for (const Option& option : form.options)
    if (std::ranges::find(format.options, option.key) != format.options.end())
      file.options.emplace(option.key, option.value);
  for (const std::string& other : others)
    file.companions.push_back({read_input_file(other), other});
  file.beside = [path] { return files_beside(path); };
  return file;
}

} // namespace

Topology make_topology(std::string_view text) {
  Topology topology = make_network(text);
  if (topology.npu_count() == 0)
    throw InputError(fmt::format("topology \"{}\" has no NPU: it can be shown, but no collective "
                                 "runs on it",
                                 text));
  return topology;
}

Topology make_network(std::string_view text) {
  const TextForm form = about(text, [&] { return parse_text_form(text); });
  const auto [paths, nodes] = about(text, [&] { return file_and_nodes(form.head); });
  const auto [path, others] = file_and_others(paths);
  const bool is_file =
      names_file(path) || (std::filesystem::is_regular_file(path) && !is_family_or_machine(path));
  // Read once, as it may be a pipe.
  if (is_file && std::filesystem::exists(path) && !std::filesystem::is_directory(path)) {
    const std::string bytes = read_input_file(path);
    std::string_view content = bytes;
    if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3); // a mark of UTF-8
    if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF"))
      throw InputError(fmt::format("{}:1:1: it is in UTF-16, and is read in UTF-8", path));
    if (const topologies::ForeignFormat* format = topologies::foreign_format(content)) {
      about(text, [&] { require_known_keys(form, known_keys(*format)); });
      Topology whole = topologies::read_foreign(
          *format, foreign_file(*format, content, path, nodes, others, form));
      return about(text, [&] { return changed(std::move(whole), form); });
    }
    if (others.empty() && nodes == 1) {
      topologies::refuse_other_kinds(content, path);
      about(text, [&] { require_known_keys(form, {changes.begin(), changes.end()}); });
      Topology whole = parse_topology(content, path); // its errors have a place of their own
      return about(text, [&] { return changed(std::move(whole), form); });
    }
  }
  const std::optional<std::string> file =
      is_file ? std::optional(form.head) : topologies::machine_file(form.head);
  if (file) {
    about(text, [&] { require_known_keys(form, {changes.begin(), changes.end()}); });
    Topology whole = read_topology(*file); // its errors have a place of their own
    return about(text, [&] { return changed(std::move(whole), form); });
  }

  const std::size_t colon = form.head.find(':');
  const std::string family(trimmed(std::string_view(form.head).substr(0, colon)));
  const std::string numbers = colon == std::string::npos ? "" : form.head.substr(colon + 1);
  for (const TopologyRow& row : topology_families())
    if (row.name == family)
      return about(text, [&] { return changed(build_family(row, form, numbers), form); });
  if (topologies::machine_file(family))
    throw InputError(fmt::format("topology \"{}\": a machine takes no numbers", text));
  throw InputError(unknown_name("topology", family, known_topologies()));
}

} // namespace tutti
