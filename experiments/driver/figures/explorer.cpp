// A page has to open from a file, without a server or a request, and to hold two million crossings:
// columns of small differences, each a number of as few bytes as it needs (LEB128), deflated, in
// base64. The rest is JSON. How busy each link is over time is counted here, as the page may have
// only a part of the crossings.
#include "experiments/driver/figures/explorer.hpp"

#include "experiments/driver/figures/critical_path.hpp"
#include "experiments/driver/figures/explored_results.hpp"
#include "experiments/driver/figures/layout/layout.hpp"
#include "experiments/driver/records/shell_word.hpp"
#include "sim/error.hpp"
#include "sim/files/data_files.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace tutti {

namespace {

using nlohmann::json;

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// Without zlib's head and sum: what browsers call deflate-raw.
std::string deflated(std::string_view bytes) {
  z_stream stream{};
  if (::deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib can't deflate");
  std::string packed(::deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); // zlib only reads it
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int end = ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (end != Z_STREAM_END) throw std::runtime_error("zlib can't deflate");
  return packed;
}

json packed(std::string_view bytes) { return {{"data", base64(deflated(bytes))}}; }

/// `number_of(i)`, count of them; or how much each is more than the one before.
template <typename NumberOf> json column(std::size_t count, bool delta, const NumberOf& number_of) {
  std::string bytes;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(number_of(i));
    std::uint64_t rest = delta ? number - before : number;
    for (before = number; rest >= 0x80; rest >>= 7)
      bytes += static_cast<char>((rest & 0x7f) | 0x80);
    bytes += static_cast<char>(rest);
  }
  return {{"delta", delta}, {"data", base64(deflated(bytes))}};
}

template <typename Id> json values_of(const std::vector<Id>& ids) {
  json values = json::array();
  for (const Id id : ids) values.push_back(id.value);
  return values;
}

/// What pictures draw as one, by its name; [] where they draw each node.
json groups_json(const Layout& layout) {
  json names = json::array();
  for (const LayoutNode& drawn : layout.nodes)
    if (drawn.nodes.size() > 1) names.push_back(drawn.label.text);
  return names;
}

json nodes_json(const Topology& topology, const Layout& layout, const DeadParts& dead) {
  json name = json::array(), is_switch = json::array(), x = json::array(), y = json::array();
  std::vector<std::int64_t> number; // of each drawn node, among groups
  std::int64_t groups = 0;
  for (const LayoutNode& drawn : layout.nodes)
    number.push_back(drawn.nodes.size() > 1 ? groups++ : -1);
  json group = json::array();
  const auto rounded = [](double share) { return std::round(share * 1e5) / 1e5; };
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const LayoutNode& drawn = layout.nodes[layout.node_of[n]];
    // Several that a picture draws as one stand in a square here.
    const auto side =
        static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(drawn.nodes.size()))));
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(drawn.nodes, NodeId{n}) -
                                             drawn.nodes.begin());
    const auto offset = [&](std::size_t place) {
      return drawn.radius * (2.0 * static_cast<double>(place) + 1 - static_cast<double>(side)) /
             static_cast<double>(side);
    };
    name.push_back(topology.node(NodeId{n}).name);
    is_switch.push_back(n < topology.npu_count() ? 0 : 1);
    x.push_back(rounded((drawn.at.x + offset(at % side)) / layout.width));
    y.push_back(rounded((drawn.at.y + offset(at / side)) / layout.height));
    if (groups > 0) group.push_back(number[layout.node_of[n]]);
  }
  return {
      {"name", std::move(name)}, {"is_switch", std::move(is_switch)}, {"x", std::move(x)},
      {"y", std::move(y)},       {"dead", values_of(dead.nodes)},     {"group", std::move(group)}};
}

