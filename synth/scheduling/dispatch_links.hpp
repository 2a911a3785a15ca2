// Links as a dispatch sees them: what waits for one where the order of entry counts, how long
// transfers occupy it, and what one that crosses several would find at the further ones.
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

/// A transfer at a link. In the order in which an engine serves them.
struct Waiting {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::int64_t since = 0;        ///< its entry, ps
  std::uint32_t position = none; ///< in the list of transfers; none before its start
  std::uint32_t key = 0;         ///< how urgent it is, lower first
  std::uint32_t transfer = 0;
  std::uint32_t flight = none; ///< its number among those under way over several links
  auto operator<=>(const Waiting&) const = default;
};

class EntryQueue {
public:
  [[nodiscard]] bool empty() const { return first_ == entries_.size(); }

  /// Pre: `entry.since` never falls.
  void push(const Waiting& entry) {
    if (first_ > 64 && 2 * first_ > entries_.size()) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    std::size_t i = entries_.size();
    entries_.push_back(entry);
    for (; i > first_ && entry < entries_[i - 1]; --i) entries_[i] = entries_[i - 1];
    entries_[i] = entry;
  }
  [[nodiscard]] const Waiting& front() const { return entries_[first_]; }
  void pop() { ++first_; }

private:
  std::vector<Waiting> entries_; // entries_[first_ ..] are waiting
  std::size_t first_ = 0;
};

/// What transfers over several links will find at the further ones. Times in ps.
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
