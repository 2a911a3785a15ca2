// Single quotes keep everything from a shell but single quotes themselves, which are put outside.
#include "experiments/driver/records/shell_word.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tutti {

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("_-./+,:@%").find(letter) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char letter : text)
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

} // namespace tutti
