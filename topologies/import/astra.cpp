// ASTRA-sim's network file for its analytical backend, in YAML:
//
//   topology: [ Ring, FullyConnected, Switch ]
//   npus_count: [ 2, 8, 4 ]
//   bandwidth: [ 200.0, 100.0, 50.0 ]   # GB/s of a link, each way
//   latency: [ 50.0, 500.0, 2000.0 ]    # ns of a link
//
// A product of dimensions, the first innermost. GB are 2^30 bytes there, though other files of the
// same program have 10^9. Other keys are refused, as they would be ignored without a word.
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/import/yaml.hpp"
#include "topologies/parts.hpp"
#include "topologies/product.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::size_t most_dimensions = 16;

class AstraReader {
public:
  explicit AstraReader(const ForeignFile& file) : root_(parse_yaml(file.content, file.source)) {
    root_.allow_only({"topology", "npus_count", "bandwidth", "latency"});
  }

  TopologyParts read(Assumptions& assumed) {
    std::vector<Wiring> wirings;
    for (const TreeValue& name : list("topology")) wirings.push_back(wiring(name));
    TopologySpec spec;
    for (const TreeValue& count : list("npus_count"))
      spec.shape.push_back(whole(count, 2, most_npus));
    require_few_links(wirings, spec.shape);
    for (const TreeValue& rate : list("bandwidth"))
      spec.bandwidth.push_back(Bandwidth{std::llround(rate.number(1e-6, 1e9) * 0x1p30)});
    for (const TreeValue& latency : list("latency")) spec.latency.push_back(time(latency));
    assumed.add("GB/s", "2^30 bytes a second, as ASTRA-sim's analytical backend has it");
    assumed.add("switches", "they forward, and neither copy nor reduce");
    return product(spec, wirings).parts();
  }

private:
  /// A line of the file can ask for gigabytes of links.
  void require_few_links(const std::vector<Wiring>& wirings, const std::vector<int>& counts) const {
    constexpr int most = 10'000'000; // 100 bytes each
    double npus = 1, links = 0;      // of an NPU
    for (std::size_t d = 0; d < counts.size(); ++d) {
      npus *= counts[d];
      links += wirings[d] == Wiring::full ? counts[d] - 1.0 : 2.0;
    }
    if (npus * links > most)
      throw root_.at("npus_count").error(fmt::format("more than {} links", most));
  }

  /// As long as that of `topology`.
  [[nodiscard]] std::vector<TreeValue> list(std::string_view key) const {
    const TreeValue value = root_.at(key);
    std::vector<TreeValue> items = value.list();
    if (items.empty() || items.size() > most_dimensions)
      throw value.error(fmt::format("expected a list of 1 to {} dimensions", most_dimensions));
    const std::size_t dimensions = root_.list("topology").size();
    if (items.size() != dimensions)
      throw value.error(fmt::format("{} values for {} dimensions", items.size(), dimensions));
    return items;
  }
  [[nodiscard]] static Wiring wiring(const TreeValue& value) {
    const std::string& name = value.word();
    if (name == "Ring") return Wiring::ring;
    if (name == "FullyConnected") return Wiring::full;
    if (name == "Switch") return Wiring::crossbar;
    throw value.error(fmt::format("unknown topology {} (known: FullyConnected, Ring, Switch)",
                                  short_quote(name)));
  }
  [[nodiscard]] static int whole(const TreeValue& value, double low, double high) {
    const double found = value.number(low, high);
    if (found != std::floor(found)) throw value.error("expected a whole number");
    return static_cast<int>(found);
  }
  [[nodiscard]] static Time time(const TreeValue& value) {
    const double nanoseconds = value.number(0, 1e12);
    const Time time{std::llround(nanoseconds * 1e3)};
    if (time.ps == 0 && nanoseconds > 0) throw value.error("less than a picosecond");
    return time;
  }

  TreeValue root_;
};

} // namespace

bool is_astra(std::string_view content) {
  // Both keys at the beginning of a line.
  bool has_topology = false, has_counts = false;
  for (const std::string_view line : first_lines(content, 1000)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon));
    has_topology |= key == "topology";
    has_counts |= key == "npus_count";
  }
  return has_topology && has_counts;
}

TopologyParts read_astra(const ForeignFile& file, Assumptions& assumed) {
  return AstraReader(file).read(assumed);
}

} // namespace tutti::topologies
