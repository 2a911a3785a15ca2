// Routes say what each link carries, list scheduling when. What balances loads best need not be
// what schedules best, so some weights of routing are varied, and the best schedule of all attempts
// counts; they end at a lower bound, after 16 in vain, or after about a second's work (counted in
// links looked at, so that results don't depend on the machine).
//
// Routes for all chunks at once keep the highest load low. Why: the most loaded link bounds the
// makespan, so what counts is the highest load, not the length of single paths. Idea: reroute chunk
// by chunk at the prices of link_loads.hpp, whose power of the load doubles from pass to pass,
// until the cheapest routes are those that avoid the peak. Chunks that have one destination and
// share their sources and size are alike: one Dijkstra search routes a batch of them. At the end
// only what crosses a link within 2 % of the peak is rerouted, one chunk at a time, while that
// lowers the peak.
//
// Invariant: the loads are the sum over all routes; a chunk's own load is taken off before it is
// routed. Routes are windows of one pool of links, which is compacted when half of it is dead.

#include "synth/tacos/routing.hpp"

#include "sim/random.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/tacos/link_loads.hpp"
#include "synth/tacos/route_search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

struct RouteBalancing {
  std::uint64_t seed = 1;
  double path = 0.3; ///< see Pricing
  TreeShape shape;
  /// Paths by Routing::automatic whatever their load; trees are the cheapest for a chunk alone.
  bool fixed = false;
};

/// For every chunk the links of its transfers, one transfer after another in an order in which they
/// can happen. A transfer ends where a node stores.
class ChunkRoutes {
public:
  explicit ChunkRoutes(std::size_t chunks) : routes_(chunks) {}

  [[nodiscard]] std::span<const LinkId> links(ChunkId chunk) const {
    const Route& route = routes_[chunk.value];
    return {pool_.data() + route.begin, route.count};
  }
  /// Replaces the chunk's route; the transfers over the first `reductions` links reduce.
  void set(ChunkId chunk, std::span<const LinkId> links, std::size_t reductions = 0);

  /// Chunk by chunk in the given order.
  [[nodiscard]] Schedule schedule(const Topology& topology, std::span<const ChunkId> order) const;

private:
  struct Route {
    std::size_t begin = 0;
    std::uint32_t count = 0, reductions = 0;
  };
  void compact();

  std::vector<Route> routes_;
  std::vector<LinkId> pool_;
  std::size_t live_ = 0; // links in the pool that belong to a route
};

struct BalancedRoutes {
  ChunkRoutes routes;
  std::uint64_t work = 0; ///< links that were looked at
};

constexpr unsigned steepest = 5, relieving = 6; // doublings of the prices' power
constexpr double hot = 0.98;                    // of the peak
/// Links to be looked at, about; every chunk is routed once.
constexpr std::uint64_t most_work = 10'000'000;

/// Each chunk is routed at prices that the others' loads make, again and again with prices that
/// grow ever steeper; at last those that cross the most loaded links, one by one.
/// Nothing where the limit is reached before all have a route, or some can't have one.
class Balancer {
public:
  Balancer(const Topology& topology, const Collective& collective, const TimeModel& model,
           const RouteBalancing& balancing, const WorkLimit& limit)
      : topology_(topology), collective_(collective), balancing_(balancing), limit_(limit),
        random_(balancing.seed), loads_(topology, model), search_(topology, loads_),
        routes_(collective.chunks.size()) {
    sort_chunks();
  }

  std::optional<BalancedRoutes> run() {
    loads_.set_pricing({0, 1.0}); // at first all along the cheapest path
    if (!pass(SIZE_MAX, true)) return std::nullopt;
    if (balancing_.fixed) {
      take_fixed_routes();
      return BalancedRoutes{std::move(routes_), search_.work()};
    }
    const std::uint64_t searches =
        std::max<std::uint64_t>(1, most_work / (1 + topology_.link_count()));
    const std::size_t batch = std::max<std::size_t>(1, single_.size() * 8 / searches);
    for (unsigned doublings = 1; doublings <= steepest && !is_over(); ++doublings) {
      loads_.set_pricing({doublings, balancing_.path});
      pass(batch, false);
    }
    while (!is_over() && relieve()) {
    }
    return BalancedRoutes{std::move(routes_), search_.work()};
  }

private:
  [[nodiscard]] bool is_over() const { return search_.work() > most_work || limit_.reached(); }
  [[nodiscard]] bool reduces(ChunkId c) const {
    return collective_.chunks[c.value].reduces && collective_.sources(c).size() > 1;
  }

