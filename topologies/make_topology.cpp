// The text form of a topology: `HEAD:SHAPE,key=value,...`, where HEAD is a family, a machine, a
// file or a program. Each takes its own keys; what is left works on all alike. A topology made by a
// family is named by its text in normal form: fixed order of the keys, shortest exact units, no
// defaults.
#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/text.hpp"
#include "sim/unwinding.hpp"
#include "topologies/failed_links.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"
#include "topologies/machines.hpp"
#include "topologies/named_links.hpp"
#include "topologies/network_program.hpp"
#include "topologies/parts.hpp"
#include "topologies/side_by_side.hpp"
#include "topologies/topology_template.hpp"
#include "topologies/what_ifs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace tutti {

namespace {

/// Keys that not even a program takes: what is done with a network, whatever it is.
std::vector<std::string> changes() {
  std::vector<std::string> keys{"without",    "without-link", "fail-npus",
                                "fail-links", "fail-seed",    "unwind"};
  for (const topologies::WhatIf& row : topologies::what_ifs()) keys.emplace_back(row.key);
  return keys;
}

/// Keys that any topology takes, unless it has its own of the name.
std::vector<std::string> shared_keys() {
  std::vector<std::string> keys{"bandwidth", "latency"};
  for (std::string& key : changes()) keys.push_back(std::move(key));
  return keys;
}

/// What machines that have this key don't build themselves.
bool is_other_fabric(std::string_view key, std::string_view value) {
  return key == "fabric" && value != "rails" && value != "switch";
}

struct Option {
  std::string key, value;
};

struct TextForm {
  std::string head, shape;
  bool is_file = false;
  std::vector<Option> options;

  /// The value of a key, or null.
  [[nodiscard]] const std::string* find(std::string_view key) const {
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.key == key; });
    return option == options.end() ? nullptr : &option->value;
  }

  /// Takes out those that the network takes itself. Errors: InputError for a key that neither
  /// knows.
  template <typename Own> std::vector<Option> take(const Own& own) {
    std::vector<std::string> known(own.begin(), own.end());
    const std::size_t own_count = known.size();
    for (std::string& key : shared_keys())
      if (std::ranges::find(known, key) == known.end()) known.push_back(std::move(key));
    std::vector<Option> taken, left;
    for (Option& option : options) {
      const auto place = std::ranges::find(known, option.key);
      if (place == known.end()) throw InputError(unknown_name("key", option.key, known));
      const bool is_own = place - known.begin() < static_cast<std::ptrdiff_t>(own_count) &&
                          !is_other_fabric(option.key, option.value);
      (is_own ? taken : left).push_back(std::move(option));
    }
    options = std::move(left);
    return taken;
  }
};

