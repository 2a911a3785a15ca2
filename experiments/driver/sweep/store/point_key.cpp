#include "experiments/driver/sweep/store/point_key.hpp"

#include <fmt/format.h>

namespace tutti::sweep {

PointKey::PointKey() { parts_[1].add(std::uint64_t{0x746f7474}); } // any other beginning

void PointKey::add(std::uint64_t word) {
  for (Fingerprint& part : parts_) part.add(word);
}

void PointKey::add(std::string_view text) {
  for (Fingerprint& part : parts_) part.add(text);
}

std::string PointKey::text() const {
  return fmt::format("{:016x}{:016x}", parts_[0].value(), parts_[1].value());
}

} // namespace tutti::sweep
