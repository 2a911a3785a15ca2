#include "experiments/file_stem.hpp"

namespace tutti {

std::string file_stem_of(const std::string& first, const std::string& label) {
  std::string stem = first;
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
