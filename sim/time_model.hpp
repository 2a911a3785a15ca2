// When a link is busy and how data moves across several hops: an input of synthesizers, bounds and
// engines alike, shown in every report.
#pragma once

#include "sim/topology.hpp"
#include "sim/units.hpp"
#include "sim/words.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

enum class LinkBusy : std::uint8_t {
  serialization,             ///< for n/B
  latency_and_serialization, ///< for alpha + n/B: the papers' time-expanded model
};
inline constexpr Words<LinkBusy, 2> link_busy_words{"link-busy model",
                                                    {"serialization", "latency+serialization"}};

enum class Forwarding : std::uint8_t {
  automatic,         ///< cut-through behind a node that can't store, else store-and-forward
  cut_through,       ///< the head moves on at once
  store_and_forward, ///< the next hop starts when the whole chunk has arrived
};
inline constexpr Words<Forwarding, 3> forwarding_words{
    "forwarding", {"auto", "cut-through", "store-and-forward"}};

enum class Discipline : std::uint8_t {
  fifo,  ///< one transfer at a time on a link, in order of entry
  fluid, ///< fair sharing of links and groups; ignores LinkBusy and Forwarding
};
inline constexpr Words<Discipline, 2> discipline_words{"discipline", {"fifo", "fluid"}};

/// How fluid shares: ours, and SimGrid's own models with SimGrid's parameters.
enum class NetworkModel : std::uint8_t {
  ideal, ///< max-min; latency is added once, at the end
  cm02,  ///< max-min weighed by round-trip time, bounded by TCP's window, with cross-traffic
  lv08,  ///< cm02 with latency and bandwidth by factors, and weights by bandwidth
  smpi,  ///< cm02 with factors by message size, as measured of MPI over Ethernet
  ib,    ///< smpi with contention at each node, as measured on InfiniBand
};
inline constexpr Words<NetworkModel, 5> network_model_words{
    "network model", {"ideal", "cm02", "lv08", "smpi", "ib"}};

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

[[nodiscard]] constexpr std::string_view to_text(LinkBusy value) {
  return link_busy_words.text(value);
}
[[nodiscard]] constexpr std::string_view to_text(Forwarding value) {
  return forwarding_words.text(value);
}
[[nodiscard]] constexpr std::string_view to_text(Discipline value) {
  return discipline_words.text(value);
}
[[nodiscard]] constexpr std::string_view to_text(NetworkModel value) {
  return network_model_words.text(value);
}
/// "fifo", "fluid", "fluid lv08".
[[nodiscard]] std::string discipline_text(const TimeModel& model);

} // namespace tutti
