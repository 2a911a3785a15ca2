// Files in YAML.
#pragma once

#include "sim/files/tree_value.hpp"

#include <string>
#include <string_view>

namespace tutti::topologies {

/// The one document of a file. Errors: InputError with the place; too much of anything, anchors and
/// aliases, too.
[[nodiscard]] TreeValue parse_yaml(std::string_view content, const std::string& source);

} // namespace tutti::topologies