  void sort_chunks() {
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c) {
      const auto held = collective_.sources(ChunkId{c}),
                 wanted = collective_.destinations(ChunkId{c});
      if (held.empty() || wanted.empty()) continue;
      if (!reduces(ChunkId{c}) && std::ranges::includes(held, wanted)) continue;
      if (reduces(ChunkId{c}) || wanted.size() > 1)
        trees_.emplace_back(c);
      else
        single_.emplace_back(c);
    }
    std::ranges::stable_sort(single_, {}, [&](ChunkId c) { return kind(c); });
  }

  /// Chunks of one kind differ only in who wants them.
  [[nodiscard]] std::pair<SetId, Bytes> kind(ChunkId c) const {
    return {collective_.chunks[c.value].sources, collective_.chunks[c.value].size};
  }

  /// Routes every chunk anew. False where the limit is reached, or a chunk can't be routed that
  /// must be: the others keep the routes that they have.
  bool pass(std::size_t batch, bool must) {
    random_.shuffle(trees_);
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      if (t % 64 == 0 && (must ? limit_.reached() : is_over())) return false;
      if (!reroute(trees_[t]) && must) return false;
    }
    std::vector<std::span<const ChunkId>> batches;
    for (std::size_t begin = 0; begin < single_.size();) {
      std::size_t end = begin + 1;
      while (end < single_.size() && kind(single_[end]) == kind(single_[begin])) ++end;
      std::span<ChunkId> alike(single_.data() + begin, end - begin);
      random_.shuffle(alike);
      for (; alike.size() > batch; alike = alike.subspan(batch))
        batches.push_back(alike.first(batch));
      batches.push_back(alike);
      begin = end;
    }
    random_.shuffle(batches);
    for (std::size_t b = 0; b < batches.size(); ++b) {
      if (b % 64 == 0 && limit_.reached()) return false;
      if (b % 64 == 0) limit_.report(b, batches.size(), Time{});
      if (!reroute(batches[b]) && must) return false;
    }
    return true;
  }

  void unload(ChunkId chunk) {
    for (const LinkId link : routes_.links(chunk))
      loads_.remove(link, collective_.chunks[chunk.value].size);
  }
  void load(ChunkId chunk) {
    for (const LinkId link : routes_.links(chunk))
      loads_.add(link, collective_.chunks[chunk.value].size);
  }

  /// A path for each; all of one kind. False where there is none.
  bool reroute(std::span<const ChunkId> chunks) {
    targets_.clear();
    for (const ChunkId chunk : chunks) {
      unload(chunk);
      targets_.push_back(collective_.destinations(chunk).front());
    }
    const ChunkId one = chunks.front();
    const bool found =
        search_.search(collective_.sources(one), targets_, collective_.chunks[one.value].size);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      links_.clear();
      if (found) search_.append_path(targets_[i], links_);
      if (found) routes_.set(chunks[i], links_);
      load(chunks[i]);
    }
    return found;
  }

  /// Paths by rule, from and to NPUs; others, and those of the nearest of several, stay.
  void take_fixed_routes() {
    if (single_.empty()) return;
    Router router(topology_, Routing::automatic, collective_.chunks[single_.front().value].size);
    for (const ChunkId chunk : single_) {
      const auto held = collective_.sources(chunk);
      const NodeId to = collective_.destinations(chunk).front();
      if (held.size() > 1 || std::max(held.front(), to).value >= topology_.npu_count()) continue;
      routes_.set(chunk, router.route({held.front(), to, chunk.value}));
    }
  }

  /// A tree. False where none was found.
  bool reroute(ChunkId chunk) {
    unload(chunk);
    links_.clear();
    std::size_t reductions = 0;
    const bool found = reduces(chunk) ? find_reduction(chunk, reductions)
                                      : find_copies(chunk, collective_.sources(chunk));
    if (found) routes_.set(chunk, links_, reductions);
    load(chunk);
    return found;
  }
  bool find_copies(ChunkId chunk, std::span<const NodeId> sources) {
    return search_.copy_tree(sources, collective_.destinations(chunk),
                             collective_.chunks[chunk.value].size, balancing_.shape, links_);
  }
  bool find_reduction(ChunkId chunk, std::size_t& reductions) {
    const NodeId root = root_of(chunk);
    if (!search_.reduction_tree(collective_.sources(chunk), root,
                                collective_.chunks[chunk.value].size, balancing_.shape, links_))
      return false;
    reductions = links_.size();
    return find_copies(chunk, complete_at(chunk, root));
  }

  /// Who has the chunk complete after the reductions over links_: `root`, and those through whom
  /// everything came.
  [[nodiscard]] std::vector<NodeId> complete_at(ChunkId chunk, NodeId root) const {
    std::vector<NodeId> complete{root};
    const auto held = collective_.sources(chunk);
    for (NodeId at = root; !std::ranges::binary_search(held, at);) {
      const auto ends_here = [&](LinkId link) { return topology_.link(link).to == at; };
      if (std::ranges::count_if(links_, ends_here) != 1) break;
      auto link = std::ranges::find_if(links_, ends_here);
      while (!topology_.node(topology_.link(*link).from).can.store) --link; // cut through
      at = topology_.link(*link).from;
      if (topology_.node(at).can.copy) complete.push_back(at);
    }
    return complete;
  }

  /// Where the chunk is combined: those who want it take turns.
  [[nodiscard]] NodeId root_of(ChunkId chunk) const {
    const auto wanted = collective_.destinations(chunk);
    for (const CollectivePart& part : collective_.parts)
      if (chunk.value - part.first.value < part.chunk_count)
        return wanted[(chunk.value - part.first.value) / part.chunks_per_shard % wanted.size()];
    return wanted.front();
  }

  /// Routes what crosses the most loaded links anew, chunk by chunk. False where that doesn't help.
  bool relieve() {
    const double peak = loads_.peak();
    loads_.set_pricing({relieving, balancing_.path});
    const auto is_hot = [&](ChunkId chunk) {
      return std::ranges::any_of(routes_.links(chunk),
                                 [&](LinkId link) { return loads_.beyond(link, hot * peak); });
    };
    std::vector<ChunkId> chunks;
    std::ranges::copy_if(trees_, std::back_inserter(chunks), is_hot);
    std::ranges::copy_if(single_, std::back_inserter(chunks), is_hot);
    random_.shuffle(chunks);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (i % 64 == 0 && is_over()) break;
      if (!is_hot(chunks[i])) continue;
      if (reduces(chunks[i]) || collective_.destinations(chunks[i]).size() > 1)
        reroute(chunks[i]);
      else
        reroute(std::span(&chunks[i], 1));
    }
    return loads_.peak() < 0.999 * peak;
  }

  const Topology& topology_;
  const Collective& collective_;
  const RouteBalancing& balancing_;
  const WorkLimit& limit_;
  Random random_;
  LinkLoads loads_;
  RouteSearch search_;
  ChunkRoutes routes_;
  std::vector<ChunkId> single_, trees_; // chunks that need a path, or a tree
  std::vector<NodeId> targets_;
  std::vector<LinkId> links_;
};