TextForm parse_text_form(std::string_view text) {
  std::vector<std::string_view> words = split(text, ',');
  const std::string_view first = trimmed(words.front());
  TextForm form;
  form.head = topology_file(text);
  form.is_file = !form.head.empty();
  const std::size_t colon =
      form.is_file ? form.head.size() : std::min(first.find(':'), first.size());
  if (!form.is_file) form.head = trimmed(first.substr(0, colon));
  words.front() = colon == first.size() ? "" : trimmed(first.substr(colon + 1));
  if (words.front().find('=') == std::string_view::npos) {
    form.shape = words.front();
    words.erase(words.begin());
  }
  for (const std::string_view word : words) {
    const std::size_t equals = word.find('=');
    const std::string key(trimmed(word.substr(0, equals)));
    const std::string value(equals == std::string_view::npos ? ""
                                                             : trimmed(word.substr(equals + 1)));
    if (key.empty() || value.empty())
      throw InputError(fmt::format("\"{}\" is not key=value", trimmed(word)));
    if (form.find(key) != nullptr) throw InputError(fmt::format("key \"{}\" is given twice", key));
    form.options.push_back({key, value});
  }
  return form;
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

TopologySpec parse_spec(const TextForm& form, const TopologyRow& row) {
  TopologySpec spec;
  spec.name = row.name;
  if (!form.shape.empty())
    for (const std::string_view number : split(form.shape, 'x')) {
      if (trimmed(number).empty())
        throw InputError(fmt::format("\"{}\" are no numbers with x between them", form.shape));
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

Topology build_family(const TopologyRow& row, TextForm& form) {
  std::vector<std::string_view> own{"bandwidth", "latency", "directions"};
  for (const TopologyOption& option : row.options) own.push_back(option.key);
  const TopologySpec spec = parse_spec({form.head, form.shape, false, form.take(own)}, row);
  try {
    return row.build(spec);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{} ({} takes: {})", e.what(), row.name, row.shape));
  }
}

/// Gives links one value, or that of their dimension. Errors: InputError where one has none.
template <typename Value>
void set_links(TopologyParts& parts, std::string_view key, const std::vector<Value>& values,
               Value Link::*member) {
  for (Link& link : parts.links) {
    if (values.size() > 1 && static_cast<std::size_t>(link.dimension) >= values.size())
      throw InputError(fmt::format(
          "{} has {} values, but {}>{} is {}: give one for all links, or one for each dimension",
          key, values.size(), parts.nodes[link.from.value].name, parts.nodes[link.to.value].name,
          link.dimension < 0 ? "of no dimension" : fmt::format("of dimension {}", link.dimension)));
    if (!values.empty())
      link.*member = values[values.size() == 1 ? 0 : static_cast<std::size_t>(link.dimension)];
  }
  append_values(parts.name, key, values);
  if (!values.empty()) // nothing is assumed any more
    std::erase_if(parts.assumed, [&](const std::string& line) {
      return line.starts_with(fmt::format("{} of a link:", key));
    });
}

/// With what `bandwidth` and `latency` say of links; shared groups keep theirs.
Topology with_link_values(Topology topology, const TextForm& form) {
  const auto bandwidths = parse_values(form.find("bandwidth"), parse_bandwidth);
  const auto latencies = parse_values(form.find("latency"), parse_time);
  if (bandwidths.empty() && latencies.empty()) return topology;
  TopologyParts parts = topology.parts();
  set_links(parts, "bandwidth", bandwidths, &Link::bandwidth);
  set_links(parts, "latency", latencies, &Link::latency);
  return Topology(std::move(parts));
}

/// With all that what_ifs() says, named accordingly.
Topology with_what_ifs(Topology topology, const TextForm& form) {
  std::string name = topology.name();
  for (const topologies::WhatIf& row : topologies::what_ifs()) {
    const std::string* value = form.find(row.key);
    if (value == nullptr) continue;
    try {
      topology = row.apply(topology, *value);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}={}: {}", row.key, *value, e.what()));
    }
    name += fmt::format(",{}={}", row.key, *value);
  }
  if (name == topology.name()) return topology;
  TopologyParts parts = topology.parts();
  parts.name = std::move(name);
  return Topology(std::move(parts));
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

/// What `fail-npus`, and then `fail-links`, leave, named accordingly.
Topology with_failures(Topology topology, const TextForm& form) {
  const std::string* npus = form.find("fail-npus");
  const std::string* links = form.find("fail-links");
  const std::string* seed_text = form.find("fail-seed");
  if (npus == nullptr && links == nullptr) {
    if (seed_text != nullptr)
      throw InputError("fail-seed is given, but neither fail-npus nor fail-links");
    return topology;
  }
  const auto seed = static_cast<std::uint64_t>(
      seed_text == nullptr ? 1 : parse_integer(*seed_text, "fail-seed", 0, INT64_MAX));
  std::string name = topology.name();
  const auto fails = [&](const std::string& key, const std::string& text, const auto& nodes,
                         const auto& gone) {
    topology = without(topology, nodes, gone);
    name += fmt::format(",{}={}", key, text);
  };
  using Nodes = std::vector<NodeId>;
  using Links = std::vector<LinkId>;
  if (npus != nullptr)
    fails("fail-npus", *npus, topologies::failed_npus(topology, *npus, seed), Links());
  if (links != nullptr)
    fails("fail-links", *links, Nodes(), topologies::failed_links(topology, *links, seed));
  if (seed_text != nullptr) name += fmt::format(",fail-seed={}", seed);
  TopologyParts parts = topology.parts();
  parts.name = std::move(name);
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

/// The topology with all that keys that aren't its own say of links, take away and unwind.
Topology changed(Topology topology, const TextForm& form) {
  topology = with_what_ifs(with_link_values(std::move(topology), form), form);
  topology = without_named(std::move(topology), form);
  return with_unwound_switches(with_failures(std::move(topology), form), form);
}

std::vector<std::string> known_topologies() {
  std::vector<std::string> known;
  for (const TopologyRow& row : topology_families()) known.emplace_back(row.name);
  for (const TopologyAlias& alias : topology_aliases()) known.emplace_back(alias.name);
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

/// What `NAME:NUMBERS` begins with.
bool is_family_or_machine(std::string_view text) {
  const std::string name(trimmed(text.substr(0, text.find(':'))));
  return std::ranges::find(topology_families(), name, &TopologyRow::name) !=
             topology_families().end() ||
         std::ranges::find(topology_aliases(), name, &TopologyAlias::name) !=
             topology_aliases().end() ||
         topologies::machine_file(name);
}

/// As the lists have it: DGX-H100 is dgx_h100, `h100` another name of it, and `dgx1:2` the file
/// dgx1x2.
void resolve_name(TextForm& form) {
  if (topologies::machine_file(form.head) && form.shape.empty()) return;
  form.head = lower_case(form.head);
  std::ranges::replace(form.head, '-', '_');
  const auto alias = std::ranges::find(topology_aliases(), form.head, &TopologyAlias::name);
  const auto find_file = [&](std::string_view head) {
    for (const char* joint : {"x", "_x"})
      if (const std::string file = fmt::format("{}{}{}", head, joint, form.shape);
          topologies::machine_file(file)) {
        form.head = file;
        form.shape.clear();
        return true;
      }
    return false;
  };
  if (find_file(form.head) || alias == topology_aliases().end()) return;
  form.head = alias->head;
  if (find_file(form.head)) return;
  for (const std::string_view option : split(alias->options, ','))
    if (const std::size_t equals = option.find('=');
        equals != std::string_view::npos && form.find(option.substr(0, equals)) == nullptr)
      form.options.push_back(
          {std::string(option.substr(0, equals)), std::string(option.substr(equals + 1))});
}

/// `FILE+OTHER+OTHER`, unless there is a file of that name.
std::pair<std::string, std::vector<std::string>> file_and_others(const std::string& paths) {
  if (paths.find('+') == std::string::npos || std::filesystem::is_regular_file(paths))
    return {paths, {}};
  std::vector<std::string> files;
  for (const std::string_view file : split(paths, '+')) files.emplace_back(trimmed(file));
  return {files.front(), {files.begin() + 1, files.end()}};
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Whether these files are in a folder, and meant.
bool are_files(const std::string& paths, const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code no_name; // too long for one
  if (fs::is_regular_file(folder / paths, no_name))
    return names_file(paths) || !is_family_or_machine(paths);
  return names_file(paths) && std::ranges::all_of(split(paths, '+'), [&](std::string_view file) {
           return fs::exists(folder / trimmed(file), no_name);
         });
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

/// As this format, or as Tutti's own where it is null.
Topology read_network(const topologies::ForeignFormat* format, std::string_view content,
                      const std::string& path, const std::vector<std::string>& others,
                      std::string_view text, TextForm& form) {
  const std::int64_t nodes = about(text, [&] {
    return form.shape.empty() ? 1 : parse_integer(form.shape, "number of nodes", 1, 1'000'000);
  });
  if (format == nullptr) {
    if (nodes != 1 || !others.empty())
      throw InputError(
          fmt::format("topology \"{}\": a topology file of Tutti's is a whole network", text));
    const ConfigTable root = parse_config(content, path);
    topologies::TopologyTemplate values(root);
    std::string name = plain_stem(path);
    about(text, [&] {
      for (const Option& option : form.take(values.parameters())) {
        values.set(option.key, option.value);
        name +=
            fmt::format("{}{}={}", name == plain_stem(path) ? ':' : ',', option.key, option.value);
      }
    });
    return topologies::topology_of(root, values, name);
  }
  topologies::ForeignFile file{content, path, nodes};
  for (const Option& option : about(text, [&] { return form.take(format->options); }))
    file.options.emplace(option.key, option.value);
  for (const std::string& other : others)
    file.companions.push_back({read_input_file(other), other});
  file.beside = [path] { return files_beside(path); };
  return topologies::read_foreign(*format, file);
}

std::string_view without_mark(std::string_view content, const std::string& path) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3); // a mark of UTF-8
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF"))
    throw InputError(fmt::format("{}:1:1: it is in UTF-16, and is read in UTF-8", path));
  return content;
}

/// What a program prints in the format of this name.
Topology printed_network(const std::string& format_name, const std::string& path,
                         std::string_view text, TextForm& form, const AdmitProgram& admit) {
  std::vector<std::string> known{"toml"};
  for (const topologies::ForeignFormat& format : topologies::foreign_formats())
    known.emplace_back(format.name);
  const auto place = std::ranges::find(known, format_name) - known.begin();
  if (place == std::ssize(known))
    throw InputError(fmt::format("{}: {}", path, unknown_name("format", format_name, known)));
  const std::string program = path.find('/') == std::string::npos ? "./" + path : path;
  if (admit) admit(program);
  std::vector<std::string> arguments;
  if (!form.shape.empty()) arguments.push_back(std::exchange(form.shape, {}));
  const std::vector<std::string> kept = changes();
  std::erase_if(form.options, [&](const Option& option) {
    if (std::ranges::find(kept, option.key) != kept.end()) return false;
    arguments.push_back(option.key + "=" + option.value);
    return true;
  });
  const std::string printed = topologies::printed_by(program, arguments);
  const topologies::ForeignFormat* const format =
      place == 0 ? nullptr : &topologies::foreign_formats()[static_cast<std::size_t>(place) - 1];
  TopologyParts parts =
      read_network(format, without_mark(printed, path), path, {}, text, form).parts();
  parts.name = std::filesystem::path(path).filename().string();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    parts.name += (i == 0 ? ":" : ",") + arguments[i];
  return Topology(std::move(parts));
}

Topology file_network(std::string_view text, TextForm& form, const AdmitProgram& admit) {
  const auto [path, others] = file_and_others(form.head);
  const std::string bytes = read_input_file(path); // once, as it may be a pipe
  const std::string_view content = without_mark(bytes, path);
  if (const auto format = topologies::printed_format(content))
    return printed_network(*format, path, text, form, admit);
  if (content.starts_with("#!"))
    throw InputError(fmt::format("{}: a program that prints a network says in its second line what "
                                 "that is: #tutti: csv, or another format of `tutti list formats`",
                                 path));
  const topologies::ForeignFormat* format = topologies::foreign_format(content);
  if (format == nullptr) topologies::refuse_other_kinds(content, path);
  return read_network(format, content, path, others, text, form);
}

} // namespace

namespace {

/// What `a.xml:2+h100:1` names, unless that is a file's name, or the first file's format has others
/// that belong to it; without the keys that follow.
std::vector<std::string> sides_of(std::string_view text) {
  const std::string_view heads = trimmed(text.substr(0, text.find(',')));
  if (heads.find('+') == std::string_view::npos || heads.find('=') != std::string_view::npos ||
      std::filesystem::is_regular_file(heads))
    return {};
  std::vector<std::string> sides;
  for (const std::string_view side : split(heads, '+')) sides.emplace_back(trimmed(side));
  if (std::filesystem::is_regular_file(sides.front())) {
    const std::string bytes = read_input_file(sides.front());
    const topologies::ForeignFormat* const format = topologies::foreign_format(bytes);
    if (format == nullptr || format->has_companions) return {};
  }
  return sides;
}

/// Keys of servers go to each of them; what is done with a network is left for the whole.
Topology servers_side_by_side(const std::vector<std::string>& sides, std::string_view text,
                              TextForm& form, const AdmitProgram& admit) {
  std::string keys = ",fabric=switch";
  const std::vector<std::string> of_all = shared_keys();
  std::erase_if(form.options, [&](const Option& option) {
    if (std::ranges::find(of_all, option.key) != of_all.end()) return false;
    keys += fmt::format(",{}={}", option.key, option.value);
    return true;
  });
  std::vector<topologies::ServersOfAKind> kinds;
  for (const std::string& side : sides) {
    const TextForm one = parse_text_form(side);
    constexpr int spare = 2; // so that there is a fabric, even where two have cables
    const auto count = static_cast<int>(
        one.shape.empty() ? 1 : parse_integer(one.shape, "number of nodes", 1, 1000));
    kinds.push_back(
        {make_network(fmt::format("{}:{}{}", one.head, count + spare, keys), admit), count});
  }
  std::string name(text.substr(0, text.find(',')));
  return topologies::side_by_side(kinds, name);
}

} // namespace

std::string_view topology_file(std::string_view text, const std::string& folder) {
  const std::string_view head = trimmed(text.substr(0, text.find(',')));
  for (std::size_t end = head.size(); end != std::string_view::npos;
       end = head.rfind(':', end - 1)) {
    if (end == 0) break;
    if (are_files(std::string(head.substr(0, end)), folder)) return head.substr(0, end);
  }
  // None is there: for the error, or to be looked for elsewhere.
  const std::size_t colon = std::min(head.rfind(':', head.find('=')), head.size());
  const std::string_view file = head.substr(0, colon), rest = head.substr(colon);
  if (rest.find('=') != std::string_view::npos || (!rest.empty() && is_number(rest.substr(1))))
    return names_file(file) ? file : std::string_view();
  return names_file(head) ? head : std::string_view();
}

Topology make_topology(std::string_view text, const AdmitProgram& admit) {
  Topology topology = make_network(text, admit);
  if (topology.npu_count() == 0)
    throw InputError(fmt::format("topology \"{}\" has no NPU: it can be shown, but no collective "
                                 "runs on it",
                                 text));
  return topology;
}

Topology make_network(std::string_view text, const AdmitProgram& admit) {
  TextForm form = about(text, [&] { return parse_text_form(text); });
  if (const std::vector<std::string> sides = sides_of(text); !sides.empty()) {
    Topology whole = about(text, [&] { return servers_side_by_side(sides, text, form, admit); });
    return about(text, [&] { return changed(std::move(whole), form); });
  }
  if (!form.is_file && std::ranges::find(topology_families(), form.head, &TopologyRow::name) ==
                           topology_families().end())
    resolve_name(form);
  const auto family = std::ranges::find(topology_families(), form.head, &TopologyRow::name);
  if (!form.is_file && family != topology_families().end())
    return about(text, [&] { return changed(build_family(*family, form), form); });
  if (!form.is_file) {
    const std::optional<std::string> machine = topologies::machine_file(form.head);
    if (!machine) throw InputError(unknown_name("topology", form.head, known_topologies()));
    if (!form.shape.empty())
      throw InputError(fmt::format("topology \"{}\": a machine takes no numbers", text));
    form.head = *machine;
  }
  Topology whole = file_network(text, form, admit); // its errors have a place of their own
  return about(text, [&] { return changed(std::move(whole), form); });
}

} // namespace tutti
