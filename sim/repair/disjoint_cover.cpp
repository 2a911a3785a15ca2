#include "sim/repair/disjoint_cover.hpp"

#include <algorithm>
#include <bit>

namespace tutti {

namespace {

using Word = std::uint64_t;

std::size_t count_of(std::span<const Word> set) {
  std::size_t count = 0;
  for (const Word word : set) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

/// Positions of the sums, those with most contributions first (a counting sort).
std::vector<std::uint32_t> largest_first(std::span<const PartialSum> sums, std::size_t words) {
  std::vector<std::size_t> counts;
  std::vector<std::uint32_t> begin(words * 64 + 2);
  for (const PartialSum& sum : sums) {
    counts.push_back(count_of(sum.contributions));
    ++begin[words * 64 - counts.back() + 1];
  }
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
  std::vector<std::uint32_t> order(sums.size());
  for (std::uint32_t i = 0; i < sums.size(); ++i) order[begin[words * 64 - counts[i]]++] = i;
  return order;
}

/// Takes a sum whose contributions are all uncovered still.
class Cover {
public:
  Cover(std::span<const PartialSum> sums, std::span<const Word> wanted)
      : sums_(sums), order_(largest_first(sums, wanted.size())),
        open_(wanted.begin(), wanted.end()) {}

  bool greedy() {
    const std::vector<Word> all = open_;
    for (const std::uint32_t i : order_)
      if (fits(i)) take(i);
    if (is_complete()) return true;
    taken_.clear();
    open_ = all;
    return false;
  }

  /// Of the contribution that is first among the open ones, tries each sum that has it.
  bool search() {
    if (is_complete()) return true;
    const auto word = static_cast<std::size_t>(
        std::ranges::find_if(open_, [](Word open) { return open != 0; }) - open_.begin());
    const Word first = open_[word] & (~open_[word] + 1);
    for (const std::uint32_t i : order_) {
      if ((sums_[i].contributions[word] & first) == 0 || !fits(i)) continue;
      if (steps_left_ == 0) return false;
      --steps_left_;
      take(i);
      if (search()) return true;
      give_back();
    }
    return false;
  }

  /// In the order in which the sums are listed.
  [[nodiscard]] std::vector<NodeId> npus() const {
    std::vector<bool> is_taken(sums_.size());
    for (const std::uint32_t i : taken_) is_taken[i] = true;
    std::vector<NodeId> npus;
    npus.reserve(taken_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (is_taken[i]) npus.push_back(sums_[i].npu);
    return npus;
  }

private:
  [[nodiscard]] bool is_complete() const {
    return std::ranges::all_of(open_, [](Word open) { return open == 0; });
  }
  [[nodiscard]] bool fits(std::uint32_t i) const {
    for (std::size_t w = 0; w < open_.size(); ++w)
      if (sums_[i].contributions[w] & ~open_[w]) return false;
    return true;
  }
  void take(std::uint32_t i) {
    for (std::size_t w = 0; w < open_.size(); ++w) open_[w] &= ~sums_[i].contributions[w];
    taken_.push_back(i);
  }
  void give_back() {
    for (std::size_t w = 0; w < open_.size(); ++w)
      open_[w] |= sums_[taken_.back()].contributions[w];
    taken_.pop_back();
  }

  std::span<const PartialSum> sums_;
  std::vector<std::uint32_t> order_, taken_;
  std::vector<Word> open_;
  std::uint32_t steps_left_ = 10'000;
};

} // namespace

std::optional<std::vector<NodeId>> disjoint_cover(std::span<const PartialSum> sums,
                                                  std::span<const std::uint64_t> wanted) {
  Cover cover(sums, wanted);
  if (!cover.greedy() && !cover.search()) return std::nullopt;
  return cover.npus();
}

} // namespace tutti
