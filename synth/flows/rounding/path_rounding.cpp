// Whole chunks go to the path with most of its share left; what fits into no share is a choice.
// Choices are made one by one by conditional expectations (Raghavan 1988), where a sum of powers of
// the loads stands for the expectation of the highest load, then improved by iterated local search
// with ever higher powers, which come ever closer to the maximum.

#include "synth/flows/rounding/path_rounding.hpp"

#include "sim/random.hpp"
#include "synth/solvers/limit_watch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <queue>
#include <utility>

namespace tutti {

namespace {

/// Chooses a path for each chunk.
class Rounding {
public:
  Rounding(const Collective& collective, std::span<const FlowTree> trees, const Bundles& bundles,
           PathLoads& loads, const WorkLimit& limit)
      : collective_(collective), trees_(trees), bundles_(bundles), loads_(loads), watch_(limit),
        path_of_(bundles.chunks.size()), rest_(bundles.paths.size()) {}

  /// [chunk of the bundles]: index into their paths.
  [[nodiscard]] std::vector<std::uint32_t> paths() {
    for (std::size_t b = 0; b < bundles_.list.size(); ++b) {
      watch_.require();
      fill_shares(b);
    }
    set_effort();
    for (const Choice& choice : choices_) {
      watch_.require();
      release_rests(bundles_.list[choice.bundle]);
      path_of_[choice.chunk] = best_path(choice);
      take(choice);
    }
    search();
    return std::move(path_of_);
  }

private:
  /// A chunk that fits wholly into no share.
  struct Choice {
    std::size_t bundle, chunk;
  };

  [[nodiscard]] double size(std::size_t chunk) const {
    return static_cast<double>(collective_.chunks[bundles_.chunks[chunk].value].size.count);
  }

  void fill_shares(std::size_t b) {
    const Bundle& bundle = bundles_.list[b];
    if (bundle.path_count == 1) {
      std::fill_n(path_of_.begin() + static_cast<std::ptrdiff_t>(bundle.first_chunk),
                  bundle.chunk_count, static_cast<std::uint32_t>(bundle.first_path));
      return;
    }
    double bytes = 0;
    for (std::size_t c = bundle.first_chunk; c < bundle.first_chunk + bundle.chunk_count; ++c)
      bytes += size(c);
    std::priority_queue<std::pair<double, std::size_t>> emptiest; // ties: the last path
    for (std::size_t w = bundle.first_path; w < bundle.first_path + bundle.path_count; ++w)
      emptiest.emplace(rest_[w] = bundles_.paths[w].share * bytes, w);
    for (std::size_t c = bundle.first_chunk; c < bundle.first_chunk + bundle.chunk_count; ++c) {
      const auto [slack, w] = emptiest.top();
      if (slack < size(c) * (1 - 1e-9)) {
        choices_.push_back({b, c});
        continue;
      }
      emptiest.pop();
      path_of_[c] = static_cast<std::uint32_t>(w);
      rest_[w] = slack - size(c);
      emptiest.emplace(rest_[w], w);
    }
  }

  void set_effort() {
    double links = 0, largest = 0; // a look at all paths for all choices
    for (const Choice& choice : choices_) {
      const Bundle& bundle = bundles_.list[choice.bundle];
      links += static_cast<double>(bundle.path_count *
                                   bundles_.paths[bundle.first_path].links(trees_).size());
      largest = std::max(largest, size(choice.chunk));
      most_paths_ = std::max(most_paths_, bundle.path_count);
    }
    if (loads_.has_phases()) links *= 2;
    if (links > most_work)
      most_paths_ = std::max<std::size_t>(
          2, static_cast<std::size_t>(static_cast<double>(most_paths_) * most_work / links));
    passes_ = static_cast<int>(std::min(200.0, most_work / 2 / std::max(links, 1.0)));
    // Sharp enough to tell loads apart that differ by a chunk.
    const double wanted =
        2 * std::log(static_cast<double>(loads_.count())) / (largest * loads_.most_per_byte());
    while (sharpest_ < 8 && std::ldexp(1, sharpest_) < wanted) ++sharpest_;
    squarings_ = std::max(1, sharpest_ - passes_);
  }

  /// Once for each bundle: its rests aren't fluid any more.
  void release_rests(const Bundle& bundle) {
    if (bundle.first_path < released_) return;
    released_ = bundle.first_path + bundle.path_count;
    for (std::size_t w = bundle.first_path; w < released_; ++w)
      if (rest_[w] > 0) loads_.add(bundles_.paths[w], -rest_[w]);
  }

