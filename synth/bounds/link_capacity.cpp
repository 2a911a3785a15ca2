// Links that are alike in group, margins and rate are counted once with their number, which makes a
// cut through thousands of equal links cost as much as one. A group carries at most the sum of its
// links, and at most what its own bandwidth carries between the earliest entry and the latest exit.

#include "synth/bounds/link_capacity.hpp"

namespace tutti::bounds {

Capacity::Kind Capacity::kind_of(const Topology& topology, const TimeModel& model,
                                 const UsableLink& usable, const Demand& demand, Holding holding) {
  const Link& link = topology.link(usable.link);
  const Bandwidth bandwidth = topology.effective_bandwidth(usable.link);
  const std::int64_t latency = link.latency.ps;
  Kind kind;
  kind.group = slowest_group(topology, usable.link);
  kind.entry = usable.entry;
  kind.exit = usable.exit;
  (holding == Holding::before_latency ? kind.exit : kind.entry) += latency;
  kind.margin = kind.entry + kind.exit;
  kind.rate = bandwidth.bytes_per_second;
  kind.step = serialization(demand.smallest, bandwidth).ps;
  if (model.discipline == Discipline::fifo &&
      model.link_busy == LinkBusy::latency_and_serialization) {
    kind.margin -= latency; // part of each step instead
    kind.step += latency;
    const int128 scaled = static_cast<int128>(demand.largest.count) * ps_per_s;
    const int128 whole = latency + scaled / bandwidth.bytes_per_second; // at most what it takes
    if (whole > 0)
      kind.rate =
          static_cast<std::int64_t>(std::min<int128>((scaled + whole - 1) / whole, kind.rate));
  }
  return kind;
}

/// Chunks, or bytes * ps_per_s, that `links` such links carry by `time`; at most `cap`.
int128 Capacity::carried(const Kind& kind, std::int64_t links, std::int64_t time, Measure measure,
                         int128 cap) {
  if (time <= kind.margin) return 0;
  const int128 usable = time - kind.margin;
  const int128 each = measure == Measure::bytes ? usable * kind.rate : usable / kind.step;
  return each > cap / links ? cap : each * links;
}

Capacity::Capacity(const Topology& topology, const TimeModel& model,
                   std::span<const UsableLink> links, const Demand& demand, Holding holding)
    : topology_(topology), smallest_(demand.smallest) {
  std::vector<Kind> all;
  for (const UsableLink& link : links)
    if (link.entry < never && link.exit < never)
      all.push_back(kind_of(topology, model, link, demand, holding));
  std::sort(all.begin(), all.end());
  for (const Kind& kind : all) {
    if (!kinds_.empty() && kinds_.back().kind == kind)
      ++kinds_.back().links;
    else
      kinds_.push_back({kind});
  }
}

int128 Capacity::by(std::int64_t time, Measure measure, int128 cap) const {
  int128 total = 0;
  for (std::size_t i = 0; i < kinds_.size() && total < cap;) {
    const std::size_t begin = i;
    int128 sum = 0;
    for (; i < kinds_.size() && kinds_[i].kind.group == kinds_[begin].kind.group; ++i)
      sum = std::min(cap, sum + carried(kinds_[i].kind, kinds_[i].links, time, measure, cap));
    if (kinds_[begin].kind.group != no_group)
      sum = std::min(sum, carried(group_kind(begin, i), 1, time, measure, cap));
    total = std::min(cap, total + sum);
  }
  return total;
}

/// Its first chunk may enter by one link and its last leave by another.
Capacity::Kind Capacity::group_kind(std::size_t begin, std::size_t end) const {
  const Bandwidth bandwidth = topology_.groups()[kinds_[begin].kind.group].bandwidth;
  std::int64_t entry = never, exit = never;
  for (std::size_t i = begin; i < end; ++i) {
    entry = std::min(entry, kinds_[i].kind.entry);
    exit = std::min(exit, kinds_[i].kind.exit);
  }
  Kind kind;
  kind.margin = entry + exit;
  kind.rate = bandwidth.bytes_per_second;
  kind.step = serialization(smallest_, bandwidth).ps;
  return kind;
}

} // namespace tutti::bounds
