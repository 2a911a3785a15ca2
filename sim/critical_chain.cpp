// The chain is found backwards, from instant to instant: whatever starts does so because something
// else has happened at that very picosecond, which the report has as well. On SimGrid crossings
// take parts of picoseconds, and times are rounded when they are reported.

#include "sim/critical_chain.hpp"

#include "sim/sends.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// The numbers 0 to n - 1, each in the list that `list_of` says, lists in one array.
class Lists {
public:
  template <typename ListOf>
  Lists(std::size_t lists, std::size_t n, const ListOf& list_of) : begins_(lists + 1), all_(n) {
    for (std::uint32_t i = 0; i < n; ++i) ++begins_[list_of(i) + 1];
    for (std::size_t list = 0; list < lists; ++list) begins_[list + 1] += begins_[list];
    std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (std::uint32_t i = 0; i < n; ++i) all_[next[list_of(i)]++] = i;
  }

  [[nodiscard]] std::span<std::uint32_t> operator[](std::uint32_t list) {
    return std::span(all_).subspan(begins_[list], begins_[list + 1] - begins_[list]);
  }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::uint32_t list) const {
    return std::span(all_).subspan(begins_[list], begins_[list + 1] - begins_[list]);
  }

private:
  std::vector<std::uint32_t> begins_, all_;
};

class ChainFinder {
  static constexpr std::uint32_t none = UINT32_MAX;

public:
  ChainFinder(const Topology& topology, const Collective& collective, const Schedule& schedule,
              std::span<const Time> starts, const Report& report)
      : topology_(topology), collective_(collective), schedule_(schedule), starts_(starts),
        report_(report), rounding_(report.engine == "simgrid" ? 2 : 0),
        hops_of_(schedule.size(), report.hops.size(),
                 [&](std::uint32_t h) { return report.hops[h].transfer; }),
        on_link_(topology.link_count(), report.hops.size(),
                 [&](std::uint32_t h) { return report.hops[h].link.value; }),
        of_chunk_(collective.chunks.size(), schedule.size(),
                  [&](std::uint32_t i) { return schedule[i].chunk.value; }),
        into_(topology.node_count(), schedule.size(),
              [&](std::uint32_t i) { return receiver(i).value; }) {
    for (std::uint32_t i = 0; i < schedule.size(); ++i) order_along_path(i);
  }

  CriticalChain find() {
    std::uint32_t last = none;
    for (std::uint32_t i = 0; i < schedule_.size(); ++i)
      if (last == none || report_.deliveries[i] > report_.deliveries[last]) last = i;
    if (last == none || report_.deliveries[last] < report_.completion) {
      find_last_start();
      return std::move(chain_);
    }
    Place place = before_delivery(last);
    while (place.hop != none && chain_.hops.size() < report_.hops.size()) {
      chain_.hops.push_back(report_.hops[place.hop]);
      place = before_start(place);
    }
    std::ranges::reverse(chain_.hops);
    find_longest();
    return std::move(chain_);
  }

private:
  /// Puts the hops of transfer i in the order of its path: of hops that start at one instant the
  /// report lists the one over the least link first.
  void order_along_path(std::uint32_t i) {
    const std::span<std::uint32_t> hops = hops_of_[i];
    if (hops.size() < 2) return;
    const std::span<const LinkId> path = schedule_.paths().links(schedule_.path_of(i));
    for (std::size_t index = 0; index < hops.size(); ++index) {
      const auto its = std::find_if(hops.begin() + static_cast<std::ptrdiff_t>(index), hops.end(),
                                    [&](std::uint32_t h) { return hop(h).link == path[index]; });
      assert(its != hops.end());
      std::rotate(hops.begin() + static_cast<std::ptrdiff_t>(index), its, its + 1);
    }
  }

  /// A hop of the chain: index into the report's, and along its transfer's path.
  struct Place {
    std::uint32_t hop = none;
    std::size_t index = 0;
  };