  void take(const Choice& choice) {
    loads_.add(bundles_.paths[path_of_[choice.chunk]], size(choice.chunk));
    rest_[path_of_[choice.chunk]] -= size(choice.chunk);
  }
  void put_back(const Choice& choice) {
    loads_.add(bundles_.paths[path_of_[choice.chunk]], -size(choice.chunk));
    rest_[path_of_[choice.chunk]] += size(choice.chunk);
  }

  /// The paths with the largest rests.
  void find_candidates(const Choice& choice) {
    const Bundle& bundle = bundles_.list[choice.bundle];
    candidates_.clear();
    for (std::size_t w = bundle.first_path; w < bundle.first_path + bundle.path_count; ++w)
      if (rest_[w] > 1e-6 * size(choice.chunk))
        candidates_.push_back(static_cast<std::uint32_t>(w));
    if (candidates_.empty()) // of sizes that differ, the last may find no rest
      candidates_.push_back(static_cast<std::uint32_t>(bundle.first_path));
    const auto emptier = [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(-rest_[a], a) < std::pair(-rest_[b], b);
    };
    if (candidates_.size() > most_paths_) {
      const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(most_paths_);
      std::ranges::nth_element(candidates_, end, emptier);
      candidates_.erase(end, candidates_.end());
    }
    std::ranges::sort(candidates_, emptier);
  }

  /// The candidate after which loads are the most even.
  [[nodiscard]] std::uint32_t best_path(const Choice& choice) {
    find_candidates(choice);
    if (candidates_.size() == 1) return candidates_.front();
    std::pair<double, std::uint32_t> best{HUGE_VAL, candidates_.front()};
    for (const std::uint32_t w : candidates_) {
      const double rise = loads_.add_rated(bundles_.paths[w], size(choice.chunk), squarings_);
      loads_.add(bundles_.paths[w], -size(choice.chunk));
      if (rise < best.first * (1 - 1e-9)) best = {rise, w};
    }
    return best.second;
  }

  /// Iterated local search: sharper whenever no choice can be made better, and when that is over
  /// some are made at random, starting from the best that was found.
  void search() {
    Random random(choices_.size());
    auto lowest = loads_.highest();
    const auto is_lower = [](const std::pair<double, double>& a,
                             const std::pair<double, double>& b) {
      if (std::abs(a.first - b.first) > 1e-9 * b.first) return a.first < b.first;
      return a.second < b.second * (1 - 1e-9);
    };
    std::vector<std::uint32_t> best = path_of_;
    for (int pass = 0; pass < passes_ && std::max(lowest.first, lowest.second) > 1 + 1e-9; ++pass) {
      if (watch_.reached()) break;
      if (!improve() && squarings_++ == sharpest_) {
        for (const Choice& choice : choices_) move(choice, best[choice.chunk]);
        for (const Choice& choice : choices_)
          if (random.below(8) == 0) move_anywhere(choice, random);
        squarings_ = std::max(1, sharpest_ - 2);
      }
      if (!is_lower(loads_.highest(), lowest)) continue;
      lowest = loads_.highest();
      best = path_of_;
    }
    path_of_ = std::move(best);
  }

  void move(const Choice& choice, std::uint32_t path) {
    if (path == path_of_[choice.chunk]) return;
    put_back(choice);
    path_of_[choice.chunk] = path;
    take(choice);
  }

  void move_anywhere(const Choice& choice, Random& random) {
    put_back(choice);
    find_candidates(choice);
    path_of_[choice.chunk] = candidates_[random.below(candidates_.size())];
    take(choice);
  }

  /// Every choice once more, with all others made. False where nothing changes.
  bool improve() {
    bool changed = false;
    for (const Choice& choice : choices_) {
      put_back(choice);
      const std::uint32_t best = best_path(choice);
      changed = changed || best != path_of_[choice.chunk];
      path_of_[choice.chunk] = best;
      take(choice);
    }
    return changed;
  }

  const Collective& collective_;
  std::span<const FlowTree> trees_;
  const Bundles& bundles_;
  PathLoads& loads_;
  LimitWatch watch_;
  std::vector<std::uint32_t> path_of_;
  std::vector<double> rest_; // [path]: bytes of its share that no chunk has yet; below 0: too many
  std::vector<Choice> choices_;
  std::vector<std::uint32_t> candidates_;
  std::size_t released_ = 0; // paths
  std::size_t most_paths_ = 0;
  int squarings_ = 3, sharpest_ = 3, passes_ = 0;
};

} // namespace

std::vector<std::uint32_t> rounded_paths(const Collective& collective,
                                         std::span<const FlowTree> trees, const Bundles& bundles,
                                         PathLoads& loads, const WorkLimit& limit) {
  return Rounding(collective, trees, bundles, loads, limit).paths();
}

} // namespace tutti
