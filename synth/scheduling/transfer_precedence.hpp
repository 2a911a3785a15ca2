// Which transfers may start, whatever the order in which others start: the precedence that the
// meaning of a schedule demands, and no more. Like the engines' Dependencies, but without the order
// of connections, which a scheduler is there to decide.
//
// For each (chunk, node) the transfers that touch it form a chain in list order:
//
//     chain of (c, v):   send   send   arrival   send   arrival ...
//
// A send is ready when all earlier arrivals are delivered. An arrival's transfer may start when all
// earlier sends have started (so that a list in order of start means the same), and is delivered
// when they have left. Arrivals between two sends may change places if all of them reduce;
// otherwise each starts after the one before. Tokens walk along the chains, each step once:
// O(transfers) in total.
#pragma once

#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// Value type; a run changes it, so each run works on a copy. Keeps at hand what a scheduler looks
/// at whenever it touches a transfer: 24 bytes each.
class TransferPrecedence {
public:
  /// Pre: the schedule is correct, nothing in it happens "together" or shares a send, and every
  /// transfer that others follow ends at a node that stores.
  TransferPrecedence(const Topology& topology, std::size_t chunk_count, const Schedule& schedule);

  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  [[nodiscard]] PathId path(std::uint32_t i) const { return PathId{steps_[i].path}; }
  [[nodiscard]] ChunkId chunk(std::uint32_t i) const { return ChunkId{steps_[i].chunk}; }
  /// How urgent the transfer is, lower first; for the scheduler's own use.
  [[nodiscard]] std::uint32_t key(std::uint32_t i) const { return steps_[i].key; }
  void set_key(std::uint32_t i, std::uint32_t key) { steps_[i].key = key; }

  /// Calls ready(i) for what may start at once, in list order.
  template <typename Ready> void begin(const Ready& ready) {
    for (std::uint32_t i = 0; i < steps_.size(); ++i)
      if (may_start(i)) ready(i);
  }

  /// Transfer i has started on its first link. Only needed where followed(i).
  template <typename Ready> void started(std::uint32_t i, const Ready& ready) {
    steps_[i].flags |= has_started;
    if (steps_[i].flags & start_token) walk_starts(steps_[i].next_at_sender, ready);
    if (steps_[i].flags & start_token_behind) walk_starts(steps_[i].next_at_receiver, ready);
  }

  /// Its last byte has left its sender. Only needed where followed(i).
  template <typename Ready, typename Delivered>
  void left(std::uint32_t i, const Ready& ready, const Delivered& delivered) {
    steps_[i].flags |= has_left;
    if (steps_[i].flags & departure_token)
      walk_departures(steps_[i].next_at_sender, ready, delivered);
  }

  /// Its last byte has reached its end. Calls delivered(j) for each arrival that counts now, and
  /// ready(j) for what may start.
  template <typename Ready, typename Delivered>
  void arrived(std::uint32_t i, const Ready& ready, const Delivered& delivered) {
    steps_[i].flags |= has_arrived;
    if (steps_[i].flags & may_deliver) deliver(i, ready, delivered);
  }

  /// Whether some arrival, at its sender or its receiver, waits for this transfer.
  [[nodiscard]] bool followed(std::uint32_t i) const {
    return (steps_[i].flags & is_followed) != 0;
  }
  /// Whether data was there before the receiver's earlier sends had started: an engine would have
  /// let the transfer in earlier.
  [[nodiscard]] bool waited_for_receiver() const { return waited_for_receiver_; }

