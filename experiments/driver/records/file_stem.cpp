// Labels are free text; files should be typed, quoted and globbed without care: ASCII letters in
// small, digits and underscores. Two labels may have one stem, which readers refuse.
#include "experiments/driver/records/file_stem.hpp"

#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

std::string file_stem(std::string_view prefix, std::string_view label) {
  std::string stem(prefix);
  bool apart = true; // the next letter begins a word
  for (const char c : label) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (!upper && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) {
      apart = true;
      continue;
    }
    if (apart) stem += '_';
    apart = false;
    stem += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return stem;
}

std::string FileNames::stem(const std::string& stem,
                            std::initializer_list<std::string_view> endings) {
  std::string free = stem;
  const auto is_used = [&](std::string_view ending) {
    return is_taken(free + std::string(ending));
  };
  for (int i = 2; std::ranges::any_of(endings, is_used); ++i) free = fmt::format("{}_{}", stem, i);
  for (const std::string_view ending : endings) take(free + std::string(ending));
  return free;
}

namespace {

/// Its letters and digits, all small: "All-Gather" and "all_gather" are one word.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    // What isn't ASCII stands for itself.
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0)
      letters += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return letters;
}

} // namespace

std::string labelled_title(std::string_view label, std::string_view text) {
  const std::string said = letters_of(text);
  std::vector<std::string> parts;
  for (const std::string_view part : split(label, ',')) {
    const std::string_view word = trimmed(part);
    if (!word.empty() && said.find(letters_of(word)) == std::string::npos) parts.emplace_back(word);
  }
  return (parts.empty() ? "" : joined(parts, ", ") + ": ") + std::string(text);
}

} // namespace tutti
