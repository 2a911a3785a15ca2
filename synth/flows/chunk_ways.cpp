#include "synth/flows/chunk_ways.hpp"

#include "sim/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// Chunks with the same choice of ways.
struct Bundle {
  std::size_t first_way = 0, way_count = 0;
  std::size_t first_chunk = 0, chunk_count = 0;
  std::uint32_t demand = 0;
};

struct Bundles {
  std::vector<ChunkWay> ways;
  std::vector<ChunkId> chunks; // of one bundle the largest first
  std::vector<Bundle> list;
};

/// Collects the bundles of all demands.
class BundleBuilder {
public:
  BundleBuilder(const Collective& collective, const FlowProblem& problem,
                std::span<const FlowTree> trees)
      : collective_(collective), problem_(problem), trees_(trees),
        chunks_of_(problem.demands.size()), trees_of_(problem.demands.size()) {
    for (std::uint32_t c = 0; c < problem.demand_of.size(); ++c)
      if (problem.demand_of[c] != FlowProblem::none)
        chunks_of_[problem.demand_of[c]].emplace_back(c);
    for (std::uint32_t t = 0; t < trees.size(); ++t)
      if (trees[t].share > 0) trees_of_[trees[t].demand].push_back(t);
  }

  [[nodiscard]] Bundles build() {
    for (std::uint32_t d = 0; d < problem_.demands.size(); ++d) {
      switch (problem_.demands[d].kind) {
      case FlowKind::paths: add_sinks(d); break;
      case FlowKind::both:
        if (add_roots(d)) break;
        [[fallthrough]];
      default: add(d, chunks_of_[d], whole(trees_of_[d]));
      }
    }
    return std::move(made_);
  }

private:
  [[nodiscard]] std::vector<ChunkWay> whole(const std::vector<std::uint32_t>& trees) const {
    std::vector<ChunkWay> ways;
    for (const std::uint32_t t : trees) ways.push_back({t, ChunkWay::all, trees_[t].share});
    return ways;
  }

  /// A bundle for each sink.
  void add_sinks(std::uint32_t d) {
    std::map<std::uint32_t, std::vector<ChunkId>> chunks;
    for (const ChunkId c : chunks_of_[d])
      chunks[collective_.wanted_by(c).front().value].push_back(c);
    std::map<std::uint32_t, std::vector<ChunkWay>> ways;
    for (const std::uint32_t t : trees_of_[d])
      for (std::uint32_t h = 0; h < trees_[t].hop_count(); ++h) {
        const std::span<const std::uint32_t> links = trees_[t].hop(h);
        std::vector<ChunkWay>& known = ways[problem_.network.links[links.back()].to];
        const auto same = std::ranges::find_if(known, [&](const ChunkWay& way) {
          return std::ranges::equal(way.links(trees_), links);
        });
        if (same == known.end())
          known.push_back({t, h, trees_[t].share});
        else
          same->share += trees_[t].share;
      }
    for (const auto& [sink, some] : chunks) add(d, some, ways[sink]);
  }

