// Why a run isn't faster is asked backwards from its end: a crossing began when both its data and
// its link were there, so whatever of the two came last made it late. The data of a first hop came
// with the arrival that was decisive (arrivals_awaited()), that of a later one with the hop before.
// Where links are shared, nothing waits for them, and only data are followed.
#include "experiments/driver/figures/critical_path.hpp"

#include "experiments/driver/figures/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace tutti {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

class CriticalPath {
public:
  CriticalPath(const Topology& topology, const Schedule& schedule, const Report& report,
               std::span<const std::uint32_t> before)
      : topology_(topology), schedule_(schedule), report_(report),
        awaited_(arrivals_awaited(topology, schedule, report.deliveries)),
        before_on_link_(report.hops.size(), none), before_in_transfer_(before),
        last_of_(schedule.size(), none) {
    std::vector<std::uint32_t> last_on(topology.link_count(), none);
    std::vector<bool> is_before(report.hops.size());
    for (std::uint32_t h = 0; h < report.hops.size(); ++h) {
      before_on_link_[h] = std::exchange(last_on[report.hops[h].link.value], h);
      if (before_in_transfer_[h] != none) is_before[before_in_transfer_[h]] = true;
    }
    for (std::uint32_t h = 0; h < report.hops.size(); ++h)
      if (!is_before[h]) last_of_[report.hops[h].transfer] = h;
  }

  std::vector<std::uint32_t> run() const {
    std::vector<std::uint32_t> path;
    if (report_.hops.empty()) return path;
    const auto last = std::ranges::max_element(report_.deliveries);
    std::uint32_t hop =
        last_hop(static_cast<std::uint32_t>(last - report_.deliveries.begin())).value_or(none);
    while (hop != none && path.size() < report_.hops.size()) {
      path.push_back(hop);
      hop = waited_for(hop);
    }
    std::ranges::reverse(path);
    return path;
  }

private:
  /// What brought the transfer: its own last crossing, or that of those whose send it shares.
  [[nodiscard]] std::optional<std::uint32_t> last_hop(std::uint32_t transfer) const {
    while (last_of_[transfer] == none && transfer > 0 && schedule_[transfer].contiguous) --transfer;
    if (last_of_[transfer] == none) return std::nullopt;
    return last_of_[transfer];
  }

  /// When the next one can have the link.
  [[nodiscard]] Time frees_link(std::uint32_t hop) const {
    const HopRecord& record = report_.hops[hop];
    const bool latency_occupies = report_.model.link_busy == LinkBusy::latency_and_serialization;
    return latency_occupies ? record.end + topology_.link(record.link).latency : record.end;
  }

  /// What brought its data, and what was on its link before: that which ended when it began; none:
  /// neither. Behind a switch that sends on what it hasn't received yet, data are never late by the
  /// end of the crossing before, so there the link goes first.
  [[nodiscard]] std::uint32_t waited_for(std::uint32_t hop) const {
    const HopRecord& record = report_.hops[hop];
    const std::uint32_t on_link = before_on_link_[hop];
    const bool by_link = on_link != none && frees_link(on_link) == record.start;
    if (const std::uint32_t before = before_in_transfer_[hop]; before != none) {
      const Time tail =
          report_.hops[before].end + topology_.link(report_.hops[before].link).latency;
      return by_link && tail != record.start ? on_link : before;
    }
    std::uint32_t data = none;
    Time ready{-1};
    for (const std::uint32_t transfer : awaited_.of(record.transfer))
      if (const auto brought = last_hop(transfer);
          brought && *brought != hop && report_.deliveries[transfer] > ready) {
        data = *brought;
        ready = report_.deliveries[transfer];
      }
    return by_link && ready != record.start ? on_link : data;
  }

  const Topology& topology_;
  const Schedule& schedule_;
  const Report& report_;
  AwaitedArrivals awaited_;
  std::vector<std::uint32_t> before_on_link_;         // per hop: another, or none
  std::span<const std::uint32_t> before_in_transfer_; // the same
  std::vector<std::uint32_t> last_of_;                // per transfer: its last hop
};

} // namespace

std::vector<std::uint32_t> hops_before(const Schedule& schedule, const Report& report) {
  const std::uint32_t single = schedule.paths().link_count(); // a path of one link is that link
  std::vector<std::uint32_t> before(report.hops.size(), none), of_several;
  for (std::uint32_t h = 0; h < report.hops.size(); ++h)
    if (schedule[report.hops[h].transfer].path.value >= single) of_several.push_back(h);
  const auto place = [&](std::uint32_t h) {
    const HopRecord& hop = report.hops[h];
    const auto links = schedule.paths().links(schedule[hop.transfer].path);
    return std::ranges::find(links, hop.link) - links.begin();
  };
  std::ranges::sort(of_several, [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t left = report.hops[a].transfer, right = report.hops[b].transfer;
    return left != right ? left < right : place(a) < place(b);
  });
  for (std::size_t i = 1; i < of_several.size(); ++i)
    if (report.hops[of_several[i]].transfer == report.hops[of_several[i - 1]].transfer)
      before[of_several[i]] = of_several[i - 1];
  return before;
}

std::vector<std::uint32_t> critical_path(const Topology& topology, const Schedule& schedule,
                                         const Report& report,
                                         std::span<const std::uint32_t> before) {
  return CriticalPath(topology, schedule, report, before).run();
}

} // namespace tutti