void ChunkRoutes::set(ChunkId chunk, std::span<const LinkId> links, std::size_t reductions) {
  Route& route = routes_[chunk.value];
  live_ += links.size() - route.count;
  if (links.size() > route.count) {
    route.begin = pool_.size();
    pool_.resize(pool_.size() + links.size());
  }
  std::ranges::copy(links, pool_.begin() + static_cast<std::ptrdiff_t>(route.begin));
  route.count = static_cast<std::uint32_t>(links.size());
  route.reductions = static_cast<std::uint32_t>(reductions);
  if (pool_.size() > 2 * live_ + 1024) compact();
}

void ChunkRoutes::compact() {
  std::vector<LinkId> kept;
  kept.reserve(live_);
  for (std::uint32_t c = 0; c < routes_.size(); ++c) {
    const std::span<const LinkId> own = links(ChunkId{c});
    routes_[c].begin = kept.size();
    kept.insert(kept.end(), own.begin(), own.end());
  }
  pool_ = std::move(kept);
}

Schedule ChunkRoutes::schedule(const Topology& topology, std::span<const ChunkId> order) const {
  Schedule made(topology.link_count());
  made.reserve(live_);
  for (const ChunkId chunk : order) {
    const std::span<const LinkId> all = links(chunk);
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = begin + 1;
      const auto goes_on = [&] {
        const NodeId at = topology.link(all[end - 1]).to;
        return end < all.size() && !topology.node(at).can.store &&
               topology.link(all[end]).from == at;
      };
      while (goes_on()) ++end;
      const Op op = begin < routes_[chunk.value].reductions ? Op::reduce : Op::copy;
      made.push({chunk, made.paths().intern(all.subspan(begin, end - begin)), op, false});
      begin = end;
    }
  }
  return made;
}

