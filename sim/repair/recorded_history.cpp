// Deliveries are brought together by chunk with a counting sort, so that the check can go chunk by
// chunk with the values of one chunk in memory.
//
// For the earliest arrivals a link carries the integral of its rate over time, counted in bytes
// times picoseconds per second as engines do: exact, so that "too early by a picosecond" is too
// early.

#include "sim/repair/recorded_history.hpp"

#include <fmt/format.h>

namespace tutti {

namespace {

__extension__ typedef __int128 Carried;
constexpr std::int64_t ps_per_second = 1'000'000'000'000;

} // namespace

EarliestArrival::EarliestArrival(const Topology& topology, std::span<const NetworkEvent> events)
    : topology_(topology) {
  std::vector<std::vector<Phase>> of_link(topology.link_count());
  NetworkState state(topology);
  const auto note = [&](LinkId link, Time at) {
    std::vector<Phase>& known = of_link[link.value];
    if (known.empty()) {
      const Link& as_built = topology.link(link);
      known.push_back({Time{INT64_MIN}, as_built.bandwidth, as_built.latency});
    }
    const Bandwidth rate = state.is_up(link) ? state.bandwidth(link) : Bandwidth{0};
    if (known.back().at == at) known.pop_back();
    known.push_back({at, rate, state.latency(link)});
  };
  for (const NetworkEvent& event : events) {
    state.apply(event);
    if (event.link.valid()) {
      note(event.link, event.at);
      continue;
    }
    for (const LinkId link : topology.out_links(event.npu)) note(link, event.at);
    for (const LinkId link : topology.in_links(event.npu)) note(link, event.at);
  }
  begin_.reserve(of_link.size() + 1);
  for (const std::vector<Phase>& known : of_link) {
    begin_.push_back(phases_.size());
    phases_.insert(phases_.end(), known.begin(), known.end());
  }
  begin_.push_back(phases_.size());
}

std::optional<EarliestArrival::Arrival> EarliestArrival::over(std::span<const LinkId> path,
                                                              Time ready, Bytes size) const {
  Arrival arrival{ready, ready};
  for (const LinkId id : path) {
    const std::span<const Phase> changing = phases(id);
    if (changing.empty()) {
      const Link& link = topology_.link(id);
      arrival.tail =
          std::max(arrival.head + serialization(size, link.bandwidth), arrival.tail) + link.latency;
      arrival.head += link.latency;
      continue;
    }
    auto phase = std::ranges::upper_bound(changing, arrival.head, {}, &Phase::at) - 1;
    while (phase != changing.end() && phase->rate.bytes_per_second == 0) ++phase;
    if (phase == changing.end()) return std::nullopt;
    const Time begin = std::max(arrival.head, phase->at);
    // Who starts later may find a lower latency.
    Time latency = phase->latency;
    for (auto later = phase; later != changing.end(); ++later)
      latency = std::min(latency, later->latency);

    Carried left = Carried{size.count} * ps_per_second;
    Time across = begin;
    for (;; ++phase) {
      if (phase == changing.end()) return std::nullopt;
      const std::int64_t rate = phase->rate.bytes_per_second;
      across = std::max(across, phase->at);
      const bool is_last = phase + 1 == changing.end();
      if (rate > 0) {
        const Carried needed = (left + rate - 1) / rate;
        if (is_last || needed <= Carried{(phase + 1)->at.ps - across.ps}) {
          if (needed > INT64_MAX / 4) return std::nullopt;
          across += Time{static_cast<std::int64_t>(needed)};
          break;
        }
        left -= Carried{rate} * ((phase + 1)->at.ps - across.ps);
      }
    }
    arrival.tail = std::max(across, arrival.tail) + latency;
    arrival.head = begin + latency;
  }
  return arrival;
}

RecordedHistory::RecordedHistory(const Topology& topology, std::size_t chunks,
                                 const HistoryRecord& record)
    : topology_(topology), record_(record), earliest_(topology, record.events),
      died_(topology.node_count()) {
  for (const NetworkEvent& event : record.events)
    if (event.kind == NetworkEvent::Kind::npu_down) died_[event.npu.value] = event.at;
  for (const RouteChange& change : record.route_changes)
    for (const auto& [path, instead] : change.paths)
      if (path != instead) detours_.emplace_back(path, std::pair{instead, change.at});
  std::ranges::sort(detours_);
  number_.resize(record.segments.size());
  misfit_ = number_chunks(chunks);
  if (!misfit_) sort_deliveries(chunks);
}

std::optional<std::string> RecordedHistory::number_chunks(std::size_t chunks) {
  if (!record_.starts.empty() && record_.starts.size() != topology_.node_count())
    return fmt::format("there are {} start times for {} nodes", record_.starts.size(),
                       topology_.node_count());
  for (std::size_t s = 0; s < record_.segments.size(); ++s) {
    const Segment& segment = record_.segments[s];
    number_[s].assign(chunks, none);
    for (std::uint32_t c = 0; c < segment.chunk.size(); ++c) {
      const ChunkId chunk = segment.chunk[c];
      if (chunk.value >= chunks || number_[s][chunk.value] != none)
        return fmt::format("segment {} names chunk {} twice, or there is none", s, chunk.value);
      number_[s][chunk.value] = c;
    }
    if (s > 0 && segment.begin < record_.segments[s - 1].end)
      return fmt::format("segment {} begins before segment {} ends", s, s - 1);
  }
  return std::nullopt;
}

template <typename Visit> void RecordedHistory::each_delivery(const Visit& visit) const {
  const std::span<const Segment> segments = record_.segments;
  for (std::uint32_t s = 0; s < segments.size(); ++s)
    for (std::uint32_t i = 0; i < segments[s].schedule.size(); ++i) {
      const bool waits = std::ranges::binary_search(segments[s].waiting, i);
      if (segments[s].delivered[i] || waits)
        visit(segments[s].chunk[segments[s].schedule[i].chunk.value],
              RecordedDelivery{s, i, waits});
    }
}

void RecordedHistory::sort_deliveries(std::size_t chunks) {
  begin_.resize(chunks + 1);
  each_delivery([&](ChunkId chunk, RecordedDelivery) { ++begin_[chunk.value + 1]; });
  for (std::size_t c = 0; c < chunks; ++c) begin_[c + 1] += begin_[c];
  deliveries_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  each_delivery(
      [&](ChunkId chunk, RecordedDelivery one) { deliveries_[next[chunk.value]++] = one; });
}

std::pair<NodeId, NodeId> RecordedHistory::ends(RecordedDelivery one) const {
  const PathId path = schedule(one).path_of(one.transfer);
  return {topology_.link(schedule(one).paths().first(path)).from,
          topology_.link(schedule(one).paths().last(path)).to};
}

bool RecordedHistory::are_together(RecordedDelivery a, RecordedDelivery b) const {
  if (a.segment != b.segment) return false;
  for (std::uint32_t i = a.transfer + 1; i <= b.transfer; ++i)
    if (!schedule(a)[i].together) return false;
  return true;
}

Time RecordedHistory::rounding(RecordedDelivery one) const {
  if (record_.rounds_up) return {};
  const PathTable& paths = schedule(one).paths();
  const PathId path = schedule(one).path_of(one.transfer);
  std::size_t hops = paths.links(path).size(); // of the longest way that it can have taken
  for (auto detour = std::ranges::lower_bound(detours_, path, {}, &Detour::first);
       detour != detours_.end() && detour->first == path; ++detour)
    hops = std::max(hops, paths.links(detour->second.first).size());
  return Time{static_cast<std::int64_t>(hops) + 1}; // and when it was reported
}

std::optional<EarliestArrival::Arrival> RecordedHistory::earliest(RecordedDelivery one, Time ready,
                                                                  Bytes size) const {
  const PathTable& paths = schedule(one).paths();
  const PathId path = schedule(one).path_of(one.transfer);
  std::optional<EarliestArrival::Arrival> best = earliest_.over(paths.links(path), ready, size);
  for (auto detour = std::ranges::lower_bound(detours_, path, {}, &Detour::first);
       detour != detours_.end() && detour->first == path; ++detour) {
    const auto& [instead, since] = detour->second;
    const auto around = earliest_.over(paths.links(instead), std::max(ready, since), size);
    if (!around) continue;
    if (!best) best = around;
    best = {std::min(best->head, around->head), std::min(best->tail, around->tail)};
  }
  return best;
}

} // namespace tutti
