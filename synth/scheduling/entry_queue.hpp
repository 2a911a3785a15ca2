// What waits for a link where the order of entry counts.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// A transfer at a link. In the order in which an engine serves them.
struct Waiting {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::int64_t since = 0;        ///< its entry, ps
  std::uint32_t position = none; ///< in the list of transfers; none before its start
  std::uint32_t key = 0;         ///< how urgent it is, lower first
  std::uint32_t transfer = 0;
  std::uint32_t flight = none; ///< its number among those under way over several links
  auto operator<=>(const Waiting&) const = default;
};

class EntryQueue {
public:
  [[nodiscard]] bool empty() const { return first_ == entries_.size(); }

  /// Pre: `entry.since` never falls.
  void push(const Waiting& entry) {
    if (first_ > 64 && 2 * first_ > entries_.size()) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    std::size_t i = entries_.size();
    entries_.push_back(entry);
    for (; i > first_ && entry < entries_[i - 1]; --i) entries_[i] = entries_[i - 1];
    entries_[i] = entry;
  }
  [[nodiscard]] const Waiting& front() const { return entries_[first_]; }
  void pop() { ++first_; }

private:
  std::vector<Waiting> entries_; // entries_[first_ ..] are waiting
  std::size_t first_ = 0;
};

} // namespace tutti
