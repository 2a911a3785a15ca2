#include "synth/flows/rounding/chunk_ways.hpp"

#include "synth/flows/rounding/chunk_bundles.hpp"
#include "synth/flows/rounding/way_loads.hpp"
#include "synth/flows/rounding/way_rounding.hpp"
#include "synth/solvers/limit_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// Chunks that take turns, and which ways they take in all.
struct Stream {
  std::uint32_t demand = 0, turns = 0, taken = 0;
  std::size_t first_way = 0, way_count = 0; // of Streams::ways
};

struct StreamWay {
  std::uint32_t way = 0, used = 0;
  std::size_t first_chunk = 0, chunk_count = 0; // of Streams::chunks
};

struct Streams {
  std::vector<ChunkId> chunks;
  std::vector<StreamWay> ways;
  std::vector<Stream> list;

  [[nodiscard]] std::span<StreamWay> ways_of(const Stream& stream) {
    return std::span(ways).subspan(stream.first_way, stream.way_count);
  }
};

Streams streams_of(const FlowProblem& problem, std::span<const FlowTree> trees,
                   const Bundles& bundles, std::span<const std::uint32_t> way_of,
                   const WorkLimit& limit) {
  Streams streams;
  std::vector<std::size_t> order; // of a bundle's chunks
  LimitWatch watch(limit);
  for (const Bundle& bundle : bundles.list) {
    watch.require();
    const bool by_root = problem.demands[bundle.demand].kind == FlowKind::both;
    const auto root = [&](std::size_t c) {
      return by_root ? trees[bundles.ways[way_of[c]].tree].root : 0;
    };
    order.resize(bundle.chunk_count);
    std::iota(order.begin(), order.end(), bundle.first_chunk);
    if (bundle.way_count > 1)
      std::ranges::sort(order, {},
                        [&](std::size_t c) { return std::tuple(root(c), way_of[c], c); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool new_stream = i == 0 || root(order[i]) != root(order[i - 1]);
      if (new_stream) streams.list.push_back({bundle.demand, 0, 0, streams.ways.size(), 0});
      if (new_stream || way_of[order[i]] != way_of[order[i - 1]]) {
        streams.ways.push_back({way_of[order[i]], 0, streams.chunks.size(), 0});
        ++streams.list.back().way_count;
      }
      ++streams.list.back().turns;
      ++streams.ways.back().chunk_count;
      streams.chunks.push_back(bundles.chunks[order[i]]);
    }
  }
  return streams;
}

/// Lets the chunks of each stream take turns, all streams at the same pace.
class Turns {
public:
  Turns(std::span<const FlowTree> trees, const Bundles& bundles, WayLoads& loads, Streams& streams)
      : trees_(trees), bundles_(bundles), loads_(loads), streams_(streams) {
    loads_.clear();
    for (const Stream& stream : streams_.list) {
      if (stream.way_count == 1) continue;
      std::size_t links = 0;
      for (const StreamWay& way : streams_.ways_of(stream))
        links += bundles_.ways[way.way].links(trees_).size();
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
      StreamWay& way = next_way(stream);
      const ChunkId chunk = streams_.chunks[way.first_chunk + way.used++];
      if (balances())
        loads_.add(bundles_.ways[way.way],
                   static_cast<double>(collective.chunks[chunk.value].size.count));
      turns.push_back({chunk, way.way, stream.taken++, stream.turns, most_turns[stream.demand]});
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

  /// By how many chunks this way would be late after this turn.
  [[nodiscard]] static double behind(const Stream& stream, const StreamWay& way) {
    return static_cast<double>(way.chunk_count) * (stream.taken + 1) / stream.turns - way.used;
  }

  /// Of the ways that are behind the one over what was used least so far.
  [[nodiscard]] StreamWay& next_way(const Stream& stream) const {
    const std::span<StreamWay> ways = streams_.ways_of(stream);
    if (ways.size() == 1) return ways.front();
    double most_behind = 0;
    for (const StreamWay& way : ways) most_behind = std::max(most_behind, behind(stream, way));
    const double least_behind = balances() ? most_behind - 0.5 : most_behind;
    const double scale = stream.turns / (stream.taken + 1.0);
    StreamWay* best = nullptr;
    double best_use = 0;
    for (StreamWay& way : ways) {
      if (way.used == way.chunk_count || behind(stream, way) < least_behind) continue;
      const double use = balances() ? loads_.mean_power(bundles_.ways[way.way], scale, 4) : 0;
      if (best && use >= best_use * (1 - 1e-9)) continue;
      best = &way;
      best_use = use;
    }
    return *best;
  }

  std::span<const FlowTree> trees_;
  const Bundles& bundles_;
  WayLoads& loads_;
  Streams& streams_;
  double work_ = 0; // links to look at, if all are
};

} // namespace

ChunkWays chunk_ways(const Collective& collective, const FlowProblem& problem,
                     std::span<const FlowTree> trees, const WorkLimit& limit) {
  Bundles bundles = chunk_bundles(collective, problem, trees, limit);
  WayLoads loads(problem, trees, bundles, collective);
  const std::vector<std::uint32_t> way_of = rounded_ways(collective, trees, bundles, loads, limit);
  Streams streams = streams_of(problem, trees, bundles, way_of, limit);
  std::vector<ChunkTurn> turns =
      Turns(trees, bundles, loads, streams).take_all(collective, problem.demands.size(), limit);
  return {std::move(bundles.ways), std::move(turns)};
}

} // namespace tutti
