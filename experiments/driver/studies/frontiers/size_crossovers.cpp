// Bisection between neighbouring sizes with different best ones; where a third is best in the
// middle, both halves are searched.
#include "experiments/driver/studies/frontiers/size_crossovers.hpp"

namespace tutti {

namespace {

using Best = std::function<std::optional<std::size_t>(Bytes)>;

// Appends all changes after `low` up to `high`.
void append_changes(BestFrom low, BestFrom high, const Best& best, std::vector<BestFrom>& changes) {
  while (low.which != high.which && high.size.count - low.size.count > 1) {
    const Bytes middle{low.size.count + (high.size.count - low.size.count) / 2};
    const std::size_t which = *best(middle);
    if (which == low.which) {
      low.size = middle;
    } else if (which == high.which) {
      high.size = middle;
    } else {
      append_changes(low, {middle, which}, best, changes);
      low = {middle, which};
    }
  }
  if (low.which != high.which) changes.push_back(high);
}

} // namespace

std::vector<BestFrom> best_by_size(std::span<const Bytes> sizes, const Best& best) {
  std::vector<BestFrom> changes;
  std::optional<BestFrom> before;
  for (const Bytes size : sizes) {
    const std::optional<std::size_t> which = best(size);
    if (!which) continue;
    const BestFrom here{size, *which};
    if (before)
      append_changes(*before, here, best, changes);
    else
      changes.push_back(here);
    before = here;
  }
  return changes;
}

} // namespace tutti
