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
  fluid, ///< fair sharing of links and groups; ignores LinkBusy and Forwarding
};

/// How fluid shares: ours, and SimGrid's own models with SimGrid's parameters.
enum class NetworkModel : std::uint8_t {
  ideal, ///< max-min; latency is added once, at the end
  cm02,  ///< max-min weighed by round-trip time, bounded by TCP's window, with cross-traffic
  lv08,  ///< cm02 with latency and bandwidth by factors, and weights by bandwidth
  smpi,  ///< cm02 with factors by message size, as measured of MPI over Ethernet
  ib,    ///< smpi with contention at each node, as measured on InfiniBand
};

struct TimeModel {
  LinkBusy link_busy = LinkBusy::serialization;
  Forwarding forwarding = Forwarding::automatic;
  Discipline discipline = Discipline::fifo;
  /// Reduction rate of NPUs that state none themselves; 0 = reduction takes no time.
  Bandwidth reduce_rate = {};
  NetworkModel network = NetworkModel::ideal; ///< for fluid
  bool operator==(const TimeModel&) const = default;
};

/// Whether some message goes faster than its links' bandwidth allows: bounds say nothing of it.
[[nodiscard]] bool can_beat_links(const TimeModel& model);

/// A node's own rate, or the model's for NPUs without one; 0 = reduction takes no time.
[[nodiscard]] Bandwidth reduction_rate(const Node& node, const TimeModel& model);

/// Whether what passes the node on its path goes on with its head; else when all of it is there.
[[nodiscard]] bool cuts_through(const Node& node, const TimeModel& model);

[[nodiscard]] std::string_view
to_text(LinkBusy value); ///< "serialization", "latency+serialization"
[[nodiscard]] std::string_view to_text(Forwarding value);   ///< "auto", "cut-through", ...
[[nodiscard]] std::string_view to_text(Discipline value);   ///< "fifo", "fluid"
[[nodiscard]] std::string_view to_text(NetworkModel value); ///< "ideal", "cm02", ...
/// "fifo", "fluid", "fluid lv08".
[[nodiscard]] std::string discipline_text(const TimeModel& model);
[[nodiscard]] LinkBusy parse_link_busy(std::string_view text);
[[nodiscard]] Forwarding parse_forwarding(std::string_view text);
[[nodiscard]] Discipline parse_discipline(std::string_view text);
[[nodiscard]] NetworkModel parse_network_model(std::string_view text);

} // namespace tutti
