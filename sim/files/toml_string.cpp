// Files that Tutti writes have names from files that people wrote.
// Source: TOML 1.0, "String".
#include "sim/files/toml_string.hpp"

#include <fmt/format.h>

namespace tutti {

std::string toml_string(std::string_view text) {
  std::string toml = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned>(static_cast<unsigned char>(c));
    if (c == '"' || c == '\\')
      toml += std::string{'\\', c};
    else if (code < 0x20 || code == 0x7f)
      toml += fmt::format("\\u{:04x}", code);
    else
      toml += c;
  }
  return toml + "\"";
}

} // namespace tutti
