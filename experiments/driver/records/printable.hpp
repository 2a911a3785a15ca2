// Texts of users and of files, as they may be shown to people.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// The text with its control characters (a terminal's commands among them) written out as \u001b,
/// and bytes that aren't UTF-8 as \xff. Those in `kept` stay. What it makes it leaves as it is.
[[nodiscard]] std::string printable(std::string_view text, std::string_view kept = {});

/// & < > " and ' as entities, control characters but line breaks as blanks: for the text and quoted
/// attributes of HTML and SVG alike.
[[nodiscard]] std::string escaped(std::string_view text);

} // namespace tutti
