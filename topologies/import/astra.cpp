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
#include "topologies/import/list.hpp"
#include "topologies/parts.hpp"
#include "topologies/product.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cmath>
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
      root_ = YAML::Load(std::string(file.content));
    } catch (const YAML::Exception& e) {
      throw at(e.mark, e.msg);
    }
  }

  TopologyParts read(Assumptions& assumed) {
    if (!root_.IsMap()) throw error(root_, "expected keys");
    for (const auto& entry : root_)
      if (const std::string key = text(entry.first);
          key != "topology" && key != "npus_count" && key != "bandwidth" && key != "latency")
        throw error(entry.first, fmt::format("unknown key \"{}\" (known: topology, npus_count, "
                                             "bandwidth, latency)",
                                             key));
    std::vector<Wiring> wirings;
    for (const YAML::Node& name : list("topology")) wirings.push_back(wiring(name));
    TopologySpec spec;
    for (const YAML::Node& count : list("npus_count"))
      spec.shape.push_back(static_cast<int>(number(count, 2, most_npus)));
    for (const YAML::Node& rate : list("bandwidth"))
      spec.bandwidth.push_back(Bandwidth{std::llround(number(rate, 1e-6, 1e9) * 0x1p30)});
    for (const YAML::Node& latency : list("latency"))
      spec.latency.push_back(Time{std::llround(number(latency, 0, 1e12) * 1e3)});
    assumed.add("GB/s", "2^30 bytes a second, as ASTRA-sim's analytical backend has it");
    assumed.add("switches", "they forward, and neither copy nor reduce");
    try {
      return product(spec, wirings).parts();
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", source_, e.what()));
    }
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
  const std::string_view head = content.substr(0, 65536);
  return head.find("npus_count:") != std::string_view::npos &&
         head.find("topology:") != std::string_view::npos;
}

TopologyParts read_astra(const ForeignFile& file, Assumptions& assumed) {
  return AstraReader(file).read(assumed);
}

} // namespace tutti::topologies