json links_json(const Topology& topology, const Layout& layout, const Report& report,
                const DeadParts& dead) {
  json links, stubs = json::array();
  for (const char* key :
       {"from", "to", "latency_ps", "bytes_per_s", "bytes", "transfers", "busy_ps"})
    links[key] = json::array();
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    links["from"].push_back(link.from.value);
    links["to"].push_back(link.to.value);
    links["latency_ps"].push_back(link.latency.ps);
    links["bytes_per_s"].push_back(link.bandwidth.bytes_per_second);
    links["bytes"].push_back(report.links[l].bytes.count);
    links["transfers"].push_back(report.links[l].transfers);
    links["busy_ps"].push_back(report.links[l].busy.ps);
    const std::uint32_t drawn = layout.link_of[l];
    if (drawn != UINT32_MAX && layout.links[drawn].course == LinkCourse::stubs) stubs.push_back(l);
  }
  links["stubs"] = std::move(stubs);
  links["dead"] = values_of(dead.links);
  return links;
}

json chunks_json(const Collective& collective) {
  json bytes = json::array(), source = json::array();
  const bool alike = std::ranges::all_of(collective.chunks, [&](const Chunk& chunk) {
    return chunk.size == collective.chunks.front().size;
  });
  for (const Chunk& chunk : collective.chunks) {
    if (!alike || bytes.empty()) bytes.push_back(chunk.size.count);
    const std::vector<NodeId>& sources = collective.sets[chunk.sources];
    source.push_back(sources.size() == 1 ? static_cast<std::int64_t>(sources.front().value) : -1);
  }
  return {{"count", collective.chunks.size()},
          {"bytes", std::move(bytes)},
          {"source", std::move(source)}};
}

json hops_json(const Report& report, const Schedule& schedule,
               std::span<const std::uint32_t> before) {
  const std::vector<HopRecord>& hops = report.hops;
  const std::size_t count = std::min(hops.size(), most_played);
  std::vector<bool> goes_on(hops.size());
  for (const std::uint32_t hop : before)
    if (hop != UINT32_MAX) goes_on[hop] = true;
  return {{"count", count},
          {"total", hops.size()},
          {"from_ps", 0},
          {"to_ps", count < hops.size() ? hops[count].start.ps : report.completion.ps},
          {"start", column(count, true, [&](std::size_t i) { return hops[i].start.ps; })},
          {"duration",
           column(count, false, [&](std::size_t i) { return (hops[i].end - hops[i].start).ps; })},
          {"link", column(count, false, [&](std::size_t i) { return hops[i].link.value; })},
          {"chunk", column(count, false,
                           [&](std::size_t i) { return schedule[hops[i].transfer].chunk.value; })},
          {"transfer", column(count, false, [&](std::size_t i) { return hops[i].transfer; })},
          {"reduces", column(count, false,
                             [&](std::size_t i) {
                               return schedule[hops[i].transfer].op == Op::reduce ? 1 : 0;
                             })},
          {"arrives", column(count, false, [&](std::size_t i) { return goes_on[i] ? 0 : 1; })}};
}

json bins_json(const Topology& topology, const Report& report) {
  constexpr std::size_t most_cells = 4'000'000;
  const std::size_t links = topology.link_count(),
                    count = report.hops.empty()
                                ? 1 // only the whole is known
                                : std::clamp<std::size_t>(
                                      most_cells / std::max<std::size_t>(links, 1), 16, 256);
  const std::int64_t width =
      std::max<std::int64_t>((report.completion.ps + static_cast<std::int64_t>(count) - 1) /
                                 static_cast<std::int64_t>(count),
                             1);
  const bool latency_occupies = report.model.link_busy == LinkBusy::latency_and_serialization;
  std::vector<double> busy(links * count);
  if (report.hops.empty())
    for (std::size_t l = 0; l < links; ++l) busy[l] = static_cast<double>(report.links[l].busy.ps);
  for (const HopRecord& hop : report.hops) {
    const std::int64_t until =
        hop.end.ps + (latency_occupies ? topology.link(hop.link).latency.ps : 0);
    for (std::int64_t at = hop.start.ps; at < until;) {
      const std::int64_t bin = std::min<std::int64_t>(at / width,
                                                      static_cast<std::int64_t>(count) - 1),
                         end = bin + 1 == static_cast<std::int64_t>(count)
                                   ? until
                                   : std::min(until, (bin + 1) * width);
      busy[hop.link.value * count + static_cast<std::size_t>(bin)] += static_cast<double>(end - at);
      at = end;
    }
  }
  std::string share(busy.size(), '\0');
  for (std::size_t i = 0; i < busy.size(); ++i)
    share[i] = static_cast<char>(static_cast<std::uint8_t>(
        std::lround(255 * std::min(busy[i] / static_cast<double>(width), 1.0))));
  return {{"count", count}, {"width_ps", width}, {"share", packed(share)}};
}

