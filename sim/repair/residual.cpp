// Chunk by chunk: ChunkReplay says what each NPU holds; a copied chunk counts wherever it survives,
// a reduced one by disjoint partial sums (disjoint_cover.hpp). Where the network is cut, sums
// within reach of those who are cut off are tried too, and the choice by which most destinations
// can finish is taken.

#include "sim/repair/residual.hpp"

#include "sim/collective_builder.hpp"
#include "sim/repair/chunk_replay.hpp"
#include "sim/repair/disjoint_cover.hpp"
#include "sim/repair/reach.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace tutti {

namespace {

using Word = ChunkReplay::Word;

/// How a chunk can be finished: whose values count, and who gets it from them.
struct Finish {
  std::vector<NodeId> sources;
  std::vector<Start> starts;                  ///< of the sources
  std::vector<std::vector<Arrival>> takes_in; ///< of the sources
  bool reduces = false;
  std::vector<NodeId> has, gets, cut_off; ///< of those who want it

  void add(NodeId source, Start start, std::vector<Arrival> arrivals = {}) {
    sources.push_back(source);
    starts.push_back(start);
    takes_in.push_back(std::move(arrivals));
  }
  void add(const PartialSum& sum) { add(sum.npu, sum.start, sum.takes_in); }
  [[nodiscard]] std::size_t finishing() const { return has.size() + gets.size(); }
};

bool contains(std::span<const Word> set, std::span<const Word> part) {
  for (std::size_t w = 0; w < set.size(); ++w)
    if (part[w] & ~set[w]) return false;
  return true;
}
bool overlap(std::span<const Word> a, std::span<const Word> b) {
  for (std::size_t w = 0; w < a.size(); ++w)
    if (a[w] & b[w]) return true;
  return false;
}
void add(std::span<const Word> some, std::vector<Word>& to) {
  for (std::size_t w = 0; w < to.size(); ++w) to[w] |= some[w];
}
bool has_bit(std::span<const Word> set, std::size_t bit) {
  return (set[bit / 64] >> (bit % 64) & 1) != 0;
}
void set_bit(std::span<Word> set, std::size_t bit) { set[bit / 64] |= Word{1} << (bit % 64); }

/// What NPUs alive hold of the chunk that was replayed last, inputs and what waits included.
std::vector<Word> all_held(const Topology& topology, const Collective& whole, ChunkId chunk,
                           const NetworkState& network, const ChunkReplay& replay) {
  std::vector<Word> held(replay.value(NodeId{0}).size());
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    if (network.is_up(NodeId{n})) add(replay.value(NodeId{n}), held);
  for (const ChunkReplay::Waiting& one : replay.waiting())
    if (one.at.value < topology.npu_count() && network.is_up(one.at)) add(one.value, held);
  for (const NodeId npu : whole.sources(chunk))
    if (network.is_up(npu)) set_bit(held, *replay.input_bit(npu));
  return held;
}

class Remaining {
public:
  Remaining(const Topology& topology, std::span<const Segment> segments,
            const NetworkState& network, bool anew, std::span<const ChunkAt> given_up)
      : topology_(topology), whole_(segments.front().collective), network_(network), anew_(anew),
        given_up_(given_up), reach_(topology, network), replay_(topology, segments),
        left_(topology), holds_(topology.node_count()) {}

  Residual run() {
    for (std::uint32_t c = 0; c < whole_.chunks.size(); ++c) {
      const ChunkId chunk{c};
      if (!anew_) replay_.run(chunk);
      if (anew_)
        from_inputs(chunk);
      else if (whole_.chunks[c].reduces)
        reduced(chunk);
      else
        copied(chunk);
    }
    if (!made_.chunk.empty()) made_.collective = left_.build();
    std::ranges::sort(made_.takes_in);
    return std::move(made_);
  }

private:
  void from_inputs(ChunkId chunk) {
    Finish finish;
    const std::span<const NodeId> inputs = whole_.sources(chunk);
    for (const NodeId npu : inputs)
      if (network_.is_up(npu)) finish.add(npu, Start::input);
    const bool sums = whole_.chunks[chunk.value].reduces;
    finish.reduces = sums && finish.sources.size() > 1;
    for (const NodeId npu : inputs)
      if (sums ? !network_.is_up(npu) : finish.sources.empty()) made_.lost.push_back({chunk, npu});
    if (finish.sources.empty()) return;
    serve(chunk, finish);
    (void)take(chunk, finish);
  }

