// Who waits at one place, and who is next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

namespace tutti {

/// What has the higher priority is served first, among equals what entered first, at one instant
/// what is listed first.
struct Turn {
  std::uint32_t level = 0;   ///< of priority; 0 is the highest
  std::uint64_t instant = 0; ///< of entry: instants are counted
  std::uint32_t transfer = 0, hop = 0;
  std::uint32_t crossing = 0; ///< that waits

  bool operator>(const Turn& other) const {
    return std::tie(level, instant, transfer, hop) >
           std::tie(other.level, other.instant, other.transfer, other.hop);
  }
};

class Turns {
public:
  [[nodiscard]] bool empty() const { return turns_.empty(); }
  /// Pre: not empty; so for pop().
  [[nodiscard]] const Turn& front() const { return turns_.front(); }
  void push(const Turn& turn) {
    turns_.push_back(turn);
    std::ranges::push_heap(turns_, std::greater{});
  }
  Turn pop() {
    std::ranges::pop_heap(turns_, std::greater{});
    const Turn first = turns_.back();
    turns_.pop_back();
    return first;
  }
  /// Takes out those that `leaves` is true of. O(length).
  template <typename Leaves> void take_out(const Leaves& leaves) {
    std::erase_if(turns_, leaves);
    std::ranges::make_heap(turns_, std::greater{});
  }

private:
  std::vector<Turn> turns_; // a heap
};

} // namespace tutti
