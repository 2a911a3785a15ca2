// What waits for a link where the order of entry counts.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A transfer at a link. In the order in which an engine serves them.
struct Waiting {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::int64_t since = 0;        ///< its entry, ps
  std::uint32_t position = none; ///< in the list of transfers; none before its start
  std::uint32_t key = 0;         ///< how urgent it is, lower first
  std::uint32_t transfer = 0;
  std::uint32_t flight = none; ///< of those under way over several links
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
    if (entry.since == 0) { // all that is there at the start: sorted at once, when it is needed
      sorted_ = false;
      return;
    }
    for (; i > first_ && entry < entries_[i - 1]; --i) entries_[i] = entries_[i - 1];
    entries_[i] = entry;
  }

  /// The first one; of those that entered together and haven't started anywhere, the most urgent
  /// `most`: a scheduler is free to start any of them. Pre: not empty.
  [[nodiscard]] std::span<const Waiting> choice(std::size_t most) {
    if (!sorted_) std::sort(entries_.begin() + static_cast<std::ptrdiff_t>(first_), entries_.end());
    sorted_ = true;
    const Waiting& head = entries_[first_];
    std::size_t end = first_ + 1;
    while (head.position == Waiting::none && end < entries_.size() && end < first_ + most &&
           entries_[end].since == head.since)
      ++end;
    return std::span(entries_).subspan(first_, end - first_);
  }

  /// Takes one of the last choice(), by index.
  Waiting take(std::size_t chosen) {
    const Waiting taken = entries_[first_ + chosen];
    for (std::size_t i = first_ + chosen; i > first_; --i) entries_[i] = entries_[i - 1];
    ++first_;
    return taken;
  }

private:
  std::vector<Waiting> entries_; // entries_[first_ ..] are waiting
  std::size_t first_ = 0;
  bool sorted_ = true;
};

} // namespace tutti
