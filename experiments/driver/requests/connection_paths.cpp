// JSON, as everything that people may want to look into or write by hand; link ids, as schedule
// files have them, and nodes' names beside them to be read.
#include "experiments/driver/requests/connection_paths.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <tuple>

namespace tutti {

namespace {

using OrderedJson = nlohmann::ordered_json;
constexpr std::string_view paths_format = "tutti connection paths 1";

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::string fingerprint_of(std::string_view xml) {
  Fingerprint print;
  print.add(xml);
  return hex(print.value());
}

class PathsReader {
public:
  PathsReader(const Topology& topology, const std::string& file_name)
      : topology_(topology), file_name_(file_name) {}

  std::vector<runtime::ConnectionPath> read(std::string_view text, std::string_view xml) {
    OrderedJson json;
    try {
      json = OrderedJson::parse(text);
    } catch (const nlohmann::json::exception& error) {
      refuse(fmt::format("malformed JSON: {}", error.what()));
    }
    require_keys(json, "the file", {"format", "program", "topology", "connections"});
    if (text_at(json, "format") != paths_format)
      refuse(fmt::format("format \"{}\" isn't \"{}\"", text_at(json, "format"), paths_format));
    if (text_at(json, "program") != fingerprint_of(xml))
      refuse("these are the paths of another program");
    require_keys(json["topology"], "topology", {"name", "fingerprint"});
    if (text_at(json["topology"], "fingerprint") != hex(topology_.fingerprint()))
      refuse(fmt::format("these are paths on {}, not on {}", text_at(json["topology"], "name"),
                         topology_.name()));
    if (!json["connections"].is_array()) refuse("connections isn't a list");
    std::vector<runtime::ConnectionPath> paths;
    for (const OrderedJson& connection : json["connections"])
      paths.push_back(path_of(connection, fmt::format("connection {}", paths.size())));
    return paths;
  }

private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(fmt::format("{}: {}", file_name_, what));
  }

  void require_keys(const OrderedJson& json, const std::string& where,
                    const std::vector<std::string>& known) const {
    if (!json.is_object()) refuse(fmt::format("{} isn't an object", where));
    for (const std::string& key : known)
      if (!json.contains(key)) refuse(fmt::format("{} without \"{}\"", where, key));
    for (const auto& [key, value] : json.items())
      if (std::ranges::find(known, key) == known.end())
        refuse(fmt::format("{}: {}", where, unknown_name("key", key, known)));
  }

  [[nodiscard]] std::string text_at(const OrderedJson& json, const char* key) const {
    if (!json[key].is_string()) refuse(fmt::format("\"{}\" isn't a text", key));
    return json[key].get<std::string>();
  }

  [[nodiscard]] std::uint32_t number(const OrderedJson& json, const std::string& where,
                                     std::uint32_t end) const {
    if (!json.is_number_unsigned() || json.get<std::uint64_t>() >= end)
      refuse(fmt::format("{}: {} isn't a number below {}", where, json.dump(), end));
    return json.get<std::uint32_t>();
  }

  runtime::ConnectionPath path_of(const OrderedJson& json, const std::string& where) {
    require_keys(json, where, {"from", "to", "channel", "links", "nodes"});
    runtime::ConnectionPath path;
    path.from = number(json["from"], where, topology_.npu_count());
    path.to = number(json["to"], where, topology_.npu_count());
    path.channel = number(json["channel"], where, 1024);
    if (!json["links"].is_array()) refuse(fmt::format("{}: links isn't a list", where));
    NodeId at{path.from};
    for (const OrderedJson& link : json["links"]) {
      path.links.emplace_back(number(link, where, topology_.link_count()));
      if (topology_.link(path.links.back()).from != at)
        refuse(fmt::format("{}: link {} doesn't begin at {}", where, path.links.back().value,
                           topology_.node(at).name));
      at = topology_.link(path.links.back()).to;
    }
    if (at != NodeId{path.to} || path.links.empty())
      refuse(fmt::format("{}: its links end at {}, not at {}", where, topology_.node(at).name,
                         topology_.node(NodeId{path.to}).name));
    if (!known_.insert({path.from, path.to, path.channel}).second)
      refuse(fmt::format("{}: {} to {} on channel {} is given twice", where, path.from, path.to,
                         path.channel));
    return path;
  }

  const Topology& topology_;
  const std::string& file_name_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> known_;
};

} // namespace

std::string paths_file_of(const std::string& xml_file) { return xml_file + ".paths.json"; }

std::string path_text(const Topology& topology, std::span<const LinkId> links) {
  std::string text = topology.node(topology.link(links.front()).from).name;
  for (const LinkId link : links)
    text += fmt::format(">{}", topology.node(topology.link(link).to).name);
  return text;
}

std::string connection_paths_json(const Topology& topology,
                                  std::span<const runtime::ConnectionPath> paths,
                                  std::string_view xml) {
  std::string text = fmt::format(
      "{{\"format\": {}, \"program\": \"{}\",\n \"topology\": {{\"name\": {}, \"fingerprint\": "
      "\"{}\"}},\n \"connections\": [",
      OrderedJson(paths_format).dump(), fingerprint_of(xml), OrderedJson(topology.name()).dump(),
      hex(topology.fingerprint()));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    OrderedJson links = OrderedJson::array(), nodes = OrderedJson::array();
    nodes.push_back(topology.node(NodeId{paths[i].from}).name);
    for (const LinkId link : paths[i].links) {
      links.push_back(link.value);
      nodes.push_back(topology.node(topology.link(link).to).name);
    }
    text += fmt::format("{}\n  {{\"from\": {}, \"to\": {}, \"channel\": {}, \"links\": {}, "
                        "\"nodes\": {}}}",
                        i == 0 ? "" : ",", paths[i].from, paths[i].to, paths[i].channel,
                        links.dump(), nodes.dump());
  }
  return text + "]}\n";
}

std::vector<runtime::ConnectionPath> parse_connection_paths(const Topology& topology,
                                                            std::string_view text,
                                                            const std::string& file_name,
                                                            std::string_view xml) {
  return PathsReader(topology, file_name).read(text, xml);
}

} // namespace tutti
