// Why a run isn't faster is asked backwards from its end: a crossing began when both its data and
// its link were there, so whatever of the two came last made it late. The data of a first hop came
// with the arrival that was decisive (arrivals_awaited()), that of a later one with the hop before.
#include "experiments/driver/figures/critical_path.hpp"

#include "experiments/driver/figures/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>

namespace tutti {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

class CriticalPath {
public:
  CriticalPath(const Topology& topology, const Schedule& schedule, const Report& report)
      : topology_(topology), schedule_(schedule), report_(report),
        awaited_(arrivals_awaited(topology, schedule, report.deliveries)),
        before_on_link_(report.hops.size(), none), before_in_transfer_(report.hops.size(), none),
        last_of_(schedule.size(), none) {
    std::vector<std::uint32_t> last_on(topology.link_count(), none);
    for (std::uint32_t h = 0; h < report.hops.size(); ++h) {
      const HopRecord& hop = report.hops[h];
      before_on_link_[h] = last_on[hop.link.value];
      last_on[hop.link.value] = h;
      before_in_transfer_[h] = last_of_[hop.transfer];
      last_of_[hop.transfer] = h;
    }
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

  [[nodiscard]] Time arrival(std::uint32_t hop) const {
    const HopRecord& record = report_.hops[hop];
    return record.end + topology_.link(record.link).latency;
  }

  /// The later of what brought its data and what was on its link before; none: neither.
  [[nodiscard]] std::uint32_t waited_for(std::uint32_t hop) const {
    const HopRecord& record = report_.hops[hop];
    std::uint32_t data = before_in_transfer_[hop];
    Time ready = data == none ? Time{-1} : arrival(data);
    if (data == none)
      for (const std::uint32_t transfer : awaited_.of(record.transfer))
        if (const auto brought = last_hop(transfer);
            brought && report_.deliveries[transfer] > ready && *brought != hop) {
          data = *brought;
          ready = report_.deliveries[transfer];
        }
    const std::uint32_t on_link = before_on_link_[hop];
    const bool waited_for_link = // where links are shared, nothing waits for them
        on_link != none && report_.hops[on_link].end <= record.start;
    if (!waited_for_link) return data;
    return data == none || report_.hops[on_link].end > ready ? on_link : data;
  }

  const Topology& topology_;
  const Schedule& schedule_;
  const Report& report_;
  AwaitedArrivals awaited_;
  std::vector<std::uint32_t> before_on_link_, before_in_transfer_; // per hop: another, or none
  std::vector<std::uint32_t> last_of_;                             // per transfer: its last hop
};

} // namespace

std::vector<std::uint32_t> critical_path(const Topology& topology, const Schedule& schedule,
                                         const Report& report) {
  return CriticalPath(topology, schedule, report).run();
}

} // namespace tutti
