// What each transfer of a schedule waits for, written from what a schedule means (docs/model.md)
// and not from the native engine's Dependencies, which is to be checked against this.
//
// For each (chunk, node) an account lists what concerns the chunk there, in list order; of one
// block first what leaves and then what comes in, since a block reads the state before it. Three
// cursors move along it, each at most once: up to the first arrival that isn't in, the first send
// that hasn't left, the first arrival whose tail isn't in.
#pragma once

#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti {

/// Cost: O(transfers), 40 bytes each.
class Prerequisites {
public:
  Prerequisites(const Topology& topology, const Schedule& schedule);

  /// To be called once, before anything has happened.
  void begin() {
    const auto nothing = [](std::uint32_t) {};
    for (Account& account : accounts_) {
      move_data(account, nothing);
      move_departures(account, nothing);
      move_tails(account, nothing);
    }
  }

  /// Transfer i counts at its receiver: delivered, or at a node that can't store its head is there.
  /// Calls has_data(j) for each send that has all its data from now on.
  template <typename HasData> void in(std::uint32_t i, const HasData& has_data) {
    if (is(i, came_in)) return;
    set(i, came_in);
    move_data(accounts_[at_receiver_[i]], has_data);
  }
  /// The last byte of transfer i has left its sender. Calls deliverable(j) for each arrival there
  /// that no earlier send holds up from now on.
  template <typename Deliverable> void left(std::uint32_t i, const Deliverable& deliverable) {
    set(i, has_left);
    move_departures(accounts_[at_sender_[i]], deliverable);
  }
  /// The tail of transfer i is at its end, a node that can't store. Calls may_end(j) for each send
  /// that follows no other tail from now on.
  template <typename MayEnd> void tail_in(std::uint32_t i, const MayEnd& may_end) {
    set(i, has_tail);
    move_tails(accounts_[at_receiver_[i]], may_end);
  }
  /// Transfer i has come so far. Calls released(j) for each that names it and awaits nothing that
  /// it names from now on.
  template <typename Released>
  void reached(std::uint32_t i, Milestone milestone, const Released& released) {
    if (milestone == Milestone::arrived) set(i, was_delivered);
    if (awaited_.empty()) return;
    const auto of = static_cast<std::uint32_t>(milestone == Milestone::arrived);
    for (std::uint32_t f = namers_begin_[i]; f < namers_begin_[i + 1]; ++f)
      if (namers_[f] % 2 == of && --awaited_[namers_[f] / 2] == 0) released(namers_[f] / 2);
  }

  [[nodiscard]] bool has_data(std::uint32_t i) const { return is(i, data); }
  [[nodiscard]] bool may_be_delivered(std::uint32_t i) const { return is(i, senders_left); }
  [[nodiscard]] bool may_end(std::uint32_t i) const { return is(i, tails); }
  [[nodiscard]] bool awaits_named(std::uint32_t i) const {
    return !awaited_.empty() && awaited_[i] > 0;
  }
  /// The first that transfer i names and that hasn't come as far as it says. Rare: O(names).
  [[nodiscard]] std::optional<std::uint32_t> first_awaited(const Schedule& schedule,
                                                           std::uint32_t i) const {
    if (!awaits_named(i)) return std::nullopt;
    for (const Dependency& named : schedule.dependencies(i))
      if (!is(named.transfer, named.milestone == Milestone::left ? has_left : was_delivered))
        return named.transfer;
    return std::nullopt;
  }

private:
  enum Flag : std::uint8_t {
    came_in = 1,
    has_left = 2,
    has_tail = 4,
    data = 8,          // as a send: all earlier arrivals are in
    senders_left = 16, // as an arrival: all earlier sends have left
    tails = 32,        // as a send: all earlier arrivals' tails are in
    was_delivered = 64,
  };
  /// Entries begin .. end: transfer * 2, + 1 as an arrival.
  struct Account {
    std::uint32_t end = 0, data = 0, departures = 0, tails = 0; // the next entry of each cursor
  };

  [[nodiscard]] bool is(std::uint32_t i, Flag flag) const { return (flags_[i] & flag) != 0; }
  void set(std::uint32_t i, Flag flag) { flags_[i] = static_cast<std::uint8_t>(flags_[i] | flag); }

  enum Role : std::uint32_t { send = 0, arrival = 1 }; // of an entry

  template <typename Found> void move_data(Account& account, const Found& found) {
    move(account.data, account.end, arrival, came_in, data, found);
  }
  template <typename Found> void move_departures(Account& account, const Found& found) {
    move(account.departures, account.end, send, has_left, senders_left, found);
  }
  template <typename Found> void move_tails(Account& account, const Found& found) {
    move(account.tails, account.end, arrival, has_tail, tails, found);
  }
  /// Up to the first entry of the role `awaited` without the flag `come`; those of the other role
  /// that are passed get the flag `free` and are found.
  template <typename Found>
  void move(std::uint32_t& cursor, std::uint32_t end, Role awaited, Flag come, Flag free,
            const Found& found) {
    while (cursor < end) {
      const std::uint32_t transfer = entries_[cursor] / 2, role = entries_[cursor] % 2;
      if (role == awaited && !is(transfer, come)) return;
      ++cursor;
      if (role == awaited) continue;
      set(transfer, free);
      found(transfer);
    }
  }

  std::vector<Account> accounts_;
  std::vector<std::uint32_t> entries_;
  std::vector<std::uint32_t> at_sender_, at_receiver_; // account, per transfer
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint32_t> awaited_;      // per transfer: names; empty where nobody names any
  std::vector<std::uint32_t> namers_begin_; // who names transfer i: namers_[namers_begin_[i]] ..
  std::vector<std::uint32_t> namers_;       // transfer * 2, + 1 where it awaits the arrival
};

} // namespace tutti
