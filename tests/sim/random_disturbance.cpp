// Times are drawn from an undisturbed replay, so that events, routes and starts of jobs fall on
// instants at which something happens, or between two of these.

#include "tests/sim/random_disturbance.hpp"

#include "sim/error.hpp"
#include "sim/random.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tutti::testing {

namespace {

using Kind = NetworkEvent::Kind;

/// Instants of the undisturbed run, and some between.
class Instants {
public:
  Instants(Random& random, const RandomCase& c) : random_(random) {
    const Report report = run_native(c.topology, c.collective, c.schedule, c.model,
                                     {.record_deliveries = true, .record_hops = true});
    known_ = {Time{}, report.completion};
    known_.insert(known_.end(), report.deliveries.begin(), report.deliveries.end());
    for (const HopRecord& hop : report.hops) known_.insert(known_.end(), {hop.start, hop.end});
    end_ = report.completion;
  }
  Time pick() {
    if (random_.below(3) == 0)
      return Time{static_cast<std::int64_t>(
          random_.below(static_cast<std::uint64_t>(end_.ps) * 3 / 2 + 1))};
    return known_[random_.below(known_.size())];
  }

private:
  Random& random_;
  std::vector<Time> known_;
  Time end_;
};

NetworkEvent random_event(Random& random, const Topology& topology, Time at) {
  constexpr std::array kinds{Kind::link_down,    Kind::link_down, Kind::link_down,
                             Kind::link_up,      Kind::link_up,   Kind::link_rate,
                             Kind::link_latency, Kind::npu_rate,  Kind::npu_down};
  constexpr std::array<std::uint32_t, 4> shares{1'000'000, 500'000, 333'333, 1000};
  NetworkEvent event;
  event.at = at;
  event.kind = kinds[random.below(kinds.size())];
  event.link = LinkId{static_cast<std::uint32_t>(random.below(topology.link_count()))};
  event.npu = NodeId{static_cast<std::uint32_t>(random.below(topology.npu_count()))};
  event.share = {shares[random.below(shares.size())]};
  event.latency = Time{static_cast<std::int64_t>(random.below(3)) * 1000};
  return event;
}

std::vector<NetworkEvent> random_events(Random& random, const Topology& topology,
                                        Instants& instants) {
  std::vector<NetworkEvent> events;
  const auto add_if_it_makes_sense = [&](const NetworkEvent& event) {
    events.push_back(event);
    try {
      (void)sorted_events(topology, events);
      return true;
    } catch (const InputError&) {
      events.pop_back();
      return false;
    }
  };
  std::vector<Time> times;
  for (std::uint64_t n = random.below(8); n > 0; --n) times.push_back(instants.pick());
  std::sort(times.begin(), times.end());
  for (const Time at : times)
    for (int tries = 0; tries < 5; ++tries)
      if (add_if_it_makes_sense(random_event(random, topology, at))) break;
  // Mostly links come up again, so that there is something to deliver.
  for (std::uint32_t l = 0; l < topology.link_count() && !events.empty(); ++l)
    if (random.below(4) != 0)
      (void)add_if_it_makes_sense(
          {std::max(events.back().at, instants.pick()), Kind::link_up, LinkId{l}});
  return sorted_events(topology, events);
}

void cut_in_parts(Random& random, Collective& collective) {
  collective.parts.clear();
  for (std::uint32_t first = 0; first < collective.chunks.size();) {
    CollectivePart part;
    part.first = ChunkId{first};
    part.chunk_count = 1 + static_cast<std::uint32_t>(random.below(collective.chunks.size()));
    part.chunk_count =
        std::min(part.chunk_count, static_cast<std::uint32_t>(collective.chunks.size()) - first);
    for (std::uint32_t c = 0; c < part.chunk_count; ++c)
      part.size += collective.chunks[first + c].size;
    first += part.chunk_count;
    collective.parts.push_back(part);
  }
}

/// A random walk with the ends of `path`, where one is found.
std::optional<PathId> other_way(Random& random, const Topology& topology, Schedule& schedule,
                                PathId path) {
  const NodeId from = topology.link(schedule.paths().first(path)).from,
               to = topology.link(schedule.paths().last(path)).to;
  for (int tries = 0; tries < 10; ++tries) {
    std::vector<LinkId> links;
    NodeId at = from;
    while (links.size() < 4) {
      const auto out = topology.out_links(at);
      if (out.empty()) break;
      links.push_back(out[random.below(out.size())]);
      at = topology.link(links.back()).to;
      if (at == to) return schedule.paths().intern(links);
    }
  }
  return std::nullopt;
}

std::vector<RouteChange> random_routes(Random& random, RandomCase& c, Instants& instants) {
  std::vector<RouteChange> changes;
  for (std::uint64_t n = random.below(3); n > 0; --n) changes.push_back({instants.pick(), {}});
  std::sort(changes.begin(), changes.end(),
            [](const RouteChange& a, const RouteChange& b) { return a.at < b.at; });
  for (RouteChange& change : changes)
    for (std::size_t i = 0; i < c.schedule.size(); ++i) {
      if (random.below(3) == 0) continue;
      const PathId path = c.schedule.path_of(i);
      if (const auto other = other_way(random, c.topology, c.schedule, path))
        change.paths.emplace_back(path, *other);
    }
  return changes;
}

} // namespace

RunOptions Disturbance::options() const {
  RunOptions options{.record_deliveries = true, .record_hops = true};
  options.events = events;
  options.jobs = jobs;
  options.starts = starts;
  options.route_changes = route_changes;
  options.freeze = freeze;
  options.begin = begin;
  options.may_halt = true;
  return options;
}

Disturbance random_disturbance(std::uint64_t seed, RandomCase& disturbed) {
  Random random(seed);
  Disturbance disturbance;
  if (disturbed.schedule.empty()) return disturbance;
  Instants instants(random, disturbed);
  if (random.below(2) == 0)
    disturbed.model.reduce_rate = Bandwidth{random.below(2) == 0 ? 10'000'000 : 1'000'000'000};
  disturbance.events = random_events(random, disturbed.topology, instants);
  if (random.below(2) == 0) {
    cut_in_parts(random, disturbed.collective);
    for (std::size_t p = 0; p < disturbed.collective.parts.size(); ++p)
      disturbance.jobs.push_back({random.below(2) == 0 ? Time{} : instants.pick(),
                                  static_cast<std::uint8_t>(random.below(3))});
  }
  if (random.below(2) == 0) disturbance.route_changes = random_routes(random, disturbed, instants);
  if (random.below(4) == 0) disturbance.freeze = instants.pick();
  if (random.below(8) == 0) disturbance.begin = instants.pick();
  if (random.below(2) == 0) add_dependencies(random, disturbed);
  if (random.below(3) == 0)
    for (const Node& node : disturbed.topology.nodes())
      disturbance.starts.push_back(node.can.store && random.below(3) == 0 ? instants.pick()
                                                                          : Time{});
  return disturbance;
}

} // namespace tutti::testing
