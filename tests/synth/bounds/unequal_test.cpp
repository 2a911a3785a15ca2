// Unequal demands: every pair of NPUs with bytes of its own, against the multi-commodity flow that
// decides how fast they can be exchanged, as a linear program written from its definition; shares
// of All-Gathers and Reduce-Scatters that differ, against schedules.
#include "sim/collective_builder.hpp"
#include "sim/engines/engine.hpp"
#include "sim/feasibility.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/check.hpp"
#include "synth/list.hpp"
#include "synth/solvers/linear_program.hpp"
#include "tests/catch.hpp"
#include "tests/pick.hpp"
#include "tests/samples.hpp"
#include "tests/synth/bounds/bound_cases.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tutti::unequal_test {
namespace {

using testing::pick;

/// A directed ring of 4 to 8 nodes in some order, with other links, no latencies and bandwidths
/// that differ by direction; up to 3 of them switches; sometimes a shared group.
Topology random_network(Random& random) {
  constexpr std::array<std::int64_t, 5> rates{1, 2, 3, 10, 25};
  const auto count = static_cast<std::uint32_t>(4 + random.below(5));
  const auto switches = static_cast<std::uint32_t>(random.below(count - 2) / 2);
  TopologyParts parts = samples::npus("random", count - switches);
  for (std::uint32_t s = 0; s < switches; ++s)
    parts.add_node({fmt::format("switch{}", s), NodeKind::switching, {false, false, false}, {}});
  const auto bandwidth = [&] { return Bandwidth{1'000'000'000 * pick(random, rates)}; };
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{0}, bandwidth(), -1});
  };
  std::vector<std::uint32_t> around;
  for (std::uint32_t v = 0; v < count; ++v) around.push_back(v);
  random.shuffle(around);
  for (std::uint32_t v = 0; v < count; ++v) link(around[v], around[(v + 1) % count]);
  for (std::uint64_t more = random.below(2 * count); more > 0; --more) {
    const auto from = static_cast<std::uint32_t>(random.below(count)),
               to = static_cast<std::uint32_t>(random.below(count));
    if (from != to) link(from, to);
  }
  if (random.below(3) == 0) {
    SharedGroup group{"shared", {}, bandwidth()};
    const NodeId at{static_cast<std::uint32_t>(random.below(count))};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (parts.links[l].from == at || random.below(8) == 0) group.links.emplace_back(l);
    parts.groups.push_back(std::move(group));
  }
  return Topology(std::move(parts));
}