  /// A bundle for each root, if every root's share is a number of chunks.
  bool add_roots(std::uint32_t d) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> trees; // by root
    for (const std::uint32_t t : trees_of_[d]) trees[trees_[t].root].push_back(t);
    const auto count = static_cast<double>(chunks_of_[d].size());
    std::map<std::uint32_t, std::size_t> room; // chunks, by root
    std::size_t sum = 0;
    for (const auto& [root, some] : trees) {
      double share = 0;
      for (const std::uint32_t t : some) share += trees_[t].share;
      if (std::abs(share * count - std::round(share * count)) > 1e-6) return false;
      sum += room[root] = static_cast<std::size_t>(std::llround(share * count));
    }
    if (sum != chunks_of_[d].size()) return false;
    std::map<std::uint32_t, std::vector<ChunkId>> chunks = at_roots(d, std::move(room));
    for (const auto& [root, some] : trees)
      if (!chunks[root].empty()) add(d, chunks[root], whole(some));
    return true;
  }

  /// Each shard to its own member as far as there is room, the others wherever some is left.
  [[nodiscard]] std::map<std::uint32_t, std::vector<ChunkId>>
  at_roots(std::uint32_t d, std::map<std::uint32_t, std::size_t> room) const {
    std::map<std::uint32_t, std::vector<ChunkId>> chunks;
    std::vector<ChunkId> others;
    std::size_t p = 0; // the part of the chunk at hand
    for (const ChunkId c : chunks_of_[d]) {
      while (c.value >= collective_.parts[p].first.value + collective_.parts[p].chunk_count) ++p;
      const CollectivePart& part = collective_.parts[p];
      const auto own = part.kind == CollectiveKind::all_reduce
                           ? room.find(part.group[(c.value - part.first.value) / part.pieces].value)
                           : room.end();
      if (own == room.end() || own->second == 0) {
        others.push_back(c);
      } else {
        --own->second;
        chunks[own->first].push_back(c);
      }
    }
    auto at = room.begin();
    for (const ChunkId c : others) {
      while (at->second == 0) ++at;
      --at->second;
      chunks[at->first].push_back(c);
    }
    return chunks;
  }

  void add(std::uint32_t d, std::vector<ChunkId> chunks, const std::vector<ChunkWay>& ways) {
    if (chunks.empty()) return;
    std::ranges::stable_sort(chunks, std::ranges::greater{},
                             [&](ChunkId c) { return collective_.chunks[c.value].size.count; });
    made_.list.push_back({made_.ways.size(), ways.size(), made_.chunks.size(), chunks.size(), d});
    double sum = 0;
    for (const ChunkWay& way : ways) sum += way.share;
    for (ChunkWay way : ways) {
      way.share /= sum;
      made_.ways.push_back(way);
    }
    made_.chunks.insert(made_.chunks.end(), chunks.begin(), chunks.end());
  }

  const Collective& collective_;
  const FlowProblem& problem_;
  std::span<const FlowTree> trees_;
  std::vector<std::vector<ChunkId>> chunks_of_;      // [demand]
  std::vector<std::vector<std::uint32_t>> trees_of_; // [demand]
  Bundles made_;
};

/// How full the resources are, where 1 is the fullest one of the fluid schedule. Where some data
/// first comes together and then spreads, each of these phases also counts alone: a few chunks
/// don't overlap enough for one to fill what the other leaves free.
class Loads {
public:
  Loads(const FlowProblem& problem, std::span<const FlowTree> trees, const Bundles& bundles,
        const Collective& collective)
      : network_(problem.network), trees_(trees), count_(network_.resource_count()) {
    const bool phases = std::ranges::any_of(
        problem.demands, [](const FlowDemand& one) { return one.kind == FlowKind::both; });
    loads_.resize(phases ? 3 * count_ : count_);
    for (std::size_t i = 0; i < loads_.size(); ++i)
      per_byte_.push_back(1 / static_cast<double>(network_.resources[i % count_].bandwidth));
    for (const Bundle& bundle : bundles.list) {
      double bytes = 0;
      for (std::size_t i = 0; i < bundle.chunk_count; ++i)
        bytes += static_cast<double>(
            collective.chunks[bundles.chunks[bundle.first_chunk + i].value].size.count);
      for (std::size_t w = 0; w < bundle.way_count; ++w) {
        const ChunkWay& way = bundles.ways[bundle.first_way + w];
        add(way, way.share * bytes);
      }
    }
    for (std::size_t from = 0; from < loads_.size(); from += count_) {
      const double fullest = highest(from);
      for (std::size_t i = from; fullest > 0 && i < from + count_; ++i) {
        loads_[i] /= fullest;
        per_byte_[i] /= fullest;
      }
    }
  }

  void clear() { std::ranges::fill(loads_, 0.0); }

