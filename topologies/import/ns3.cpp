// The text topologies of ns-3 simulations of training: those of SimAI's generator, and those of
// ASTRA-sim's ns-3 backend.
//
//   SimAI:      nodes GPUs-per-server NVSwitches other-switches links GPU-type
//   ASTRA-sim:  nodes switches links
//
// Then the numbers of all switches, NVSwitches first, and a line for each full-duplex link: two
// nodes, rate ("400Gbps", decimal bits), latency ("0.0005ms"), and the share of packets that are
// lost, which isn't simulated. Nodes that are no switches are NPUs, in the order of their numbers.
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::int64_t most_ns3_nodes = 2'000'000;

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

class Ns3Reader {
public:
  explicit Ns3Reader(const ForeignFile& file) : text_(file.content, file.source) {}

  TopologyParts read(Assumptions& assumed) {
    read_head();
    // Without switches their line is empty, and isn't among the lines.
    const std::size_t first_link = switches_ > 0 ? 2 : 1;
    const std::size_t lines = text_.lines().size();
    if (lines < first_link) throw text_.error("the line of switches is missing");
    if (lines - first_link != static_cast<std::size_t>(links_))
      throw text_.error(
          text_.lines().front().at(link_word_),
          fmt::format("{} links, but {} lines of links follow", links_, lines - first_link));
    if (nodes_ > 2 * links_)
      throw text_.error(text_.lines().front().front(),
                        fmt::format("{} links can't join {} nodes", links_, nodes_));
    add_nodes(assumed);
    for (std::size_t i = first_link; i < lines; ++i) add_link(text_.lines()[i]);
    if (loses_) assumed.add("loss", "no packet is lost, whatever the last column says");
    return std::move(parts_);
  }

private:
  void read_head() {
    const TextLines::Line& head = text_.lines().front();
    if (head.size() != 3 && head.size() != 6)
      throw text_.error(head.front(),
                        fmt::format("{} words; 3 (ASTRA-sim) or 6 (SimAI) are known", head.size()));
    is_simai_ = head.size() == 6;
    nodes_ = text_.integer(head[0], 1, most_ns3_nodes);
    link_word_ = is_simai_ ? 4 : 2;
    if (is_simai_) nvswitches_ = text_.integer(head[2], 0, nodes_);
    switches_ = nvswitches_ + text_.integer(head[is_simai_ ? 3 : 1], 0, nodes_);
    links_ = text_.integer(head[link_word_], 0, most_links / 2);
    if (!is_simai_) return;
    (void)text_.integer(head[1], 1, nodes_);
    parts_.npu_model = lower_case(head[5].text);
  }

  void add_nodes(Assumptions& assumed) {
    const TextLines::Line listed = switches_ > 0 ? text_.lines()[1] : TextLines::Line{};
    if (static_cast<std::int64_t>(listed.size()) != switches_)
      throw text_.error(listed.front(), fmt::format("{} switches are listed, but the first line "
                                                    "says {}",
                                                    listed.size(), switches_));
    std::vector<std::int64_t> place(static_cast<std::size_t>(nodes_), -1); // among the switches
    for (std::size_t i = 0; i < listed.size(); ++i) {
      std::int64_t& of = place[static_cast<std::size_t>(text_.integer(listed[i], 0, nodes_ - 1))];
      if (of >= 0) throw text_.error(listed[i], fmt::format("{} is listed twice", listed[i].text));
      of = static_cast<std::int64_t>(i);
    }
    ids_.resize(place.size());
    for (std::size_t n = 0; n < place.size(); ++n)
      if (place[n] < 0) ids_[n] = parts_.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
    for (std::size_t n = 0; n < place.size(); ++n) {
      if (place[n] < 0) continue;
      const char* kind = place[n] < nvswitches_ ? "nvswitch" : "switch";
      ids_[n] = parts_.add_node(
          {fmt::format("{}{}", kind, n), NodeKind::switching, Abilities{false, false, false}, {}});
    }
    if (switches_ > 0) assumed.add("switches", "they forward, and neither copy nor reduce");
  }

  void add_link(const TextLines::Line& line) {
    if (line.size() != 5)
      throw text_.error(line.front(), fmt::format("{} words, but a link has 5: two nodes, rate, "
                                                  "latency, loss",
                                                  line.size()));
    Link link;
    link.from = end(line[0]);
    link.to = end(line[1]);
    if (link.from == link.to) throw text_.error(line[1], "a link from a node to itself");
    link.bandwidth = text_.rate(line[2]);
    link.latency = text_.time(line[3]);
    loses_ |= text_.number(line[4], 0, 1) > 0;
    parts_.add_duplex(link);
  }
  [[nodiscard]] NodeId end(const Word& word) const {
    return ids_[static_cast<std::size_t>(text_.integer(word, 0, nodes_ - 1))];
  }

  TextLines text_;
  TopologyParts parts_;
  bool is_simai_ = false, loses_ = false;
  std::int64_t nodes_ = 0, nvswitches_ = 0, switches_ = 0, links_ = 0;
  std::size_t link_word_ = 0;
  std::vector<NodeId> ids_; ///< [number in the file]
};

} // namespace

bool is_ns3(std::string_view content) {
  // Numbers, and a rate in one of the next two lines.
  const std::vector<std::string_view> lines = first_lines(content, 3);
  if (lines.size() < 2) return false;
  const std::string_view head = trimmed(lines.front());
  return is_number(head.substr(0, head.find_first_of(" \t"))) &&
         std::any_of(lines.begin() + 1, lines.end(), [](std::string_view line) {
           return lower_case(line).find("bps") != std::string::npos;
         });
}

TopologyParts read_ns3(const ForeignFile& file, Assumptions& assumed) {
  return Ns3Reader(file).read(assumed);
}

} // namespace tutti::topologies
