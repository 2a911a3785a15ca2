// Parts of a static page: texts, tables and pictures, safe whatever they say.
#pragma once

#include "experiments/driver/records/table.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::sweep {

/// A table with its first `most_rows` rows; where there are more, a line under it says so and names
/// the file that has all.
[[nodiscard]] std::string html_table(const Table& table, std::size_t most_rows,
                                     std::string_view file);

/// A picture of ours as part of a page, with this name for those who don't see it.
[[nodiscard]] std::string inline_svg(std::string_view svg, std::string_view title);

} // namespace tutti::sweep
