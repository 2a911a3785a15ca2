// What happens to a network while a collective runs: links go down, come up again, get slower or
// farther; NPUs die or fall behind. The same on every engine; the rules:
//
// - What happens to the network at an instant comes before everything else at that instant.
// - A link that is down or slower keeps what it has carried: the rest of a crossing follows at the
//   link's present rate, and waits while the link is down (as transports do that resume from the
//   last acknowledged packet). A new latency holds for crossings that start from then on.
// - A link carries floor(bandwidth * share), at least one byte a second, where `share` is the
//   product of its own and its sender's. Shared groups keep their bandwidth.
// - The links of an NPU that is down are down for good, what is on the way to it is lost, and what
//   it held is gone. What has left it arrives.
#pragma once

#include "sim/ids.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Part of a whole, in millionths: 1 .. 1,000,000.
struct Share {
  std::uint32_t millionths = 1'000'000;
  constexpr auto operator<=>(const Share&) const = default;
};

struct NetworkEvent {
  enum class Kind : std::uint8_t {
    link_down,
    link_up,
    link_rate,    ///< from now on the link has `share` of its bandwidth; 1 heals it
    link_latency, ///< from now on crossings that start take `latency`
    npu_down,
    npu_rate, ///< a straggler: from now on every link out of the NPU has `share` of its own rate
  };
  Time at;
  Kind kind = Kind::link_down;
  LinkId link = {}; ///< for link_*
  NodeId npu = {};  ///< for npu_*
  Share share = {};
  Time latency = {};
};

[[nodiscard]] std::string_view to_text(NetworkEvent::Kind kind); ///< "link_down", ...
/// "npu0>npu1 down", "npu3 at 50 % of its rate", "npu0>npu1 takes 2us"
[[nodiscard]] std::string to_text(const NetworkEvent& event, const Topology& topology);

/// By time, events of one instant in the order given. Errors: InputError naming the event: a link
/// or NPU that isn't there, a node that is no NPU, a time before 0, a share of 0 or more than 1, a
/// latency below 0; or one that contradicts an earlier one: down what is down, up what is up, any
/// on a link of an NPU that is down or on that NPU, two of one kind on one subject at one instant.
[[nodiscard]] std::vector<NetworkEvent> sorted_events(const Topology& topology,
                                                      std::span<const NetworkEvent> events);

/// What the events up to and including an instant have made of a network.
class NetworkState {
public:
  explicit NetworkState(const Topology& topology);
  void apply(const NetworkEvent& event);

  [[nodiscard]] bool is_up(NodeId npu) const { return !node_down_[npu.value]; }
  [[nodiscard]] bool is_up(LinkId link) const;
  /// floor(bandwidth * shares), at least 1; whether or not it is up. Groups are left out.
  [[nodiscard]] Bandwidth bandwidth(LinkId link) const;
  [[nodiscard]] Time latency(LinkId link) const { return latency_[link.value]; }

private:
  const Topology* topology_;
  std::vector<bool> node_down_, link_down_;
  std::vector<Share> link_share_, node_share_;
  std::vector<Time> latency_;
};

/// The network as it is now, for those who plan anew: links that are down are left out (the ends of
/// those are isolated where nothing else joins them), nodes keep their ids.
struct PresentNetwork {
  Topology topology;
  std::vector<LinkId> original; ///< [link of `topology`]: the same link in the whole network
};
[[nodiscard]] PresentNetwork present_network(const Topology& topology, const NetworkState& state);

} // namespace tutti