  /// tails[i] = duration(i) plus the longest of what must follow it.
  template <typename Duration>
  [[nodiscard]] std::vector<std::int64_t> tails(const Duration& duration) const {
    std::vector<std::int64_t> tails(steps_.size()), after_send(steps_.size()),
        after_arrival(steps_.size()); // the longest tail of the chain's sends from this step on
    const auto following = [&](std::uint32_t step) -> std::int64_t {
      if (step == none) return 0;
      return step % 2 == sends ? after_send[step / 2] : after_arrival[step / 2];
    };
    for (std::size_t i = steps_.size(); i-- > 0;) {
      after_arrival[i] = following(steps_[i].next_at_receiver);
      tails[i] = duration(static_cast<std::uint32_t>(i)) + after_arrival[i];
      after_send[i] = std::max(tails[i], following(steps_[i].next_at_sender));
    }
    return tails;
  }

private:
  enum Flag : std::uint32_t {
    has_data = 1, // all earlier arrivals at the sender are delivered
    is_clear = 2, // all earlier sends of the receiver have started
    has_started = 4,
    has_left = 8,
    has_arrived = 16,
    is_delivered = 32,
    may_deliver = 64, // all earlier sends of the receiver have left
    data_token = 128, // the token waits here
    start_token = 256,
    departure_token = 512,
    is_followed = 1024,
    is_ordered = 2048,         // among arrivals that can't change places
    start_token_behind = 4096, // the start token waits at its arrival
  };
  enum Role : std::uint32_t { sends = 0, arrives = 1 }; // a step of a chain: transfer * 2 + role
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Step {
    std::uint32_t next_at_sender = none;   // step after this transfer's send
    std::uint32_t next_at_receiver = none; // step after this transfer's arrival
    std::uint32_t flags = 0;
    std::uint32_t path = 0, chunk = 0, key = 0;
  };

  /// The arrivals from `first` to the end of their chain start one after another.
  void keep_order(std::uint32_t first);

  [[nodiscard]] bool may_start(std::uint32_t i) const {
    return (steps_[i].flags & (has_data | is_clear)) == (has_data | is_clear);
  }

  template <typename Ready, typename Delivered>
  void deliver(std::uint32_t i, const Ready& ready, const Delivered& delivered) {
    steps_[i].flags |= is_delivered;
    delivered(i);
    if (steps_[i].flags & data_token) walk_data(i, ready);
  }

  /// From transfer i's arrival, which is delivered.
  template <typename Ready> void walk_data(std::uint32_t i, const Ready& ready) {
    for (std::uint32_t step = steps_[i].next_at_receiver; step != none;) {
      const std::uint32_t j = step / 2;
      if (step % 2 == arrives) {
        steps_[j].flags |= data_token;
        if ((steps_[j].flags & is_delivered) == 0) return;
        step = steps_[j].next_at_receiver;
      } else {
        steps_[j].flags |= has_data;
        step = steps_[j].next_at_sender;
        if (may_start(j))
          ready(j);
        else
          waited_for_receiver_ = true;
      }
    }
  }

  template <typename Ready> void walk_starts(std::uint32_t step, const Ready& ready) {
    while (step != none) {
      const std::uint32_t j = step / 2;
      if (step % 2 == arrives) {
        steps_[j].flags |= is_clear;
        step = steps_[j].next_at_receiver;
        if (may_start(j)) ready(j);
        if (steps_[j].flags & is_ordered) {
          steps_[j].flags |= start_token_behind;
          return; // it can't have started before it was clear
        }
      } else {
        steps_[j].flags |= start_token;
        if ((steps_[j].flags & has_started) == 0) return;
        step = steps_[j].next_at_sender;
      }
    }
  }

  template <typename Ready, typename Delivered>
  void walk_departures(std::uint32_t step, const Ready& ready, const Delivered& delivered) {
    while (step != none) {
      const std::uint32_t j = step / 2;
      if (step % 2 == arrives) {
        steps_[j].flags |= may_deliver;
        step = steps_[j].next_at_receiver;
        if (steps_[j].flags & has_arrived) deliver(j, ready, delivered);
      } else {
        steps_[j].flags |= departure_token;
        if ((steps_[j].flags & has_left) == 0) return;
        step = steps_[j].next_at_sender;
      }
    }
  }

  std::vector<Step> steps_; // per transfer
  bool waited_for_receiver_ = false;
};

} // namespace tutti
