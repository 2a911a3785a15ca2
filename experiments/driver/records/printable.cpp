// The escapes are those of TOML and JSON, so that what is shown can be written there again. Control
// characters are Unicode's (Cc), marks that turn the direction of writing, line separators, and
// characters that Unicode reserves for programs, as tables use them.
#include "experiments/driver/records/printable.hpp"

#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tutti {

namespace {

bool is_control(std::uint32_t value) {
  const auto in = [value](std::uint32_t first, std::uint32_t last) {
    return value >= first && value <= last;
  };
  return value < 0x20 || in(0x7f, 0x9f) || in(0x2028, 0x202e) || in(0x2066, 0x2069) ||
         in(0xfdd0, 0xfdef) || value == 0xfffe || value == 0xffff;
}

std::string_view entity(char c) {
  switch (c) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&quot;";
  case '\'': return "&#39;";
  default: return {};
  }
}

} // namespace

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

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    const std::string_view name = entity(c);
    if (!name.empty())
      result += name;
    else
      result += control && c != '\n' ? ' ' : c;
  }
  return result;
}

} // namespace tutti
