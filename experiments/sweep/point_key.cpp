#include "experiments/sweep/point_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tutti::sweep {

PointKey::PointKey() { parts_[1].add(std::uint64_t{0x746f7474}); } // any other beginning

void PointKey::add(std::uint64_t word) {
  for (Fingerprint& part : parts_) part.add(word);
}

void PointKey::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t letters = std::min(text.size(), sizeof word);
    for (std::size_t i = 0; i < letters; ++i)
      word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
    add(word);
    text.remove_prefix(letters);
  }
}

std::string PointKey::text() const {
  return fmt::format("{:016x}{:016x}", parts_[0].value(), parts_[1].value());
}

} // namespace tutti::sweep