/// Chunks in the order of the rotation that keeps receivers apart: first those for the source's
/// next neighbour by id, then those for the second next, ... Ties of urgency are broken so.
std::vector<ChunkId> rotating_order(const Topology& topology, const Collective& collective) {
  const std::uint32_t nodes = topology.node_count();
  std::vector<std::pair<std::uint32_t, ChunkId>> keyed;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const auto held = collective.sources(ChunkId{c}), wanted = collective.destinations(ChunkId{c});
    const std::uint32_t turn = held.empty() || wanted.empty()
                                   ? 0
                                   : (wanted.front().value + nodes - held.front().value) % nodes;
    keyed.emplace_back(turn, c);
  }
  std::ranges::sort(keyed);
  std::vector<ChunkId> order;
  for (const auto& [turn, chunk] : keyed) order.push_back(chunk);
  return order;
}

/// The first attempt is the one that does best in most cases; the others vary what it leaves open.
RouteBalancing variant(const SynthesisOptions& options, unsigned attempt) {
  constexpr std::array paths{0.3, 1.0, 0.05};
  constexpr std::array depth_weights{0.5, 1.0, 0.2};
  RouteBalancing balancing;
  balancing.seed = options.seed + attempt;
  balancing.fixed = attempt == 1;
  balancing.path = paths[attempt % paths.size()];
  balancing.shape.depth_weight = depth_weights[attempt % depth_weights.size()];
  balancing.shape.queue_weight = attempt % 2 == 0 ? 0 : balancing.shape.depth_weight;
  return balancing;
}

} // namespace

std::optional<Timed> routed(const Topology& topology, const Collective& collective,
                            const SynthesisOptions& options, const WorkLimit& limit) {
  constexpr unsigned most_attempts = 48, most_in_vain = 16;
  constexpr std::uint64_t enough = 12'000'000; // links looked at, about a second
  constexpr std::uint64_t links_per_hop = 8;   // a hop scheduled takes as long as so many links
  TimeModel model = options.model;
  model.discipline = Discipline::fifo; // what fluid makes of the order can't be planned
  const std::vector<ChunkId> order = rotating_order(topology, collective);

  std::optional<Timed> best;
  Time bound;
  std::uint64_t work = 0, last = 0;
  unsigned in_vain = 0;
  for (unsigned attempt = 0; attempt < most_attempts && in_vain < most_in_vain; ++attempt) {
    if (attempt > 0 && work + last > enough) break;
    const std::optional<BalancedRoutes> balanced =
        Balancer(topology, collective, model, variant(options, attempt), limit).run();
    if (limit.reached() || (!balanced && attempt == 0)) break;
    if (!balanced) continue;
    const Schedule unordered = balanced->routes.schedule(topology, order);
    const std::uint64_t scheduling = links_per_hop * unordered.size();
    const unsigned effort = scheduling < enough / 16 ? 4 : scheduling < 2 * enough ? 2 : 1;
    std::optional<Timed> timed;
    try {
      timed = list_scheduled(topology, collective, unordered, model, {.effort = effort}, limit);
    } catch (const LimitReached&) {
      break;
    }
    last = balanced->work + effort * scheduling + 1000;
    work += last;
    if (!best && work < enough)
      bound = lower_bound(topology, collective, model, Chunking::given, BoundEffort::least).time;
    ++in_vain;
    if (!best || timed->makespan < best->makespan) {
      best = std::move(*timed);
      in_vain = 0;
    }
    limit.report(best->schedule.size(), best->schedule.size(), best->makespan);
    if (best->makespan <= bound) break;
  }
  return best;
}

} // namespace tutti
