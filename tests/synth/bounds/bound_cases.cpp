// Random process groups on unequal latencies, with every algorithm as a witness against lower
// bounds: a time that some schedule reaches is no less than any of them.
#include "tests/synth/bounds/bound_cases.hpp"

#include "algorithms/list.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/sends.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "tests/pick.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

namespace tutti::samples {

using testing::pick;

namespace {

constexpr std::array<std::int64_t, 7> latencies{0,         0,          100'000,      1'000'000,
                                                5'000'000, 63'000'000, 1'000'000'000};
constexpr std::array<std::int64_t, 5> bandwidths{1'000'000'000, 2'000'000'000, 3'000'000'000,
                                                 25'000'000'000, 50'000'000'000};

Abilities of_switch(Random& random) {
  return {random.below(4) == 0, random.below(2) == 0, random.below(2) == 0};
}

void add_groups(TopologyParts& parts, Random& random) {
  for (std::uint64_t g = random.below(4); g > 1; --g) {
    SharedGroup group{fmt::format("drawn{}", g), {}, Bandwidth{pick(random, bandwidths)}};
    const NodeId node{static_cast<std::uint32_t>(random.below(parts.nodes.size()))};
    const std::uint64_t kind = random.below(3);
    for (std::uint32_t l = 0; l < parts.links.size(); ++l) {
      const Link& link = parts.links[l];
      const bool joins = kind == 0   ? link.from == node
                         : kind == 1 ? link.from == node || link.to == node
                                     : random.below(3) == 0;
      if (joins) group.links.emplace_back(l);
    }
    if (!group.links.empty()) parts.groups.push_back(std::move(group));
  }
}

std::vector<NodeId> random_members(const Topology& topology, Random& random) {
  std::vector<NodeId> npus;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) npus.emplace_back(n);
  random.shuffle(npus);
  const std::size_t most = random.below(3) == 0 ? npus.size() : 3;
  npus.resize(std::min<std::size_t>(npus.size(), 2 + random.below(most - 1)));
  if (random.below(2) == 0) std::ranges::sort(npus);
  return npus;
}

} // namespace

std::span<const char* const> small_networks() {
  static constexpr std::array texts{"ring:3",
                                    "ring:4",
                                    "ring:5",
                                    "ring:4,directions=1",
                                    "mesh2d:2x3",
                                    "mesh2d:3x3",
                                    "torus2d:3x3",
                                    "torus2d:4x4,bandwidth=50GB/s+25GB/s,latency=1us+63us",
                                    "mesh3d:2x2x2",
                                    "hypercube:3",
                                    "switch:4",
                                    "fully_connected:4",
                                    "dgx1",
                                    "k_ary_tree:2x2",
                                    "fat_tree:4",
                                    "two_level_switch:2x3",
                                    "rfs:2x2x2",
                                    "dragonfly:2x3",
                                    "multi_rail:2x2",
                                    "teccl_internal:2x2",
                                    "random:6,seed=3",
                                    "torus3d:2x2x2"};
  return texts;
}

Topology redrawn(const Topology& topology, Random& random) {
  TopologyParts parts = topology.parts();
  const std::array slow{pick(random, latencies), pick(random, latencies)};
  const std::array fast{pick(random, bandwidths), pick(random, bandwidths)};
  const bool new_latencies = random.below(4) > 0, new_bandwidths = random.below(2) == 0;
  for (Link& link : parts.links) {
    if (new_latencies) link.latency = Time{pick(random, slow)};
    if (new_bandwidths) link.bandwidth = Bandwidth{pick(random, fast)};
  }
  for (Node& node : parts.nodes)
    if (node.kind == NodeKind::switching && random.below(2) == 0) node.can = of_switch(random);
  if (random.below(2) == 0) add_groups(parts, random);
  return Topology(std::move(parts));
}

Topology random_network(Random& random) {
  TopologyParts parts;
  parts.name = "random";
  for (std::uint64_t n = 0, npus = 2 + random.below(4); n < npus; ++n)
    parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
  for (std::uint64_t s = 0, switches = random.below(3); s < switches; ++s)
    parts.add_node({fmt::format("switch{}", s), NodeKind::switching, of_switch(random), {}});
  const auto nodes = static_cast<std::uint32_t>(parts.nodes.size());
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{pick(random, latencies)},
                    Bandwidth{pick(random, bandwidths)}, -1});
  };
  std::vector<std::uint32_t> around;
  for (std::uint32_t n = 0; n < nodes; ++n) around.push_back(n);
  random.shuffle(around);
  for (std::uint32_t n = 0; n < nodes; ++n) link(around[n], around[(n + 1) % nodes]);
  for (std::uint64_t more = random.below(3 * nodes); more > 0; --more) {
    const auto from = static_cast<std::uint32_t>(random.below(nodes)),
               to = static_cast<std::uint32_t>(random.below(nodes));
    if (from != to) link(from, to);
  }
  add_groups(parts, random);
  return Topology(std::move(parts));
}

std::vector<CollectiveSpec> collectives_of(std::span<const NodeId> members, Bytes size,
                                           std::uint32_t chunks_per_shard) {
  std::vector<CollectiveSpec> specs;
  for (const CollectiveKind kind : named_collectives())
    for (std::uint32_t root = 0; root < (has_root(kind) ? members.size() : 1); ++root)
      specs.push_back({kind, size, {members.begin(), members.end()}, root, chunks_per_shard});
  return specs;
}

