// What the record of a history says, as history_check.cpp looks it up: which deliveries each chunk
// had, in which order, between which ends, when who died, and when a delivery can have been made at
// the earliest. Reads, and judges nothing but whether the segments fit together.
#pragma once

#include "sim/ids.hpp"
#include "sim/network_event.hpp"
#include "sim/repair/history_check.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// How early a transfer can be delivered at best on a network to which things happen. Each link
/// alone: nobody else is on it, and heads move on at once. So no engine, whatever its queues, can
/// be earlier.
class EarliestArrival {
public:
  /// `events` as sorted_events() gives them. The topology must outlive this object.
  EarliestArrival(const Topology& topology, std::span<const NetworkEvent> events);

  struct Arrival {
    Time head; ///< the first byte at the end of the path
    Time tail; ///< the last one
  };
  /// The earliest arrival of something that is there at `ready`; nothing where a link stays down
  /// before it is across. Cost: O(links of the path), and the events on those.
  [[nodiscard]] std::optional<Arrival> over(std::span<const LinkId> path, Time ready,
                                            Bytes size) const;

private:
  /// From `at` on the link has this rate (0: it is down) and this latency.
  struct Phase {
    Time at;
    Bandwidth rate;
    Time latency;
  };

  [[nodiscard]] std::span<const Phase> phases(LinkId link) const {
    return std::span(phases_).subspan(begin_[link.value],
                                      begin_[link.value + 1] - begin_[link.value]);
  }

  const Topology& topology_;
  std::vector<Phase> phases_;      // by link, by time; none where nothing happens to a link
  std::vector<std::size_t> begin_; // [link]: its first phase
};

/// A set of contributions to one chunk, by their position among its sources.
class ContributionSet {
public:
  ContributionSet() = default;
  explicit ContributionSet(std::size_t size) : words_((size + 63) / 64) {}

  void insert(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  [[nodiscard]] bool contains(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void clear() { std::ranges::fill(words_, 0); }
  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
  }
  [[nodiscard]] bool includes(const ContributionSet& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((other.words_[w] & ~words_[w]) != 0) return false;
    return true;
  }
  [[nodiscard]] bool overlaps(const ContributionSet& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((other.words_[w] & words_[w]) != 0) return true;
    return false;
  }
  void add(const ContributionSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  void remove(const ContributionSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
  }
  bool operator==(const ContributionSet&) const = default;

private:
  std::vector<std::uint64_t> words_;
};

/// A transfer that has come to its receiver.
struct RecordedDelivery {
  std::uint32_t segment = 0, transfer = 0;
  bool waits = false; ///< it is there, but not delivered
};

class RecordedHistory {
public:
  static constexpr std::uint32_t none = UINT32_MAX;

  /// All arguments must outlive it.
  RecordedHistory(const Topology& topology, std::size_t chunks, const HistoryRecord& record);

  [[nodiscard]] std::span<const Segment> segments() const { return record_.segments; }
  [[nodiscard]] std::span<const NetworkEvent> events() const { return record_.events; }
  /// Why the segments can't be of one collective, one after another; nothing where they can.
  [[nodiscard]] const std::optional<std::string>& misfit() const { return misfit_; }

  /// The segment's number of a chunk of the whole collective, or none.
  [[nodiscard]] std::uint32_t number(std::uint32_t segment, ChunkId chunk) const {
    return number_[segment][chunk.value];
  }
  [[nodiscard]] bool was_dead(NodeId node, Time at) const {
    return died_[node.value] && *died_[node.value] <= at;
  }
  /// When a node joins, or would have if it had lived.
  [[nodiscard]] Time start(NodeId node) const {
    return record_.starts.empty() ? Time{} : record_.starts[node.value];
  }

  /// The deliveries of a chunk of the whole collective, by segment and then list order. Pre: no
  /// misfit.
  [[nodiscard]] std::span<const RecordedDelivery> deliveries(ChunkId chunk) const {
    return std::span(deliveries_)
        .subspan(begin_[chunk.value], begin_[chunk.value + 1] - begin_[chunk.value]);
  }
  [[nodiscard]] const Schedule& schedule(RecordedDelivery one) const {
    return record_.segments[one.segment].schedule;
  }
  [[nodiscard]] std::pair<NodeId, NodeId> ends(RecordedDelivery one) const;
  [[nodiscard]] Time at(RecordedDelivery one) const {
    return record_.deliveries[one.segment][one.transfer];
  }
  /// Whether both are of one segment and performed together. Pre: `a` is listed before `b`.
  [[nodiscard]] bool are_together(RecordedDelivery a, RecordedDelivery b) const;

  /// By the path listed or any that replaced it, for what could set out at `ready`; nothing where
  /// links of all of these are down for good.
  [[nodiscard]] std::optional<EarliestArrival::Arrival> earliest(RecordedDelivery one, Time ready,
                                                                 Bytes size) const;
  /// How much earlier than earliest() a delivery may come because of rounding.
  [[nodiscard]] Time rounding(RecordedDelivery one) const;

private:
  using Detour = std::pair<PathId, std::pair<PathId, Time>>; // what is replaced by what, since when

  [[nodiscard]] std::optional<std::string> number_chunks(std::size_t chunks);
  void sort_deliveries(std::size_t chunks);
  template <typename Visit> void each_delivery(const Visit& visit) const;

  const Topology& topology_;
  const HistoryRecord& record_;
  EarliestArrival earliest_;
  std::vector<std::optional<Time>> died_;          // [node]
  std::vector<Detour> detours_;                    // in order
  std::vector<std::vector<std::uint32_t>> number_; // [segment][chunk]
  std::optional<std::string> misfit_;
  std::vector<std::size_t> begin_; // [chunk]
  std::vector<RecordedDelivery> deliveries_;
};

} // namespace tutti
