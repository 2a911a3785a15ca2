// What each transfer of a schedule waits for, written from what a schedule means (docs/model.md)
// and not from the native engine's Dependencies, which is to be checked against this.
//
// For each (chunk, node) an account lists what concerns the chunk there, in list order; of one
// block first what leaves and then what comes in, since a block reads the state before it. Three
// cursors move along it, each at most once: up to the first arrival that isn't in, the first send
// that hasn't left, the first arrival whose tail isn't in. Transfers of one part and one path form
// a connection, which they enter in list order. Those that share a send go as one, under the number
// of the first: it enters when the last of them would, and what comes to pass for it does for all.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/path_ends.hpp"
#include "sim/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// `Sink` has enter(i): transfer i may queue at its first link; delivered(i): its arrival counts;
/// tail_passed(i): all tails that transfer i follows are in. Where transfers share a send, only the
/// first enters and is reported, but each is delivered. A copy shares what never changes.
/// Cost: O(transfers); 25 bytes each, 5 of them in each copy.
class Precedence {
public:
  enum class Parts : std::uint8_t {
    as_one, ///< begins with start()
    apart,  ///< each begins with start_part(), and connections are of one part
  };
  /// `ends`: of the schedule's paths. Refers to the schedule.
  Precedence(std::span<const PathEnds> ends, const Collective& collective, const Schedule& schedule,
             Parts parts);

  template <typename Sink> void start(Sink& sink) {
    is_open_[0] = true;
    for (std::uint32_t c = 0; c < heads_.size(); ++c) enter_from(c, sink);
  }
  template <typename Sink> void start_part(std::size_t part, Sink& sink) {
    is_open_[part] = true;
    for (std::uint32_t c = layout_->connections_begin[part];
         c < layout_->connections_begin[part + 1]; ++c)
      enter_from(c, sink);
  }
  /// Transfers of this connection don't enter until release_connection().
  void hold_connection(std::uint32_t connection) {
    if (is_held_.empty()) is_held_.resize(heads_.size());
    is_held_[connection] = true;
  }
  template <typename Sink> void release_connection(std::uint32_t connection, Sink& sink) {
    is_held_[connection] = false;
    enter_from(connection, sink);
  }

  /// The last byte of transfer i has left its sender.
  template <typename Sink> void left(std::uint32_t i, Sink& sink) {
    if (is(i, has_left)) return; // over another route before
    for (auto [k, after] = send_of(i); k < after; ++k) {
      set(k, has_left);
      move(cursors_[layout_->at_sender[k]].departures, layout_->at_sender[k], send, has_left,
           senders_left, [&](std::uint32_t j) {
             if (is(j, has_come) && !is(j, is_kept)) deliver(j, sink);
           });
      reached(k, Milestone::left, sink);
    }
  }
  /// Transfer i is in at its end. It counts once its receiver's earlier sends have left.
  template <typename Sink> void arrived(std::uint32_t i, Sink& sink) {
    for (auto [k, after] = send_of(i); k < after; ++k) {
      set(k, has_come);
      if (is(k, senders_left)) deliver(k, sink);
    }
  }
  /// The head of transfer i is at its end, a node that can't store: sends that follow may enter.
  template <typename Sink> void head_in(std::uint32_t i, Sink& sink) {
    for (auto [k, after] = send_of(i); k < after; ++k)
      if (!is(k, came_in)) come_in(k, sink);
  }
  /// Its tail has followed.
  template <typename Sink> void tail_in(std::uint32_t i, Sink& sink) {
    for (auto [k, after] = send_of(i); k < after; ++k) {
      set(k, has_tail);
      move(cursors_[layout_->at_receiver[k]].tails, layout_->at_receiver[k], arrival, has_tail,
           tails, [&](std::uint32_t j) {
             if (const std::uint32_t first = send_of(j).first; may_end(first))
               sink.tail_passed(first);
           });
    }
  }
  [[nodiscard]] bool may_end(std::uint32_t i) const {
    bool all = true;
    for (auto [k, after] = send_of(i); k < after; ++k) all = all && is(k, tails);
    return all;
  }
  /// Transfer i has reached its end, which doesn't take it any more, or is down.
  void keep(std::uint32_t i) {
    for (auto [k, after] = send_of(i); k < after; ++k) set(k, has_come), set(k, is_kept);
  }
  void lose(std::uint32_t i) {
    for (auto [k, after] = send_of(i); k < after; ++k)
      set(k, has_come), set(k, is_kept), set(k, is_lost);
  }

  /// The transfers that share a send: numbered from `first` to before `after`.
  struct OneSend {
    std::uint32_t first = 0, after = 0;
  };
  /// That of transfer i.
  [[nodiscard]] OneSend send_of(std::uint32_t i) const {
    OneSend one{i, i + 1};
    if (!schedule_->has_contiguous()) return one;
    while (one.first > 0 && (*schedule_)[one.first].contiguous) --one.first;
    while (one.after < flags_.size() && (*schedule_)[one.after].contiguous) ++one.after;
    return one;
  }

  [[nodiscard]] std::size_t undelivered() const { return undelivered_; }
  [[nodiscard]] bool was_delivered(std::uint32_t i) const { return is(i, delivered); }
  [[nodiscard]] bool has_reached_its_end(std::uint32_t i) const { return is(i, has_come); }
  [[nodiscard]] bool was_lost(std::uint32_t i) const { return is(i, is_lost); }
  [[nodiscard]] bool has_data(std::uint32_t i) const {
    bool all = true;
    for (auto [k, after] = send_of(i); k < after; ++k) all = all && is(k, data);
    return all;
  }
  /// The first that transfer i names and that hasn't come as far as it says. O(names).
  [[nodiscard]] std::optional<Dependency> first_awaited(std::uint32_t i) const;

