// Texts of users and of files, as they may be shown to people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0; ///< in bytes; 0: no UTF-8
};

/// The first of a text that isn't empty, as RFC 3629 has them: neither longer than need be, nor a
/// surrogate, nor above U+10FFFF.
[[nodiscard]] CodePoint first_code_point(std::string_view text);

/// The text with its control characters (a terminal's commands among them) written out as \u001b,
/// and bytes that aren't UTF-8 as \xff. Those in `kept` stay. What it makes it leaves as it is.
[[nodiscard]] std::string printable(std::string_view text, std::string_view kept = {});

} // namespace tutti