  [[nodiscard]] bool meet(Time a, Time b) const { return std::abs(a.ps - b.ps) <= rounding_; }
  [[nodiscard]] NodeId sender(std::uint32_t i) const {
    return topology_.link(schedule_.paths().first(schedule_.path_of(i))).from;
  }
  [[nodiscard]] NodeId receiver(std::uint32_t i) const {
    return topology_.link(schedule_.paths().last(schedule_.path_of(i))).to;
  }
  [[nodiscard]] Time start_of(NodeId node) const {
    return starts_.empty() ? Time{} : starts_[node.value];
  }
  [[nodiscard]] const HopRecord& hop(std::uint32_t h) const { return report_.hops[h]; }
  [[nodiscard]] Time latency(std::uint32_t h) const { return topology_.link(hop(h).link).latency; }
  /// The hops of the send of transfer i, which the report lists under the send's first transfer.
  [[nodiscard]] std::span<const std::uint32_t> hops_of_send(std::uint32_t i) const {
    return hops_of_[static_cast<std::uint32_t>(schedule_.send_begin(i))];
  }
  [[nodiscard]] Time left(std::uint32_t i) const { return hop(hops_of_send(i).front()).end; }
  [[nodiscard]] Place last_hop(std::uint32_t i) const {
    const std::span<const std::uint32_t> hops = hops_of_send(i);
    return {hops.back(), hops.size() - 1};
  }
  [[nodiscard]] Place first_hop(std::uint32_t i) const { return {hops_of_send(i).front(), 0}; }
  [[nodiscard]] Place begins_late(NodeId node) {
    chain_.late = node;
    return {};
  }

  /// Nobody waited for data, but for who joined last.
  void find_last_start() {
    for (std::uint32_t n = 0; n < starts_.size(); ++n)
      if (!chain_.late || starts_[n] > starts_[chain_.late->value]) chain_.late = NodeId{n};
    if (chain_.late && starts_[chain_.late->value] == Time{}) chain_.late.reset();
  }

  /// What transfer i was delivered upon.
  Place before_delivery(std::uint32_t i) {
    const NodeId node = receiver(i);
    while (true) {
      const Time at = report_.deliveries[i] - reduction_time(i);
      const Place last = last_hop(i);
      if (meet(start_of(node), at) && at > Time{}) return begins_late(node);
      if (meet(hop(last.hop).end + latency(last.hop), at)) return last;
      for (const std::uint32_t send : of_chunk_[schedule_[i].chunk.value])
        if (send != i && meet(left(send), at) && sender(send) == node) return first_hop(send);
      const std::span<const std::uint32_t> others = into_[node.value];
      const auto before = std::ranges::find_if(others, [&](std::uint32_t other) {
        return report_.deliveries[other] < report_.deliveries[i] &&
               reduction_time(other) > Time{} && meet(report_.deliveries[other], at);
      });
      if (before == others.end()) return last;
      i = *before; // which the node was still adding up
    }
  }

  /// How long its receiver adds it up; 0 where that takes no time.
  [[nodiscard]] Time reduction_time(std::uint32_t i) const {
    const Bandwidth rate = reduction_rate(topology_.node(receiver(i)), report_.model);
    if (schedule_[i].op != Op::reduce || rate.bytes_per_second == 0) return {};
    return serialization(send_size(collective_, schedule_, schedule_.send_begin(i)), rate);
  }

