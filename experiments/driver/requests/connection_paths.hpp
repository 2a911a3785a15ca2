// The file beside a program in MSCCL XML that says which links its connections were planned for,
// since the XML only names peers and channels:
//   {"format": "tutti connection paths 1", "program": "<16 hex digits: of the XML>",
//    "topology": {"name": "...", "fingerprint": "<16 hex digits>"},
//    "connections": [{"from": 0, "to": 9, "channel": 1, "links": [3, 17], "nodes": ["npu0", ...]}]}
#pragma once

#include "runtime/program.hpp"
#include "sim/topology.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Where `lower` puts it and `import` looks for it: FILE.paths.json.
[[nodiscard]] std::string paths_file_of(const std::string& xml_file);

/// `npu0>pcie0>npu8`
[[nodiscard]] std::string path_text(const Topology& topology, std::span<const LinkId> links);

[[nodiscard]] std::string connection_paths_json(const Topology& topology,
                                                std::span<const runtime::ConnectionPath> paths,
                                                std::string_view xml);

/// Errors: InputError "FILE: ..." for malformed JSON, a missing or unknown key, the paths of
/// another program or topology, links that don't lead from one rank to the other, a connection
/// twice.
[[nodiscard]] std::vector<runtime::ConnectionPath>
parse_connection_paths(const Topology& topology, std::string_view text,
                       const std::string& file_name, std::string_view xml);

} // namespace tutti
