// Which transfer may enter its first link, and which arrival counts as delivered.
//
// For each (chunk, node) the transfers that touch it form a chain in list order (of a block
// performed together, the sends come before the arrivals):
//
//     chain of (c, v):   send   send   arrival   send   arrival ...
//
// Two tokens walk along it. The data token passes arrivals that are in and makes the sends that it
// passes ready: a send is ready when all earlier arrivals are in. The departure token passes sends
// that have left and frees the arrivals that it passes: an arrival is delivered only after the
// node's earlier sends of the chunk have left. Each step of a token happens once, so a run costs
// O(transfers). Among the transfers of one connection (same path) a ready one enters only after all
// earlier-listed ones have entered.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tutti {

/// 16 bytes a transfer. `Sink` has enter(i): transfer i may queue at its first link, and
/// delivered(i): its arrival counts.
class Dependencies {
public:
  Dependencies(const Topology& topology, const Collective& collective, const Schedule& schedule);

  /// Enters, in list order, everything that is ready at the start.
  template <typename Sink> void start(Sink& sink) {
    for (std::uint32_t i = 0; i < chains_.size(); ++i) {
      std::uint32_t& next = next_[schedule_.path_of(i).value];
      if (next != i || (chains_[i].flags & is_ready) == 0) continue;
      next = chains_[i].next_in_connection;
      sink.enter(i);
    }
  }

  /// The last byte of transfer i has left its sender. Only needed where watched(i).
  template <typename Sink> void left(std::uint32_t i, Sink& sink) {
    chains_[i].flags |= has_left;
    if (chains_[i].flags & departure_token) walk_departures(chains_[i].next_at_sender, sink);
  }
  /// Whether some arrival waits for this transfer to leave.
  [[nodiscard]] bool watched(std::uint32_t i) const { return (chains_[i].flags & is_watched) != 0; }

  /// The last byte of transfer i has reached its end.
  template <typename Sink> void arrived(std::uint32_t i, Sink& sink) {
    chains_[i].flags |= has_arrived;
    if (chains_[i].flags & may_deliver) deliver(i, sink);
  }

  /// The head of transfer i has reached a node that can't store and sends it on at once; nothing
  /// that depends on it may end there before `tail`.
  template <typename Sink> void cut_through(std::uint32_t i, std::int64_t tail, Sink& sink) {
    raise_tail(2 * i + arrives, tail);
    release(i, sink);
  }
  /// Earliest end of transfer i's first hop, in ps; 0 unless it follows data that still streams in.
  [[nodiscard]] std::int64_t tail(std::uint32_t i) const { return tail_of_step(2 * i + sends); }

  [[nodiscard]] std::size_t undelivered() const { return undelivered_; }
  /// The first few transfers that were never delivered, in words; for a run that came to a halt.
  [[nodiscard]] std::string stuck_text(const Topology& topology) const;

private:
  enum Flag : std::uint8_t {
    is_ready = 1,
    has_arrived = 2,
    is_in = 4, // its arrival is in, for what depends on it
    has_left = 8,
    may_deliver = 16, // the departure token has passed
    data_token = 32,  // the data token waits here
    departure_token = 64,
    is_watched = 128,
  };
  // A step of a chain: transfer * 2 + role.
  enum Role : std::uint32_t { sends = 0, arrives = 1 };
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Chain {
    std::uint32_t next_at_sender = none;   // step after this transfer's send
    std::uint32_t next_at_receiver = none; // step after this transfer's arrival
    std::uint32_t next_in_connection = none;
    std::uint8_t flags = 0;
  };

  [[nodiscard]] std::int64_t tail_of_step(std::uint32_t step) const {
    if (tails_.empty()) return 0;
    const auto found = tails_.find(step);
    return found == tails_.end() ? 0 : found->second;
  }
  void raise_tail(std::uint32_t step, std::int64_t tail) {
    std::int64_t& latest = tails_[step];
    latest = std::max(latest, tail);
  }

  template <typename Sink> void deliver(std::uint32_t i, Sink& sink) {
    --undelivered_;
    sink.delivered(i);
    if (stores_[schedule_.path_of(i).value]) release(i, sink);
  }

  template <typename Sink> void release(std::uint32_t i, Sink& sink) {
    chains_[i].flags |= is_in;
    if (chains_[i].flags & data_token) walk_data(i, sink);
  }

  /// Moves the data token on from transfer i's arrival, which is in.
  template <typename Sink> void walk_data(std::uint32_t i, Sink& sink) {
    std::int64_t latest = tail_of_step(2 * i + arrives);
    for (std::uint32_t step = chains_[i].next_at_receiver; step != none;) {
      const std::uint32_t j = step / 2;
      if (latest > 0) raise_tail(step, latest);
      if (step % 2 == arrives) {
        chains_[j].flags |= data_token;
        if ((chains_[j].flags & is_in) == 0) return;
        latest = tail_of_step(step);
        step = chains_[j].next_at_receiver;
      } else {
        chains_[j].flags |= is_ready;
        const std::uint32_t after = chains_[j].next_at_sender;
        if (next_[schedule_.path_of(j).value] == j) enter_from(j, sink);
        step = after;
      }
    }
  }

  /// Moves the departure token on; `step` follows a send that has left.
  template <typename Sink> void walk_departures(std::uint32_t step, Sink& sink) {
    while (step != none) {
      const std::uint32_t j = step / 2;
      if (step % 2 == arrives) {
        step = chains_[j].next_at_receiver;
        chains_[j].flags |= may_deliver;
        if (chains_[j].flags & has_arrived) deliver(j, sink);
      } else {
        chains_[j].flags |= departure_token;
        if ((chains_[j].flags & has_left) == 0) return;
        step = chains_[j].next_at_sender;
      }
    }
  }

  /// Transfer i heads its connection: enters it and those behind it, as far as they are ready.
  template <typename Sink> void enter_from(std::uint32_t i, Sink& sink) {
    std::uint32_t& next = next_[schedule_.path_of(i).value];
    while (next != none && (chains_[next].flags & is_ready)) {
      const std::uint32_t entering = next;
      next = chains_[entering].next_in_connection;
      sink.enter(entering);
    }
  }

  const Schedule& schedule_;
  std::vector<Chain> chains_;                             // per transfer
  std::vector<std::uint32_t> next_;                       // per path: the next transfer to enter
  std::vector<bool> stores_;                              // per path: whether its end can store
  std::unordered_map<std::uint32_t, std::int64_t> tails_; // by step; only at nodes that can't store
  std::size_t undelivered_ = 0;
};

} // namespace tutti
