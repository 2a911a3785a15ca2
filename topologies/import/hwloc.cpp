// What hwloc knows of a server: `lstopo --of xml`, with its devices of PCIe:
//
//   <topology version="2.0">
//     <object type="Package" ...>
//       <object type="Bridge" bridge_type="0-1" ...>            a host bridge
//         <object type="Bridge" bridge_type="1-1" pci_busid="0000:00:01.1" pci_link_speed="31.5">
//           <object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0302 [...]" .../>
//
// `pci_link_speed` is in GB/s. It is NCCL's tree in other words, and becomes that: what has host
// bridges is a CPU. It knows no links of GPUs, which are those that servers of such GPUs have.
// Source: hwloc 2.9, doc/hwloc.doxy, hwloc/topology-xml.c.
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <string>

namespace tutti::topologies {

namespace {

constexpr std::size_t largest_hwloc = std::size_t{16} << 20;
constexpr int deepest_hwloc = 64;

class HwlocConverter {
public:
  explicit HwlocConverter(const ForeignFile& file) : content_(file.content) {
    if (content_.size() > largest_hwloc)
      throw InputError(fmt::format("{}: more than 16 MiB are no server", file.source));
    const pugi::xml_parse_result parsed = document_.load_buffer(
        content_.data(), content_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed)
      throw TextPlaces(content_, file.source)
          .error(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, parsed.offset)),
                 fmt::format("the XML is broken, or breaks off: {}", parsed.description()));
    for (const auto& [name, key] :
         {std::pair("CPUVendor", "vendor"), std::pair("CPUModelNumber", "modelid"),
          std::pair("Architecture", "arch")}) {
      const pugi::xml_node info =
          document_.select_node(fmt::format("//info[@name='{}']", name).c_str()).node();
      if (info)
        cpu_words_ += fmt::format(" {}=\"{}\"", key, plain(info.attribute("value").value()));
    }
  }

  std::string run() && {
    out_ = "<system>";
    look_for_cpus(document_.child("topology"), 0);
    return std::move(out_) + "</system>";
  }

private:
  static std::string plain(std::string_view text) { // what an attribute can have
    std::string words(text.substr(0, 60));
    std::erase_if(words, [](char c) { return c == '"' || c == '<' || c == '&' || c == '>'; });
    return words;
  }
  static bool is(pugi::xml_node object, std::string_view type) {
    return object.attribute("type").value() == type;
  }
  static bool is_host_bridge(pugi::xml_node object) {
    return is(object, "Bridge") &&
           std::string_view(object.attribute("bridge_type").value()).starts_with("0-");
  }

  void look_for_cpus(pugi::xml_node object, int depth) {
    if (depth > deepest_hwloc) return;
    const auto bridges = object.children("object");
    if (std::ranges::any_of(bridges, is_host_bridge)) {
      write(object, fmt::format("<cpu numaid=\"{}\"{}>", cpus_++, cpu_words_));
      for (const pugi::xml_node bridge : bridges)
        if (is_host_bridge(bridge)) write_below(bridge, depth + 1);
      out_ += "</cpu>";
    }
    for (const pugi::xml_node child : bridges)
      if (!is(child, "Bridge")) look_for_cpus(child, depth + 1);
  }
  void write_below(pugi::xml_node object, int depth) {
    if (depth > deepest_hwloc) return;
    for (const pugi::xml_node child : object.children("object")) {
      const std::string type = plain(child.attribute("pci_type").value()); // "0302 [10de:20b0] ..."
      if ((!is(child, "Bridge") && !is(child, "PCIDev")) || type.size() < 16) continue;
      write(child, fmt::format("<pci busid=\"{}\" class=\"0x{}00\" vendor=\"0x{}\" device=\"0x{}\"",
                               plain(child.attribute("pci_busid").value()), type.substr(0, 4),
                               type.substr(6, 4), type.substr(11, 4)));
      // 0: the driver was asleep
      if (const double rate = child.attribute("pci_link_speed").as_double(); rate > 0)
        out_ += fmt::format(" bandwidth=\"{}\"", rate);
      out_ += '>';
      if (is(child, "Bridge")) write_below(child, depth + 1);
      out_ += "</pci>";
    }
  }
  void write(pugi::xml_node at, const std::string& text) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, at.offset_debug()));
    if (offset > reached_)
      out_.append(static_cast<std::size_t>(
                      std::ranges::count(content_.substr(reached_, offset - reached_), '\n')),
                  '\n');
    reached_ = std::max(reached_, offset);
    out_ += text;
  }

  std::string_view content_;
  pugi::xml_document document_;
  std::string cpu_words_, out_;
  std::size_t reached_ = 0; // in the content
  int cpus_ = 0;
};

} // namespace

bool is_hwloc(std::string_view content) {
  const std::string_view head = content.substr(0, std::size_t{1} << 16);
  return head.find("<topology") != std::string_view::npos &&
         head.find("type=\"Machine\"") != std::string_view::npos;
}

TopologyParts read_hwloc(const ForeignFile& file, Assumptions& assumed) {
  return read_as_nccl(file, HwlocConverter(file).run(), assumed, "A server as hwloc sees it.");
}

} // namespace tutti::topologies
