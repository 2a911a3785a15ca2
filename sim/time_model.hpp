// When a link is busy and how data moves across several hops: an input of synthesizers, bounds and
// engines alike, shown in every report.
#pragma once

#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

enum class LinkBusy : std::uint8_t {
  serialization,             ///< for n/B
  latency_and_serialization, ///< for alpha + n/B: the papers' time-expanded model
};

enum class Forwarding : std::uint8_t {
  automatic,         ///< cut-through behind a node that can't store, else store-and-forward
  cut_through,       ///< the head moves on at once
  store_and_forward, ///< the next hop starts when the whole chunk has arrived
};

enum class Discipline : std::uint8_t {
  fifo,  ///< one transfer at a time on a link, in order of entry
  fluid, ///< max-min fair sharing of links and groups; ignores LinkBusy and Forwarding
};

struct TimeModel {
  LinkBusy link_busy = LinkBusy::serialization;
  Forwarding forwarding = Forwarding::automatic;
  Discipline discipline = Discipline::fifo;
  /// Reduction rate of NPUs that state none themselves; 0 = reduction takes no time.
  Bandwidth reduce_rate;
  bool operator==(const TimeModel&) const = default;
};

/// A node's own rate, or the model's for NPUs without one; 0 = reduction takes no time.
[[nodiscard]] Bandwidth reduction_rate(const Node& node, const TimeModel& model);

/// Whether what passes the node on its path goes on with its head; else when all of it is there.
[[nodiscard]] bool cuts_through(const Node& node, const TimeModel& model);

[[nodiscard]] std::string_view
to_text(LinkBusy value); ///< "serialization", "latency+serialization"
[[nodiscard]] std::string_view to_text(Forwarding value); ///< "auto", "cut-through", ...
[[nodiscard]] std::string_view to_text(Discipline value); ///< "fifo", "fluid"
[[nodiscard]] LinkBusy parse_link_busy(std::string_view text);
[[nodiscard]] Forwarding parse_forwarding(std::string_view text);
[[nodiscard]] Discipline parse_discipline(std::string_view text);

} // namespace tutti
