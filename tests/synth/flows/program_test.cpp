#include "sim/random.hpp"
#include "synth/bounds/price_bound.hpp"
#include "synth/flows/fluid/optimum.hpp"
#include "synth/flows/fluid/program.hpp"
#include "tests/catch.hpp"
#include "tests/synth/flows/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace program_test {

using namespace tutti;

namespace {

constexpr std::int64_t giga = 1'000'000'000;
constexpr Abilities everything{}, nothing{false, false, false}, copying{true, true, false};

const SynthesisOptions no_limit;

FlowProblem problem_of(const Topology& topology, CollectiveSpec spec, std::int64_t bytes) {
  spec.size = Bytes{bytes};
  return flow_problem(topology, make_collective(topology, spec));
}

FlowProblem problem_of(const Topology& topology, const std::string& collective,
                       std::int64_t bytes) {
  return problem_of(topology, parse_collective(collective), bytes);
}

FlowProgramAnswer solve(const FlowProblem& problem, bool merge, std::vector<double> weights = {}) {
  FlowProgramOptions options;
  options.merge = merge;
  options.weights = std::move(weights);
  return solve_flow_program(problem, options, WorkLimit(no_limit));
}

std::vector<double> ones(const FlowProblem& problem) {
  return std::vector<double>(problem.network.link_count(), 1.0);
}

/// Both ways of solving give this; traffic where every byte over every link counts.
void check(const FlowProblem& problem, double seconds, double traffic) {
  for (const bool merge : {false, true}) {
    CAPTURE(merge);
    const FlowProgramAnswer answer = solve(problem, merge, ones(problem));
    REQUIRE(answer.status == SolverStatus::optimal);
    CHECK(answer.seconds == Approx(seconds).epsilon(1e-6));
    CHECK(answer.traffic == Approx(traffic).epsilon(1e-6));
  }
}

/// Links of so many bytes a second, one way.
struct Wire {
  std::uint32_t from, to;
  std::int64_t bandwidth = giga;
};

Topology network(const std::vector<Abilities>& nodes, std::size_t npus,
                 const std::vector<Wire>& wires, std::int64_t joint = 0) {
  TopologyParts parts;
  parts.name = "by hand";
  for (std::size_t n = 0; n < nodes.size(); ++n)
    parts.add_node({"node" + std::to_string(n), n < npus ? NodeKind::npu : NodeKind::memory,
                    nodes[n], Bandwidth{}});
  for (const Wire& wire : wires)
    parts.add_link({NodeId{wire.from}, NodeId{wire.to}, Time{1}, Bandwidth{wire.bandwidth}});
  if (joint > 0) { // of all links at the last node
    SharedGroup& group = parts.groups.emplace_back(SharedGroup{"memory", {}, Bandwidth{joint}});
    for (std::uint32_t l = 0; l < wires.size(); ++l)
      if (wires[l].from + 1 == nodes.size() || wires[l].to + 1 == nodes.size())
        group.links.emplace_back(l);
  }
  return Topology(std::move(parts));
}

/// NPUs around one more node, GB/s each way.
std::vector<Wire> star(std::uint32_t npus) {
  std::vector<Wire> wires;
  for (std::uint32_t n = 0; n < npus; ++n) {
    wires.push_back({n, npus});
    wires.push_back({npus, n});
  }
  return wires;
}

} // namespace

