// FNV-1a over 64-bit words: fingerprints that are the same on every machine (std::hash isn't).
#pragma once

#include <cstdint>

namespace tutti {

class Fingerprint {
public:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte)
      hash_ = (hash_ ^ ((word >> (8 * byte)) & 0xff)) * 0x100000001b3ULL;
  }
  void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
  void add(std::uint32_t word) { add(static_cast<std::uint64_t>(word)); }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

} // namespace tutti
