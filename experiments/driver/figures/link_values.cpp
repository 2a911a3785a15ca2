// Figures show numbers of links in one way, whichever engine they come from: a fraction in per
// cent, data in the largest decimal unit that the largest value fills.
#include "experiments/driver/figures/link_values.hpp"

#include "experiments/driver/figures/style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <compare>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti {

LinkValues link_values(std::span<const LinkUse> links, Time duration, LinkQuantity quantity) {
  assert(quantity != LinkQuantity::queue); // which no report has
  LinkValues values{quantity, {}};
  const double whole = static_cast<double>(duration.ps);
  for (const LinkUse& link : links)
    values.links.push_back(quantity == LinkQuantity::bytes ? static_cast<double>(link.bytes.count)
                           : whole > 0 ? static_cast<double>(link.busy.ps) / whole
                                       : 0);
  return values;
}

LinkValues link_values(const Report& report, LinkQuantity quantity) {
  return link_values(report.links, report.completion, quantity);
}

namespace {

/// A change of what waits for a link.
struct QueueStep {
  LinkId link;
  Time at;
  std::int64_t bytes;
};

} // namespace

LinkValues queued_data(const Topology& topology, const Collective& collective,
                       const Schedule& schedule, const Report& report) {
  assert(report.deliveries.size() == schedule.size());
  struct Arrival {
    NodeId node;
    ChunkId chunk;
    Time at;
    auto operator<=>(const Arrival&) const = default;
  };
  const PathTable& paths = schedule.paths();
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    arrivals.push_back({topology.link(paths.last(schedule.path_of(i))).to, schedule[i].chunk,
                        report.deliveries[i]});
  std::ranges::sort(arrivals);
  std::vector<QueueStep> steps;
  std::vector<const HopRecord*> last(schedule.size(), nullptr); // of each transfer
  for (const HopRecord& hop : report.hops) {                    // by start
    const NodeId from = topology.link(hop.link).from;
    const HopRecord* before = std::exchange(last[hop.transfer], &hop);
    for (std::size_t i = hop.transfer; i < schedule.send_end(hop.transfer); ++i) {
      const ChunkId chunk = schedule[i].chunk;
      Time there;
      if (before) {
        there = before->end + topology.link(before->link).latency;
      } else {
        const auto next = std::ranges::upper_bound(arrivals, Arrival{from, chunk, hop.start});
        const bool has_one = next != arrivals.begin() && std::prev(next)->node == from &&
                             std::prev(next)->chunk == chunk;
        if (has_one) there = std::prev(next)->at;
      }
      if (there >= hop.start) continue;
      const std::int64_t bytes = collective.chunks[chunk.value].size.count;
      steps.push_back({hop.link, there, bytes});
      steps.push_back({hop.link, hop.start, -bytes});
    }
  }
  // At one instant what leaves goes first: it has waited with what comes for no time.
  std::ranges::sort(steps, {},
                    [](const QueueStep& s) { return std::tuple(s.link, s.at, s.bytes); });
  LinkValues values{LinkQuantity::queue, std::vector<double>(topology.link_count())};
  std::int64_t waiting = 0; // 0 again after each link's last step
  for (const QueueStep& step : steps) {
    waiting += step.bytes;
    double& most = values.links[step.link.value];
    most = std::max(most, static_cast<double>(waiting));
  }
  return values;
}

std::vector<LinkValues> busy_shares(const Topology& topology, const Report& report,
                                    std::size_t intervals) {
  const auto count = static_cast<std::int64_t>(intervals);
  const auto border = [&](std::int64_t i) {
    return report.completion.ps / count * i + report.completion.ps % count * i / count;
  };
  std::vector<LinkValues> shares;
  for (std::int64_t i = 0; i < count; ++i)
    shares.push_back({LinkQuantity::utilisation, std::vector<double>(topology.link_count()),
                      fmt::format("{} to {}", i == 0 ? "0" : short_text(Time{border(i)}),
                                  short_text(Time{border(i + 1)}))});
  std::vector<std::uint32_t> order(report.hops.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t h) {
    const HopRecord& hop = report.hops[h];
    return std::tuple(hop.link, hop.start, hop.end);
  });
  std::vector<std::int64_t> busy_until(topology.link_count());
  for (const std::uint32_t h : order) {
    const HopRecord& hop = report.hops[h];
    std::int64_t& until = busy_until[hop.link.value];
    const std::int64_t start = std::max(hop.start.ps, until),
                       end = std::min(hop.end.ps, report.completion.ps);
    until = std::max(until, end);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t overlap = std::min(end, border(i + 1)) - std::max(start, border(i));
      if (overlap > 0)
        shares[static_cast<std::size_t>(i)].links[hop.link.value] +=
            static_cast<double>(overlap) / static_cast<double>(border(i + 1) - border(i));
    }
  }
  return shares;
}

LinkScale link_scale(LinkQuantity quantity, double largest) {
  if (quantity == LinkQuantity::utilisation) return {"link utilisation", "%", 0.01};
  const std::string_view label =
      quantity == LinkQuantity::bytes ? "data over the link" : "data waiting for the link";
  constexpr std::array<std::pair<std::string_view, double>, 5> units{
      {{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}};
  const auto unit = std::find_if(units.begin(), units.end() - 1,
                                 [=](const auto& each) { return largest >= each.second; });
  return {label, unit->first, unit->second};
}

double scale_end(LinkQuantity quantity, double largest) {
  if (quantity != LinkQuantity::utilisation) return largest > 0 ? largest : 1;
  if (largest <= 0) return 1;
  for (const double end : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5})
    if (largest <= end) return end;
  return 1;
}

std::string link_value_text(double value, const LinkScale& scale) {
  const double number = value / scale.divisor;
  if (scale.unit == "%") return fmt::format("{:.{}f} %", number, number >= 9.95 ? 0 : 1);
  return fmt::format("{} {}", three_digits(number), scale.unit);
}

} // namespace tutti