  void add(const ChunkWay& way, double bytes) {
    for_each_crossed(way, [&](std::size_t i) { loads_[i] += bytes * per_byte_[i]; });
  }

  /// Adds and returns by how much that raises the sum of load^(2^squarings).
  double add_rated(const ChunkWay& way, double bytes, int squarings) {
    double rise = 0;
    for_each_crossed(way, [&](std::size_t i) {
      const double before = loads_[i];
      loads_[i] += bytes * per_byte_[i];
      rise += power(loads_[i], squarings) - power(before, squarings);
    });
    return rise;
  }

  /// Mean over what the way crosses of load^(2^squarings).
  [[nodiscard]] double mean_power(const ChunkWay& way, double scale, int squarings) const {
    double sum = 0;
    std::size_t crossed = 0;
    for_each_crossed(way, [&](std::size_t i) {
      sum += power(loads_[i] * scale, squarings);
      ++crossed;
    });
    return sum / static_cast<double>(crossed);
  }

  /// Of both phases together; then of each alone.
  [[nodiscard]] std::pair<double, double> highest() const {
    return {highest(0),
            loads_.size() > count_ ? std::max(highest(count_), highest(2 * count_)) : 0};
  }
  /// The most that a byte adds anywhere.
  [[nodiscard]] double most_per_byte() const {
    return *std::max_element(per_byte_.begin(),
                             per_byte_.begin() + static_cast<std::ptrdiff_t>(count_));
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool has_phases() const { return loads_.size() > count_; }

private:
  [[nodiscard]] static double power(double load, int squarings) {
    for (int i = 0; i < squarings; ++i) load *= load;
    return load;
  }

  [[nodiscard]] double highest(std::size_t from) const {
    const auto begin = loads_.begin() + static_cast<std::ptrdiff_t>(from);
    return *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(count_));
  }

  /// Indices into loads, once for each crossing.
  template <typename Visit> void for_each_crossed(const ChunkWay& way, const Visit& visit) const {
    const std::span<const std::uint32_t> links = way.links(trees_);
    for (const std::uint32_t link : links)
      for (const std::uint32_t r : network_.resources_of[link]) visit(r);
    if (!has_phases() || way.hop != ChunkWay::all) return;
    const FlowTree& tree = trees_[way.tree];
    const std::size_t together = tree.combining == 0 ? 0 : tree.hop_end[tree.combining - 1];
    for (std::size_t i = 0; i < links.size(); ++i)
      for (const std::uint32_t r : network_.resources_of[links[i]])
        visit((i < together ? count_ : 2 * count_) + r);
  }

  const FlowNetwork& network_;
  std::span<const FlowTree> trees_;
  std::size_t count_;                    // of resources
  std::vector<double> loads_, per_byte_; // [resource], [count + resource] together, [.. spreading]
};

/// What may be looked at, in links, before choices are made more simply.
constexpr double most_work = 5e7;

/// Chooses a way for each chunk.
class Rounding {
public:
  Rounding(const Collective& collective, std::span<const FlowTree> trees, const Bundles& bundles,
           Loads& loads)
      : collective_(collective), trees_(trees), bundles_(bundles), loads_(loads),
        way_of_(bundles.chunks.size()), rest_(bundles.ways.size()) {}