TEST_CASE("flow program: rings and lines as by hand") {
  const std::string band = ",bandwidth=1GB/s";
  SECTION("ring") {
    // Everyone gets n - 1 shards over two links; a shard crosses one link for each who gets it.
    for (const int n : {3, 4, 5}) {
      const Topology ring = make_topology("ring:" + std::to_string(n) + band);
      const double shards = (n - 1) / 2.0, transfers = n * (n - 1.0) * giga;
      check(problem_of(ring, "all_gather", n * giga), shards, transfers);
      check(problem_of(ring, "reduce_scatter", n * giga), shards, transfers);
      check(problem_of(ring, "all_reduce", n * giga), 2 * shards, 2 * transfers);
    }
    // Hops from one to all others: 1 + 1 + 2 = 4 of 4 NPUs, 1 + 1 + 2 + 2 = 6 of 5; two links each.
    check(problem_of(make_topology("ring:4" + band), "all_to_all", 4 * giga), 2, 16.0 * giga);
    check(problem_of(make_topology("ring:5" + band), "all_to_all", 5 * giga), 3, 30.0 * giga);
    // The root sends half of its data each way; everyone else gets it once.
    check(problem_of(make_topology("ring:5" + band), "broadcast", giga), 0.5, 4.0 * giga);
    check(problem_of(make_topology("ring:5" + band), "reduce", giga), 0.5, 4.0 * giga);
    // Shards of a fifth: four over two links, 1 + 1 + 2 + 2 hops.
    check(problem_of(make_topology("ring:5" + band), "scatter", 5 * giga), 2, 6.0 * giga);
    check(problem_of(make_topology("ring:5" + band), "gather", 5 * giga), 2, 6.0 * giga);
  }
  SECTION("line") {
    const Topology line =
        network({everything, everything, everything}, 3, {{0, 1}, {1, 0}, {1, 2}, {2, 1}});
    check(problem_of(line, "broadcast", giga), 1, 2.0 * giga);
    // Two shards cross the links outwards, one inwards.
    check(problem_of(line, "all_gather", 3 * giga), 2, 6.0 * giga);
    check(problem_of(line, "all_to_all", 3 * giga), 2, 8.0 * giga);
  }
}

TEST_CASE("flow program: of several sources each gives what it can") {
  const Topology line =
      network({everything, everything, everything}, 3, {{0, 1}, {2, 1, 3 * giga}});
  FlowProblem problem;
  problem.network = flow_network(line);
  problem.sets = {{0, 2}, {1}, {0, 1, 2}};
  problem.demands = {{FlowKind::paths, 0, 1, giga}};
  check(problem, 0.25, 1.0 * giga); // 1 GB/s and 3 GB/s together
  problem.demands = {{FlowKind::spread, 0, 2, giga}};
  check(problem, 0.25, 1.0 * giga);
}

TEST_CASE("flow program: switches don't copy") {
  const Topology crossbar =
      network({everything, everything, everything, everything, nothing}, 4, star(4));
  // Everyone gets all but its own; every byte crosses two links.
  check(problem_of(crossbar, "all_gather", 4 * giga), 3, 24.0 * giga);
  check(problem_of(crossbar, "reduce_scatter", 4 * giga), 3, 24.0 * giga);
  check(problem_of(crossbar, "all_to_all", 4 * giga), 3, 24.0 * giga);
  // The root can give everyone a third, to be exchanged among them.
  check(problem_of(crossbar, "broadcast", giga), 1, 6.0 * giga);
  // A switch that copies gets the data once: 1 + 3 links.
  const Topology multicast =
      network({everything, everything, everything, everything, copying}, 4, star(4));
  check(problem_of(multicast, "broadcast", giga), 1, 4.0 * giga);
  check(problem_of(multicast, "reduce", giga), 1, 6.0 * giga); // but doesn't reduce
  // One that reduces too: In All-Reduce everyone sends once and gets once.
  const Topology sharp =
      network({everything, everything, everything, everything, everything}, 4, star(4));
  check(problem_of(sharp, "reduce", giga), 1, 4.0 * giga);
  check(problem_of(sharp, "all_reduce", 4 * giga), 4, 32.0 * giga);
  check(problem_of(crossbar, "all_reduce", 4 * giga), 6, 48.0 * giga); // 2 (n - 1) / n buffers
}

TEST_CASE("flow program: a memory can't send what it didn't get") {
  // 0 sends over switch 4 to 1 and 2, which can't send: two copies. Memory 3 must not make up for
  // the second one, which LP (3.13) lets it.
  const Topology topology = network({everything, everything, everything, copying, nothing}, 3,
                                    {{0, 4}, {4, 1}, {4, 2}, {3, 4}});
  check(problem_of(topology, "broadcast", giga), 2, 4.0 * giga);
  // With a link of its own to the memory, half takes that one: of the data there, both get copies.
  const Topology open = network({everything, everything, everything, copying, nothing}, 3,
                                {{0, 4}, {4, 1}, {4, 2}, {3, 4}, {0, 3}});
  // 0 > 4 carries 2 (1 - x), 3 > 4 carries 2 x: a half each way
  check(problem_of(open, "broadcast", giga), 1, 4.5 * giga);
}

