#include "sim/repair/residual.hpp"

#include "sim/collective_builder.hpp"
#include "sim/repair/chunk_replay.hpp"
#include "sim/repair/disjoint_cover.hpp"
#include "sim/repair/reach.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti {

namespace {

using Word = ChunkReplay::Word;

/// A way to finish a chunk: whose values count, and who gets it from them.
struct Finish {
  std::vector<NodeId> holders;
  bool reduces = false, from_inputs = false;
  std::vector<NodeId> has, gets, cut_off; ///< of those who want it
  [[nodiscard]] std::size_t finishing() const { return has.size() + gets.size(); }
};

bool contains(std::span<const Word> set, std::span<const Word> part) {
  for (std::size_t w = 0; w < set.size(); ++w)
    if (part[w] & ~set[w]) return false;
  return true;
}

class Remaining {
public:
  Remaining(const Topology& topology, std::span<const Segment> segments,
            const NetworkState& network, bool anew)
      : topology_(topology), whole_(segments.front().collective), network_(network), anew_(anew),
        reach_(topology, network), replay_(topology, segments), left_(topology),
        holds_(topology.node_count()) {}

  Residual run() {
    for (std::uint32_t c = 0; c < whole_.chunks.size(); ++c) {
      const ChunkId chunk{c};
      if (!anew_) replay_.run(chunk);
      if (whole_.chunks[c].reduces)
        reduced(chunk);
      else
        copied(chunk);
    }
    if (!made_.chunk.empty()) made_.collective = left_.build();
    return std::move(made_);
  }

private:
  template <typename Nodes> [[nodiscard]] std::vector<NodeId> alive(const Nodes& nodes) const {
    std::vector<NodeId> found;
    for (const NodeId node : nodes)
      if (network_.is_up(node)) found.push_back(node);
    return found;
  }

  void copied(ChunkId chunk) {
    Finish way;
    way.from_inputs = anew_;
    if (anew_) {
      way.holders = alive(whole_.held_by(chunk));
    } else {
      for (std::uint32_t n = 0; n < topology_.npu_count(); ++n)
        if (network_.is_up(NodeId{n}) && replay_.has_any(NodeId{n})) way.holders.emplace_back(n);
    }
    if (way.holders.empty()) {
      for (const NodeId npu : whole_.held_by(chunk)) made_.lost.push_back({chunk, npu});
      return;
    }
    serve(chunk, way);
    take(chunk, way);
  }

  void reduced(ChunkId chunk) {
    const std::span<const NodeId> contributors = whole_.held_by(chunk);
    find_sums(contributors);
    std::optional<Finish> best = anew_ ? std::nullopt : best_of_sums(chunk, contributors);
    if (!best) { // what there is can't be added up: without the sums of the dead
      keep_inputs_only(contributors);
      best = inputs(contributors);
      serve(chunk, *best);
    }
    for (std::size_t i = 0; i < contributors.size(); ++i)
      if (!has_bit(survivors_, i)) made_.lost.push_back({chunk, contributors[i]});
    if (!best->holders.empty()) take(chunk, *best);
  }

  /// The way on which most can finish; of equal ones that with the largest sums. Nothing where no
  /// sums add up.
  std::optional<Finish> best_of_sums(ChunkId chunk, std::span<const NodeId> contributors) {
    if (sums_.empty()) return std::nullopt;
    std::optional<Finish> best = copies();
    if (!best) best = cover(sums_);
    if (!best) return std::nullopt;
    serve(chunk, *best);
    if (best->cut_off.empty()) return best;
    const auto offer = [&](std::optional<Finish> way) {
      if (!way) return;
      serve(chunk, *way);
      if (way->finishing() > best->finishing()) best = std::move(way);
    };
    std::vector<std::uint32_t> tried;
    for (const NodeId npu : std::vector<NodeId>(best->cut_off)) {
      if (std::ranges::find(tried, reach_.component(npu)) != tried.end()) continue;
      tried.push_back(reach_.component(npu));
      std::vector<PartialSum> near;
      for (const PartialSum& sum : sums_)
        if (reach_.can_reach(sum.npu, npu)) near.push_back(sum);
      offer(cover(near));
    }
    if (inputs_hold_all(contributors)) offer(inputs(contributors));
    return best;
  }

