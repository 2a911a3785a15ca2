// ASTRA-sim's network file for its analytical backend, in YAML:
//
//   topology: [ Ring, FullyConnected, Switch ]
//   npus_count: [ 2, 8, 4 ]
//   bandwidth: [ 200.0, 100.0, 50.0 ]   # GB/s of a link, each way
//   latency: [ 50.0, 500.0, 2000.0 ]    # ns of a link
//
// A product of dimensions, the first innermost. GB are 2^30 bytes there, though other files of the
// same program have 10^9. Other keys are refused, as they would be ignored without a word.
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"
#include "topologies/product.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr std::size_t most_dimensions = 16, most_bytes = std::size_t{1} << 20;

class AstraReader {
public:
  explicit AstraReader(const ForeignFile& file) : source_(file.source) {
    if (file.content.size() > most_bytes)
      throw InputError(fmt::format("{}: {} bytes are no network of ASTRA-sim (at most 1 MiB)",
                                   source_, file.content.size()));
    try {
      const std::vector<YAML::Node> all = YAML::LoadAll(std::string(file.content));
      if (all.size() != 1)
        throw InputError(fmt::format("{}: {} documents, not one", source_, all.size()));
      root_ = all.front();
    } catch (const YAML::Exception& e) {
      throw at(e.mark, e.msg);
    }
  }

  TopologyParts read(Assumptions& assumed) {
    if (!root_.IsMap()) throw error(root_, "expected keys");
    std::set<std::string> keys;
    for (const auto& entry : root_) {
      const std::string key = text(entry.first);
      if (!keys.insert(key).second)
        throw error(entry.first, fmt::format("the key \"{}\" stands twice", key));
      if (key != "topology" && key != "npus_count" && key != "bandwidth" && key != "latency")
        throw error(entry.first, fmt::format("unknown key \"{}\" (known: topology, npus_count, "
                                             "bandwidth, latency)",
                                             key));
    }
    std::vector<Wiring> wirings;
    for (const YAML::Node& name : list("topology")) wirings.push_back(wiring(name));
    TopologySpec spec;
    for (const YAML::Node& count : list("npus_count"))
      spec.shape.push_back(whole(count, 2, most_npus));
    for (const YAML::Node& rate : list("bandwidth"))
      spec.bandwidth.push_back(Bandwidth{std::llround(number(rate, 1e-6, 1e9) * 0x1p30)});
    for (const YAML::Node& latency : list("latency")) spec.latency.push_back(time(latency));
    assumed.add("GB/s", "2^30 bytes a second, as ASTRA-sim's analytical backend has it");
    assumed.add("switches", "they forward, and neither copy nor reduce");
    return product(spec, wirings).parts();
  }

private:
  [[nodiscard]] InputError at(const YAML::Mark& mark, const std::string& message) const {
    if (mark.is_null()) return InputError(fmt::format("{}: {}", source_, message));
    return InputError(
        fmt::format("{}:{}:{}: {}", source_, mark.line + 1, mark.column + 1, message));
  }
  [[nodiscard]] InputError error(const YAML::Node& node, const std::string& message) const {
    return at(node.Mark(), message);
  }
  [[nodiscard]] std::string text(const YAML::Node& node) const {
    if (!node.IsScalar()) throw error(node, "expected a word");
    return node.Scalar();
  }

  /// As long as that of `topology`.
  [[nodiscard]] std::vector<YAML::Node> list(const std::string& key) const {
    const YAML::Node node = root_[key];
    if (!node.IsDefined()) throw error(root_, fmt::format("no key \"{}\"", key));
    if (!node.IsSequence() || node.size() == 0 || node.size() > most_dimensions)
      throw error(node, fmt::format("expected a list of 1 to {} dimensions", most_dimensions));
    if (key != "topology" && node.size() != root_["topology"].size())
      throw error(
          node, fmt::format("{} values for {} dimensions", node.size(), root_["topology"].size()));
    return {node.begin(), node.end()};
  }
  [[nodiscard]] Wiring wiring(const YAML::Node& node) const {
    const std::string name = text(node);
    if (name == "Ring") return Wiring::ring;
    if (name == "FullyConnected") return Wiring::full;
    if (name == "Switch") return Wiring::crossbar;
    throw error(node,
                fmt::format("unknown topology \"{}\" (known: FullyConnected, Ring, Switch)", name));
  }
  [[nodiscard]] int whole(const YAML::Node& node, double low, double high) const {
    const double value = number(node, low, high);
    if (value != std::floor(value)) throw error(node, "expected a whole number");
    return static_cast<int>(value);
  }
  [[nodiscard]] Time time(const YAML::Node& node) const {
    const double nanoseconds = number(node, 0, 1e12);
    const Time time{std::llround(nanoseconds * 1e3)};
    if (time.ps == 0 && nanoseconds > 0) throw error(node, "less than a picosecond");
    return time;
  }
  [[nodiscard]] double number(const YAML::Node& node, double low, double high) const {
    double value = 0;
    if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !std::isfinite(value))
      throw error(node, "expected a number");
    if (value < low || value > high)
      throw error(node, fmt::format("{} is out of range ({} .. {})", value, low, high));
    return value;
  }

  std::string source_;
  YAML::Node root_;
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
