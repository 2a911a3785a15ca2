// Exact set packing is NP-hard in general. Largest sums first is tried before anything else; the
// branch and bound follows only where that leaves contributions out, and branches only on those
// that aren't a sum of their own.

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

/// Takes sums whose contributions are all uncovered still.
class Cover {
public:
  Cover(std::span<const PartialSum> sums, std::span<const Word> wanted)
      : sums_(sums), order_(largest_first(sums, wanted.size())),
        open_(wanted.begin(), wanted.end()), hard_(wanted.begin(), wanted.end()) {
    for (const PartialSum& sum : sums)
      if (count_of(sum.contributions) == 1)
        for (std::size_t w = 0; w < hard_.size(); ++w) hard_[w] &= ~sum.contributions[w];
  }

  std::vector<std::uint32_t> best() && {
    fill();
    if (least_gaps_ > 0) search(0);
    std::ranges::sort(best_);
    return std::move(best_);
  }

private:
  /// Adds whatever fits, largest first, notes what that leaves, and takes it back.
  void fill() {
    const std::size_t before = taken_.size();
    for (const std::uint32_t i : order_)
      if (fits(i)) take(i);
    if (const std::size_t gaps = count_of(open_); gaps < least_gaps_) {
      least_gaps_ = gaps;
      best_ = taken_;
    }
    while (taken_.size() > before) give_back();
  }

  /// Takes the first of the open contributions that are hard to have: tries each sum that has it,
  /// and then to go without it. `gaps`: how many it goes without so far.
  void search(std::size_t gaps) {
    if (gaps >= least_gaps_ || least_gaps_ == 0) return;
    std::size_t word = 0;
    while (word < open_.size() && (open_[word] & hard_[word]) == 0) ++word;
    if (word == open_.size()) return fill();
    const Word open = open_[word] & hard_[word];
    const Word first = open & (~open + 1);
    for (const std::uint32_t i : order_) {
      if ((sums_[i].contributions[word] & first) == 0 || !fits(i)) continue;
      if (steps_left_ == 0) return;
      --steps_left_;
      take(i);
      search(gaps);
      give_back();
    }
    hard_[word] &= ~first;
    search(gaps + 1);
    hard_[word] |= first;
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
  std::vector<std::uint32_t> order_, taken_, best_;
  std::vector<Word> open_, hard_;
  std::size_t least_gaps_ = SIZE_MAX;
  std::uint32_t steps_left_ = 10'000;
};

} // namespace

std::vector<std::uint32_t> disjoint_cover(std::span<const PartialSum> sums,
                                          std::span<const std::uint64_t> wanted) {
  return Cover(sums, wanted).best();
}

} // namespace tutti
