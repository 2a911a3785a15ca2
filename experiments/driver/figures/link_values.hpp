// What a run did to each link, as numbers for pictures, and how they are written there.
#pragma once

#include "sim/collective.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/words.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class LinkQuantity : std::uint8_t {
  utilisation, ///< fraction of the time that the link was busy, drawn in %
  bytes,       ///< data that crossed the link, drawn in kB, MB or GB
  queue,       ///< data that waited before the link at most, drawn as bytes are
};

struct LinkValues {
  LinkQuantity quantity = LinkQuantity::utilisation;
  std::vector<double> links; ///< [LinkId]: a fraction, or bytes
  std::string title = {};    ///< of its panel where there are several
};

inline constexpr Words<LinkQuantity, 3> link_quantity_words{"quantity",
                                                            {"utilisation", "bytes", "queue"}};

/// Utilisation or bytes of links in a run of this duration.
[[nodiscard]] LinkValues link_values(std::span<const LinkUse> links, Time duration,
                                     LinkQuantity quantity);
[[nodiscard]] LinkValues link_values(const Report& report, LinkQuantity quantity);

/// The queue: of each link the most data that waited at one time to cross it. A transfer waits for
/// its first link from when its sender has the chunk (the last that it got of it before) until it
/// sets out, whatever it waits for; for each further link from when it arrives there. Pre: the
/// report is of this schedule, under fifo, with deliveries and hops. Cost: O(hops log hops).
[[nodiscard]] LinkValues queued_data(const Topology& topology, const Collective& collective,
                                     const Schedule& schedule, const Report& report);

/// The time up to the completion cut into so many equal intervals, and the share of each in which
/// each link was busy with data, titled with the interval. Where transfers share a link (fluid), it
/// is busy while there is one. Pre: the report has hops. Cost: O(hops log hops).
[[nodiscard]] std::vector<LinkValues> busy_shares(const Topology& topology, const Report& report,
                                                  std::size_t intervals = 6);

/// How a quantity is written on a picture: value / divisor, followed by the unit.
struct LinkScale {
  std::string_view label, unit;
  double divisor = 1;
};
[[nodiscard]] LinkScale link_scale(LinkQuantity quantity, double largest);
/// Where a scale of colours ends that has to show this value: utilisation at 1, 2, 5, 10, 20, 50 or
/// 100 %, as links that are hardly used would else all look idle; data at the largest value.
[[nodiscard]] double scale_end(LinkQuantity quantity, double largest);
/// "47 %", "9.10 GB"
[[nodiscard]] std::string link_value_text(double value, const LinkScale& scale);

} // namespace tutti
