// The specification of a schedule's timing (sim/engines/engine.hpp), read as what no schedule can
// undercut. On FIFO a crossing of a link by n bytes that starts at s holds the link until s + n/B
// (rounded up; plus the latency, in latency+serialization), each of the link's groups until s +
// n/B_g, and is over at s + n/B + latency, no earlier.

#include "synth/bounds/check_network.hpp"

#include <map>
#include <tuple>

namespace tutti::bounds::checking {

namespace {

/// The group of the least bandwidth: a link counts in this one, which leaves the schedule more than
/// it has where several bind.
std::uint32_t narrowest_group(const Topology& topology, LinkId link) {
  std::uint32_t narrowest = UINT32_MAX;
  for (const std::uint32_t g : topology.groups_of(link))
    if (narrowest == UINT32_MAX ||
        topology.groups()[g].bandwidth < topology.groups()[narrowest].bandwidth)
      narrowest = g;
  return narrowest;
}

Wide ceiling(Wide numerator, Wide denominator) {
  return (numerator + denominator - 1) / denominator;
}

/// Whatever crosses does so in turn: k crossings of a chunk each need as many steps from one start
/// to the next, and the last one its latency beside; bytes need 1/B each.
Wide by_link(Counted what, const Load& load, const Topology& topology, const TimeModel& model,
             const Crossing& crossing, std::int64_t time) {
  const bool busy_latency = model.discipline == Discipline::fifo &&
                            model.link_busy == LinkBusy::latency_and_serialization;
  const std::int64_t latency = topology.link(crossing.link).latency.ps;
  const Wide bandwidth = topology.effective_bandwidth(crossing.link).bytes_per_second;
  const Wide left = Wide{time} - crossing.entry - crossing.exit; // from the first start to the last
  if (left <= latency) return 0;                                 // arrival
  if (what == Counted::chunks) {
    const std::int64_t sent = occupied(topology, model, crossing.link, load.smallest);
    return busy_latency ? left / (sent + latency) : (left - latency) / sent;
  }
  const Wide bytes = (left - latency) * bandwidth;
  if (!busy_latency) return bytes;
  // n <= largest bytes take n/B + latency, of which n have the part n / largest at least.
  const Wide scaled = Wide{load.largest.count} * ps_per_s;
  const Wide each = latency + scaled / bandwidth; // of the largest, at most
  return each == 0 ? bytes : std::min(bytes, left * ceiling(scaled, each));
}

/// The links of a group hold it in turn, before the latency of whichever it is.
Wide by_group(Counted what, const Load& load, const SharedGroup& group, const Topology& topology,
              std::span<const Crossing> crossings, std::int64_t time) {
  std::int64_t entry = unreachable, exit = unreachable;
  for (const Crossing& crossing : crossings) {
    entry = std::min(entry, crossing.entry);
    exit = std::min(exit, crossing.exit + topology.link(crossing.link).latency.ps);
  }
  const Wide left = Wide{time} - entry - exit;
  if (left <= 0) return 0;
  return what == Counted::chunks ? left / serialization(load.smallest, group.bandwidth).ps
                                 : left * group.bandwidth.bytes_per_second;
}

/// [link]: its latency and, where all must be there before any goes on from (or to) that end, how
/// long a chunk occupies it.
std::vector<std::int64_t> costs_where_complete(const Topology& topology, const TimeModel& model,
                                               Bytes size, NodeId Link::*end) {
  std::vector<std::int64_t> costs;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    const bool all = completes(topology, model, link.*end);
    costs.push_back(std::min(link.latency.ps, unreachable) +
                    (all ? std::min(occupied(topology, model, LinkId{l}, size), unreachable) : 0));
  }
  return costs;
}

} // namespace

void Load::add(const Load& other, std::int64_t times) {
  if (times == 0 || other.chunks == 0) return;
  chunks += other.chunks * times;
  bytes += other.bytes * times;
  smallest = std::min(smallest, other.smallest);
  largest = std::max(largest, other.largest);
}