  void copied(ChunkId chunk) {
    Finish finish;
    const std::span<const NodeId> inputs = whole_.sources(chunk);
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n) {
      const NodeId npu{n};
      if (!network_.is_up(npu)) continue;
      if (replay_.has_any(npu) || std::ranges::binary_search(inputs, npu))
        finish.add(npu, Start::present);
      else if (const auto came =
                   std::ranges::find(replay_.waiting(), npu, &ChunkReplay::Waiting::at);
               came != replay_.waiting().end())
        finish.add(npu, Start::nothing, {came->arrival});
    }
    if (finish.sources.empty()) {
      for (const NodeId npu : inputs) made_.lost.push_back({chunk, npu});
      return;
    }
    serve(chunk, finish);
    (void)take(chunk, finish);
  }

  void reduced(ChunkId chunk) {
    const std::span<const NodeId> contributors = whole_.sources(chunk);
    std::vector<Word> kept = all_held(topology_, whole_, chunk, network_, replay_);
    find_sums(chunk);
    if (!sums_.empty()) {
      const Finish best = best_of_sums(chunk);
      if (take(chunk, best, best.cut_off.empty() && leaves_out(chunk, kept))) kept = survivors_;
    }
    for (std::size_t i = 0; i < contributors.size(); ++i)
      if (!has_bit(kept, i)) made_.lost.push_back({chunk, contributors[i]});
  }

  /// Whether the chosen sums go without a contribution that is held and not given up before.
  [[nodiscard]] bool leaves_out(ChunkId chunk, std::span<const Word> held) const {
    const std::span<const NodeId> contributors = whole_.sources(chunk);
    const std::span<const ChunkAt> before = of_chunk(given_up_, chunk);
    for (std::size_t i = 0; i < contributors.size(); ++i)
      if (has_bit(held, i) && !has_bit(survivors_, i) &&
          std::ranges::find(before, contributors[i], &ChunkAt::npu) == before.end())
        return true;
    return false;
  }

  /// The choice with which most can finish; of equal ones that with the largest sums.
  Finish best_of_sums(ChunkId chunk) {
    Finish best = copies();
    if (best.sources.empty()) {
      const std::vector<std::uint32_t> chosen = disjoint_cover(sums_, survivors_);
      survivors_ = united(sums_, chosen, survivors_.size());
      best = of_sums(sums_, chosen);
    }
    serve(chunk, best);
    if (best.cut_off.empty()) return best;
    std::vector<std::uint32_t> tried;
    for (const NodeId npu : std::vector<NodeId>(best.cut_off)) {
      if (std::ranges::find(tried, reach_.component(npu)) != tried.end()) continue;
      tried.push_back(reach_.component(npu));
      std::vector<PartialSum> near;
      for (const PartialSum& sum : sums_)
        if (reach_.can_reach(sum.npu, npu) && contains(survivors_, sum.contributions))
          near.push_back(sum);
      const std::vector<std::uint32_t> chosen = disjoint_cover(near, survivors_);
      if (united(near, chosen, survivors_.size()) != survivors_ || could_add(near, chosen))
        continue;
      Finish finish = of_sums(near, chosen);
      serve(chunk, finish);
      if (finish.finishing() > best.finishing()) best = std::move(finish);
    }
    return best;
  }

