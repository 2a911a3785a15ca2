#include "synth/bounds/link_capacity.hpp"

namespace tutti::bounds {

Capacity::Lane Capacity::lane_of(const Topology& topology, const TimeModel& model,
                                 const UsableLink& usable, const Demand& demand, Holding holding) {
  const Link& link = topology.link(usable.link);
  const Bandwidth bandwidth = topology.effective_bandwidth(usable.link);
  const std::int64_t latency = link.latency.ps;
  Lane lane;
  lane.group = slowest_group(topology, usable.link);
  lane.entry = usable.entry;
  lane.exit = usable.exit;
  (holding == Holding::before_latency ? lane.exit : lane.entry) += latency;
  lane.margin = lane.entry + lane.exit;
  lane.rate = bandwidth.bytes_per_second;
  lane.step = serialization(demand.smallest, bandwidth).ps;
  if (model.discipline == Discipline::fifo &&
      model.link_busy == LinkBusy::latency_and_serialization) {
    lane.margin -= latency; // part of each step instead
    lane.step += latency;
    const int128 scaled = static_cast<int128>(demand.largest.count) * ps_per_s;
    const int128 whole = latency + scaled / bandwidth.bytes_per_second; // at most what it takes
    if (whole > 0)
      lane.rate =
          static_cast<std::int64_t>(std::min<int128>((scaled + whole - 1) / whole, lane.rate));
  }
  return lane;
}

/// Chunks, or bytes * ps_per_s, that `links` such lanes carry by `time`; at most `cap`.
int128 Capacity::carried(const Lane& lane, std::int64_t links, std::int64_t time, Measure measure,
                         int128 cap) {
  if (time <= lane.margin) return 0;
  const int128 usable = time - lane.margin;
  const int128 each = measure == Measure::bytes ? usable * lane.rate : usable / lane.step;
  return each > cap / links ? cap : each * links;
}

Capacity::Capacity(const Topology& topology, const TimeModel& model,
                   std::span<const UsableLink> links, const Demand& demand, Holding holding)
    : topology_(topology), smallest_(demand.smallest) {
  std::vector<Lane> all;
  for (const UsableLink& link : links)
    if (link.entry < never && link.exit < never)
      all.push_back(lane_of(topology, model, link, demand, holding));
  std::sort(all.begin(), all.end());
  for (const Lane& lane : all) {
    if (!lanes_.empty() && lanes_.back().lane == lane)
      ++lanes_.back().links;
    else
      lanes_.push_back({lane});
  }
}

int128 Capacity::by(std::int64_t time, Measure measure, int128 cap) const {
  int128 total = 0;
  for (std::size_t i = 0; i < lanes_.size() && total < cap;) {
    const std::size_t begin = i;
    int128 sum = 0;
    for (; i < lanes_.size() && lanes_[i].lane.group == lanes_[begin].lane.group; ++i)
      sum = std::min(cap, sum + carried(lanes_[i].lane, lanes_[i].links, time, measure, cap));
    if (lanes_[begin].lane.group != no_group)
      sum = std::min(sum, carried(group_lane(begin, i), 1, time, measure, cap));
    total = std::min(cap, total + sum);
  }
  return total;
}

/// Its first chunk may enter by one link and its last leave by another.
Capacity::Lane Capacity::group_lane(std::size_t begin, std::size_t end) const {
  const Bandwidth bandwidth = topology_.groups()[lanes_[begin].lane.group].bandwidth;
  std::int64_t entry = never, exit = never;
  for (std::size_t i = begin; i < end; ++i) {
    entry = std::min(entry, lanes_[i].lane.entry);
    exit = std::min(exit, lanes_[i].lane.exit);
  }
  Lane lane;
  lane.margin = entry + exit;
  lane.rate = bandwidth.bytes_per_second;
  lane.step = serialization(smallest_, bandwidth).ps;
  return lane;
}

} // namespace tutti::bounds
