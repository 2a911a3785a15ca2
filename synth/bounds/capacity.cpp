// Why: a cut bounds a schedule only through what its links can carry by a time, which no order of
// transfers changes. Idea: invert that: the amount only grows with time, so the least time for a
// demand is found by doubling and bisection (first_time()), by bytes and by whole chunks, of which
// the later counts. Margins come from one search from all sources and one to all destinations.

#include "synth/bounds/capacity.hpp"

#include "synth/bounds/least_times.hpp"
#include "synth/bounds/link_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tutti::bounds {

std::uint32_t slowest_group(const Topology& topology, LinkId link) {
  std::uint32_t slowest = no_group;
  for (const std::uint32_t g : topology.groups_of(link))
    if (slowest == no_group ||
        topology.groups()[g].bandwidth < topology.groups()[slowest].bandwidth)
      slowest = g;
  return slowest;
}

Margins margins(const Topology& topology, const Collective& collective,
                std::span<const ChunkClass> classes, const TimeModel& model) {
  Margins result{std::vector<std::int64_t>(topology.node_count()),
                 std::vector<std::int64_t>(topology.node_count())};
  if (model.discipline == Discipline::fluid || classes.empty()) return result;
  Bytes smallest = classes.front().smallest;
  std::vector<bool> set_holds(collective.sets.size()), set_wants(collective.sets.size());
  for (const ChunkClass& c : classes) {
    smallest = std::min(smallest, c.smallest);
    set_holds[c.sources] = set_wants[c.destinations] = true;
  }
  std::vector<NodeId> sources, destinations;
  for (std::size_t s = 0; s < collective.sets.size(); ++s) {
    const std::vector<NodeId>& set = collective.sets[s];
    if (set_holds[s]) sources.insert(sources.end(), set.begin(), set.end());
    if (set_wants[s]) destinations.insert(destinations.end(), set.begin(), set.end());
  }
  const auto pass_times = [&](Direction direction, const std::vector<NodeId>& from) {
    LeastTimes times(topology, model, direction);
    times.set_size(smallest);
    times.search(from);
    std::vector<std::int64_t> per_node;
    for (std::uint32_t v = 0; v < topology.node_count(); ++v)
      per_node.push_back(times.pass(NodeId{v}));
    return per_node;
  };
  result.entry = pass_times(Direction::from_sources, sources);
  result.exit = pass_times(Direction::to_sources, destinations);
  return result;
}

Time least_time(const Topology& topology, const TimeModel& model, const Margins& margins,
                std::span<const LinkId> links, const Demand& demand) {
  std::vector<UsableLink> usable;
  for (const LinkId link : links)
    usable.push_back({link, margins.entry[topology.link(link).from.value],
                      margins.exit[topology.link(link).to.value]});
  const Capacity capacity(topology, model, usable, demand);
  const int128 scaled_bytes = demand.bytes * ps_per_s;
  if (model.discipline == Discipline::fluid) // the last picosecond in which it isn't exceeded
    return {first_time([&](std::int64_t time) {
              return capacity.by(time, Measure::bytes, scaled_bytes + 1) > scaled_bytes;
            }) -
            1};
  const std::int64_t by_bytes = first_time([&](std::int64_t time) {
    return capacity.by(time, Measure::bytes, scaled_bytes) == scaled_bytes;
  });
  if (demand.smallest == Bytes{0}) return {by_bytes};
  const std::int64_t by_chunks = first_time([&](std::int64_t time) {
    return capacity.by(time, Measure::chunks, demand.chunks) == demand.chunks;
  });
  return {std::max(by_bytes, by_chunks)};
}

int128 joint_bandwidth(const Topology& topology, std::span<const LinkId> links) {
  int128 total = 0;
  std::map<std::uint32_t, int128> per_group; // bandwidth of the links in it
  for (const LinkId link : links) {
    const std::uint32_t group = slowest_group(topology, link);
    (group == no_group ? total : per_group[group]) +=
        topology.effective_bandwidth(link).bytes_per_second;
  }
  for (const auto& [group, bandwidth] : per_group)
    total += std::min<int128>(bandwidth, topology.groups()[group].bandwidth.bytes_per_second);
  return total;
}

std::string describe(const Topology& topology, std::span<const LinkId> links,
                     const Demand& demand) {
  Time latency{never};
  for (const LinkId link : links) latency = std::min(latency, topology.link(link).latency);
  const auto clamped = [](int128 value) {
    return static_cast<std::int64_t>(std::min<int128>(value, INT64_MAX));
  };
  const std::string chunks =
      demand.smallest == Bytes{0}
          ? ""
          : fmt::format("{} chunk{}, ", demand.chunks, demand.chunks == 1 ? "" : "s");
  return fmt::format(
      "{}{} over {} link{}, {} together, latency {}", chunks, to_text(Bytes{clamped(demand.bytes)}),
      links.size(), links.size() == 1 ? "" : "s",
      to_text(Bandwidth{clamped(joint_bandwidth(topology, links))}), to_text(latency));
}

} // namespace tutti::bounds
