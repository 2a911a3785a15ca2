// Tutti's own random numbers, the same on every machine: std::shuffle and the standard
// distributions are implementation-defined. SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable
// pseudorandom number generators", fig. 16).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tutti {

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// 64 uniform bits.
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Uniform in 0 .. bound-1; the bias is below bound / 2^64. Pre: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    assert(bound > 0);
    return next() % bound;
  }

  /// Fisher-Yates.
  template <typename Container> void shuffle(Container& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

private:
  std::uint64_t state_;
};

} // namespace tutti