  /// What NPUs alive hold of the chunk, and what all of them together hold.
  void find_sums(std::span<const NodeId> contributors) {
    sums_.clear();
    survivors_.assign((contributors.size() + 63) / 64, 0);
    if (anew_) return;
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n) {
      const NodeId npu{n};
      if (!network_.is_up(npu) || !replay_.has_any(npu)) continue;
      sums_.push_back({npu, replay_.value(npu)});
      for (std::size_t w = 0; w < survivors_.size(); ++w) survivors_[w] |= replay_.value(npu)[w];
    }
  }

  [[nodiscard]] static bool has_bit(std::span<const Word> set, std::size_t bit) {
    return (set[bit / 64] >> (bit % 64) & 1) != 0;
  }
  [[nodiscard]] bool inputs_hold_all(std::span<const NodeId> contributors) const {
    for (std::size_t i = 0; i < contributors.size(); ++i)
      if (has_bit(survivors_, i) && !network_.is_up(contributors[i])) return false;
    return true;
  }
  void keep_inputs_only(std::span<const NodeId> contributors) {
    std::ranges::fill(survivors_, Word{0});
    for (std::size_t i = 0; i < contributors.size(); ++i)
      if (network_.is_up(contributors[i])) survivors_[i / 64] |= Word{1} << (i % 64);
  }

  [[nodiscard]] Finish inputs(std::span<const NodeId> contributors) const {
    Finish way;
    way.holders = alive(contributors);
    way.reduces = way.holders.size() > 1;
    way.from_inputs = true;
    return way;
  }
  [[nodiscard]] std::optional<Finish> cover(std::span<const PartialSum> sums) const {
    std::optional<std::vector<NodeId>> holders = disjoint_cover(sums, survivors_);
    if (!holders) return std::nullopt;
    Finish way;
    way.holders = *std::move(holders);
    way.reduces = way.holders.size() > 1;
    return way;
  }
  /// From all who have it complete, if anyone has.
  [[nodiscard]] std::optional<Finish> copies() const {
    Finish way;
    for (const PartialSum& sum : sums_)
      if (contains(sum.contributions, survivors_)) way.holders.push_back(sum.npu);
    if (way.holders.empty()) return std::nullopt;
    return way;
  }

  /// Who gets the chunk in this way, and who is cut off.
  void serve(ChunkId chunk, Finish& way) {
    if (!way.reduces)
      for (const NodeId holder : way.holders) holds_[holder.value] = true;
    for (const NodeId npu : whole_.wanted_by(chunk)) {
      if (!network_.is_up(npu)) continue;
      const auto reaches = [&](NodeId holder) { return reach_.can_reach(holder, npu); };
      if (holds_[npu.value])
        way.has.push_back(npu);
      else if (reach_.connected() || (way.reduces ? std::ranges::all_of(way.holders, reaches)
                                                  : std::ranges::any_of(way.holders, reaches)))
        way.gets.push_back(npu);
      else
        way.cut_off.push_back(npu);
    }
    for (const NodeId holder : way.holders) holds_[holder.value] = false;
  }

  void take(ChunkId chunk, const Finish& way) {
    for (const NodeId npu : way.cut_off) made_.out_of_reach.push_back({chunk, npu});
    std::vector<NodeId> wanters = way.gets;
    if (way.from_inputs && !anew_) {
      wanters.insert(wanters.end(), way.has.begin(), way.has.end());
      std::ranges::sort(wanters);
    }
    if (wanters.empty()) return;
    left_.add_chunk({whole_.chunks[chunk.value].size, left_.add_set(way.holders),
                     left_.add_set(std::move(wanters)), way.reduces});
    made_.chunk.push_back(chunk);
    made_.from_inputs.push_back(way.from_inputs);
  }

  const Topology& topology_;
  const Collective& whole_;
  const NetworkState& network_;
  bool anew_;
  Reach reach_;
  ChunkReplay replay_;
  CustomCollectiveBuilder left_;
  Residual made_;
  std::vector<PartialSum> sums_;
  std::vector<Word> survivors_;
  std::vector<bool> holds_; // between uses: false
};

} // namespace

Residual residual(const Topology& topology, std::span<const Segment> segments,
                  const NetworkState& network, bool anew) {
  return Remaining(topology, segments, network, anew).run();
}

} // namespace tutti
