// Why: before SimGrid gets a file, what would have it read other files, set options of its own that
// have nothing to do with networks, or run programs, is refused with its place; so is what SimGrid
// knows and Tutti has none of.
#include "topologies/import/simgrid_scan.hpp"

#include "sim/text.hpp"
#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace tutti::topologies {

namespace {

constexpr int deepest_zone = 64;

bool is_simgrid_tag(std::string_view name) {
  constexpr std::array known{"platform", "config",    "prop",    "zone",        "AS",
                             "host",     "disk",      "router",  "link",        "link_ctn",
                             "route",    "zoneRoute", "ASroute", "bypassRoute", "bypassZoneRoute",
                             "cluster",  "cabinet",   "peer",    "backbone",    "bypassASroute",
                             "host_link"};
  return std::ranges::find(known, name) != known.end();
}

class SimGridScan : pugi::xml_tree_walker {
public:
  explicit SimGridScan(const ForeignFile& file) : places_(file.content, file.source) {
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(
        file.content.data(), file.content.size(),
        pugi::parse_default | pugi::parse_doctype | pugi::parse_pi | pugi::parse_ws_pcdata_single,
        pugi::encoding_utf8);
    if (!result) throw at(result.offset, result.description());
    document.traverse(*this);
    if (!is_platform_) throw InputError(fmt::format("{}: no <platform>", file.source));
  }

  [[nodiscard]] bool is_ours() const { return is_ours_; }

private:
  bool for_each(pugi::xml_node& node) override {
    switch (node.type()) {
    case pugi::node_doctype:
      if (std::strchr(node.value(), '[') != nullptr)
        throw error(node, "a DOCTYPE with declarations of its own (<!ENTITY) isn't read");
      return true;
    case pugi::node_pi:
    case pugi::node_cdata: throw error(node, "only tags belong into a platform");
    case pugi::node_element: break;
    default: return true;
    }
    const std::string_view tag = node.name();
    if (depth() > deepest_zone)
      throw error(node, fmt::format("zones within more than {} others", deepest_zone));
    is_platform_ |= depth() == 0 && tag == "platform";
    if (tag == "include" || tag == "trace" || tag == "trace_connect")
      throw error(node, fmt::format("<{}> refers to another file, and only this one is read", tag));
    if (!is_simgrid_tag(tag))
      throw error(node, fmt::format("<{}> doesn't belong into a platform that is read", tag));
    for (const pugi::xml_attribute attribute : node.attributes())
      if (std::string_view(attribute.name()).ends_with("file") && *attribute.value() != '\0')
        throw error(node, fmt::format("{}: networks that change by themselves aren't read",
                                      attribute.name()));
    if (std::string_view(node.attribute("sharing_policy").value()) == "WIFI")
      throw error(node, fmt::format("link \"{}\" is a wireless one, which Tutti has none of",
                                    node.attribute("id").value()));
    if (same_but_for_case(node.attribute("routing").value(), "wifi"))
      throw error(node, "a wireless zone, which Tutti has none of");
    for (const char* name : {"latency", "lat", "loopback_lat"})
      if (trimmed(node.attribute(name).value()).starts_with('-'))
        throw error(node,
                    fmt::format("{} \"{}\": it is negative", name, node.attribute(name).value()));
    for (const char* name : {"topo_parameters", "radical"}) check_counts(node, name);
    if (tag == "prop") check_property(node);
    return true;
  }

  /// Numbers of nodes and links, which SimGrid reads as an int and says no more than "stoi" of.
  void check_counts(const pugi::xml_node& node, const char* name) {
    const std::string_view text = node.attribute(name).value();
    const auto refuse = [&](std::string_view what, std::string_view why) {
      throw error(node, fmt::format("{} \"{}\": {} {}", name, text, what, why));
    };
    if (text.empty()) return;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find_first_of(",;-", begin), text.size());
      const std::string_view count = trimmed(text.substr(begin, end - begin));
      int value = 0;
      const auto [after, problem] =
          std::from_chars(count.data(), count.data() + count.size(), value);
      if (problem == std::errc::result_out_of_range)
        refuse(count, fmt::format("is more than {}", std::numeric_limits<int>::max()));
      if (problem != std::errc() || after != count.data() + count.size())
        refuse(fmt::format("\"{}\"", count), "is no number");
      begin = end + 1;
    }
  }

  void check_property(const pugi::xml_node& node) {
    const std::string_view id = node.attribute("id").value();
    const std::string_view parent = node.parent().name();
    is_ours_ |= parent == "zone" && id == "tutti.network";
    if (parent != "config") return;
    constexpr std::array about_models{"cpu/",       "disk/", "host/",    "maxmin/", "network/",
                                      "precision/", "smpi/", "storage/", "surf/"};
    if (std::ranges::none_of(about_models, [&](const char* word) { return id.starts_with(word); }))
      throw error(node, fmt::format("the option \"{}\" is none of SimGrid's models (known: {})", id,
                                    fmt::join(about_models, ", ")));
  }

  [[nodiscard]] InputError error(const pugi::xml_node& node, const std::string& message) const {
    return at(node.offset_debug(), message);
  }
  [[nodiscard]] InputError at(std::ptrdiff_t offset, const std::string& message) const {
    return places_.error(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), message);
  }

  TextPlaces places_;
  bool is_platform_ = false, is_ours_ = false;
};

} // namespace

bool scan_simgrid(const ForeignFile& file) { return SimGridScan(file).is_ours(); }

} // namespace tutti::topologies
