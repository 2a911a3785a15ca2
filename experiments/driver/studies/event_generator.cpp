// Failures are drawn once, before the run, and not by a clock inside it: the same seed gives the
// same failures to every policy and algorithm that is compared under them. Three generators, each
// seeded from the first, keep the three rates independent of each other.
#include "experiments/driver/studies/event_generator.hpp"

#include "topologies/failed_links.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tutti {

std::uint64_t poisson(Random& random, double mean, std::uint64_t most) {
  constexpr double largest_part = 16; // so that exp(-part) is far from underflow
  std::uint64_t count = 0;
  const auto uniform = [&random] { return static_cast<double>(random.next() >> 11) * 0x1p-53; };
  while (mean > 0 && count < most) {
    const double part = std::min(mean, largest_part);
    mean -= part;
    const double limit = std::exp(-part);
    for (double product = uniform(); product > limit; product *= uniform()) ++count;
  }
  return std::min(count, most);
}

namespace {

using Kind = NetworkEvent::Kind;

constexpr std::uint64_t moments = 1'000'000;

bool is_of_npu(Kind kind) { return kind == Kind::npu_down || kind == Kind::npu_rate; }

struct Untouched {
  std::vector<NodeId> npus;
  std::vector<topologies::Cable> cables;
};

// Drawn events at what is written by hand could contradict it: a link that is down already, a rate
// of an NPU that has died.
Untouched untouched_by(std::span<const PlannedEvent> written, const Topology& topology) {
  std::vector<bool> named_node(topology.node_count()), named_link(topology.link_count());
  std::vector<bool> at_named_link(topology.node_count());
  for (const PlannedEvent& event : written) {
    if (is_of_npu(event.what.kind)) {
      named_node[event.what.npu.value] = true;
      continue;
    }
    named_link[event.what.link.value] = true;
    const Link& link = topology.link(event.what.link);
    at_named_link[link.from.value] = at_named_link[link.to.value] = true;
  }
  Untouched left;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    if (!named_node[n] && !at_named_link[n]) left.npus.push_back(NodeId{n});
  for (const topologies::Cable& cable : topologies::cables_of(topology)) {
    const Link& link = topology.link(cable.front());
    const bool named =
        std::any_of(cable.begin(), cable.end(), [&](LinkId l) { return named_link[l.value]; });
    if (!named && !named_node[link.from.value] && !named_node[link.to.value])
      left.cables.push_back(cable);
  }
  return left;
}

// When each NPU died, if it did.
class Deaths {
public:
  explicit Deaths(std::uint32_t nodes) : at_(nodes) {}
  void add(NodeId npu, std::uint32_t moment) { at_[npu.value] = moment; }
  [[nodiscard]] bool by(NodeId node, std::uint32_t moment) const {
    return at_[node.value] && *at_[node.value] <= moment;
  }

private:
  std::vector<std::optional<std::uint32_t>> at_;
};

std::uint32_t moment_of(Random& random) {
  return static_cast<std::uint32_t>(random.below(moments));
}

// So many of `all` as their rate says, at random.
template <typename Subject>
std::vector<Subject> drawn(Random& random, std::vector<Subject> all, double mean) {
  const std::uint64_t count = poisson(random, mean, all.size());
  random.shuffle(all);
  all.resize(count);
  return all;
}

} // namespace

// A cable is drawn even where one of its ends has died before and nothing happens then: what is
// drawn later mustn't depend on it.
std::vector<PlannedEvent> drawn_events(const Topology& topology, const FailureRates& rates,
                                       std::uint64_t seed, std::span<const PlannedEvent> written) {
  const Untouched untouched = untouched_by(written, topology);
  Random seeds(seed);
  Random of_npus(seeds.next()), of_cables(seeds.next()), of_stragglers(seeds.next());
  std::vector<PlannedEvent> events;
  Deaths deaths(topology.node_count());
  const auto mean = [&rates](double rate, std::size_t count) {
    return rate * rates.weeks * static_cast<double>(count);
  };
  for (const NodeId npu : drawn(of_npus, untouched.npus, mean(rates.npus, untouched.npus.size()))) {
    const std::uint32_t moment = moment_of(of_npus);
    deaths.add(npu, moment);
    events.push_back({{{}, moment}, {.at = {}, .kind = Kind::npu_down, .npu = npu}, {}});
  }
  for (const topologies::Cable& cable :
       drawn(of_cables, untouched.cables, mean(rates.links, untouched.cables.size()))) {
    const std::uint32_t moment = moment_of(of_cables);
    const Link& ends = topology.link(cable.front());
    if (deaths.by(ends.from, moment) || deaths.by(ends.to, moment)) continue;
    for (const LinkId link : cable)
      events.push_back({{{}, moment}, {.at = {}, .kind = Kind::link_down, .link = link}, {}});
  }
  for (const NodeId npu :
       drawn(of_stragglers, untouched.npus, mean(rates.stragglers, untouched.npus.size()))) {
    const std::uint32_t moment = moment_of(of_stragglers);
    if (deaths.by(npu, moment)) continue;
    events.push_back(
        {{{}, moment},
         {.at = {}, .kind = Kind::npu_rate, .npu = npu, .share = rates.straggler_share},
         {}});
  }
  return events;
}

} // namespace tutti
