// First a path for each chunk (path_rounding.hpp), then the order of the chunks. Streams of chunks
// proceed at the same pace; in each, the next chunk takes a path that is behind its own pace, of
// these the one whose resources were least used so far, so that loads are even at any time and not
// only at the end.

#include "synth/flows/rounding/chunk_paths.hpp"

#include "synth/flows/rounding/chunk_bundles.hpp"
#include "synth/flows/rounding/path_loads.hpp"
#include "synth/flows/rounding/path_rounding.hpp"
#include "synth/solvers/limit_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

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
      rounded_paths(collective, trees, bundles, loads, limit);
  Streams streams = streams_of(problem, trees, bundles, path_of, limit);
  std::vector<ChunkTurn> turns =
      Turns(trees, bundles, loads, streams).take_all(collective, problem.demands.size(), limit);
  return {std::move(bundles.paths), std::move(turns)};
}

} // namespace tutti