BoundCase random_bound_case(Random& random) {
  const std::span networks = small_networks();
  Topology topology = random.below(3) == 0
                          ? random_network(random)
                          : redrawn(make_topology(networks[random.below(networks.size())]), random);
  std::vector<Collective> all;
  for (std::uint64_t parts = 1 + random.below(4) / 2; parts > 0; --parts) {
    const std::vector<NodeId> members = random_members(topology, random);
    const Bytes size{static_cast<std::int64_t>(members.size() * members.size()) *
                     pick(random, std::array<std::int64_t, 4>{9, 1000, 16'384, 262'144})};
    const std::vector<CollectiveSpec> specs =
        collectives_of(members, size, 1 + static_cast<std::uint32_t>(random.below(8)));
    all.push_back(make_collective(topology, specs[random.below(specs.size())]));
  }
  TimeModel model;
  if (random.below(2) == 0) model.link_busy = LinkBusy::latency_and_serialization;
  model.forwarding =
      pick(random, std::array{Forwarding::automatic, Forwarding::automatic, Forwarding::cut_through,
                              Forwarding::store_and_forward});
  if (random.below(4) == 0) model.discipline = Discipline::fluid;
  Collective collective = all.size() == 1 ? std::move(all.front()) : merge(all);
  return {std::move(topology), std::move(collective), model};
}

BoundCase with_late_starts(BoundCase given, Random& random) {
  const auto scale = static_cast<std::uint64_t>(
      lower_bound(given.topology, given.collective, given.model, Chunking::given).time.ps);
  const std::uint64_t one_in = 1 + random.below(4), longest = 1 + scale * (1 + random.below(3));
  given.starts.assign(given.topology.node_count(), Time{});
  for (std::uint32_t v = 0; v < given.topology.node_count(); ++v)
    if (given.topology.node(NodeId{v}).can.store && random.below(one_in) == 0)
      given.starts[v] = Time{static_cast<std::int64_t>(random.below(longest))};
  return given;
}

std::vector<Bound> all_bounds(const BoundCase& given, Chunking chunking) {
  return lower_bounds(given.topology, given.collective, given.model, chunking, BoundEffort::full,
                      given.starts);
}

std::vector<Replay> replays_of(const BoundCase& given) {
  const Topology& topology = given.topology;
  const Collective& collective = given.collective;
  const bool fluid = given.model.discipline == Discipline::fluid;
  std::vector<Replay> replays;
  const auto replay = [&](const AlgorithmRow& row) {
    SynthesisOptions options;
    options.model = given.model;
    if (row.name == "sccl") options.settings = {{"effort", "200"}, {"largest", "600"}};
    if (row.name == "teccl") options.settings = {{"effort", "50"}, {"largest", "600"}};
    Outcome outcome;
    try {
      outcome = synthesize(row, topology, collective, options);
    } catch (const InputError&) { // what it can't do is no matter of bounds
      return;
    }
    if (!outcome.schedule || !verify(topology, collective, *outcome.schedule).correct()) return;
    const Time time = (fluid ? run_simgrid : run_native)(topology, collective, *outcome.schedule,
                                                         given.model, {.starts = given.starts})
                          .completion;
    replays.push_back({row.name, time, Time{fluid ? 1 + time.ps / 1'000'000'000 : 0},
                       bounding_model(given.model, *outcome.schedule)});
  };
  for (const AlgorithmRow& row : baseline_algorithms()) replay(row);
  constexpr std::uint32_t few_npus = 6; // for what searches long
  for (const AlgorithmRow& row : synthesizers())
    if (row.name != "teccl_paper" && // teccl's program, whatever it takes
        (topology.npu_count() <= few_npus || (row.name != "sccl" && row.name != "teccl")))
      replay(row);
  return replays;
}

void compare(const BoundCase& given, Replays& replays) {
  const std::string where = fmt::format("{} on {}", given.collective.name(), given.topology.name());
  const std::vector<Replay> all = replays_of(given);
  replays.count += all.size();
  const auto highest = [&](Chunking chunking) {
    const std::vector<Bound> bounds = all_bounds(given, chunking);
    BoundCase joined = given; // chunks that share a send
    joined.model.link_busy = LinkBusy::serialization;
    const std::vector<Bound> of_joined = all_bounds(joined, chunking);
    for (const Replay& replay : all)
      for (const Bound& bound : replay.model == given.model ? bounds : of_joined)
        if (bound.time > replay.time + replay.rounding && replays.beaten.empty())
          replays.beaten =
              fmt::format("{}: {} takes {} ps, not {} ps as by {}{}: {}", where, replay.algorithm,
                          replay.time.ps, bound.time.ps, to_text(bound.kind),
                          chunking == Chunking::any ? " for any schedule" : "", bound.certificate);
    return best_of(bounds);
  };
  const Bound any = highest(Chunking::any), at_chunks = highest(Chunking::given);
  if (any.time > at_chunks.time && replays.disordered.empty())
    replays.disordered =
        fmt::format("{}: {} ps for any schedule ({}), {} ps at these chunks ({})", where,
                    any.time.ps, any.certificate, at_chunks.time.ps, at_chunks.certificate);
  replays.reached += std::ranges::any_of(
      all, [&](const Replay& replay) { return at_chunks.time >= replay.time - replay.rounding; });
}

} // namespace tutti::samples
