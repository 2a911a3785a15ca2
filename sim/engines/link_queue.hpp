// Who waits for a link or a reduction unit, and who is next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// What waits at one place, by entry time, then list position. Entry times never fall, so a new
/// entry belongs at the end, or among the last ones of the same instant.
class LinkQueue {
public:
  struct Entry {
    std::int64_t since = 0; // ps
    std::uint32_t transfer = 0, flight = 0;
  };
  [[nodiscard]] bool empty() const { return first_ == entries_.size(); }
  [[nodiscard]] const Entry& front() const { return entries_[first_]; }
  void push(const Entry& entry) {
    if (first_ == entries_.size()) {
      entries_.clear();
      first_ = 0;
    } else if (first_ > 64 && 2 * first_ > entries_.size()) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    std::size_t i = entries_.size();
    entries_.push_back(entry);
    for (; i > first_ && entries_[i - 1].since == entry.since &&
           entries_[i - 1].transfer > entry.transfer;
         --i)
      entries_[i] = entries_[i - 1];
    entries_[i] = entry;
  }
  void pop() { ++first_; }

  /// Takes out, in order, the entries that `leaves` is true of. O(length).
  template <typename Leaves> void remove_if(const Leaves& leaves) {
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
    entries_.erase(std::remove_if(begin, entries_.end(), leaves), entries_.end());
  }

private:
  std::vector<Entry> entries_; // entries_[first_ ..] are waiting
  std::size_t first_ = 0;
};

/// One LinkQueue per level of priority; level 0 is served first.
class PriorityQueue {
public:
  using Entry = LinkQueue::Entry;
  explicit PriorityQueue(std::size_t levels = 1) : levels_(levels) {}
  [[nodiscard]] bool empty() const {
    return std::all_of(levels_.begin(), levels_.end(),
                       [](const LinkQueue& queue) { return queue.empty(); });
  }
  /// Pre: not empty. O(levels), as all here.
  [[nodiscard]] std::size_t front_level() const {
    std::size_t level = 0;
    while (levels_[level].empty()) ++level;
    return level;
  }
  [[nodiscard]] const Entry& front() const { return levels_[front_level()].front(); }
  void push(const Entry& entry, std::size_t level) { levels_[level].push(entry); }
  void pop() { levels_[front_level()].pop(); }
  template <typename Leaves> void remove_if(const Leaves& leaves) {
    for (LinkQueue& queue : levels_) queue.remove_if(leaves);
  }

private:
  std::vector<LinkQueue> levels_;
};

} // namespace tutti
