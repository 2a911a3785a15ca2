// What every writer says of a network in comments, each a line without its marks.
#pragma once

#include "sim/topology.hpp"

#include <string>
#include <vector>

namespace tutti {

/// On one line: spaces for control characters and for what isn't UTF-8.
[[nodiscard]] std::string plain_line(std::string text);

/// Its name, and its note where it has one.
[[nodiscard]] std::vector<std::string> title_lines(const Topology& topology);
/// "assumed: ...".
[[nodiscard]] std::vector<std::string> assumed_lines(const Topology& topology);
/// "left out: ...", for files that have no words for what NPUs and links are: each once, ascending.
[[nodiscard]] std::vector<std::string> lines_of_models_left_out(const Topology& topology);

} // namespace tutti