  /// What NPUs alive hold of the chunk, sums and inputs, and what all of them together hold; but
  /// for sums with what was given up before. What waits at an NPU stands there alone and, as far as
  /// it can be, added up with the rest.
  void find_sums(ChunkId chunk) {
    const std::size_t words = replay_.value(NodeId{0}).size();
    std::vector<Word> given_up(words);
    for (const ChunkAt& one : of_chunk(given_up_, chunk))
      set_bit(given_up, *replay_.input_bit(one.npu));
    sums_.clear();
    survivors_.assign(words, 0);
    inputs_.assign(topology_.npu_count() * words, 0);
    added_.clear();
    std::vector<PartialSum> waiting;
    for (const ChunkReplay::Waiting& one : replay_.waiting())
      if (!overlap(one.value, given_up))
        waiting.push_back({one.at, one.value, Start::nothing, {one.arrival}});
    std::ranges::stable_sort(waiting, {}, &PartialSum::npu);
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n) {
      const NodeId npu{n};
      if (!network_.is_up(npu)) continue;
      const std::span<const Word> sum = replay_.value(npu);
      const bool counts = replay_.has_any(npu) && !overlap(sum, given_up);
      const std::size_t first = sums_.size();
      if (counts) sums_.push_back({npu, sum, Start::present});
      const auto came = std::ranges::lower_bound(waiting, npu, {}, &PartialSum::npu);
      sums_.insert(sums_.end(), came,
                   std::ranges::upper_bound(came, waiting.end(), npu, {}, &PartialSum::npu));
      add_up(first);
      if (const std::optional<std::size_t> bit = replay_.input_bit(npu)) {
        const std::span<Word> own(inputs_.data() + n * words, words);
        set_bit(own, *bit);
        if (!counts || !std::ranges::equal(own, sum)) sums_.push_back({npu, own, Start::input});
      }
    }
    for (const PartialSum& sum : sums_) add(sum.contributions, survivors_);
  }

  /// Puts the sum of those from this one on, all of one NPU, before them.
  void add_up(std::size_t first) {
    if (sums_.size() - first < 2) return;
    const std::span<const PartialSum> parts = std::span(sums_).subspan(first);
    std::vector<Word> all(survivors_.size());
    for (const PartialSum& part : parts) add(part.contributions, all);
    const std::vector<std::uint32_t> chosen = disjoint_cover(parts, all);
    if (chosen.size() < 2) return;
    Finish finish = of_sums(parts, chosen);
    added_.push_back(united(parts, chosen, survivors_.size()));
    sums_.insert(sums_.begin() + static_cast<std::ptrdiff_t>(first),
                 {finish.sources.front(), added_.back(), finish.starts.front(),
                  std::move(finish.takes_in.front())});
  }

  /// By the sums at these positions. Those of one NPU, values and input, stand side by side.
  [[nodiscard]] Finish of_sums(std::span<const PartialSum> sums,
                               std::span<const std::uint32_t> chosen) const {
    Finish finish;
    for (const std::uint32_t i : chosen)
      if (!finish.sources.empty() && finish.sources.back() == sums[i].npu) {
        finish.starts.back() = finish.starts.back() | sums[i].start;
        finish.takes_in.back().insert(finish.takes_in.back().end(), sums[i].takes_in.begin(),
                                      sums[i].takes_in.end());
      } else {
        finish.add(sums[i]);
      }
    finish.reduces = finish.sources.size() > 1;
    return finish;
  }
  [[nodiscard]] static std::vector<Word> united(std::span<const PartialSum> sums,
                                                std::span<const std::uint32_t> chosen,
                                                std::size_t words) {
    std::vector<Word> all(words);
    for (const std::uint32_t i : chosen) add(sums[i].contributions, all);
    return all;
  }
  /// Whether some sum would hold more in place of those of the chosen that it has within it. Not
  /// after a first disjoint_cover(), but where others hold the same.
  [[nodiscard]] bool could_add(std::span<const PartialSum> sums,
                               std::span<const std::uint32_t> chosen) const {
    return std::ranges::any_of(sums_, [&](const PartialSum& other) {
      return !contains(survivors_, other.contributions) &&
             std::ranges::all_of(chosen, [&](std::uint32_t i) {
               return contains(other.contributions, sums[i].contributions) ||
                      !overlap(other.contributions, sums[i].contributions);
             });
    });
  }
  /// From all who have it complete.
  [[nodiscard]] Finish copies() const {
    Finish finish;
    for (const PartialSum& sum : sums_)
      if (contains(sum.contributions, survivors_) &&
          (finish.sources.empty() || finish.sources.back() != sum.npu))
        finish.add(sum);
    return finish;
  }

  /// Who gets the chunk then, and who is cut off.
  void serve(ChunkId chunk, Finish& finish) {
    if (!finish.reduces)
      for (const NodeId source : finish.sources) holds_[source.value] = true;
    for (const NodeId npu : whole_.destinations(chunk)) {
      if (!network_.is_up(npu)) continue;
      const auto reaches = [&](NodeId source) { return reach_.can_reach(source, npu); };
      if (holds_[npu.value])
        finish.has.push_back(npu);
      else if (reach_.connected() ||
               (finish.reduces ? std::ranges::all_of(finish.sources, reaches)
                               : std::ranges::any_of(finish.sources, reaches)))
        finish.gets.push_back(npu);
      else
        finish.cut_off.push_back(npu);
    }
    for (const NodeId source : finish.sources) holds_[source.value] = false;
  }

  /// Whether there is anything to do. Who has the chosen sum has the chunk once the contributions
  /// that it leaves out are given up, which takes a plan, though nothing is sent.
  bool take(ChunkId chunk, const Finish& finish, bool gives_up = false) {
    for (const NodeId npu : finish.cut_off) made_.out_of_reach.push_back({chunk, npu});
    std::vector<NodeId> destinations = finish.gets;
    for (std::size_t h = 0; h < finish.sources.size() && !finish.has.empty() && !anew_; ++h)
      if ((gives_up || finish.starts[h] != Start::present || !finish.takes_in[h].empty()) &&
          std::ranges::binary_search(finish.has, finish.sources[h])) // has it then, not yet
        destinations.push_back(finish.sources[h]);
    if (destinations.empty()) return false;
    std::ranges::sort(destinations);
    left_.add_chunk({whole_.chunks[chunk.value].size, left_.add_set(finish.sources),
                     left_.add_set(std::move(destinations)), finish.reduces});
    made_.chunk.push_back(chunk);
    for (const std::vector<Arrival>& arrivals : finish.takes_in)
      made_.takes_in.insert(made_.takes_in.end(), arrivals.begin(), arrivals.end());
    const bool alike =
        std::ranges::adjacent_find(finish.starts, std::not_equal_to{}) == finish.starts.end();
    if (alike)
      made_.starts.add(finish.starts.front());
    else
      made_.starts.add(finish.starts);
    return true;
  }

  const Topology& topology_;
  const Collective& whole_;
  const NetworkState& network_;
  bool anew_;
  std::span<const ChunkAt> given_up_;
  Reach reach_;
  ChunkReplay replay_;
  CustomCollectiveBuilder left_;
  Residual made_;
  std::vector<PartialSum> sums_;         // by NPU, its value before its input
  std::vector<Word> inputs_;             // what sums_ refers to
  std::vector<std::vector<Word>> added_; // also
  std::vector<Word> survivors_;
  std::vector<bool> holds_; // between uses: false
};

} // namespace

Residual residual(const Topology& topology, std::span<const Segment> segments,
                  const NetworkState& network, bool anew, std::span<const ChunkAt> given_up) {
  return Remaining(topology, segments, network, anew, given_up).run();
}

std::vector<ChunkAt> held_by_nobody(const Topology& topology, std::span<const Segment> segments,
                                    const NetworkState& network) {
  const Collective& whole = segments.front().collective;
  ChunkReplay replay(topology, segments);
  std::vector<ChunkAt> lost;
  for (std::uint32_t c = 0; c < whole.chunks.size(); ++c) {
    replay.run(ChunkId{c});
    const std::vector<Word> held = all_held(topology, whole, ChunkId{c}, network, replay);
    for (const NodeId npu : whole.sources(ChunkId{c}))
      if (!has_bit(held, *replay.input_bit(npu))) lost.push_back({ChunkId{c}, npu});
  }
  return lost;
}

} // namespace tutti