std::vector<Shipment> shipments(const Collective& collective, ChunkId first, std::uint32_t count,
                                bool whole) {
  std::map<std::tuple<bool, SetId, SetId>, Load> loads;
  for (std::uint32_t c = first.value; c < first.value + count; ++c) {
    const Chunk& chunk = collective.chunks[c];
    loads[{chunk.reduces, chunk.sources, chunk.destinations}].add(
        {1, chunk.size.count, chunk.size, chunk.size});
  }
  std::vector<Shipment> result;
  for (const auto& [key, load] : loads) {
    const auto& [reduces, sources, destinations] = key;
    const Bytes all{static_cast<std::int64_t>(load.bytes)};
    result.push_back({sources, destinations, reduces, whole ? load : Load{1, load.bytes, {}, all}});
  }
  return result;
}

std::vector<NodeId> members(const Collective& collective, const std::vector<bool>& sets) {
  std::vector<NodeId> nodes;
  for (std::size_t s = 0; s < sets.size(); ++s)
    if (sets[s]) nodes.insert(nodes.end(), collective.sets[s].begin(), collective.sets[s].end());
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::int64_t occupied(const Topology& topology, const TimeModel& model, LinkId link, Bytes size) {
  const Bandwidth bandwidth = topology.effective_bandwidth(link);
  if (model.discipline == Discipline::fifo) return serialization(size, bandwidth).ps;
  return static_cast<std::int64_t>(Wide{size.count} * ps_per_s / bandwidth.bytes_per_second);
}

bool completes(const Topology& topology, const TimeModel& model, NodeId node) {
  return model.discipline == Discipline::fifo && model.forwarding != Forwarding::cut_through &&
         topology.node(node).can.store;
}

std::vector<std::int64_t> head_costs(const Topology& topology, const TimeModel& model, Bytes size) {
  return costs_where_complete(topology, model, size, &Link::to);
}

std::vector<std::int64_t> tail_costs(const Topology& topology, const TimeModel& model, Bytes size) {
  return costs_where_complete(topology, model, size, &Link::from);
}

Wide carried(Counted what, const Load& load, const Topology& topology, const TimeModel& model,
             std::span<const Crossing> crossings, std::int64_t time) {
  Wide total = 0;
  std::map<std::uint32_t, std::vector<Crossing>> in_group;
  for (const Crossing& crossing : crossings) {
    if (crossing.entry >= unreachable || crossing.exit >= unreachable) continue;
    const std::uint32_t group = narrowest_group(topology, crossing.link);
    if (group == UINT32_MAX)
      total += by_link(what, load, topology, model, crossing, time);
    else
      in_group[group].push_back(crossing);
  }
  for (const auto& [group, together] : in_group) {
    Wide alone = 0;
    for (const Crossing& crossing : together)
      alone += by_link(what, load, topology, model, crossing, time);
    total +=
        std::min(alone, by_group(what, load, topology.groups()[group], topology, together, time));
  }
  return total;
}

bool exceeds(const Load& load, const Topology& topology, const TimeModel& model,
             std::span<const Crossing> crossings, std::int64_t time) {
  if (carried(Counted::bytes, load, topology, model, crossings, time) < load.bytes * ps_per_s)
    return true;
  return model.discipline == Discipline::fifo && load.smallest > Bytes{0} &&
         carried(Counted::chunks, load, topology, model, crossings, time) < load.chunks;
}

Wide joint_bandwidth(const Topology& topology, std::span<const LinkId> links) {
  Wide total = 0;
  std::map<std::uint32_t, Wide> in_group;
  for (const LinkId link : links)
    (topology.groups_of(link).empty() ? total : in_group[narrowest_group(topology, link)]) +=
        topology.effective_bandwidth(link).bytes_per_second;
  for (const auto& [group, bandwidth] : in_group)
    total += std::min(bandwidth, Wide{topology.groups()[group].bandwidth.bytes_per_second});
  return total;
}

} // namespace tutti::bounds::checking
