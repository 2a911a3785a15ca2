// All transfers over a link are first chained, each waiting for the one before to have left; a
// replay of that is the plan. What it records tells which links of the chains do nothing: transfer
// i needs none if without it it would enter its queue no earlier than the one before it does.
// Where a link shares bandwidth or passes on what began elsewhere, the instant of entry decides
// more than the order on this link, and i needs none only if it would enter after the one before
// has left.

#include "synth/scheduling/kept_order.hpp"

#include "sim/engines/engine.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

/// What matters of links, to transfers that set out over them.
struct FirstLinks {
  std::vector<bool> begins_several; ///< paths that are used
  std::vector<bool> sees_entry;     ///< it shares bandwidth, or transfers pass it on their way

  FirstLinks(const Topology& topology, const Schedule& schedule)
      : begins_several(topology.link_count()), sees_entry(topology.link_count()) {
    const PathTable& paths = schedule.paths();
    std::vector<bool> is_used(paths.size());
    std::vector<std::uint32_t> path_of(topology.link_count(), none);
    for (std::size_t i = 0; i < schedule.size(); ++i) is_used[schedule.path_of(i).value] = true;
    for (std::uint32_t p = 0; p < paths.size(); ++p) {
      if (!is_used[p]) continue;
      const auto links = paths.links(PathId{p});
      if (!topology.node(topology.link(links.front()).from).can.store) continue;
      begins_several[links.front().value] =
          begins_several[links.front().value] || path_of[links.front().value] != none;
      path_of[links.front().value] = p;
      for (const LinkId link : links.subspan(1)) sees_entry[link.value] = true;
    }
    for (std::uint32_t l = 0; l < topology.link_count(); ++l)
      if (!topology.groups_of(LinkId{l}).empty()) sees_entry[l] = true;
  }
};

class OrderKeeping {
public:
  OrderKeeping(const Topology& topology, const Collective& collective, Schedule schedule,
               const TimeModel& model)
      : topology_(topology), collective_(collective), schedule_(std::move(schedule)), model_(model),
        links_(topology, schedule_), before_(schedule_.size(), none) {}

  KeptOrder run() {
    const Time plain = run_native(topology_, collective_, schedule_, model_).completion;
    if (std::ranges::find(links_.begins_several, true) == links_.begins_several.end())
      return {std::move(schedule_), plain};
    find_before();
    const Schedule chained = with([this](std::uint32_t i) { return before_[i] != none; });
    const Report report = run_native(topology_, collective_, chained, model_,
                                     {.record_deliveries = true, .record_hops = true});
    if (report.completion >= plain) return {std::move(schedule_), plain};
    find_needed(report);
    Schedule kept = with([this](std::uint32_t i) { return needed_[i]; });
    const Time completion = run_native(topology_, collective_, kept, model_).completion;
    if (completion > report.completion) return {chained, report.completion};
    return {std::move(kept), completion};
  }

private:
  [[nodiscard]] LinkId first_link(std::uint32_t i) const {
    return schedule_.paths().first(schedule_.path_of(i));
  }

  /// Per transfer, the one before it on its first link.
  void find_before() {
    std::vector<std::uint32_t> last(topology_.link_count(), none);
    for (std::uint32_t i = 0; i < schedule_.size(); ++i) {
      const LinkId link = first_link(i);
      if (links_.begins_several[link.value]) before_[i] = std::exchange(last[link.value], i);
    }
  }

  template <typename Waits> [[nodiscard]] Schedule with(const Waits& waits) const {
    Schedule made = schedule_;
    for (std::uint32_t i = 0; i < schedule_.size(); ++i)
      if (waits(i)) made.add_dependency(i, {before_[i], Milestone::left});
    return made;
  }

  /// From the replay of the chains.
  void find_needed(const Report& report) {
    const auto count = static_cast<std::uint32_t>(schedule_.size());
    std::vector<std::int64_t> left(count), entered(count);
    for (const HopRecord& hop : report.hops)
      if (hop.link == first_link(hop.transfer)) left[hop.transfer] = hop.end.ps;
    needed_.assign(count, false);
    std::unordered_map<std::uint64_t, std::int64_t> arrived; // by chunk and node; never iterated
    std::vector<std::int64_t> last_entry(schedule_.paths().size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const Transfer transfer = schedule_[i];
      const LinkId first = first_link(i);
      std::int64_t& path_entry = last_entry[transfer.path.value];
      const auto data = arrived.find(key(transfer.chunk, topology_.link(first).from));
      std::int64_t ready = std::max(path_entry, data == arrived.end() ? 0 : data->second);
      if (const std::uint32_t before = before_[i]; before != none) {
        needed_[i] = ready < (links_.sees_entry[first.value] ? left[before] : entered[before]);
        if (needed_[i]) ready = std::max(ready, left[before]);
      }
      entered[i] = path_entry = ready;
      const NodeId receiver = topology_.link(schedule_.paths().last(transfer.path)).to;
      std::int64_t& latest = arrived[key(transfer.chunk, receiver)];
      latest = std::max(latest, report.deliveries[i].ps);
    }
  }
  static std::uint64_t key(ChunkId chunk, NodeId node) {
    return std::uint64_t{chunk.value} << 32 | node.value;
  }

  const Topology& topology_;
  const Collective& collective_;
  Schedule schedule_;
  const TimeModel model_;
  FirstLinks links_;
  std::vector<std::uint32_t> before_; // per transfer, on its first link
  std::vector<bool> needed_;          // per transfer: whether it waits for that one
};

} // namespace

KeptOrder with_kept_order(const Topology& topology, const Collective& collective, Schedule schedule,
                          const TimeModel& model) {
  return OrderKeeping(topology, collective, std::move(schedule), model).run();
}

} // namespace tutti
