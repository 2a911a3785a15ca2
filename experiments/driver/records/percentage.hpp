// Parts of a whole as people write them.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// `2%` to 0.02. Errors: InputError unless it is a percentage from 0% to 100%.
[[nodiscard]] double parse_percentage(std::string_view text);
/// The same to 1000000%, of what may be many times as much.
[[nodiscard]] double parse_large_percentage(std::string_view text);

/// 0.123 as `12.3 %`.
[[nodiscard]] std::string percent_text(double fraction);

} // namespace tutti
