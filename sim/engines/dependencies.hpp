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
// O(transfers). A transfer that names others enters only when all of these have left or are
// delivered, as it says. Among the transfers of one connection (same path) a ready one enters only
// after all earlier-listed ones have entered.
//
// Transfers that share a send (Transfer::contiguous) are of one connection and follow each other in
// it, so that the last of them is let in when all of them are. What crosses the network is one
// transfer, which goes by the number of the first; whatever happens to it happens to each of them.
//
// At a node that can't store, what passes on an arrival may not end before that arrival's tail is
// in. Where ends are known in advance the tails are numbers (cut_through, tail); where a network
// changes a third token, the tail token, passes arrivals whose tails are in and lets the sends that
// it passes end (head_in, tail_in, may_end).
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/path_ends.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tutti {

/// 16 bytes a transfer; where some name others, 8 more, and 4 for each name. `Sink` has enter(i):
/// transfer i, the first of its send, may queue at its first link, and delivered(i): the arrival of
/// transfer i counts, whether it is the first or not. What happens a second time has no effect. A
/// copy shares what never changes: to copy dependencies before anything has happened is to begin
/// once more.
class Dependencies {
public:
  /// Parts that are kept apart begin one by one, and only transfers of one part form a connection;
  /// 4 bytes a transfer more.
  enum class Parts : std::uint8_t { as_one, apart };
  /// The watch hears nothing of how far this is. Errors: Stopped.
  Dependencies(const Topology& topology, const Collective& collective, const Schedule& schedule,
               Parts parts = Parts::as_one, const Watch& watch = {});
  /// The same on a network of which only the ends of the schedule's paths are known.
  Dependencies(std::span<const PathEnds> paths, const Collective& collective,
               const Schedule& schedule, Parts parts, const Watch& watch = {});

  /// Enters, in list order, everything that is ready at the start, but for connections that are
  /// held. Pre: parts as one.
  template <typename Sink> void start(Sink& sink) {
    for (std::uint32_t i = 0; i < chains_.size(); ++i) {
      std::uint32_t& next = next_[connection(i)];
      if (next != i || !may_enter(i) || is_held(connection(i))) continue;
      next = chains_[i].next_in_connection;
      let_in(i, sink);
    }
  }
  /// From now on transfers of this part enter. Pre: parts apart.
  template <typename Sink> void start_part(std::size_t part, Sink& sink) {
    is_open_[part] = true;
    for (const std::uint32_t connection : fixed_->connections_of_part[part]) {
      const std::uint32_t first = next_[connection];
      if (first != none) enter_from(first, sink);
    }
  }

  /// Transfers of this connection don't enter until release_connection(). Pre: none has entered.
  void hold_connection(std::uint32_t connection) {
    if (is_held_.empty()) is_held_.resize(next_.size());
    is_held_[connection] = true;
  }
  template <typename Sink> void release_connection(std::uint32_t connection, Sink& sink) {
    if (!is_held(connection)) return;
    is_held_[connection] = false;
    if (next_[connection] != none) enter_from(next_[connection], sink);
  }

  /// The last byte of transfer i, the first of its send (as everywhere where something happens to
  /// one), has left its sender. Only needed where watched(i).
  template <typename Sink> void left(std::uint32_t i, Sink& sink) {
    for_each_of_send(i, [&](std::uint32_t j) {
      if (chains_[j].flags & has_left) return;
      set(j, has_left);
      if (chains_[j].flags & departure_token) walk_departures(chains_[j].next_at_sender, sink);
      reach(j, Milestone::left, sink);
    });
  }
  /// Whether some arrival, or who names it, waits for this transfer to leave.
  [[nodiscard]] bool watched(std::uint32_t i) const {
    bool is = false;
    for_each_of_send(i, [&](std::uint32_t j) { is = is || (chains_[j].flags & is_watched) != 0; });
    return is;
  }

  /// The last byte of transfer i has reached its end.
  template <typename Sink> void arrived(std::uint32_t i, Sink& sink) {
    for_each_of_send(i, [&](std::uint32_t j) {
      set(j, has_arrived);
      if (chains_[j].flags & may_deliver) deliver(j, sink);
    });
  }
  [[nodiscard]] bool has_reached_its_end(std::uint32_t i) const {
    return (chains_[i].flags & has_arrived) != 0;
  }
  [[nodiscard]] bool is_delivered(std::uint32_t i) const {
    return (chains_[i].flags & has_arrived) && (chains_[i].flags & may_deliver) &&
           (chains_[i].flags & (is_lost | is_kept)) == 0;
  }
  /// Transfer i has reached its end, which doesn't take it any more.
  void keep(std::uint32_t i) {
    for_each_of_send(i, [&](std::uint32_t j) { set(j, has_arrived), set(j, is_kept); });
  }
  /// Transfer i has reached its end and is lost there.
  void lose(std::uint32_t i) {
    for_each_of_send(i, [&](std::uint32_t j) { set(j, has_arrived), set(j, is_lost); });
  }
  [[nodiscard]] bool was_lost(std::uint32_t i) const { return (chains_[i].flags & is_lost) != 0; }

  /// The head of transfer i has reached a node that can't store and sends it on at once; nothing
  /// that depends on it may end there before `tail`.
  template <typename Sink> void cut_through(std::uint32_t i, std::int64_t tail, Sink& sink) {
    for_each_of_send(i, [&](std::uint32_t j) {
      raise_tail(2 * j + arrives, tail);
      release(j, sink);
    });
  }
  /// Earliest end of transfer i's first hop, in ps; 0 unless it follows data that still streams in.
  [[nodiscard]] std::int64_t tail(std::uint32_t i) const {
    std::int64_t latest = 0;
    if (!tails_.empty())
      for_each_of_send(
          i, [&](std::uint32_t j) { latest = std::max(latest, tail_of_step(2 * j + sends)); });
    return latest;
  }

  /// The head of transfer i has reached a node that can't store; what sends it on has to ask
  /// may_end.
  template <typename Sink> void head_in(std::uint32_t i, Sink& sink) {
    for_each_of_send(i, [&](std::uint32_t j) {
      if ((chains_[j].flags & is_in) == 0) release(j, sink);
    });
  }
  /// The tail of transfer i has followed. Calls sink.tail_passed(j) for the sends j that may end.
  template <typename Sink> void tail_in(std::uint32_t i, Sink& sink) {
    for_each_of_send(i, [&](std::uint32_t j) {
      if (chains_[j].flags & tail_is_in) return;
      set(j, tail_is_in);
      if (chains_[j].flags & tail_token) walk_tails(j, sink);
    });
  }
  /// Whether all tails that transfer i follows are in.
  [[nodiscard]] bool may_end(std::uint32_t i) const {
    bool may = true;
    for_each_of_send(i, [&](std::uint32_t j) { may = may && (chains_[j].flags & tails_in) != 0; });
    return may;
  }

  /// The transfer by whose number transfer i crosses the network.
  [[nodiscard]] std::uint32_t first_of_send(std::uint32_t i) const {
    return shares_sends_ ? static_cast<std::uint32_t>(schedule_->send_begin(i)) : i;
  }

  [[nodiscard]] std::size_t undelivered() const { return undelivered_; }
  /// Which connection a transfer belongs to: its path, unless parts are kept apart; then numbered
  /// by first use.
  [[nodiscard]] std::uint32_t connection(std::uint32_t i) const {
    return connections_ ? connections_[i] : schedule_->path_of(i).value;
  }
  [[nodiscard]] std::size_t connection_count() const { return next_.size(); }
  /// The first one that transfer i names and that hasn't come as far as it says.
  [[nodiscard]] std::optional<Dependency> awaited(std::uint32_t i) const;
  /// Why transfer i is stuck; empty: nothing special.
  using Reason = std::function<std::string(std::uint32_t i)>;
  /// The first few transfers that were never delivered, in words; for a run that came to a halt.
  [[nodiscard]] std::string stuck_text(const Topology& topology, const Reason& reason = {}) const;

private:
  enum Flag : std::uint16_t {
    is_ready = 1,
    has_arrived = 2,
    is_in = 4, // its arrival is in, for what depends on it
    has_left = 8,
    may_deliver = 16, // the departure token has passed
    data_token = 32,  // the data token waits here
    departure_token = 64,
    is_watched = 128,
    tail_token = 256,
    tail_is_in = 512, // of its arrival
    tails_in = 1024,  // the tail token has passed its send
    is_lost = 2048,
    is_kept = 4096,
  };
  // A step of a chain: transfer * 2 + role.
  enum Role : std::uint32_t { sends = 0, arrives = 1 };
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Chain {
    std::uint32_t next_at_sender = none;   // step after this transfer's send
    std::uint32_t next_at_receiver = none; // step after this transfer's arrival
    std::uint32_t next_in_connection = none;
    std::uint16_t flags = 0;
  };
  /// What never changes.
  struct Fixed {
    std::vector<bool> stores; // per path: whether its end can store
    // Only where parts are kept apart:
    std::vector<std::vector<std::uint32_t>> connections_of_part;
    std::vector<std::uint32_t> part_of_chunk, connections; // per chunk, per transfer
    // Only where some name others: who names transfer i is in followers[follower_begin[i] ..
    // follower_begin[i + 1]).
    std::vector<std::uint32_t> follower_begin;
    std::vector<std::uint32_t> followers; // transfer * 2 + 1 where it waits for the arrival
  };
  [[nodiscard]] bool is_held(std::uint32_t connection) const {
    return !is_held_.empty() && is_held_[connection];
  }
  [[nodiscard]] bool may_enter(std::uint32_t i) const {
    return (chains_[i].flags & is_ready) != 0 && (names_.empty() || names_[i] == 0);
  }

  // What concerns sends of several transfers is kept out of line: the rest is as fast as without.

  /// Pre: i is the first of its send.
  template <typename Action> void for_each_of_send(std::uint32_t i, const Action& act) const {
    if (shares_sends_) [[unlikely]]
      for_each_of_several(i, act);
    else
      act(i);
  }
  template <typename Action>
  [[gnu::cold, gnu::noinline]] void for_each_of_several(std::uint32_t i, const Action& act) const {
    const auto end = static_cast<std::uint32_t>(schedule_->send_end(i));
    for (; i < end; ++i) act(i);
  }
  /// Transfer i has been let in, after those before it: with the last of a send, this sets out.
  template <typename Sink> void let_in(std::uint32_t i, Sink& sink) {
    if (shares_sends_) [[unlikely]]
      let_in_last(i, sink);
    else
      sink.enter(i);
  }
  template <typename Sink>
  [[gnu::cold, gnu::noinline]] void let_in_last(std::uint32_t i, Sink& sink) {
    if (schedule_->send_end(i) == i + std::size_t{1}) sink.enter(first_of_send(i));
  }

  void set(std::uint32_t i, Flag flag) {
    chains_[i].flags = static_cast<std::uint16_t>(chains_[i].flags | flag);
  }
  [[nodiscard]] bool is_under_way(std::uint32_t i) const;
  void keep_apart(const Collective& collective, Fixed& fixed);
  void take_names(Fixed& fixed);
  void join_connections();
  void chain(std::span<const PathEnds> paths, const Collective& collective, const Watch& watch);

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
    if (fixed_->stores[schedule_->path_of(i).value]) release(i, sink);
    reach(i, Milestone::arrived, sink);
  }

  /// Transfer i has come so far: who named that waits for one less.
  template <typename Sink> void reach(std::uint32_t i, Milestone milestone, Sink& sink) {
    if (names_.empty()) return;
    for (std::uint32_t f = fixed_->follower_begin[i]; f < fixed_->follower_begin[i + 1]; ++f) {
      const std::uint32_t follower = fixed_->followers[f], k = follower / 2;
      if ((follower % 2 != 0) != (milestone == Milestone::arrived)) continue;
      if (--names_[k] == 0 && next_[connection(k)] == k) enter_from(k, sink);
    }
  }

  template <typename Sink> void release(std::uint32_t i, Sink& sink) {
    set(i, is_in);
    if (chains_[i].flags & data_token) walk_data(i, sink);
  }

  /// Moves the data token on from transfer i's arrival, which is in.
  template <typename Sink> void walk_data(std::uint32_t i, Sink& sink) {
    std::int64_t latest = tail_of_step(2 * i + arrives);
    for (std::uint32_t step = chains_[i].next_at_receiver; step != none;) {
      const std::uint32_t j = step / 2;
      if (latest > 0) raise_tail(step, latest);
      if (step % 2 == arrives) {
        set(j, data_token);
        if ((chains_[j].flags & is_in) == 0) return;
        latest = tail_of_step(step);
        step = chains_[j].next_at_receiver;
      } else {
        set(j, is_ready);
        const std::uint32_t after = chains_[j].next_at_sender;
        if (next_[connection(j)] == j) enter_from(j, sink);
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
        set(j, may_deliver);
        if ((chains_[j].flags & has_arrived) && (chains_[j].flags & is_kept) == 0) deliver(j, sink);
      } else {
        set(j, departure_token);
        if ((chains_[j].flags & has_left) == 0) return;
        step = chains_[j].next_at_sender;
      }
    }
  }

  /// Moves the tail token on from transfer i's arrival, whose tail is in.
  template <typename Sink> void walk_tails(std::uint32_t i, Sink& sink) {
    for (std::uint32_t step = chains_[i].next_at_receiver; step != none;) {
      const std::uint32_t j = step / 2;
      if (step % 2 == arrives) {
        set(j, tail_token);
        if ((chains_[j].flags & tail_is_in) == 0) return;
        step = chains_[j].next_at_receiver;
      } else {
        set(j, tails_in);
        step = chains_[j].next_at_sender;
        const std::uint32_t first = first_of_send(j);
        if (!shares_sends_ || may_end(first)) sink.tail_passed(first);
      }
    }
  }

  /// Transfer i heads its connection: enters it and those behind it, as far as they are ready.
  template <typename Sink> void enter_from(std::uint32_t i, Sink& sink) {
    if (!is_open_.empty() && !is_open_[fixed_->part_of_chunk[(*schedule_)[i].chunk.value]]) return;
    if (is_held(connection(i))) return;
    std::uint32_t& next = next_[connection(i)];
    while (next != none && may_enter(next)) {
      const std::uint32_t entering = next;
      next = chains_[entering].next_in_connection;
      let_in(entering, sink);
    }
  }

  const Schedule* schedule_;
  bool shares_sends_; // whether some transfers do
  std::shared_ptr<const Fixed> fixed_;
  const std::uint32_t* connections_ = nullptr;            // of `fixed_`, where parts are kept apart
  std::vector<Chain> chains_;                             // per transfer
  std::vector<std::uint32_t> next_;                       // per connection: the next to enter
  std::vector<std::uint32_t> names_;                      // per transfer: of those it names, how
                                                          // many are awaited; empty: none names any
  std::vector<bool> is_open_;                             // per part, only where kept apart
  std::vector<bool> is_held_;                             // per connection, only where some are
  std::unordered_map<std::uint32_t, std::int64_t> tails_; // by step; only at nodes that can't store
  std::size_t undelivered_ = 0;
};

} // namespace tutti
