// First a path for each chunk (Rounding), then the order of the chunks (Turns).
//
// Whole chunks go to the path with most of its share left; what fits into no share is a choice.
// Choices are made one by one by conditional expectations (Raghavan 1988), where a sum of powers of
// the loads stands for the expectation of the highest load, then improved by iterated local search
// with ever higher powers, which come ever closer to the maximum.
//
// Streams of chunks proceed at the same pace; in each, the next chunk takes a path that is behind
// its own pace, of these the one whose resources were least used so far, so that loads are even at
// any time and not only at the end.

#include "synth/flows/rounding/chunk_paths.hpp"

#include "sim/limit_watch.hpp"
#include "sim/random.hpp"
#include "synth/flows/rounding/chunk_bundles.hpp"
#include "synth/flows/rounding/path_loads.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// Chooses a path for each chunk. `loads` are the fluid schedule's, and then those of the chunks.
class Rounding {
public:
  Rounding(const Collective& collective, std::span<const FlowTree> trees, const Bundles& bundles,
           PathLoads& loads, const WorkLimit& limit)
      : collective_(collective), trees_(trees), bundles_(bundles), loads_(loads), watch_(limit),
        path_of_(bundles.chunks.size()), rest_(bundles.paths.size()) {}

  /// [chunk of the bundles]: index into their paths; as chunk_paths() says.
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

/// Chunks that take turns, and which paths they take in all.
struct Stream {
  std::uint32_t demand = 0, turns = 0, taken = 0;
  std::size_t first_path = 0, path_count = 0; // of Streams::paths
};

struct StreamPath {
  std::uint32_t path = 0, used = 0;
  std::size_t first_chunk = 0, chunk_count = 0; // of Streams::chunks
};

struct Streams {
  std::vector<ChunkId> chunks;
  std::vector<StreamPath> paths;
  std::vector<Stream> list;

