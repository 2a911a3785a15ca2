// Scratch memory in regions of the sizes that are asked for, used again when given back.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

namespace tutti::runtime {

/// A region of scratch: the n-th that was made, and its first unit.
struct ScratchRegion {
  std::uint32_t index = 0, unit = 0;
};

class ScratchRegions {
public:
  /// Of those that are free and have this size, the one that is free longest; else a new one.
  ScratchRegion take(std::uint32_t units) {
    std::deque<ScratchRegion>& free = free_[units];
    if (free.empty()) {
      const ScratchRegion fresh{made_++, size_};
      size_ += units;
      return fresh;
    }
    const ScratchRegion again = free.front();
    free.pop_front();
    return again;
  }
  void give_back(ScratchRegion region, std::uint32_t units) { free_[units].push_back(region); }
  [[nodiscard]] std::uint32_t size() const { return size_; } ///< units

private:
  std::uint32_t made_ = 0, size_ = 0;
  std::map<std::uint32_t, std::deque<ScratchRegion>> free_; // by size
};

} // namespace tutti::runtime
