// Two checks come before any event counts: each event by itself (check_alone), then the sorted list
// in the order in which it happens, so that an event is judged by the state that the earlier ones
// leave (Contradictions). Shares are integers in millionths and their product is taken in 128 bits,
// so that every engine gets the same bandwidth to the byte.

#include "sim/network_event.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace tutti {

namespace {

using Kind = NetworkEvent::Kind;
constexpr std::int64_t million = 1'000'000;

constexpr std::array kind_names{std::pair{Kind::link_down, std::string_view("link_down")},
                                std::pair{Kind::link_up, std::string_view("link_up")},
                                std::pair{Kind::link_rate, std::string_view("link_rate")},
                                std::pair{Kind::link_latency, std::string_view("link_latency")},
                                std::pair{Kind::npu_down, std::string_view("npu_down")},
                                std::pair{Kind::npu_rate, std::string_view("npu_rate")}};

bool is_of_link(Kind kind) { return kind != Kind::npu_down && kind != Kind::npu_rate; }

std::string name_of(const Topology& topology, LinkId id) {
  const Link& link = topology.link(id);
  return fmt::format("{}>{}", topology.node(link.from).name, topology.node(link.to).name);
}

std::string percent(Share share) {
  std::string text = fmt::format("{}.{:04}", share.millionths / 10'000, share.millionths % 10'000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + " %";
}

/// What an event names and says by itself.
void check_alone(const Topology& topology, const NetworkEvent& event, std::size_t position) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("network event {} ({}): {}", position, to_text(event.kind), why));
  };
  if (is_of_link(event.kind) && event.link.value >= topology.link_count())
    refuse(event.link.valid() ? fmt::format("link {} isn't there; {} has {}", event.link.value,
                                            topology.name(), topology.link_count())
                              : "it names no link");
  if (!is_of_link(event.kind) && event.npu.value >= topology.node_count())
    refuse(event.npu.valid() ? fmt::format("node {} isn't there; {} has {}", event.npu.value,
                                           topology.name(), topology.node_count())
                             : "it names no NPU");
  if (!is_of_link(event.kind) && topology.node(event.npu).kind != NodeKind::npu)
    refuse(fmt::format("{} is no NPU", topology.node(event.npu).name));
  if (event.at < Time{}) refuse("it happens before time 0");
  if ((event.kind == Kind::link_rate || event.kind == Kind::npu_rate) &&
      (event.share.millionths == 0 || event.share.millionths > million))
    refuse(fmt::format("a share of {} is out of range (0.0001 % to 100 %)", percent(event.share)));
  if (event.kind == Kind::link_latency && event.latency < Time{}) refuse("a latency below 0");
}

/// Events in the order in which they happen; each must make sense after those before it.
class Contradictions {
public:
  explicit Contradictions(const Topology& topology)
      : topology_(topology), link_down_(topology.link_count()), npu_down_(topology.node_count()) {}

  void check(const NetworkEvent& event) {
    const bool of_link = is_of_link(event.kind);
    const std::uint32_t subject = of_link ? event.link.value : event.npu.value;
    const auto [last, is_first] = last_at_.try_emplace({event.kind, subject}, event.at);
    if (!is_first && last->second == event.at)
      refuse(event, "there is another of its kind at this instant");
    last->second = event.at;
    if (of_link) {
      const Link& link = topology_.link(event.link);
      for (const NodeId end : {link.from, link.to}) refuse_dead(event, end);
      if (event.kind == Kind::link_down) go_down(event);
      if (event.kind == Kind::link_up) come_up(event);
    } else {
      refuse_dead(event, event.npu);
      if (event.kind == Kind::npu_down) npu_down_[event.npu.value] = event.at;
    }
  }

private:
  void refuse(const NetworkEvent& event, const std::string& why) const {
    throw InputError(
        fmt::format("{} at {}: {}", to_text(event, topology_), to_text(event.at), why));
  }
  void refuse_dead(const NetworkEvent& event, NodeId node) const {
    if (const auto since = npu_down_[node.value])
      refuse(event, fmt::format("{} is down since {}", topology_.node(node).name, to_text(*since)));
  }
  void go_down(const NetworkEvent& event) {
    std::optional<Time>& since = link_down_[event.link.value];
    if (since) refuse(event, fmt::format("it is down since {}", to_text(*since)));
    since = event.at;
  }
  void come_up(const NetworkEvent& event) {
    std::optional<Time>& since = link_down_[event.link.value];
    if (!since) refuse(event, "it is up already");
    since.reset();
  }

