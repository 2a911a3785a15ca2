// Every number has a generator of its own, seeded by what it is for: so neither the order in which
// things are drawn nor what else is drawn changes it. Normal numbers are by the polar method
// (Marsaglia and Bray 1964, "A convenient method for generating normal variables").

#include "sim/noise.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"
#include "sim/random.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tutti {

namespace {

constexpr double most_deviations = 3;

Random generator(std::uint64_t seed, std::uint32_t draw, std::string_view what, std::uint32_t id) {
  Fingerprint hash;
  hash.add(seed);
  hash.add(draw);
  hash.add(what);
  hash.add(id);
  return Random(hash.value());
}

constexpr double least_fraction = 0x1p-54;

/// In (0, 1].
double fraction(Random& random) {
  return static_cast<double>(random.next() >> 11) * 0x1p-53 + least_fraction;
}

/// A normal number of mean 0 and deviation 1, at most three from 0.
double normal(Random& random) {
  while (true) {
    const double x = 2 * fraction(random) - 1, y = 2 * fraction(random) - 1;
    const double square = x * x + y * y;
    if (square >= 1) continue;
    const double value = x * std::sqrt(-2 * std::log(square) / square);
    if (std::abs(value) <= most_deviations) return value;
  }
}

/// A draw of this kind, in units of the scale.
double drawn(Skew::Kind kind, Random& random) {
  switch (kind) {
  case Skew::Kind::none: break;
  case Skew::Kind::uniform: return fraction(random);
  case Skew::Kind::normal: return normal(random);
  case Skew::Kind::exponential: return -std::log(fraction(random));
  }
  return 0;
}

std::int64_t scaled(std::int64_t value, double deviation, Random& random) {
  return std::llround(static_cast<double>(value) * (1 + deviation * normal(random)));
}

} // namespace

double largest_spread(Skew::Kind kind) {
  switch (kind) {
  case Skew::Kind::none: break;
  case Skew::Kind::uniform: return 1;
  case Skew::Kind::normal: return 2 * most_deviations;
  case Skew::Kind::exponential: return -std::log(least_fraction);
  }
  return 0;
}

std::vector<Time> drawn_starts(const Topology& topology, std::span<const NodeId> members,
                               const Noise& noise, std::uint32_t draw) {
  std::vector<Time> starts(topology.node_count());
  if (noise.skew.kind == Skew::Kind::none || members.empty()) return starts;
  std::vector<double> offsets;
  for (const NodeId member : members) {
    Random random = generator(noise.seed, draw, "start", member.value);
    offsets.push_back(drawn(noise.skew.kind, random));
  }
  const double earliest = *std::ranges::min_element(offsets);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const double ps = (offsets[i] - earliest) * static_cast<double>(noise.skew.scale.ps);
    if (ps > static_cast<double>(latest_start.ps))
      throw InputError("a start that is drawn is more than six days late");
    starts[members[i].value] = Time{std::llround(ps)};
  }
  return starts;
}

Topology drawn_network(const Topology& topology, const Noise& noise, std::uint32_t draw) {
  TopologyParts parts = topology.parts();
  for (std::uint32_t l = 0; l < parts.links.size(); ++l) {
    Random bandwidth = generator(noise.seed, draw, "bandwidth", l);
    Random latency = generator(noise.seed, draw, "latency", l);
    Link& link = parts.links[l];
    link.bandwidth = Bandwidth{std::max<std::int64_t>(
        1, scaled(link.bandwidth.bytes_per_second, noise.jitter.bandwidth, bandwidth))};
    link.latency = Time{scaled(link.latency.ps, noise.jitter.latency, latency)};
  }
  return Topology(std::move(parts));
}

} // namespace tutti
