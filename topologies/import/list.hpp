// Networks in the files of other programs: a reader is one file here and one row in list.cpp.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tutti::topologies {

/// A kind of file that describes one node or a whole network.
struct ForeignFormat {
  std::string_view name; ///< "TACCL topology"
  /// Whether the content is of this kind, from words that only it has; no more than a look.
  bool (*recognises)(std::string_view content);
  /// So many nodes as the file describes, joined as its format means it. What the file doesn't say
  /// and is assumed stands in the topology's note. Errors: InputError with the place.
  Topology (*read)(std::string_view content, const std::string& source, std::int64_t nodes);
  std::string_view source; ///< of what is known of the format
};

[[nodiscard]] std::span<const ForeignFormat> foreign_formats();
/// Null where it is none of them.
[[nodiscard]] const ForeignFormat* foreign_format(std::string_view content);

[[nodiscard]] bool is_taccl(std::string_view content);
[[nodiscard]] Topology read_taccl(std::string_view content, const std::string& source,
                                  std::int64_t nodes);

} // namespace tutti::topologies