TEST_CASE("flow program: Shapley's examples with memory") {
  SECTION("Fig. 2.2: a memory copies") {
    const Topology memory = network({everything, everything, everything, copying}, 3, star(3));
    const Topology plain = network({everything, everything, everything, nothing}, 3, star(3));
    check(problem_of(memory, "broadcast", giga), 1, 3.0 * giga); // written once, read twice
    check(problem_of(plain, "broadcast", giga), 1, 4.0 * giga);  // and written once more
  }
  SECTION("Fig. 2.3: a memory's bandwidth for reading and writing") {
    // As a switch: three copies, each written and read: y / 6, unless links have less.
    const auto memory = [](std::int64_t y) {
      return network({everything, everything, everything, everything, nothing}, 4, star(4), y);
    };
    check(problem_of(memory(3 * giga), "broadcast", giga), 2, 6.0 * giga);
    check(problem_of(memory(12 * giga), "broadcast", giga), 1, 6.0 * giga);
  }
  SECTION("Fig. 2.4: a path beside it") {
    // 1 and 2 joined directly: two copies less two crossings: min(y / 4, x).
    const auto memory = [](std::int64_t y) {
      std::vector<Wire> wires = star(4);
      wires.push_back({0, 1});
      wires.push_back({1, 0});
      return network({everything, everything, everything, everything, nothing}, 4, wires, y);
    };
    check(problem_of(memory(2 * giga), "broadcast", giga), 2, 5.0 * giga);
    check(problem_of(memory(8 * giga), "broadcast", giga), 1, 5.0 * giga);
  }
  SECTION("Fig. 2.7: a memory needs no copy") {
    const std::int64_t half = giga / 2;
    const std::vector<Wire> wires{{0, 1}, {1, 0}, {0, 2, half}, {2, 0, half}};
    check(problem_of(network({everything, everything, copying}, 2, wires), "broadcast", giga), 1,
          1.0 * giga);
    check(problem_of(network({everything, everything, everything}, 3, wires), "broadcast", giga), 2,
          2.0 * giga);
  }
}

TEST_CASE("flow program: the dissertation's figures for DGX A100 servers") {
  // Its objective: what crosses links at a GPU, and at a rail (tables 6.3 to 6.8, in GB a shard).
  struct Row {
    samples::DgxLinks links;
    std::uint32_t servers;
    const char* collective;
    double seconds, objective;
  };
  const auto nvlink = samples::DgxLinks::nvlink, pcie = samples::DgxLinks::pcie,
             both = samples::DgxLinks::both;
  // All-Gather over NVLink: seven shards into a GPU; 15 into it over NVLink and rail; from N = 4 on
  // all that comes from other servers over the rails. PCIe: 8 N - 1 into a GPU. Both: into a GPU
  // over both, with the rails at PCIe.
  // All-to-All: a GPU's data for N - 1 servers, 64 (N - 1) x 8 shards over 8 rails; over PCIe a
  // GPU's 8 N, where a rail costs 4 and the path from one PCIe switch to another 2.
  const std::vector<Row> rows{
      {nvlink, 1, "all_gather", 7.0 / 300, 112},
      {nvlink, 2, "all_gather", 15.0 / 325, 516.9},
      {nvlink, 4, "all_gather", 3.0 / 25, 2176},
      {nvlink, 8, "all_gather", 7.0 / 25, 8960},
      {pcie, 1, "all_gather", 7.0 / 32, 1 * (120.0 * 1 - 28)},
      {pcie, 2, "all_gather", 15.0 / 32, 2 * (120.0 * 2 - 28)},
      {pcie, 4, "all_gather", 31.0 / 32, 4 * (120.0 * 4 - 28)},
      {both, 1, "all_gather", 7.0 / 332, 109.7},
      {both, 2, "all_gather", 15.0 / 332, 504.9},
      {nvlink, 2, "all_to_all", 8.0 / 25, 960},
      {nvlink, 4, "all_to_all", 24.0 / 25, 4864},
      {pcie, 1, "all_to_all", 12.0 / 32, 112},
      {pcie, 2, "all_to_all", 24.0 / 32, 736},
      {pcie, 4, "all_to_all", 48.0 / 32, 3520},
      {both, 2, "all_to_all", 8.0 / 25, 764.2},
      {both, 4, "all_to_all", 24.0 / 25, 3689},
  };
  for (const Row& row : rows) {
    CAPTURE(row.servers, static_cast<int>(row.links), row.collective);
    const Topology cluster = samples::dgx_a100(row.servers, row.links);
    // Its All-to-All moves a GB from every GPU in all.
    const FlowProblem problem = problem_of(cluster, row.collective, 8 * row.servers * giga);
    const FlowProgramAnswer answer = solve(problem, true, samples::dgx_a100_weights(cluster));
    REQUIRE(answer.status == SolverStatus::optimal);
    CHECK(answer.seconds == Approx(row.seconds).epsilon(1e-6));
    CHECK(answer.traffic / giga == Approx(row.objective).epsilon(2e-4));
  }
  // Over all links from N = 4 on LP (3.13), solved by itself, has 2114.56 and 8673.28: no less is
  // left where memories send only what they got.
  for (const auto& [servers, objective] : {std::pair{4U, 2114.56}, std::pair{8U, 8673.28}}) {
    const Topology cluster = samples::dgx_a100(servers, both);
    const FlowProblem problem = problem_of(cluster, "all_gather", 8 * servers * giga);
    const FlowProgramAnswer answer = solve(problem, true, samples::dgx_a100_weights(cluster));
    CHECK(answer.seconds == Approx((servers - 1) / 25.0).epsilon(1e-6));
    CHECK(answer.traffic / giga > objective * (1 - 1e-6));
  }
}

