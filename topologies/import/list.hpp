// Networks in the files of other programs: a reader is one file here and one row in list.cpp.
#pragma once

#include "sim/topology.hpp"
#include "topologies/import/assumptions.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topologies {

/// A further file that a network is described in.
struct CompanionFile {
  std::string content;
  std::string source; ///< what errors call it
};

/// What a reader is given.
struct ForeignFile {
  std::string_view content;
  std::string source;     ///< what errors call it
  std::int64_t nodes = 1; ///< so many of what the file describes, where that is one node
  /// `FILE,key=value`: of ForeignFormat::options alone.
  std::map<std::string, std::string, std::less<>> options = {};
  std::vector<CompanionFile> companions = {}; ///< `FILE+OTHER`
  /// Files beside it with the same ending, by their names; null where there are none.
  std::function<std::vector<CompanionFile>()> beside = {};
};

/// A kind of file that describes one node or a whole network.
struct ForeignFormat {
  std::string_view name;   ///< "htsim"
  std::string_view title;  ///< "fat trees of htsim (.topo)"
  std::string_view source; ///< of what is known of the format
  /// Whether the content is of this kind, from words that only it has; no more than a look.
  bool (*recognises)(std::string_view content);
  /// NPUs first; name, note and assumptions are left to read_foreign(). Errors: InputError with the
  /// place.
  TopologyParts (*read)(const ForeignFile& file, Assumptions& assumed);
  bool has_nodes = false;      ///< it is a node, of which there may be several: FILE:4
  bool has_companions = false; ///< other files may belong to it: FILE+OTHER
  std::span<const std::string_view> options = {}; ///< keys that it takes: FILE,nics=8
};

[[nodiscard]] std::span<const ForeignFormat> foreign_formats();
/// Null where it is none of them.
[[nodiscard]] const ForeignFormat* foreign_format(std::string_view content);

/// The network, named by its file, with what was assumed (TopologyParts::assumed). Errors:
/// InputError with the place: too large (64 MiB), several of what is no node, what the reader
/// finds.
[[nodiscard]] Topology read_foreign(const ForeignFormat& format, const ForeignFile& file);

/// Errors: InputError for a file that is no network, but known: what it is, and where it belongs;
/// and for one that is neither known nor, by its beginning and the ending of its name, TOML.
void refuse_other_kinds(std::string_view content, const std::string& source);

[[nodiscard]] bool is_astra(std::string_view content);
[[nodiscard]] TopologyParts read_astra(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_csv(std::string_view content);
[[nodiscard]] TopologyParts read_csv(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_dot(std::string_view content);
[[nodiscard]] TopologyParts read_dot(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_graphml(std::string_view content);
[[nodiscard]] TopologyParts read_graphml(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_htsim(std::string_view content);
[[nodiscard]] TopologyParts read_htsim(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_infragraph(std::string_view content);
[[nodiscard]] TopologyParts read_infragraph(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_nccl(std::string_view content);
[[nodiscard]] TopologyParts read_nccl(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_ns3(std::string_view content);
[[nodiscard]] TopologyParts read_ns3(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_nvidia_smi(std::string_view content);
[[nodiscard]] TopologyParts read_nvidia_smi(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_simgrid(std::string_view content);
[[nodiscard]] TopologyParts read_simgrid(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_taccl(std::string_view content);
[[nodiscard]] TopologyParts read_taccl(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_teccl(std::string_view content);
[[nodiscard]] TopologyParts read_teccl(const ForeignFile& file, Assumptions& assumed);

[[nodiscard]] bool is_hwloc(std::string_view content);
[[nodiscard]] TopologyParts read_hwloc(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_nvidia_list(std::string_view content);
[[nodiscard]] TopologyParts read_nvidia_list(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_p2p_bandwidth(std::string_view content);
[[nodiscard]] TopologyParts read_p2p_bandwidth(const ForeignFile& file, Assumptions& assumed);
[[nodiscard]] bool is_rocm_smi(std::string_view content);
[[nodiscard]] TopologyParts read_rocm_smi(const ForeignFile& file, Assumptions& assumed);

} // namespace tutti::topologies
