// Figures show numbers of links in one way, whichever engine they come from: a fraction in per
// cent, data in the largest decimal unit that the largest value fills.
#include "experiments/driver/figures/link_values.hpp"

#include "experiments/driver/figures/style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>
#include <tuple>

namespace tutti {

LinkValues link_values(const Report& report, LinkQuantity quantity) {
  assert(quantity != LinkQuantity::queue); // which no report has
  LinkValues values{quantity, {}};
  if (quantity == LinkQuantity::utilisation)
    values.links = utilisation(report);
  else
    for (const LinkUse& link : report.links)
      values.links.push_back(static_cast<double>(link.bytes.count));
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