namespace {

std::vector<Topology> small_networks() {
  std::vector<Topology> networks;
  for (const char* text :
       {"ring:4", "ring:5,directions=1", "hypercube:3", "mesh2d:3x3", "torus2d:3x3", "switch:4",
        "multi_rail:2x2", "multi_rail:2x3", "dgx1", "rfs:2x2x2", "dgx_a100"})
    networks.push_back(make_topology(text));
  networks.push_back(network({everything, everything, everything, everything, nothing}, 4, star(4),
                             2 * giga)); // with a shared group
  networks.push_back(network({everything, everything, everything, copying}, 3, star(3)));
  return networks;
}

/// The merged program has the optimum of the one without, with not more columns.
void check_merged(const FlowProblem& problem, const std::vector<double>& weights) {
  const FlowProgramAnswer one = solve(problem, true, weights), all = solve(problem, false, weights);
  REQUIRE(one.status == SolverStatus::optimal);
  REQUIRE(all.status == SolverStatus::optimal);
  CHECK(one.seconds == Approx(all.seconds).epsilon(1e-6));
  CHECK(one.traffic == Approx(all.traffic).epsilon(1e-5));
  CHECK(one.columns <= all.columns);
}

void check_merged(const Topology& topology, CollectiveSpec spec) {
  CAPTURE(topology.name(), to_text(spec.kind), spec.group.size(), spec.root);
  const FlowProblem problem = problem_of(topology, std::move(spec), 8 * 9 * 25 * giga);
  check_merged(problem, ones(problem));
}

bool is_quick(const Topology& topology, CollectiveKind kind) {
  return topology.npu_count() < 8 || kind == CollectiveKind::broadcast ||
         kind == CollectiveKind::reduce || kind == CollectiveKind::scatter ||
         kind == CollectiveKind::gather || kind == CollectiveKind::all_to_all;
}

} // namespace

TEST_CASE("flow program: merging by symmetries changes no optimum") {
  for (const Topology& topology : small_networks())
    for (const CollectiveKind kind : basic_collectives())
      for (const std::uint32_t root : {0U, 2U}) {
        if (!is_quick(topology, kind) || (root > 0 && !has_root(kind))) continue;
        CollectiveSpec spec;
        spec.kind = kind;
        spec.root = root;
        check_merged(topology, spec);
      }
}

TEST_CASE("flow program: merging by symmetries changes no optimum of larger ones", "[slow]") {
  std::vector<Topology> networks = small_networks();
  networks.push_back(make_topology("torus2d:4x4"));
  for (const Topology& topology : networks)
    for (const CollectiveKind kind : basic_collectives()) {
      if (is_quick(topology, kind) ||
          (topology.npu_count() > 9 && kind == CollectiveKind::all_reduce))
        continue;
      CollectiveSpec spec;
      spec.kind = kind;
      check_merged(topology, spec);
    }
}

