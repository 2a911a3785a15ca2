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
  template <typename Visit> void for_each(const Visit& visit) const {
    for (std::size_t i = first_; i < entries_.size(); ++i) visit(entries_[i]);
  }

private:
  std::vector<Entry> entries_; // entries_[first_ ..] are waiting
  std::size_t first_ = 0;
};

/// One LinkQueue per level of priority; level 0 is served first. All operations: O(levels).
class PriorityQueue {
public:
  using Entry = LinkQueue::Entry;
  explicit PriorityQueue(std::size_t levels = 1) : lower_(levels - 1) {}
  [[nodiscard]] bool empty() const {
    return first_.empty() && std::all_of(lower_.begin(), lower_.end(),
                                         [](const LinkQueue& queue) { return queue.empty(); });
  }
  /// Pre: not empty. So for pop().
  [[nodiscard]] const Entry& front() const {
    return first_.empty() ? lower_[next_lower()].front() : first_.front();
  }
  void push(const Entry& entry, std::size_t level) {
    (level == 0 ? first_ : lower_[level - 1]).push(entry);
  }
  void pop() { (first_.empty() ? lower_[next_lower()] : first_).pop(); }
  template <typename Leaves> void remove_if(const Leaves& leaves) {
    first_.remove_if(leaves);
    for (LinkQueue& queue : lower_) queue.remove_if(leaves);
  }
  template <typename Visit> void for_each(const Visit& visit) const {
    first_.for_each(visit);
    for (const LinkQueue& queue : lower_) queue.for_each(visit);
  }

private:
  [[nodiscard]] std::size_t next_lower() const {
    std::size_t level = 0;
    while (lower_[level].empty()) ++level;
    return level;
  }

  LinkQueue first_;
  std::vector<LinkQueue> lower_; // mostly none
};

} // namespace tutti
