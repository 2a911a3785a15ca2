// The hint in an error is the known name within two edits (Levenshtein) of what was written.

#include "sim/error.hpp"

#include <algorithm>
#include <vector>

namespace tutti {

namespace {

/// Levenshtein distance. Cost: O(a.size() * b.size()).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

} // namespace

std::string unknown_name(std::string_view what, std::string_view found,
                         std::span<const std::string> known) {
  constexpr std::size_t longest_hint = 64; // edit distance on more is a waste of time
  const std::string* closest = nullptr;
  std::size_t least = 3;
  for (const std::string& name : known) {
    if (found.size() > longest_hint) break;
    const std::size_t distance = edit_distance(found, name);
    if (distance < least && distance < name.size()) {
      least = distance;
      closest = &name;
    }
  }
  std::string text = "unknown " + std::string(what) + " \"" + std::string(found) + "\" (known: ";
  for (const std::string& name : known) text += (&name == known.data() ? "" : ", ") + name;
  if (closest != nullptr) text += "; did you mean \"" + *closest + "\"?";
  return text + ")";
}

} // namespace tutti