/// A chunk for each pair of NPUs, or none; some senders and receivers have far more than others.
Collective random_pairs(const Topology& topology, Random& random) {
  const std::uint32_t n = topology.npu_count();
  const std::int64_t skew = pick(random, std::array<std::int64_t, 3>{1, 10, 100});
  std::vector<std::int64_t> sends(n, 1), receives(n, 1);
  for (std::uint32_t v = 0; v < n; ++v) {
    if (random.below(3) == 0) sends[v] = skew;
    if (random.below(3) == 0) receives[v] = skew;
  }
  CustomCollectiveBuilder builder(topology);
  const auto none = static_cast<std::uint32_t>(random.below(n)); // not all can be without
  for (std::uint32_t from = 0; from < n; ++from)
    for (std::uint32_t to = 0; to < n; ++to) {
      if (from == to || (from != none && random.below(4) == 0)) continue;
      const std::int64_t bytes = 1 + static_cast<std::int64_t>(random.below(100'000));
      builder.add_chunk({Bytes{bytes * sends[from] * receives[to]}, builder.add_set({NodeId{from}}),
                         builder.add_set({NodeId{to}}), false});
    }
  return builder.build();
}

/// The least time, in ps, in which flows carry all chunks: minimize T, where a unit of chunk c
/// leaves its source and enters its destination net, as much of it enters every other node as
/// leaves it, and the bytes over each link and each group take its bandwidth T at most.
double least_time(const Topology& topology, const Collective& collective) {
  LinearProgram program;
  const std::uint32_t time = program.add_column(1, 0, unlimited); // in ms
  std::vector<std::vector<Term>> bytes(topology.link_count());
  for (const Chunk& chunk : collective.chunks) {
    const NodeId source = collective.sets[chunk.sources].front(),
                 destination = collective.sets[chunk.destinations].front();
    if (source == destination) continue;
    std::vector<std::vector<Term>> net(topology.node_count());
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
      const std::uint32_t flow = program.add_column(0, 0, unlimited);
      net[topology.link(LinkId{l}).from.value].push_back({flow, -1});
      net[topology.link(LinkId{l}).to.value].push_back({flow, 1});
      bytes[l].push_back({flow, static_cast<double>(chunk.size.count)});
    }
    for (std::uint32_t v = 0; v < topology.node_count(); ++v) {
      const double kept = NodeId{v} == source ? -1 : NodeId{v} == destination ? 1 : 0;
      program.add_row(kept, kept, net[v]);
    }
  }
  const auto limit = [&](std::vector<Term> load, Bandwidth bandwidth) {
    const double per_ms = static_cast<double>(bandwidth.bytes_per_second) / 1e3;
    for (Term& term : load) term.factor /= per_ms;
    load.push_back({time, -1});
    program.add_row(-unlimited, 0, load);
  };
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    limit(bytes[l], topology.link(LinkId{l}).bandwidth);
  for (const SharedGroup& group : topology.groups()) {
    std::vector<Term> load;
    for (const LinkId link : group.links)
      load.insert(load.end(), bytes[link.value].begin(), bytes[link.value].end());
    limit(std::move(load), group.bandwidth);
  }
  const SynthesisOptions no_limits;
  const LinearSolution solution = solve_relaxed(program, WorkLimit(no_limits));
  REQUIRE(solution.status == SolverStatus::optimal);
  return solution.objective * 1e9;
}

struct Verdict {
  std::string wrong; ///< the first
  int by_prices = 0; ///< cases in which no cut says as much
};

/// The best bound is what the program says, no bound is more, every proof is confirmed, and none is
/// taken for a proof of more than the program's time.
Verdict verdict(std::uint64_t seed, int cases) {
  Random random(seed);
  Verdict result;
  for (int i = 0; i < cases && result.wrong.empty(); ++i) {
    const Topology topology = random_network(random);
    const Collective collective = random_pairs(topology, random);
    const double least = least_time(topology, collective);
    double best = 0, best_cut = 0;
    for (Bound bound : lower_bounds(topology, collective, {}, Chunking::any, BoundEffort::full)) {
      const auto ps = static_cast<double>(bound.time.ps);
      best = std::max(best, ps);
      if (bound.kind != BoundKind::flow_prices) best_cut = std::max(best_cut, ps);
      const auto refute = [&] { return refuted(topology, collective, {}, Chunking::any, bound); };
      const std::string fault = refute();
      bound.time.ps = static_cast<std::int64_t>(std::ceil(least * (1 + 1e-6))) + 1;
      if (fault.empty() && !refute().empty()) continue;
      result.wrong = fmt::format("seed {}, case {}: {} ({}): {}", seed, i, to_text(bound.kind),
                                 bound.certificate, fault.empty() ? "proves more" : fault);
    }
    if (std::abs(best - least) > 1e-6 * least + 1)
      result.wrong = fmt::format("seed {}, case {}: {} ps, not {}", seed, i, best, least);
    result.by_prices += best_cut < 0.999 * least;
  }
  return result;
}

TEST_CASE("bounds of unequal pairs are what a multi-commodity flow takes", "[bounds][heavy]") {
  const Verdict result = verdict(1, 500);
  CHECK(result.wrong == "");
  CHECK(result.by_prices > 0);
}

/// An All-Gather, or a Reduce-Scatter, of shares that differ; some members may have none.
Collective random_shares(const Topology& topology, Random& random) {
  CustomCollectiveBuilder builder(topology);
  std::vector<NodeId> members;
  for (std::uint32_t v = 0; v < topology.npu_count(); ++v) members.emplace_back(v);
  const SetId everyone = builder.add_set(members);
  const bool reduces = random.below(2) == 0;
  const std::uint64_t none = random.below(topology.npu_count());
  for (const NodeId member : members)
    for (std::uint64_t chunks = random.below(4) + (member.value == none); chunks > 0; --chunks) {
      const Bytes size{1 + static_cast<std::int64_t>(random.below(1'000'000))};
      const SetId own = builder.add_set({member});
      builder.add_chunk(reduces ? Chunk{size, everyone, own, true}
                                : Chunk{size, own, everyone, false});
    }
  return builder.build();
}

/// The first bound that some schedule beats or the checker refuses; how many were compared.
std::pair<std::string, int> beaten_shares(std::uint64_t seed, int cases) {
  Random random(seed);
  int compared = 0;
  for (int i = 0; i < cases; ++i) {
    const std::span networks = samples::small_networks();
    const Topology topology =
        samples::redrawn(make_topology(networks[random.below(networks.size())]), random);
    const Collective collective = random_shares(topology, random);
    SynthesisOptions options;
    if (random.below(2) == 0) options.model.link_busy = LinkBusy::latency_and_serialization;
    if (!infeasibility(topology, collective).empty()) continue;
    const auto rows = synthesizers();
    const auto tacos = std::ranges::find(rows, "tacos", &AlgorithmRow::name);
    const Outcome outcome = synthesize(*tacos, topology, collective, options);
    if (!outcome.schedule || !verify(topology, collective, *outcome.schedule).correct()) continue;
    const Time time =
        run_native(topology, collective, *outcome.schedule, options.model, {}).completion;
    for (const Chunking chunking : {Chunking::any, Chunking::given})
      for (const Bound& bound :
           lower_bounds(topology, collective, options.model, chunking, BoundEffort::full)) {
        ++compared;
        std::string fault = refuted(topology, collective, options.model, chunking, bound);
        if (bound.time > time) fault = fmt::format("a schedule takes {}", to_text(time));
        if (!fault.empty())
          return {fmt::format("seed {}, case {}: {} by {} ({}): {}", seed, i, to_text(bound.time),
                              to_text(bound.kind), bound.certificate, fault),
                  compared};
      }
  }
  return {"", compared};
}

TEST_CASE("no schedule of unequal shares beats a bound", "[bounds]") {
  const auto [beaten, compared] = beaten_shares(1, 20);
  CHECK(beaten == "");
  CHECK(compared > 200);
}

TEST_CASE("no schedule of many unequal shares beats a bound", "[bounds][slow]") {
  CHECK(beaten_shares(2, 200).first == "");
}

TEST_CASE("shards of alltoallv count as they are", "[bounds]") {
  const Topology topology = samples::ring(4, true);
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_to_all_v, Bytes{480'000}, {}, 0, 1});
  TimeModel model;
  const double least = least_time(topology, collective);
  bool by_prices = false;
  for (const Bound& bound :
       lower_bounds(topology, collective, model, Chunking::any, BoundEffort::full))
    if (bound.kind == BoundKind::flow_prices)
      by_prices = static_cast<double>(bound.time.ps) >= least * (1 - 1e-6);
  CHECK(by_prices);
}

} // namespace
} // namespace tutti::unequal_test