  [[nodiscard]] std::span<StreamPath> paths_of(const Stream& stream) {
    return std::span(paths).subspan(stream.first_path, stream.path_count);
  }
};

Streams streams_of(const FlowProblem& problem, std::span<const FlowTree> trees,
                   const Bundles& bundles, std::span<const std::uint32_t> path_of,
                   const WorkLimit& limit) {
  Streams streams;
  std::vector<std::size_t> order; // of a bundle's chunks
  LimitWatch watch(limit);
  for (const Bundle& bundle : bundles.list) {
    watch.require();
    const bool by_root = problem.demands[bundle.demand].kind == FlowKind::both;
    const auto root = [&](std::size_t c) {
      return by_root ? trees[bundles.paths[path_of[c]].tree].root : 0;
    };
    order.resize(bundle.chunk_count);
    std::iota(order.begin(), order.end(), bundle.first_chunk);
    if (bundle.path_count > 1)
      std::ranges::sort(order, {},
                        [&](std::size_t c) { return std::tuple(root(c), path_of[c], c); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool new_stream = i == 0 || root(order[i]) != root(order[i - 1]);
      if (new_stream) streams.list.push_back({bundle.demand, 0, 0, streams.paths.size(), 0});
      if (new_stream || path_of[order[i]] != path_of[order[i - 1]]) {
        streams.paths.push_back({path_of[order[i]], 0, streams.chunks.size(), 0});
        ++streams.list.back().path_count;
      }
      ++streams.list.back().turns;
      ++streams.paths.back().chunk_count;
      streams.chunks.push_back(bundles.chunks[order[i]]);
    }
  }
  return streams;
}

/// Lets the chunks of each stream take turns, all streams at the same pace.
class Turns {
public:
  Turns(std::span<const FlowTree> trees, const Bundles& bundles, PathLoads& loads, Streams& streams)
      : trees_(trees), bundles_(bundles), loads_(loads), streams_(streams) {
    loads_.clear();
    for (const Stream& stream : streams_.list) {
      if (stream.path_count == 1) continue;
      std::size_t links = 0;
      for (const StreamPath& path : streams_.paths_of(stream))
        links += bundles_.paths[path.path].links(trees_).size();
      work_ += static_cast<double>(links) * stream.turns;
    }
  }

  [[nodiscard]] std::vector<ChunkTurn> take_all(const Collective& collective, std::size_t demands,
                                                const WorkLimit& limit) {
    std::vector<std::uint32_t> most_turns(demands);
    for (const Stream& stream : streams_.list)
      most_turns[stream.demand] = std::max(most_turns[stream.demand], stream.turns);
    std::vector<ChunkTurn> turns;
    LimitWatch watch(limit);
    for (const std::uint32_t s : order()) {
      watch.require();
      Stream& stream = streams_.list[s];
      StreamPath& path = next_path(stream);
      const ChunkId chunk = streams_.chunks[path.first_chunk + path.used++];
      if (balances())
        loads_.add(bundles_.paths[path.path],
                   static_cast<double>(collective.chunks[chunk.value].size.count));
      turns.push_back({chunk, path.path, stream.taken++, stream.turns, most_turns[stream.demand]});
    }
    return turns;
  }

private:
  /// Whose turn it is.
  [[nodiscard]] std::vector<std::uint32_t> order() const {
    std::vector<std::pair<double, std::uint32_t>> when;
    for (std::uint32_t s = 0; s < streams_.list.size(); ++s)
      for (std::uint32_t turn = 0; turn < streams_.list[s].turns; ++turn)
        when.emplace_back(static_cast<double>(turn) / streams_.list[s].turns, s);
    if (balances()) std::ranges::sort(when); // else nobody looks at what others do
    std::vector<std::uint32_t> order;
    order.reserve(when.size());
    for (const auto& [time, s] : when) order.push_back(s);
    return order;
  }

  [[nodiscard]] bool balances() const { return work_ > 0 && work_ <= most_work; }

  /// By how many chunks this path would be behind its even pace after this turn.
  [[nodiscard]] static double behind(const Stream& stream, const StreamPath& path) {
    return static_cast<double>(path.chunk_count) * (stream.taken + 1) / stream.turns - path.used;
  }

  /// The path whose resources were used least so far, of those that are behind.
  [[nodiscard]] StreamPath& next_path(const Stream& stream) const {
    const std::span<StreamPath> paths = streams_.paths_of(stream);
    if (paths.size() == 1) return paths.front();
    double most_behind = 0;
    for (const StreamPath& path : paths) most_behind = std::max(most_behind, behind(stream, path));
    const double least_behind = balances() ? most_behind - 0.5 : most_behind;
    const double scale = stream.turns / (stream.taken + 1.0);
    StreamPath* best = nullptr;
    double best_use = 0;
    for (StreamPath& path : paths) {
      if (path.used == path.chunk_count || behind(stream, path) < least_behind) continue;
      const double use = balances() ? loads_.mean_power(bundles_.paths[path.path], scale, 4) : 0;
      if (best && use >= best_use * (1 - 1e-9)) continue;
      best = &path;
      best_use = use;
    }
    return *best;
  }

  std::span<const FlowTree> trees_;
  const Bundles& bundles_;
  PathLoads& loads_;
  Streams& streams_;
  double work_ = 0; // links to look at, if all are
};

} // namespace

ChunkPaths chunk_paths(const Collective& collective, const FlowProblem& problem,
                       std::span<const FlowTree> trees, const WorkLimit& limit) {
  Bundles bundles = chunk_bundles(collective, problem, trees, limit);
  PathLoads loads(problem, trees, bundles, collective);
  const std::vector<std::uint32_t> path_of =
      Rounding(collective, trees, bundles, loads, limit).paths();
  Streams streams = streams_of(problem, trees, bundles, path_of, limit);
  std::vector<ChunkTurn> turns =
      Turns(trees, bundles, loads, streams).take_all(collective, problem.demands.size(), limit);
  return {std::move(bundles.paths), std::move(turns)};
}

} // namespace tutti
