// For those who check histories. A link carries the integral of its rate over time, counted in
// bytes times picoseconds per second as engines do: exact, so that "too early by a picosecond" is
// too early.

#include "sim/repair/earliest_arrival.hpp"

#include <algorithm>
#include <utility>

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

} // namespace tutti
