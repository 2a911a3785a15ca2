// The escapes are those of TOML and JSON, so that what is shown can be written there again. Control
// characters are Unicode's (Cc), marks that turn the direction of writing, line separators, and
// characters that Unicode reserves for programs, as tables use them.
#include "experiments/driver/records/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

bool is_control(std::uint32_t value) {
  const auto in = [value](std::uint32_t first, std::uint32_t last) {
    return value >= first && value <= last;
  };
  return value < 0x20 || in(0x7f, 0x9f) || in(0x2028, 0x202e) || in(0x2066, 0x2069) ||
         in(0xfdd0, 0xfdef) || value == 0xfffe || value == 0xffff;
}

} // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t value = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fU);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < least || value > 0x10ffff || is_surrogate) return {};
  return {value, length};
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string shown;
  while (!text.empty()) {
    const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f; };
    const auto plain = static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    shown += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const CodePoint point = first_code_point(text);
    const std::string_view letter = text.substr(0, std::max<std::size_t>(point.length, 1));
    if (point.length == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter.front()));
    else if (is_control(point.value) && kept.find(letter) == std::string_view::npos)
      shown += fmt::format("\\u{:04x}", point.value);
    else
      shown += letter;
    text.remove_prefix(letter.size());
  }
  return shown;
}

} // namespace tutti
