// Parts of a static page: texts, tables and pictures, safe whatever they say.
#pragma once

#include "experiments/driver/records/table.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti {

/// The beginning of a page: its title, and a line below it.
[[nodiscard]] std::string page_head(std::string_view title, std::string_view line);
inline constexpr std::string_view page_end = "</body>\n</html>\n";

/// A table with its first `most_rows` rows; where there are more, a line under it says so and names
/// the file that has all.
[[nodiscard]] std::string html_table(const Table& table, std::size_t most_rows,
                                     std::string_view file);

/// A picture of ours as part of a page, with this name for those who don't see it.
[[nodiscard]] std::string inline_svg(std::string_view svg, std::string_view title);

} // namespace tutti
