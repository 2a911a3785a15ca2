// The key of a point: of all that decides its results.
#pragma once

#include "sim/hash.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::sweep {

/// 128 bits, of two hashes that begin differently. What is added in parts counts as parts.
class PointKey {
public:
  PointKey();
  void add(std::uint64_t word);
  void add(std::string_view text);
  /// 32 hexadecimal digits.
  [[nodiscard]] std::string text() const;

private:
  std::array<Fingerprint, 2> parts_;
};

} // namespace tutti::sweep
