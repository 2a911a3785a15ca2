// Who waits at one place, and who is next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace tutti {

/// What has the higher priority is served first, among equals what entered first, at one instant
/// what is listed first.
struct Turn {
  std::uint64_t entry = 0; ///< level of priority, 0 the highest, then instant of entry, counted
  std::uint32_t transfer = 0, hop = 0;
  std::uint32_t crossing = 0; ///< that waits

  Turn(std::uint32_t level, std::uint64_t instant, std::uint32_t of_transfer, std::uint32_t of_hop,
       std::uint32_t of_crossing)
      : entry(std::uint64_t{level} << 56U | instant), transfer(of_transfer), hop(of_hop),
        crossing(of_crossing) {}

  bool operator>(const Turn& other) const {
    if (entry != other.entry) return entry > other.entry;
    return transfer != other.transfer ? transfer > other.transfer : hop > other.hop;
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
