// FNV-1a over 64-bit words: fingerprints that are the same on every machine (std::hash isn't).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti {

class Fingerprint {
public:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte)
      hash_ = (hash_ ^ ((word >> (8 * byte)) & 0xff)) * 0x100000001b3ULL;
  }
  void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
  void add(std::uint32_t word) { add(static_cast<std::uint64_t>(word)); }
  /// Its length, then eight letters at a time, the first the least.
  void add(std::string_view text) {
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
  [[nodiscard]] std::uint64_t value() const { return hash_; }

private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

} // namespace tutti
