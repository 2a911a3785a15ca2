#include "sim/bounds/capacity.hpp"

#include "sim/bounds/least_times.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>

namespace tutti::bounds {

namespace {

constexpr std::int64_t ps_per_s = 1'000'000'000'000;

/// Links that are alike, or a shared group: how much they can carry, each.
struct Lane {
  std::uint32_t group = no_group; ///< the slowest one that the link is in
  std::int64_t margin = 0;        ///< of T, not usable
  std::int64_t rate = 0;          ///< bytes/s, at most
  std::int64_t step = 0;          ///< ps from one chunk to the next, at least
  std::int64_t entry = 0;         ///< first and last part of what a group loses of T
  std::int64_t exit = 0;
  auto operator<=>(const Lane&) const = default;
};

struct Lanes {
  Lane lane;
  std::int64_t links = 1;
};

enum class Measure { chunks, bytes };

Lane lane_of(const Topology& topology, const TimeModel& model, const Margins& margins, LinkId id,
             const Demand& demand) {
  const Link& link = topology.link(id);
  const Bandwidth bandwidth = topology.effective_bandwidth(id);
  const std::int64_t latency = link.latency.ps;
  Lane lane;
  lane.group = slowest_group(topology, id);
  lane.entry = margins.entry[link.from.value];
  lane.exit = margins.exit[link.to.value] + latency;
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
int128 carried(const Lane& lane, std::int64_t links, std::int64_t time, Measure measure,
               int128 cap) {
  if (time <= lane.margin) return 0;
  const int128 usable = time - lane.margin;
  const int128 each = measure == Measure::bytes ? usable * lane.rate : usable / lane.step;
  return each > cap / links ? cap : each * links;
}

/// All links of a cut, alike ones together, ordered by group.
class Capacity {
public:
  Capacity(const Topology& topology, const TimeModel& model, const Margins& margins,
           std::span<const LinkId> links, const Demand& demand)
      : topology_(topology), smallest_(demand.smallest) {
    std::vector<Lane> all;
    for (const LinkId link : links)
      if (margins.entry[topology.link(link).from.value] < never &&
          margins.exit[topology.link(link).to.value] < never)
        all.push_back(lane_of(topology, model, margins, link, demand));
    std::sort(all.begin(), all.end());
    for (const Lane& lane : all) {
      if (!lanes_.empty() && lanes_.back().lane == lane)
        ++lanes_.back().links;
      else
        lanes_.push_back({lane});
    }
  }

  /// At most `cap` (which stands for anything larger).
  [[nodiscard]] int128 by(std::int64_t time, Measure measure, int128 cap) const {
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

private:
  /// Its first chunk may enter by one link and its last leave by another.
  [[nodiscard]] Lane group_lane(std::size_t begin, std::size_t end) const {
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

  const Topology& topology_;
  Bytes smallest_;
  std::vector<Lanes> lanes_;
};

/// The first time at which `enough` holds, which stays true. Errors: InputError.
template <typename Enough> std::int64_t first_time(Enough enough) {
  std::int64_t high = 1;
  while (!enough(high)) {
    if (high == never) throw InputError(too_long);
    high = std::min(2 * high, never);
  }
  std::int64_t low = high / 2; // not enough yet, or 0
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

} // namespace

std::uint32_t slowest_group(const Topology& topology, LinkId link) {
  std::uint32_t slowest = no_group;
  for (const std::uint32_t g : topology.groups_of(link))
    if (slowest == no_group ||
        topology.groups()[g].bandwidth < topology.groups()[slowest].bandwidth)
      slowest = g;
  return slowest;
}

Margins margins(const Topology& topology, const Collective& collective, const TimeModel& model) {
  Margins result{std::vector<std::int64_t>(topology.node_count()),
                 std::vector<std::int64_t>(topology.node_count())};
  if (model.discipline == Discipline::fluid || collective.chunks.empty()) return result;
  Bytes smallest = collective.chunks.front().size;
  std::vector<bool> set_holds(collective.sets.size()), set_wants(collective.sets.size());
  for (const Chunk& chunk : collective.chunks) {
    smallest = std::min(smallest, chunk.size);
    set_holds[chunk.held_by] = set_wants[chunk.wanted_by] = true;
  }
  std::vector<NodeId> holders, wanters;
  for (std::size_t s = 0; s < collective.sets.size(); ++s) {
    const std::vector<NodeId>& set = collective.sets[s];
    if (set_holds[s]) holders.insert(holders.end(), set.begin(), set.end());
    if (set_wants[s]) wanters.insert(wanters.end(), set.begin(), set.end());
  }
  const auto pass_times = [&](Direction direction, const std::vector<NodeId>& sources) {
    LeastTimes times(topology, model, direction);
    times.set_size(smallest);
    times.search(sources);
    std::vector<std::int64_t> per_node;
    for (std::uint32_t v = 0; v < topology.node_count(); ++v)
      per_node.push_back(times.pass(NodeId{v}));
    return per_node;
  };
  result.entry = pass_times(Direction::from_sources, holders);
  result.exit = pass_times(Direction::to_sources, wanters);
  return result;
}

Time least_time(const Topology& topology, const TimeModel& model, const Margins& margins,
                std::span<const LinkId> links, const Demand& demand) {
  const Capacity capacity(topology, model, margins, links, demand);
  const int128 scaled_bytes = demand.bytes * ps_per_s;
  if (model.discipline == Discipline::fluid) // the last picosecond in which it isn't exceeded
    return {first_time([&](std::int64_t time) {
              return capacity.by(time, Measure::bytes, scaled_bytes + 1) > scaled_bytes;
            }) -
            1};
  const std::int64_t by_bytes = first_time([&](std::int64_t time) {
    return capacity.by(time, Measure::bytes, scaled_bytes) == scaled_bytes;
  });
  const std::int64_t by_chunks = first_time([&](std::int64_t time) {
    return capacity.by(time, Measure::chunks, demand.chunks) == demand.chunks;
  });
  return {std::max(by_bytes, by_chunks)};
}

std::string describe(const Topology& topology, std::span<const LinkId> links,
                     const Demand& demand) {
  std::map<std::uint32_t, int128> per_group; // bandwidth of the links in it
  int128 total = 0;
  Time latency{never};
  for (const LinkId link : links) {
    const std::uint32_t group = slowest_group(topology, link);
    const std::int64_t bandwidth = topology.effective_bandwidth(link).bytes_per_second;
    (group == no_group ? total : per_group[group]) += bandwidth;
    latency = std::min(latency, topology.link(link).latency);
  }
  for (const auto& [group, bandwidth] : per_group)
    total += std::min<int128>(bandwidth, topology.groups()[group].bandwidth.bytes_per_second);
  const auto clamped = [](int128 value) {
    return static_cast<std::int64_t>(std::min<int128>(value, INT64_MAX));
  };
  return fmt::format("{} chunk{}, {} over {} link{}, {} together, latency {}", demand.chunks,
                     demand.chunks == 1 ? "" : "s", to_text(Bytes{clamped(demand.bytes)}),
                     links.size(), links.size() == 1 ? "" : "s", to_text(Bandwidth{clamped(total)}),
                     to_text(latency));
}

} // namespace tutti::bounds
