// Networks for other programs: a writer is one file here and one row in list.cpp.
#pragma once

#include "sim/topology.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// A kind of file that a network can be written as.
struct NetworkWriter {
  std::string_view name;   ///< "toml"
  std::string_view ending; ///< ".toml": what a file of it is called
  /// Errors: InputError for what such a file can't say.
  std::string (*text)(const Topology& topology);
};

[[nodiscard]] std::span<const NetworkWriter> network_writers();
/// By the ending of the file's name. Errors: InputError naming the known ones.
[[nodiscard]] const NetworkWriter& network_writer(const std::string& file);

/// A file that read_topology() reads back as the same network.
[[nodiscard]] std::string topology_toml(const Topology& topology);
/// The others. Errors: InputError for what such a file can't say.
[[nodiscard]] std::string topology_astra(const Topology& topology);
[[nodiscard]] std::string topology_dot(const Topology& topology);
[[nodiscard]] std::string topology_graphml(const Topology& topology);
[[nodiscard]] std::string topology_infragraph(const Topology& topology);
[[nodiscard]] std::string topology_simgrid(const Topology& topology);

} // namespace tutti
