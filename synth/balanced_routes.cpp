#include "synth/balanced_routes.hpp"

#include "sim/random.hpp"
#include "synth/route_search.hpp"

#include <cstdio>

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

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
    const std::uint64_t searches =
        std::max<std::uint64_t>(1, balancing_.work / (1 + topology_.link_count()));
    std::size_t batch = std::max<std::size_t>(1, single_.size() * 8 / searches);
    // All along the cheapest way at first, then at steeper and steeper prices.
    for (unsigned doublings = 0; doublings <= 5; ++doublings) {
      loads_.set_pricing({doublings, doublings == 0 ? 1.0 : balancing_.way});
      if (!pass(doublings == 0 ? SIZE_MAX : batch, doublings == 0)) {
        if (doublings == 0) return std::nullopt;
        break;
      }
      report(doublings);
      if (balancing_.fixed) {
        follow(*balancing_.fixed);
        break;
      }
      if (search_.work() > balancing_.work) break;
    }
    while (!balancing_.fixed && search_.work() < balancing_.work && !limit_.reached())
      if (!relieve()) break;
    return BalancedRoutes{std::move(routes_), search_.work()};
  }

private:
  void report([[maybe_unused]] unsigned d) const {
#ifdef ROUTE_DEBUG
    fprintf(stderr, "  pass %u: peak %.4f us, work %llu\n", d, loads_.peak() * 1e-6,
            (unsigned long long)search_.work());
#endif
  }
  [[nodiscard]] bool reduces(ChunkId c) const {
    return collective_.chunks[c.value].reduces && collective_.held_by(c).size() > 1;
  }

  void sort_chunks() {
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c) {
      const auto held = collective_.held_by(ChunkId{c}), wanted = collective_.wanted_by(ChunkId{c});
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
    return {collective_.chunks[c.value].held_by, collective_.chunks[c.value].size};
  }

  /// Routes every chunk anew. False where the limit ends it.
  bool pass(std::size_t batch, bool first) {
    random_.shuffle(trees_);
    for (const ChunkId chunk : trees_) {
      if ((first || search_.work() <= balancing_.work) && !reroute(chunk)) return false;
      if (search_.work() % 64 == 0 && limit_.reached()) return false;
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
      if (!reroute(batches[b])) return false;
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

  /// A path for each; all of one kind.
  bool reroute(std::span<const ChunkId> chunks) {
    targets_.clear();
    for (const ChunkId chunk : chunks) {
      unload(chunk);
      targets_.push_back(collective_.wanted_by(chunk).front());
    }
    const ChunkId one = chunks.front();
    if (!search_.search(collective_.held_by(one), targets_, collective_.chunks[one.value].size))
      return false;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      links_.clear();
      search_.append_way(targets_[i], links_);
      routes_.set(chunks[i], links_);
      load(chunks[i]);
    }
    return true;
  }

  /// Paths of single chunks as the rule has them.
  void follow(Routing rule) {
    if (single_.empty()) return;
    Router router(topology_, rule, collective_.chunks[single_.front().value].size);
    for (const ChunkId chunk : single_) {
      const auto held = collective_.held_by(chunk);
      if (held.size() > 1) continue; // the nearest holder's path stays
      unload(chunk);
      routes_.set(chunk, router.route(held.front(), collective_.wanted_by(chunk).front()));
      load(chunk);
    }
  }

  /// A tree.
  bool reroute(ChunkId chunk) {
    unload(chunk);
    const Bytes size = collective_.chunks[chunk.value].size;
    const auto held = collective_.held_by(chunk), wanted = collective_.wanted_by(chunk);
    links_.clear();
    std::size_t reductions = 0;
    if (!reduces(chunk)) {
      if (!search_.copy_tree(held, wanted, size, balancing_.depth_weight, links_)) return false;
    } else {
      const NodeId root = root_of(chunk);
      if (!search_.reduction_tree(held, root, size, balancing_.depth_weight, links_)) return false;
      reductions = links_.size();
      const std::vector<NodeId> complete = complete_at(chunk, root);
      if (!search_.copy_tree(complete, wanted, size, balancing_.depth_weight, links_)) return false;
    }
    routes_.set(chunk, links_, reductions);
    load(chunk);
    return true;
  }

  /// Who has the chunk complete after the reductions over links_: `root`, and those through whom
  /// everything came.
  [[nodiscard]] std::vector<NodeId> complete_at(ChunkId chunk, NodeId root) const {
    std::vector<NodeId> complete{root};
    const auto held = collective_.held_by(chunk);
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
    const auto wanted = collective_.wanted_by(chunk);
    for (const CollectivePart& part : collective_.parts)
      if (chunk.value - part.first.value < part.chunk_count)
        return wanted[(chunk.value - part.first.value) / part.pieces % wanted.size()];
    return wanted.front();
  }

  /// Routes what crosses the most loaded links anew, chunk by chunk. False where that doesn't help.
  bool relieve() {
    const double peak = loads_.peak();
    loads_.set_pricing({6, balancing_.way});
    std::vector<ChunkId> hot;
    for (const std::vector<ChunkId>* chunks : {&trees_, &single_})
      for (const ChunkId chunk : *chunks)
        if (std::ranges::any_of(routes_.links(chunk),
                                [&](LinkId link) { return loads_.beyond(link, 0.98 * peak); }))
          hot.push_back(chunk);
    random_.shuffle(hot);
    for (const ChunkId chunk : hot) {
      if (search_.work() > balancing_.work) break;
      const bool still = std::ranges::any_of(
          routes_.links(chunk), [&](LinkId link) { return loads_.beyond(link, 0.98 * peak); });
      if (!still) continue;
      if (reduces(chunk) || collective_.wanted_by(chunk).size() > 1)
        reroute(chunk);
      else
        reroute(std::span(&chunk, 1));
    }
    report(99);
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

std::optional<BalancedRoutes> balanced_routes(const Topology& topology,
                                              const Collective& collective, const TimeModel& model,
                                              const RouteBalancing& balancing,
                                              const WorkLimit& limit) {
  return Balancer(topology, collective, model, balancing, limit).run();
}

} // namespace tutti