json moments_json(const std::vector<ExploredMoment>& moments) {
  json all = json::array();
  for (const ExploredMoment& moment : moments)
    all.push_back({{"at_ps", moment.at.ps},
                   {"words", moment.words},
                   {"links_down", values_of(moment.links_down)},
                   {"links_up", values_of(moment.links_up)},
                   {"nodes_down", values_of(moment.nodes_down)}});
  return all;
}

json run_json(const ExploredRun& run, const std::string& command) {
  const Topology& topology = *run.topology;
  const Layout layout = layout_of(topology);
  const Report& report = run.report;
  json facts = json::array(), critical = json::array(), hops;
  for (const auto& [name, value] : run.facts) facts.push_back({name, value});
  if (!report.hops.empty()) {
    const std::vector<std::uint32_t> before = hops_before(run.schedule, report);
    hops = hops_json(report, run.schedule, before);
    if (report.hops.size() <= most_played && !report.deliveries.empty())
      for (const std::uint32_t hop : critical_path(topology, run.schedule, report, before))
        critical.push_back(hop);
  }
  return {{"label", run.label},
          {"command", command},
          {"facts", std::move(facts)},
          {"network",
           {{"name", topology.name()},
            {"aspect", layout.height / layout.width},
            {"nodes", nodes_json(topology, layout, run.dead)},
            {"groups", groups_json(layout)},
            {"links", links_json(topology, layout, report, run.dead)}}},
          {"chunks", chunks_json(run.collective)},
          {"completion_ps", report.completion.ps},
          {"bound_ps", run.bound ? json(run.bound->ps) : json()},
          {"bound_kind", run.bound_kind},
          {"cut", values_of(run.inside)},
          {"hops", std::move(hops)},
          {"bins", bins_json(topology, report)},
          {"critical", std::move(critical)},
          {"moments", moments_json(run.moments)}};
}

} // namespace

std::string explorer_data(const Exploration& shown) {
  const bool has_results = !shown.tables.empty() || !shown.timelines.empty();
  if (shown.runs.empty() && !has_results) throw InputError("there is nothing to show");
  json runs = json::array();
  for (const ExploredRun& run : shown.runs) runs.push_back(run_json(run, shown.command));
  const json data = {
      {"format", "tutti-explore"}, {"version", 2},
      {"title", shown.title},      {"command", shown.command},
      {"runs", std::move(runs)},   {"results", has_results ? packed(results_text(shown)) : json()}};
  std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string safe; // no name ends the element that holds it
  safe.reserve(text.size());
  for (const char letter : text)
    if (letter == '<')
      safe += "\\u003c";
    else
      safe += letter;
  return safe;
}

void write_explorer(const std::string& file, const Exploration& exploration) {
  constexpr std::string_view place = "<!--TUTTI-DATA-->";
  const std::string page_file = data_folder("explorer", TUTTI_EXPLORER_SOURCE_DIR) + "/page.html";
  const std::string page = read_file(page_file);
  const std::size_t at = page.find(place);
  if (at == std::string::npos) throw InputError(page_file + " has no place for data");
  const std::string data = explorer_data(exploration);
  write_file(file, [&](std::ostream& out) {
    out << page.substr(0, at) << R"(<script id="tutti-data" type="application/json">)" << data
        << "</script>" << page.substr(at + place.size());
  });
}

void require_page_name(const std::string& file) {
  if (!file.empty() && !file.ends_with(".html"))
    throw InputError(fmt::format("{}: a page is a file that ends with .html", file));
}

std::string own_command() {
  std::string command = "tutti";
  std::istringstream words(read_file("/proc/self/cmdline"));
  std::string word;
  std::getline(words, word, '\0'); // the program's path
  while (std::getline(words, word, '\0')) command += " " + shell_word(word);
  return command;
}

} // namespace tutti
