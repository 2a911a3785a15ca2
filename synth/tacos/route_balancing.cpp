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

#include "synth/tacos/route_balancing.hpp"

#include "sim/random.hpp"
#include "sim/routing.hpp"
#include "synth/tacos/link_loads.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tutti {

namespace {

constexpr unsigned steepest = 5, relieving = 6; // doublings of the prices' power
constexpr double hot = 0.98;                    // of the peak
/// Links to be looked at, about; every chunk is routed once.
constexpr std::uint64_t most_work = 10'000'000;

class Balancer {
public:
  Balancer(const Topology& topology, const Collective& collective, const TimeModel& model,
           const RouteBalancing& balancing, const WorkLimit& limit,
           std::span<const std::uint32_t> orbit_of)
      : topology_(topology), collective_(collective), balancing_(balancing), limit_(limit),
        random_(balancing.seed), loads_(topology, model, orbit_of), search_(topology, loads_),
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

} // namespace

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

std::optional<BalancedRoutes> balanced_routes(const Topology& topology,
                                              const Collective& collective, const TimeModel& model,
                                              const RouteBalancing& balancing,
                                              const WorkLimit& limit,
                                              std::span<const std::uint32_t> orbit_of) {
  return Balancer(topology, collective, model, balancing, limit, orbit_of).run();
}

} // namespace tutti
