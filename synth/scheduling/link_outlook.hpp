// How long transfers occupy links, and what one that crosses several would find at the further
// ones.
#pragma once

#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Times in ps.
class LinkOutlook {
public:
  LinkOutlook(const Topology& topology, LinkBusy link_busy)
      : link_busy_(link_busy), links_(topology.link_count()) {
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      links_[l].latency = topology.link(LinkId{l}).latency.ps;
      links_[l].rate = topology.effective_bandwidth(LinkId{l});
    }
  }

  [[nodiscard]] std::int64_t latency(LinkId link) const { return links_[link.value].latency; }
  /// How long data flows into the link.
  [[nodiscard]] std::int64_t sending(LinkId id, Bytes size) {
    State& link = links_[id.value];
    if (size != link.last_size) {
      link.last_size = size;
      link.last_duration = serialization(size, link.rate).ps;
    }
    return link.last_duration;
  }
  /// How long the link takes nothing else.
  [[nodiscard]] std::int64_t occupied(LinkId link, Bytes size) {
    return sending(link, size) + (link_busy_ == LinkBusy::serialization ? 0 : latency(link));
  }

  /// A transfer over `path` will have to cross its further links.
  void expect(std::span<const LinkId> path, Bytes size) {
    for (const LinkId link : path.subspan(1)) links_[link.value].to_come += occupied(link, size);
  }
  /// It starts now.
  void start(std::span<const LinkId> path, Bytes size, std::int64_t now) {
    std::int64_t head = now;
    for (std::size_t hop = 1; hop < path.size(); ++hop) {
      State& link = links_[path[hop].value];
      const std::int64_t time = occupied(path[hop], size);
      head = std::max(head + latency(path[hop - 1]), link.promised_until);
      link.promised_until = head + time;
      link.to_come -= time;
    }
  }

  /// Lower is better to start now: those that needn't wait along their path, then by urgency, then
  /// those whose links have most to do yet.
  struct Prospect {
    std::int64_t wait = 0;
    std::uint32_t key = 0;
    std::int64_t less_to_come = 0;
    auto operator<=>(const Prospect&) const = default;
  };
  [[nodiscard]] Prospect prospect(std::span<const LinkId> path, std::uint32_t key,
                                  std::int64_t now) const {
    Prospect seen{0, key, 0};
    std::int64_t head = now;
    for (std::size_t hop = 1; hop < path.size(); ++hop) {
      const State& link = links_[path[hop].value];
      head += latency(path[hop - 1]);
      seen.wait += std::max<std::int64_t>(0, link.promised_until - head - seen.wait);
      seen.less_to_come -= link.to_come;
    }
    return seen;
  }

private:
  struct State {
    std::int64_t latency = 0;
    Bandwidth rate;
    Bytes last_size; // chunks of one size follow each other: their serialization is worth keeping
    std::int64_t last_duration = 0;
    std::int64_t promised_until = 0; // to what has started, as far as can be foreseen
    std::int64_t to_come = 0;        // busy time of what has not, as a further link
  };

  LinkBusy link_busy_;
  std::vector<State> links_;
};

} // namespace tutti
