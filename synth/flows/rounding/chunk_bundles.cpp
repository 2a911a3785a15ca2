// Data of its own for each sink may take any hop to that sink, whichever tree it stands in, so that
// a bundle gathers equal hops of all trees. All-Reduce's chunks are divided by root only where the
// shares allow whole chunks: then a shard is reduced at its own member, as in a Reduce-Scatter.

#include "synth/flows/rounding/chunk_bundles.hpp"

#include "sim/limit_watch.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tutti {

namespace {

/// Collects the bundles of all demands.
class BundleBuilder {
public:
  BundleBuilder(const Collective& collective, const FlowProblem& problem,
                std::span<const FlowTree> trees, const WorkLimit& limit)
      : collective_(collective), problem_(problem), trees_(trees), watch_(limit),
        chunks_of_(problem.demands.size()), trees_of_(problem.demands.size()) {
    for (std::uint32_t c = 0; c < problem.demand_of.size(); ++c)
      if (problem.demand_of[c] != FlowProblem::none)
        chunks_of_[problem.demand_of[c]].emplace_back(c);
    for (std::uint32_t t = 0; t < trees.size(); ++t)
      if (trees[t].share > 0) trees_of_[trees[t].demand].push_back(t);
  }

  [[nodiscard]] Bundles build() {
    for (std::uint32_t d = 0; d < problem_.demands.size(); ++d) {
      watch_.require();
      if (chunks_of_[d].empty()) continue;
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
  [[nodiscard]] std::vector<ChunkPath> whole(const std::vector<std::uint32_t>& trees) const {
    std::vector<ChunkPath> paths;
    for (const std::uint32_t t : trees) paths.push_back({t, ChunkPath::all, trees_[t].share});
    return paths;
  }

  /// A bundle for each sink.
  void add_sinks(std::uint32_t d) {
    std::map<std::uint32_t, std::vector<ChunkId>> chunks;
    for (const ChunkId c : chunks_of_[d])
      chunks[collective_.destinations(c).front().value].push_back(c);
    std::map<std::uint32_t, std::vector<ChunkPath>> paths;
    for (const std::uint32_t t : trees_of_[d])
      for (std::uint32_t h = 0; h < trees_[t].hop_count(); ++h) {
        const std::span<const std::uint32_t> links = trees_[t].hop(h);
        std::vector<ChunkPath>& known = paths[problem_.network.links[links.back()].to];
        const auto same = std::ranges::find_if(known, [&](const ChunkPath& path) {
          return std::ranges::equal(path.links(trees_), links);
        });
        if (same == known.end())
          known.push_back({t, h, trees_[t].share});
        else
          same->share += trees_[t].share;
      }
    for (const auto& [sink, some] : chunks) add(d, some, paths[sink]);
  }

  /// A bundle for each root, if every root's share is a number of chunks.
  bool add_roots(std::uint32_t d) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> trees; // by root
    for (const std::uint32_t t : trees_of_[d]) trees[trees_[t].root].push_back(t);
    const auto count = static_cast<double>(chunks_of_[d].size());
    std::map<std::uint32_t, std::size_t> slots; // chunks still to come, by root
    std::size_t sum = 0;
    for (const auto& [root, some] : trees) {
      double share = 0;
      for (const std::uint32_t t : some) share += trees_[t].share;
      if (std::abs(share * count - std::round(share * count)) > 1e-6) return false;
      sum += slots[root] = static_cast<std::size_t>(std::llround(share * count));
    }
    if (sum != chunks_of_[d].size()) return false;
    std::map<std::uint32_t, std::vector<ChunkId>> chunks = at_roots(d, std::move(slots));
    for (const auto& [root, some] : trees)
      if (!chunks[root].empty()) add(d, chunks[root], whole(some));
    return true;
  }

  /// Each shard to its own member while that has slots, the others wherever some are left.
  [[nodiscard]] std::map<std::uint32_t, std::vector<ChunkId>>
  at_roots(std::uint32_t d, std::map<std::uint32_t, std::size_t> slots) const {
    std::map<std::uint32_t, std::vector<ChunkId>> chunks;
    std::vector<ChunkId> others;
    std::size_t p = 0; // the part of the chunk at hand
    for (const ChunkId c : chunks_of_[d]) {
      while (c.value >= collective_.parts[p].first.value + collective_.parts[p].chunk_count) ++p;
      const CollectivePart& part = collective_.parts[p];
      const auto own =
          part.kind == CollectiveKind::all_reduce
              ? slots.find(part.group[(c.value - part.first.value) / part.chunks_per_shard].value)
              : slots.end();
      if (own == slots.end() || own->second == 0) {
        others.push_back(c);
      } else {
        --own->second;
        chunks[own->first].push_back(c);
      }
    }
    auto at = slots.begin();
    for (const ChunkId c : others) {
      while (at->second == 0) ++at;
      --at->second;
      chunks[at->first].push_back(c);
    }
    return chunks;
  }

  void add(std::uint32_t d, std::vector<ChunkId> chunks, const std::vector<ChunkPath>& paths) {
    if (chunks.empty()) return;
    std::ranges::stable_sort(chunks, std::ranges::greater{},
                             [&](ChunkId c) { return collective_.chunks[c.value].size.count; });
    made_.list.push_back({made_.paths.size(), paths.size(), made_.chunks.size(), chunks.size(), d});
    double sum = 0;
    for (const ChunkPath& path : paths) sum += path.share;
    for (ChunkPath path : paths) {
      path.share /= sum;
      made_.paths.push_back(path);
    }
    made_.chunks.insert(made_.chunks.end(), chunks.begin(), chunks.end());
  }

  const Collective& collective_;
  const FlowProblem& problem_;
  std::span<const FlowTree> trees_;
  LimitWatch watch_;
  std::vector<std::vector<ChunkId>> chunks_of_;      // [demand]
  std::vector<std::vector<std::uint32_t>> trees_of_; // [demand]
  Bundles made_;
};

} // namespace

Bundles chunk_bundles(const Collective& collective, const FlowProblem& problem,
                      std::span<const FlowTree> trees, const WorkLimit& limit) {
  return BundleBuilder(collective, problem, trees, limit).build();
}

} // namespace tutti
