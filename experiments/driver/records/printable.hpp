// Texts of users and of files, as they may be shown to people.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// The text with its control characters (a terminal's commands among them) written out as \u001b,
/// and bytes that aren't UTF-8 as \xff. Those in `kept` stay. What it makes it leaves as it is.
[[nodiscard]] std::string printable(std::string_view text, std::string_view kept = {});

} // namespace tutti