  [[nodiscard]] std::uint32_t connection_count() const {
    return static_cast<std::uint32_t>(heads_.size());
  }
  /// Numbered part by part, within each by first use.
  [[nodiscard]] std::uint32_t connection(std::uint32_t i) const { return layout_->connection[i]; }

private:
  enum Flag : std::uint16_t {
    came_in = 1, ///< for what follows: delivered, or its head at a node that can't store
    has_left = 2,
    has_tail = 4,
    has_come = 8,
    data = 16,         ///< as a send: all earlier arrivals are in
    senders_left = 32, ///< as an arrival: all earlier sends have left
    tails = 64,        ///< as a send: all earlier arrivals' tails are in
    delivered = 128,
    is_kept = 256,
    is_lost = 512,
  };
  enum Role : std::uint32_t { send = 0, arrival = 1 }; ///< of an entry
  static constexpr std::uint32_t none = UINT32_MAX;

  /// The next entry of each.
  struct Cursors {
    std::uint32_t data = 0, departures = 0, tails = 0;
  };
  /// What never changes.
  struct Layout {
    std::vector<bool> stores;                          // per path: its end
    std::vector<std::uint32_t> entries;                // transfer * 2 + role, account by account
    std::vector<std::uint32_t> account_end;            // among them
    std::vector<std::uint32_t> at_sender, at_receiver; // account, per transfer
    std::vector<std::uint32_t> connection, next, part; // per transfer
    std::vector<std::uint32_t> connections_begin;      // per part
    std::vector<std::uint32_t> namers_begin, namers;   // who names transfer i: transfer * 2,
                                                       // + 1 where it awaits the arrival
  };

  void list_accounts(std::span<const PathEnds> ends, Layout& layout);
  void list_namers(Layout& layout);
  void join_connections(const Collective& collective, Parts parts, Layout& layout);

  [[nodiscard]] bool is(std::uint32_t i, Flag flag) const { return (flags_[i] & flag) != 0; }
  void set(std::uint32_t i, Flag flag) { flags_[i] = static_cast<std::uint16_t>(flags_[i] | flag); }

  /// Up to the first entry of the role `awaited` without the flag `come`; those of the other role
  /// that are passed get the flag `free` and are found.
  template <typename Found>
  void move(std::uint32_t& cursor, std::uint32_t account, Role awaited, Flag come, Flag free,
            const Found& found) {
    const std::uint32_t end = layout_->account_end[account];
    while (cursor < end) {
      const std::uint32_t transfer = layout_->entries[cursor] / 2,
                          role = layout_->entries[cursor] % 2;
      if (role == awaited && !is(transfer, come)) return;
      ++cursor;
      if (role == awaited) continue;
      set(transfer, free);
      found(transfer);
    }
  }

  template <typename Sink> void come_in(std::uint32_t i, Sink& sink) {
    set(i, came_in);
    move(cursors_[layout_->at_receiver[i]].data, layout_->at_receiver[i], arrival, came_in, data,
         [&](std::uint32_t j) { try_to_enter(j, sink); });
  }
  template <typename Sink> void deliver(std::uint32_t i, Sink& sink) {
    set(i, delivered);
    --undelivered_;
    sink.delivered(i);
    if (layout_->stores[schedule_->path_of(i).value]) come_in(i, sink);
    reached(i, Milestone::arrived, sink);
  }
  /// Transfer i has come so far: each that names it waits for one less.
  template <typename Sink> void reached(std::uint32_t i, Milestone milestone, Sink& sink) {
    if (awaited_.empty()) return;
    const auto of = static_cast<std::uint32_t>(milestone == Milestone::arrived);
    for (std::uint32_t f = layout_->namers_begin[i]; f < layout_->namers_begin[i + 1]; ++f) {
      const std::uint32_t namer = layout_->namers[f] / 2;
      if (layout_->namers[f] % 2 == of && --awaited_[namer] == 0) try_to_enter(namer, sink);
    }
  }

  /// Transfer i may have become ready.
  template <typename Sink> void try_to_enter(std::uint32_t i, Sink& sink) {
    if (heads_[connection(i)] == i) enter_from(connection(i), sink);
  }
  template <typename Sink> void enter_from(std::uint32_t connection, Sink& sink) {
    if (!is_held_.empty() && is_held_[connection]) return;
    std::uint32_t& first = heads_[connection];
    if (first == none || !is_open_[layout_->part[first]]) return;
    while (first != none && is(first, data) && (awaited_.empty() || awaited_[first] == 0)) {
      const std::uint32_t entering = first;
      first = layout_->next[entering];
      if (const OneSend one = send_of(entering); entering + 1 == one.after) sink.enter(one.first);
    }
  }

  const Schedule* schedule_;
  std::shared_ptr<const Layout> layout_;
  std::vector<Cursors> cursors_;       // per account
  std::vector<std::uint16_t> flags_;   // per transfer
  std::vector<std::uint32_t> awaited_; // per transfer: of those it names; empty: nobody names any
  std::vector<std::uint32_t> heads_;   // per connection: the next to enter
  std::vector<bool> is_open_;          // per part, or all
  std::vector<bool> is_held_;          // per connection; empty where none ever is
  std::size_t undelivered_;
};

} // namespace tutti