  /// [chunk of the bundles]: index into their ways.
  [[nodiscard]] std::vector<std::uint32_t> ways() {
    for (std::size_t b = 0; b < bundles_.list.size(); ++b) fill_shares(b);
    set_effort();
    for (const Choice& choice : choices_) {
      release_rests(bundles_.list[choice.bundle]);
      way_of_[choice.chunk] = best_way(choice);
      take(choice);
    }
    search();
    return std::move(way_of_);
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
    if (bundle.way_count == 1) {
      std::fill_n(way_of_.begin() + static_cast<std::ptrdiff_t>(bundle.first_chunk),
                  bundle.chunk_count, static_cast<std::uint32_t>(bundle.first_way));
      return;
    }
    double bytes = 0;
    for (std::size_t c = bundle.first_chunk; c < bundle.first_chunk + bundle.chunk_count; ++c)
      bytes += size(c);
    std::priority_queue<std::pair<double, std::size_t>> roomiest; // ties: the last, all the same
    for (std::size_t w = bundle.first_way; w < bundle.first_way + bundle.way_count; ++w)
      roomiest.emplace(rest_[w] = bundles_.ways[w].share * bytes, w);
    for (std::size_t c = bundle.first_chunk; c < bundle.first_chunk + bundle.chunk_count; ++c) {
      const auto [room, w] = roomiest.top();
      if (room < size(c) * (1 - 1e-9)) {
        choices_.push_back({b, c});
        continue;
      }
      roomiest.pop();
      way_of_[c] = static_cast<std::uint32_t>(w);
      rest_[w] = room - size(c);
      roomiest.emplace(rest_[w], w);
    }
  }

  void set_effort() {
    double links = 0, largest = 0; // a look at all ways for all choices
    for (const Choice& choice : choices_) {
      const Bundle& bundle = bundles_.list[choice.bundle];
      links += static_cast<double>(bundle.way_count *
                                   bundles_.ways[bundle.first_way].links(trees_).size());
      largest = std::max(largest, size(choice.chunk));
      most_ways_ = std::max(most_ways_, bundle.way_count);
    }
    if (loads_.has_phases()) links *= 2;
    if (links > most_work)
      most_ways_ = std::max<std::size_t>(
          2, static_cast<std::size_t>(static_cast<double>(most_ways_) * most_work / links));
    passes_ = static_cast<int>(std::min(200.0, most_work / 2 / std::max(links, 1.0)));
    // Sharp enough to tell loads apart that differ by a chunk.
    const double wanted =
        2 * std::log(static_cast<double>(loads_.count())) / (largest * loads_.most_per_byte());
    while (sharpest_ < 8 && std::ldexp(1, sharpest_) < wanted) ++sharpest_;
    squarings_ = std::max(1, sharpest_ - passes_);
  }

  /// Once for each bundle: its rests aren't fluid any more.
  void release_rests(const Bundle& bundle) {
    if (bundle.first_way < released_) return;
    released_ = bundle.first_way + bundle.way_count;
    for (std::size_t w = bundle.first_way; w < released_; ++w)
      if (rest_[w] > 0) loads_.add(bundles_.ways[w], -rest_[w]);
  }

  void take(const Choice& choice) {
    loads_.add(bundles_.ways[way_of_[choice.chunk]], size(choice.chunk));
    rest_[way_of_[choice.chunk]] -= size(choice.chunk);
  }
  void put_back(const Choice& choice) {
    loads_.add(bundles_.ways[way_of_[choice.chunk]], -size(choice.chunk));
    rest_[way_of_[choice.chunk]] += size(choice.chunk);
  }

  /// The roomiest ways that have a rest.
  void find_candidates(const Choice& choice) {
    const Bundle& bundle = bundles_.list[choice.bundle];
    candidates_.clear();
    for (std::size_t w = bundle.first_way; w < bundle.first_way + bundle.way_count; ++w)
      if (rest_[w] > 1e-6 * size(choice.chunk))
        candidates_.push_back(static_cast<std::uint32_t>(w));
    if (candidates_.empty()) // of sizes that differ, the last may find no rest
      candidates_.push_back(static_cast<std::uint32_t>(bundle.first_way));
    const auto roomier = [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(-rest_[a], a) < std::pair(-rest_[b], b);
    };
    if (candidates_.size() > most_ways_) {
      const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(most_ways_);
      std::ranges::nth_element(candidates_, end, roomier);
      candidates_.erase(end, candidates_.end());
    }
    std::ranges::sort(candidates_, roomier);
  }

