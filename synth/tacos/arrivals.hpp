// Which chunk reached which NPU, in what order, over which of its links: a matching's only large
// memory, and its result.
#pragma once

#include "synth/tacos/matching_network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// Small numbers, as many bits each as the largest needs (4, 8 or 16).
class SmallNumbers {
public:
  SmallNumbers(std::size_t count, std::uint32_t largest)
      : log_(largest < 16    ? 2
             : largest < 256 ? 3
                             : 4),
        words_((count >> (4 - log_)) + 1) {}
  [[nodiscard]] std::uint32_t get(std::size_t i) const {
    return (words_[i >> (4 - log_)] >> shift(i)) & ((1U << (1U << log_)) - 1);
  }
  /// Pre: not set before.
  void set(std::size_t i, std::uint32_t value) {
    std::uint16_t& word = words_[i >> (4 - log_)];
    word = static_cast<std::uint16_t>(word | value << shift(i));
  }

private:
  [[nodiscard]] unsigned shift(std::size_t i) const {
    return static_cast<unsigned>(i & ((1U << (4 - log_)) - 1)) << log_;
  }
  unsigned log_;
  std::vector<std::uint16_t> words_;
};

/// A bit per (node, chunk), by node.
class ChunkBits {
public:
  ChunkBits(std::size_t nodes, std::size_t chunks)
      : words_((chunks + 63) / 64), bits_(nodes * words_) {}
  [[nodiscard]] const std::uint64_t* row(std::uint32_t node) const {
    return bits_.data() + node * words_;
  }
  [[nodiscard]] bool test(std::uint32_t node, std::uint32_t chunk) const {
    return test(row(node), chunk);
  }
  [[nodiscard]] static bool test(const std::uint64_t* row, std::uint32_t chunk) {
    return (row[chunk / 64] >> (chunk % 64)) & 1;
  }
  void set(std::uint32_t node, std::uint32_t chunk) {
    bits_[node * words_ + chunk / 64] |= std::uint64_t{1} << (chunk % 64);
  }
  void clear(std::uint32_t node, std::uint32_t chunk) {
    bits_[node * words_ + chunk / 64] &= ~(std::uint64_t{1} << (chunk % 64));
  }
  void set_all() { std::fill(bits_.begin(), bits_.end(), ~std::uint64_t{0}); }

private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// Per NPU (dense index) the chunks that it holds, those from the start first, then in order of
/// arrival. Id: holds every chunk id. NPUs can be added to by different threads.
template <typename Id> class Arrivals {
public:
  /// Everything that the participants hold at the start is in.
  Arrivals(const MatchingProblem& problem, const MatchingNetwork& network)
      : network_(network), chunks_(problem.collective.chunks.size()),
        list_(network.size() * chunks_), count_(network.size()),
        via_(network.size() * chunks_, network.most_in) {
    for (std::uint32_t c = 0; c < chunks_; ++c)
      for (const NodeId source : problem.collective.sources(ChunkId{c})) {
        const std::uint32_t v = network.index[source.value];
        list_[v * chunks_ + count_[v]++] = static_cast<Id>(c);
      }
    held_at_start_ = count_;
  }

  [[nodiscard]] const Id* of(std::uint32_t v) const { return list_.data() + v * chunks_; }
  [[nodiscard]] std::uint32_t count(std::uint32_t v) const { return count_[v]; }
  [[nodiscard]] std::uint32_t held_at_start(std::uint32_t v) const { return held_at_start_[v]; }
  [[nodiscard]] std::size_t chunks() const { return chunks_; }

  /// Over the `channel`th of those into v.
  void add(std::uint32_t v, Id chunk, std::uint32_t channel) {
    const std::size_t at = v * chunks_ + count_[v]++;
    list_[at] = chunk;
    via_.set(at, channel);
  }
  /// The link of the k-th arrival at v.
  [[nodiscard]] LinkId link(std::uint32_t v, std::uint32_t k) const {
    return network_.into(v)[via_.get(v * chunks_ + k)].link;
  }

  /// Sorts each NPU's arrivals by link, in place, and gives them away.
  [[nodiscard]] CompactSchedule compact(const Topology& topology) && {
    CompactSchedule compact(topology.link_count(), chunks_);
    std::vector<Id> sorted;
    for (std::uint32_t v = 0; v < network_.size(); ++v) {
      const auto into = network_.into(v);
      std::vector<std::size_t> next(into.size() + 1);
      for (std::uint32_t k = held_at_start_[v]; k < count_[v]; ++k)
        ++next[via_.get(v * chunks_ + k) + 1];
      for (std::size_t e = 0; e < into.size(); ++e) {
        next[e + 1] += next[e];
        compact.copies.begin[into[e].link.value] = v * chunks_ + held_at_start_[v] + next[e];
        compact.copies.end[into[e].link.value] = v * chunks_ + held_at_start_[v] + next[e + 1];
      }
      sorted.resize(count_[v] - held_at_start_[v]);
      for (std::uint32_t k = held_at_start_[v]; k < count_[v]; ++k)
        sorted[next[via_.get(v * chunks_ + k)]++] = of(v)[k];
      std::copy(sorted.begin(), sorted.end(),
                list_.begin() + static_cast<std::ptrdiff_t>(v * chunks_ + held_at_start_[v]));
    }
    compact.copies.chunks = std::move(list_);
    return compact;
  }

private:
  const MatchingNetwork& network_;
  std::size_t chunks_;
  std::vector<Id> list_;
  std::vector<std::uint32_t> count_, held_at_start_;
  SmallNumbers via_;
};

} // namespace tutti