TEST_CASE("flow program: merging with process groups and weights of links") {
  for (const CollectiveKind kind : basic_collectives()) {
    CollectiveSpec spec;
    spec.kind = kind;
    spec.group = {NodeId{0}, NodeId{2}, NodeId{3}};
    check_merged(make_topology("ring:5"), spec);
    check_merged(make_topology("multi_rail:2x2"), spec);
    spec.group = {NodeId{1}, NodeId{4}, NodeId{7}};
    check_merged(make_topology("mesh2d:3x3"), spec);
  }
  // Weights that no symmetry of the network keeps: merging must not mix links with different ones.
  const Topology ring = make_topology("ring:6");
  Random random(7);
  for (const char* collective : {"all_gather", "all_to_all", "reduce"}) {
    CAPTURE(collective);
    const FlowProblem problem = problem_of(ring, collective, 36 * giga);
    std::vector<double> weights;
    for (std::uint32_t l = 0; l < ring.link_count(); ++l)
      weights.push_back(static_cast<double>(random.below(3)));
    check_merged(problem, weights);
  }
}

TEST_CASE("flow program: prices prove the optimum") {
  for (const Topology& topology : small_networks())
    for (const CollectiveKind kind : basic_collectives()) {
      CAPTURE(topology.name(), to_text(kind));
      CollectiveSpec spec;
      spec.kind = kind;
      const FlowProblem problem = problem_of(topology, spec, 8 * 9 * 25 * giga);
      const FlowProgramAnswer answer = solve(problem, true);
      REQUIRE(answer.prices.size() == problem.network.resource_count());
      double earned = 0;
      for (std::uint32_t r = 0; r < answer.prices.size(); ++r) {
        CHECK(answer.prices[r] >= 0);
        earned += answer.prices[r] * static_cast<double>(problem.network.resources[r].bandwidth);
      }
      CHECK(earned == Approx(1).epsilon(1e-9));
      // Strong duality: at these prices the cheapest paths cost what is earned in the least time.
      CHECK(price_bound(problem, answer.prices) == Approx(answer.seconds).epsilon(1e-6));
    }
}

TEST_CASE("flow program: no fluid schedule is better", "[slow]") {
  for (const Topology& topology : small_networks())
    for (const CollectiveKind kind : basic_collectives()) {
      CAPTURE(topology.name(), to_text(kind));
      CollectiveSpec spec;
      spec.kind = kind;
      const FlowProblem problem = problem_of(topology, spec, 8 * 9 * 25 * giga);
      FluidOptions options;
      options.weights = ones(problem);
      const FluidSolution fluid = fluid_optimum(problem, options, WorkLimit(no_limit));
      const FlowProgramAnswer answer = solve(problem, true, ones(problem));
      REQUIRE(fluid.status == Status::optimal);
      CHECK(answer.seconds == Approx(fluid.seconds).epsilon(1e-6));
      CHECK(answer.traffic <= fluid.traffic * (1 + 1e-6));
    }
}

TEST_CASE("flow program: refuses what is too large, stops when told, and needs nothing to do") {
  const Topology large = make_topology("torus2d:32x32"), ring = make_topology("ring:4");
  const FlowProblem too_large = problem_of(large, "all_gather", 1024 * giga);
  for (const bool merge : {false, true}) {
    const FlowProgramAnswer answer = solve(too_large, merge);
    CHECK(answer.too_large);
    CHECK(answer.status == SolverStatus::stopped);
    CHECK(answer.columns == 0);
  }
  const FlowProblem problem = problem_of(ring, "all_gather", 4 * giga);
  SynthesisOptions cancelled;
  cancelled.cancelled = [] { return true; };
  const FlowProgramAnswer stopped = solve_flow_program(problem, {}, WorkLimit(cancelled));
  CHECK(stopped.status == SolverStatus::stopped);
  CHECK_FALSE(stopped.too_large);
  FlowProblem idle = problem;
  idle.demands.clear();
  const FlowProgramAnswer nothing_to_do = solve(idle, true);
  CHECK(nothing_to_do.status == SolverStatus::optimal);
  CHECK(nothing_to_do.seconds == 0);
  // 1 > 2 isn't there: nothing of 1 reaches 2.
  const FlowProblem apart = problem_of(
      network({everything, everything, everything}, 3, {{0, 1}, {0, 2}}), "all_to_all", 9 * giga);
  CHECK(solve(apart, true).status == SolverStatus::infeasible);
}

} // namespace program_test
