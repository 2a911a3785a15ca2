// The values of one chunk at a time, after what was delivered of it in a sequence of segments.
#pragma once

#include "sim/ids.hpp"
#include "sim/repair/segment.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// A transfer of the chunk that is replayed, which has come to its receiver.
struct Delivery {
  std::uint32_t segment = 0, transfer = 0;
  NodeId from, to;
  Op op = Op::copy;
  std::uint32_t block = 0; ///< its first transfer; all others of the block are performed together
  bool waits = false;      ///< it has come, but isn't delivered: what the receiver has stays
  bool overwrites = false; ///< what the receiver had counts for nothing from then on
};

/// Performs delivered transfers in list order, as verify() does, one chunk after another. A value
/// is a set of contributions: bit i stands for whole.sources(chunk)[i] of a chunk that reduces; one
/// bit ("has it") otherwise. Kept are working values, as segment.hpp says: an NPU that is no source
/// keeps its own until the segment's first delivery. What has come and waits lies beside them until
/// the chunk's next segment. Inputs are never changed and not kept here.
/// Memory: 8 bytes a delivered transfer, 4 more for each where some are performed together, plus
/// one chunk's values.
class ChunkReplay {
public:
  using Word = std::uint64_t;

  /// Pre: segments.front() is the whole collective's. Both must outlive this object.
  ChunkReplay(const Topology& topology, std::span<const Segment> segments);

  /// Performs all of the chunk's segments. `begins(segment)` is called once a segment's values have
  /// been chosen, `came(Delivery)` for each transfer that is delivered or waits, after it has been
  /// performed, with all of its block if it has one.
  template <typename Begins, typename Came>
  void run(ChunkId chunk, const Begins& begins, const Came& came) {
    prepare(chunk);
    for (std::uint32_t s = 0; s < segments_.size(); ++s) {
      const std::uint32_t local = local_[s][chunk.value];
      if (local == none) {
        if (!segments_[s].anew) continue;
        back_to_inputs();
        begins(s);
        continue;
      }
      choose(s, ChunkId{local});
      begins(s);
      const Sorted& sorted = sorted_[s];
      const std::span<const Item> mine(sorted.items.data() + sorted.begin[local],
                                       sorted.begin[local + 1] - sorted.begin[local]);
      for (std::size_t i = 0; i < mine.size();) {
        block_.clear();
        const std::uint32_t start = block_of(s, mine[i].transfer);
        while (i < mine.size() && block_of(s, mine[i].transfer) == start)
          block_.push_back(delivery(s, mine[i++], start));
        perform();
        for (const Delivery& one : block_) came(one);
      }
    }
  }
  void run(ChunkId chunk) {
    run(
        chunk, [](std::uint32_t) {}, [](const Delivery&) {});
  }

  // The state of the chunk that was run last, or is being run.
  [[nodiscard]] std::span<const Word> value(NodeId node) const {
    return {state_.data() + node.value * words_, words_};
  }
  /// What has come to nodes and waits there, in order.
  struct Waiting {
    NodeId at;
    Arrival arrival;
    std::vector<Word> value;
  };
  [[nodiscard]] std::span<const Waiting> waiting() const { return waiting_; }
  [[nodiscard]] bool has_any(NodeId node) const;
  /// What it has is no part of the present plan.
  [[nodiscard]] bool is_stale(NodeId node) const { return stale_[node.value]; }
  /// Position of the node's contribution, if it has an input to the chunk. O(log contributors)
  [[nodiscard]] std::optional<std::size_t> input_bit(NodeId node) const;
  /// Whether its value or its input, or its input alone, has all of these.
  [[nodiscard]] bool has_all(NodeId node, std::span<const Word> some) const;
  [[nodiscard]] bool input_has_all(NodeId node, std::span<const Word> some) const;

private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Item { // what is needed of a transfer, side by side with its chunk's others
    std::uint32_t transfer, path : 30, reduces : 1, waits : 1;
  };
  struct Sorted {
    std::vector<std::uint32_t> begin;            // [chunk of the segment]: its first item
    std::vector<Item> items;                     // what came, by chunk, in list order
    std::vector<std::pair<NodeId, NodeId>> ends; // per path
    std::vector<std::uint32_t> block;            // per transfer; empty: each is its own
  };

  [[nodiscard]] std::uint32_t block_of(std::uint32_t segment, std::uint32_t transfer) const {
    const std::vector<std::uint32_t>& block = sorted_[segment].block;
    return block.empty() ? transfer : block[transfer];
  }
  [[nodiscard]] Delivery delivery(std::uint32_t segment, Item item, std::uint32_t block) const {
    const auto& [from, to] = sorted_[segment].ends[item.path];
    return {segment, item.transfer,  from, to, item.reduces ? Op::reduce : Op::copy,
            block,   item.waits != 0};
  }
  [[nodiscard]] Word* set_of(NodeId node) { return state_.data() + node.value * words_; }
  void prepare(ChunkId chunk);
  void choose(std::uint32_t segment, ChunkId local);
  void back_to_inputs();
  void clear(NodeId node) { std::fill_n(set_of(node), words_, Word{0}); }
  void add_input(NodeId node);
  void perform();
  void receive(Delivery& one, const Word* got);

  const Topology& topology_;
  std::span<const Segment> segments_;
  std::vector<std::vector<std::uint32_t>> local_; // [segment][chunk]: the segment's number of it
  std::vector<Sorted> sorted_;                    // [segment]
  std::size_t words_ = 1;
  ChunkId chunk_;
  std::vector<Word> state_, kept_;
  std::vector<Waiting> waiting_;
  std::vector<bool> stale_; // [node]: the segment's first delivery overwrites what it has
  std::vector<Delivery> block_;
};

} // namespace tutti
