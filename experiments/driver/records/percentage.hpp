// Parts of a whole as people write them.
#pragma once

#include <string_view>

namespace tutti {

/// `2%` to 0.02. Errors: InputError unless it is a percentage from 0% to 100%.
[[nodiscard]] double parse_percentage(std::string_view text);

} // namespace tutti
