// Labels are free text; files should be typed, quoted and globbed without care: ASCII letters in
// small, digits and underscores. Two labels may have one stem, which readers refuse.
#include "experiments/driver/records/file_stem.hpp"

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

} // namespace tutti