  /// The candidate after which loads are the most even.
  [[nodiscard]] std::uint32_t best_way(const Choice& choice) {
    find_candidates(choice);
    if (candidates_.size() == 1) return candidates_.front();
    std::pair<double, std::uint32_t> best{HUGE_VAL, candidates_.front()};
    for (const std::uint32_t w : candidates_) {
      const double rise = loads_.add_rated(bundles_.ways[w], size(choice.chunk), squarings_);
      loads_.add(bundles_.ways[w], -size(choice.chunk));
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
    std::vector<std::uint32_t> best = way_of_;
    for (int pass = 0; pass < passes_ && std::max(lowest.first, lowest.second) > 1 + 1e-9; ++pass) {
      if (!improve() && squarings_++ == sharpest_) {
        for (const Choice& choice : choices_) move(choice, best[choice.chunk]);
        for (const Choice& choice : choices_)
          if (random.below(8) == 0) move_anywhere(choice, random);
        squarings_ = std::max(1, sharpest_ - 2);
      }
      if (!is_lower(loads_.highest(), lowest)) continue;
      lowest = loads_.highest();
      best = way_of_;
    }
    way_of_ = std::move(best);
  }

  void move(const Choice& choice, std::uint32_t way) {
    if (way == way_of_[choice.chunk]) return;
    put_back(choice);
    way_of_[choice.chunk] = way;
    take(choice);
  }

  void move_anywhere(const Choice& choice, Random& random) {
    put_back(choice);
    find_candidates(choice);
    way_of_[choice.chunk] = candidates_[random.below(candidates_.size())];
    take(choice);
  }

  /// Every choice once more, with all others made. False where nothing changes.
  bool improve() {
    bool changed = false;
    for (const Choice& choice : choices_) {
      put_back(choice);
      const std::uint32_t best = best_way(choice);
      changed = changed || best != way_of_[choice.chunk];
      way_of_[choice.chunk] = best;
      take(choice);
    }
    return changed;
  }

  const Collective& collective_;
  std::span<const FlowTree> trees_;
  const Bundles& bundles_;
  Loads& loads_;
  std::vector<std::uint32_t> way_of_;
  std::vector<double> rest_; // [way]: bytes of its share that no chunk has yet; below 0: too many
  std::vector<Choice> choices_;
  std::vector<std::uint32_t> candidates_;
  std::size_t released_ = 0; // ways
  std::size_t most_ways_ = 0;
  int squarings_ = 3, sharpest_ = 3, passes_ = 0;
};

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
                   const Bundles& bundles, std::span<const std::uint32_t> way_of) {
  Streams streams;
  std::vector<std::size_t> order; // of a bundle's chunks
  for (const Bundle& bundle : bundles.list) {
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
  Turns(std::span<const FlowTree> trees, const Bundles& bundles, Loads& loads, Streams& streams)
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

  [[nodiscard]] std::vector<ChunkTurn> take_all(const Collective& collective, std::size_t demands) {
    std::vector<std::uint32_t> most_turns(demands);
    for (const Stream& stream : streams_.list)
      most_turns[stream.demand] = std::max(most_turns[stream.demand], stream.turns);
    std::vector<ChunkTurn> turns;
    for (const std::uint32_t s : order()) {
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
  Loads& loads_;
  Streams& streams_;
  double work_ = 0; // links to look at, if all are
};

} // namespace

ChunkWays chunk_ways(const Collective& collective, const FlowProblem& problem,
                     std::span<const FlowTree> trees) {
  Bundles bundles = BundleBuilder(collective, problem, trees).build();
  Loads loads(problem, trees, bundles, collective);
  const std::vector<std::uint32_t> way_of = Rounding(collective, trees, bundles, loads).ways();
  Streams streams = streams_of(problem, trees, bundles, way_of);
  std::vector<ChunkTurn> turns =
      Turns(trees, bundles, loads, streams).take_all(collective, problem.demands.size());
  return {std::move(bundles.ways), std::move(turns)};
}

} // namespace tutti
