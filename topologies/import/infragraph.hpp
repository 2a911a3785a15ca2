// What InfraGraph's files say, part by part, between its reader's steps: the text becomes devices,
// those of several files one network, and the network nodes and links.
#pragma once

#include "sim/units.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/yaml.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tutti::topologies {

inline constexpr int most_nested_devices = 16;

/// "PCIe 3.0 x8", "NVLINK 3.0".
struct LinkGeneration {
  bool is_nvlink;
  int number;
  int lanes; ///< of PCIe; 0: not said
};

struct InfraLink {
  std::string name;
  std::optional<Bandwidth> rate;
  std::optional<Time> latency;
  std::optional<LinkGeneration> generation; ///< that its words name, where there is no rate
  std::string lanes;                        ///< how transfers became bytes
};

/// "nic[0:4]"; last < 0: to the end.
struct InfraPart {
  std::string name;
  TreePlace at;
  std::int64_t first = 0, last = -1, step = 1;
  bool is_slice = false;
};
/// From the outside: "host[0]", "nic[0:4]".
using InfraEnd = std::vector<InfraPart>;

struct InfraEdge {
  enum class Scheme : std::uint8_t { single, one2one, many2many, ring };
  std::array<InfraEnd, 2> ends;
  Scheme scheme = Scheme::single; ///< single: none is given
  std::string link;
  TreePlace at, link_at;
};

struct InfraComponent {
  std::string name, device; ///< device: that it is; empty: it is none
  TreePlace at;
  std::int64_t count = -1; ///< < 0: not given
  bool npu = false;
  std::size_t part = 0; ///< index into InfraNetwork::devices: the device that it is
};

struct InfraDevice {
  std::string name, content; ///< content: to compare
  TreePlace at;
  std::vector<InfraComponent> components;
  std::unordered_map<std::string, std::size_t> component_of;
  std::vector<InfraLink> links;
  std::unordered_map<std::string, std::size_t> link_of;
  std::vector<InfraEdge> edges;
};

/// One file: devices, and what is between instances of them.
struct InfraFile {
  std::vector<InfraDevice> devices;
  std::optional<InfraDevice> whole; ///< without a name; its components are the instances
  bool has_annotations = false;     ///< which say nothing of a network
};

/// The devices of all files.
struct InfraNetwork {
  std::vector<InfraDevice> devices;
  std::size_t root = 0; ///< what the network is one of
};

[[nodiscard]] InfraFile parse_infragraph(std::string_view text, const std::string& source);
[[nodiscard]] InfraLink parse_infra_link(const TreeValue& value);
/// Errors: InputError for ends that aren't there, and for what is too large.
[[nodiscard]] TopologyParts expand_infragraph(InfraNetwork network, Assumptions& assumed);

/// At most 128 bytes. Errors: InputError with the place.
[[nodiscard]] std::string infra_name(const TreeValue& value);
/// For errors: the first ones.
[[nodiscard]] std::vector<std::string> component_names(const InfraDevice& device);

} // namespace tutti::topologies