  const Topology& topology_;
  std::vector<std::optional<Time>> link_down_, npu_down_; // since when
  std::map<std::pair<Kind, std::uint32_t>, Time> last_at_;
};

} // namespace

std::string_view to_text(NetworkEvent::Kind kind) {
  for (const auto& [known, name] : kind_names)
    if (known == kind) return name;
  return "?";
}

std::string to_text(const NetworkEvent& event, const Topology& topology) {
  const std::string subject =
      is_of_link(event.kind) ? name_of(topology, event.link) : topology.node(event.npu).name;
  switch (event.kind) {
  case Kind::link_down:
  case Kind::npu_down: return subject + " down";
  case Kind::link_up: return subject + " up";
  case Kind::link_latency: return fmt::format("{} takes {}", subject, to_text(event.latency));
  case Kind::link_rate:
  case Kind::npu_rate: break;
  }
  return fmt::format("{} at {} of its rate", subject, percent(event.share));
}

std::vector<NetworkEvent> sorted_events(const Topology& topology,
                                        std::span<const NetworkEvent> events) {
  for (std::size_t i = 0; i < events.size(); ++i) check_alone(topology, events[i], i);
  std::vector<NetworkEvent> sorted(events.begin(), events.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const NetworkEvent& a, const NetworkEvent& b) { return a.at < b.at; });
  Contradictions contradictions(topology);
  for (const NetworkEvent& event : sorted) contradictions.check(event);
  return sorted;
}

NetworkState::NetworkState(const Topology& topology)
    : topology_(&topology), node_down_(topology.node_count()), link_down_(topology.link_count()),
      link_share_(topology.link_count()), node_share_(topology.node_count()) {
  latency_.reserve(topology.link_count());
  for (const Link& link : topology.links()) latency_.push_back(link.latency);
}

void NetworkState::apply(const NetworkEvent& event) {
  switch (event.kind) {
  case Kind::link_down: link_down_[event.link.value] = true; break;
  case Kind::link_up: link_down_[event.link.value] = false; break;
  case Kind::link_rate: link_share_[event.link.value] = event.share; break;
  case Kind::link_latency: latency_[event.link.value] = event.latency; break;
  case Kind::npu_down: node_down_[event.npu.value] = true; break;
  case Kind::npu_rate: node_share_[event.npu.value] = event.share; break;
  }
}

bool NetworkState::is_up(LinkId id) const {
  const Link& link = topology_->link(id);
  return !link_down_[id.value] && is_up(link.from) && is_up(link.to);
}

Bandwidth NetworkState::bandwidth(LinkId id) const {
  __extension__ typedef __int128 Wide;
  const Link& link = topology_->link(id);
  const Wide whole = Wide{link.bandwidth.bytes_per_second} * link_share_[id.value].millionths *
                     node_share_[link.from.value].millionths;
  const auto rate = static_cast<std::int64_t>(whole / (million * million));
  return {std::max<std::int64_t>(rate, 1)};
}

PresentNetwork present_network(const Topology& topology, const NetworkState& state) {
  TopologyParts parts = topology.parts();
  parts.links.clear();
  parts.groups.clear();
  PresentNetwork present{topology, {}};
  std::vector<LinkId> number(topology.link_count());
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    if (!state.is_up(LinkId{l})) continue;
    Link link = topology.link(LinkId{l});
    link.bandwidth = state.bandwidth(LinkId{l});
    link.latency = state.latency(LinkId{l});
    number[l] = parts.add_link(link);
    present.original.emplace_back(l);
  }
  for (const SharedGroup& group : topology.groups()) {
    SharedGroup rest{group.name, {}, group.bandwidth};
    for (const LinkId link : group.links)
      if (number[link.value].valid()) rest.links.push_back(number[link.value]);
    if (!rest.links.empty()) parts.groups.push_back(std::move(rest));
  }
  present.topology = Topology(std::move(parts));
  return present;
}

} // namespace tutti