  /// What the hop started upon.
  Place before_start(const Place& place) {
    const HopRecord& its = hop(place.hop);
    if (place.index > 0) {
      const std::uint32_t before = hops_of_[its.transfer][place.index - 1];
      const NodeId between = topology_.link(hop(before).link).to;
      const bool cut = cuts_through(topology_.node(between), report_.model);
      if (meet((cut ? hop(before).start : hop(before).end) + latency(before), its.start))
        return {before, place.index - 1};
      return in_the_way(place.hop);
    }
    const NodeId node = sender(its.transfer);
    if (meet(start_of(node), its.start) && its.start > Time{}) return begins_late(node);
    if (its.start == Time{}) return {};
    const auto end = static_cast<std::uint32_t>(schedule_.send_end(its.transfer));
    for (std::uint32_t i = its.transfer; i < end; ++i)
      for (const std::uint32_t arrival : of_chunk_[schedule_[i].chunk.value]) {
        if (arrival >= i) break;
        if (receiver(arrival) == node && meet(is_in(arrival), its.start))
          return before_delivery(arrival);
      }
    for (std::uint32_t i = its.transfer; i < end; ++i)
      for (const Dependency& named : schedule_.dependencies(i)) {
        if (named.milestone == Milestone::left && meet(left(named.transfer), its.start))
          return first_hop(named.transfer);
        if (named.milestone == Milestone::arrived &&
            meet(report_.deliveries[named.transfer], its.start))
          return before_delivery(named.transfer);
      }
    return in_the_way(place.hop);
  }

  /// When an arrival counts for what is sent on: at a node that can't store with its head.
  [[nodiscard]] Time is_in(std::uint32_t i) const {
    if (topology_.node(receiver(i)).can.store) return report_.deliveries[i];
    const std::uint32_t last = hops_of_send(i).back();
    return hop(last).start + latency(last);
  }

  [[nodiscard]] Bytes size(std::uint32_t h) const {
    return send_size(collective_, schedule_, hop(h).transfer);
  }

  /// What used the link, or bandwidth that it shares, until the hop started.
  Place in_the_way(std::uint32_t h) {
    const LinkId link = hop(h).link;
    const Time at = hop(h).start;
    const auto free_on_link = [&](std::uint32_t other) {
      const Time sent =
          hop(other).start + serialization(size(other), topology_.effective_bandwidth(link));
      return report_.model.link_busy == LinkBusy::serialization ? sent : sent + latency(other);
    };
    std::uint32_t before = ending(link, h, at, free_on_link);
    for (const std::uint32_t g : topology_.groups_of(link))
      for (const LinkId sharing : topology_.groups()[g].links) {
        if (before != none) break;
        before = ending(sharing, h, at, [&](std::uint32_t other) {
          return hop(other).start + serialization(size(other), topology_.groups()[g].bandwidth);
        });
      }
    return before == none ? Place{} : place_of(before);
  }

  /// The crossing of this link that frees it (or a group) at that instant: one of the latest, as
  /// none begins before the one before is over.
  template <typename Free>
  [[nodiscard]] std::uint32_t ending(LinkId link, std::uint32_t h, Time at,
                                     const Free& free) const {
    const std::span<const std::uint32_t> hops = on_link_[link.value];
    auto next =
        std::ranges::upper_bound(hops, at, {}, [&](std::uint32_t o) { return hop(o).start; });
    while (next != hops.begin()) {
      --next;
      if (*next == h) continue;
      if (meet(free(*next), at)) return *next;
      if (free(*next) < at) return none;
    }
    return none;
  }

  [[nodiscard]] Place place_of(std::uint32_t h) const {
    const std::span<const std::uint32_t> hops = hops_of_[hop(h).transfer];
    return {h, static_cast<std::size_t>(std::ranges::find(hops, h) - hops.begin())};
  }

  void find_longest() {
    std::unordered_map<std::uint32_t, Time> on; // looked up, never iterated
    for (const HopRecord& one : chain_.hops) {
      Time& time = on[one.link.value];
      time += one.end - one.start + topology_.link(one.link).latency;
      if (time <= chain_.longest) continue;
      chain_.longest = time;
      chain_.longest_on = one.link;
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  std::span<const Time> starts_;
  const Report& report_;
  std::int64_t rounding_;   // ps
  Lists hops_of_, on_link_; // the report's hops by transfer, and by link; each list by start
  Lists of_chunk_, into_;   // transfers, each list in list order; by chunk, by receiver
  CriticalChain chain_;
};

} // namespace

CriticalChain critical_chain(const Topology& topology, const Collective& collective,
                             const Schedule& schedule, std::span<const Time> starts,
                             const Report& report) {
  return ChainFinder(topology, collective, schedule, starts, report).find();
}

} // namespace tutti
