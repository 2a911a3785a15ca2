// Why: one-to-one stages have no incast. Idea: virtual traffic makes all sums of rows and columns
// equal; then there is a perfect matching on what is left until nothing is (Birkhoff 1946), and a
// stage takes the least entry of one from all of its entries. Few stages: matchings use only
// entries above a threshold, which is halved where there is none. A matching is kept from stage to
// stage; only rows whose entry fell below the threshold look for another by an augmenting path
// (Kuhn 1955).
// Source: as in FAST (arXiv 2505.09764), with thresholds.

#include "algorithms/birkhoff.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

constexpr std::uint32_t unmatched = UINT32_MAX;

class Matching {
public:
  Matching(std::vector<std::int64_t> amounts, std::uint32_t n)
      : n_(n), amounts_(std::move(amounts)), to_(n, unmatched), from_(n, unmatched) {
    fill();
  }

  [[nodiscard]] std::int64_t sum() const { return sum_; }
  [[nodiscard]] std::uint64_t entries_seen() const { return entries_seen_; }

  /// Whether there is a perfect matching of entries of at least `least`, which is kept then.
  [[nodiscard]] bool match(std::int64_t least) {
    for (std::uint32_t row = 0; row < n_; ++row)
      if (to_[row] != unmatched && at(row, to_[row]) < least)
        from_[std::exchange(to_[row], unmatched)] = unmatched;
    for (std::uint32_t row = 0; row < n_; ++row) {
      if (to_[row] != unmatched) continue;
      reached_.assign(n_, false);
      if (!augment(row, least)) return false;
    }
    return true;
  }

  /// Takes the least entry of the matching from all of its entries.
  BirkhoffStage take() {
    std::int64_t amount = sum_;
    for (std::uint32_t row = 0; row < n_; ++row) amount = std::min(amount, at(row, to_[row]));
    for (std::uint32_t row = 0; row < n_; ++row) at(row, to_[row]) -= amount;
    sum_ -= amount;
    return {amount, to_};
  }

private:
  [[nodiscard]] std::int64_t& at(std::uint32_t row, std::uint32_t column) {
    return amounts_[std::size_t{row} * n_ + column];
  }

  /// Virtual traffic: what a row lacks goes to columns that lack some.
  void fill() {
    std::vector<std::int64_t> rows(n_), columns(n_);
    for (std::uint32_t row = 0; row < n_; ++row)
      for (std::uint32_t column = 0; column < n_; ++column) {
        rows[row] += at(row, column);
        columns[column] += at(row, column);
      }
    for (std::uint32_t i = 0; i < n_; ++i) sum_ = std::max({sum_, rows[i], columns[i]});
    for (std::uint32_t row = 0, column = 0; row < n_ && column < n_;) {
      const std::int64_t more = std::min(sum_ - rows[row], sum_ - columns[column]);
      at(row, column) += more;
      rows[row] += more;
      columns[column] += more;
      if (rows[row] == sum_)
        ++row;
      else
        ++column;
    }
  }

  bool augment(std::uint32_t row, std::int64_t least) {
    for (std::uint32_t column = 0; column < n_; ++column) {
      ++entries_seen_;
      if (reached_[column] || at(row, column) < least) continue;
      reached_[column] = true;
      if (from_[column] != unmatched && !augment(from_[column], least)) continue;
      to_[row] = column;
      from_[column] = row;
      return true;
    }
    return false;
  }

  std::uint32_t n_;
  std::vector<std::int64_t> amounts_;
  std::int64_t sum_ = 0;                 // of every row and column
  std::vector<std::uint32_t> to_, from_; // of rows, of columns
  std::vector<bool> reached_;            // columns, by the search for one path
  std::uint64_t entries_seen_ = 0;
};

} // namespace

BirkhoffStages birkhoff_stages(std::vector<std::int64_t> amounts, std::uint32_t n,
                               const WorkLimit& limit) {
  BirkhoffStages found;
  Matching matching(std::move(amounts), n);
  auto least = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(matching.sum(), 1))));
  while (matching.sum() > 0) {
    limit.require();
    if (matching.match(least))
      found.stages.push_back(matching.take());
    else
      least /= 2; // at 1 there is one
  }
  found.entries_seen = matching.entries_seen();
  return found;
}

} // namespace tutti
