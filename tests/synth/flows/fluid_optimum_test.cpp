// The optimum against closed forms, against the linear program over all flows, against packed trees
// and with and without symmetries; and every answer against the independent checker.
#include "sim/random.hpp"
#include "sim/work_limit.hpp"
#include "synth/bounds/demand.hpp"
#include "synth/bounds/flow_cuts.hpp"
#include "synth/bounds/price_bound.hpp"
#include "synth/flows/fluid/check.hpp"
#include "synth/flows/fluid/optimum.hpp"
#include "synth/flows/fluid/program.hpp"
#include "synth/flows/packing/packing.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/synth/flows/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace fluid_optimum_test {

namespace {

using namespace tutti;

constexpr std::int64_t shard = 1'000'000'000;

Collective collective_on(const Topology& topology, CollectiveKind kind,
                         std::vector<NodeId> group = {}) {
  const std::size_t members = group.empty() ? topology.npu_count() : group.size();
  const bool whole = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  return make_collective(topology,
                         {.kind = kind,
                          .size = Bytes{shard * static_cast<std::int64_t>(whole ? 1 : members)},
                          .group = std::move(group)});
}

/// Checked by the independent checker; bounded; within precision where it says so.
FluidSolution optimum(const FlowProblem& problem, FluidOptions options = {}) {
  const SynthesisOptions no_limit;
  FluidSolution solution = fluid_optimum(problem, options, WorkLimit(no_limit));
  const FluidVerdict verdict = check_fluid(problem, expanded(problem, solution), options.weights);
  INFO(verdict.fault);
  REQUIRE(verdict.fault.empty());
  CHECK(verdict.seconds == Approx(solution.seconds).epsilon(1e-12));
  CHECK(solution.bound_seconds <= solution.seconds);
  if (solution.status == Status::optimal)
    CHECK(verdict.seconds <= solution.bound_seconds * (1 + 1e-9));
  if (!options.weights.empty()) CHECK(verdict.traffic == Approx(solution.traffic).epsilon(1e-9));
  return solution;
}

double seconds_of(const Topology& topology, CollectiveKind kind) {
  const FluidSolution solution = optimum(flow_problem(topology, collective_on(topology, kind)));
  CHECK(solution.status == Status::optimal);
  return solution.seconds;
}

/// NPUs and switches, strongly connected, some links in shared groups, some memories.
Topology random_network(Random& random, bool groups, bool memories) {
  const auto npus = static_cast<std::uint32_t>(3 + random.below(3));
  TopologyParts parts = samples::npus("random", npus);
  const std::uint64_t others = random.below(3);
  for (std::uint64_t s = 0; s < others; ++s) {
    const bool memory = memories && random.below(2) == 0;
    parts.add_node({"x" + std::to_string(s),
                    memory ? NodeKind::memory : NodeKind::switching,
                    memory ? Abilities{true, true, false} : Abilities{false, false, false},
                    {}});
  }
  const auto nodes = static_cast<std::uint32_t>(parts.nodes.size());
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    const auto rate = static_cast<std::int64_t>((1 + random.below(4)) * 10'000'000'000);
    parts.add_link({NodeId{a}, NodeId{b}, samples::alpha, Bandwidth{rate}});
  };
  for (std::uint32_t v = 0; v < nodes; ++v) join(v, (v + 1) % nodes); // a cycle through all
  const std::uint64_t more = 1 + random.below(2 * nodes);
  for (std::uint64_t i = 0; i < more; ++i) {
    const auto a = static_cast<std::uint32_t>(random.below(nodes));
    const auto b = static_cast<std::uint32_t>((a + 1 + random.below(nodes - 1)) % nodes);
    join(a, b);
  }
  if (groups) {
    std::vector<LinkId> some;
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (random.below(3) == 0) some.emplace_back(l);
    if (some.size() > 1) parts.groups.push_back({"bus", some, Bandwidth{30'000'000'000}});
  }
  return Topology(std::move(parts));
}

double cut_bound(const Topology& topology, const Collective& collective,
                 const FlowProblem& problem) {
  double best = 0;
  for (const auto& inside :
       bounds::flow_cuts(topology, collective, bounds::chunk_classes(collective)).sets)
    best = std::max(best, cut_seconds(problem, inside));
  return best;
}

constexpr double rate = 50e9; // of samples

} // namespace

TEST_CASE("fluid optimum: closed forms on rings, stars, full graphs and tori") {
  // shards of 1 GB over links of 50 GB/s
  const double step = shard / rate;
  CHECK(seconds_of(samples::ring(6), CollectiveKind::all_gather) == Approx(5 * step / 2));
  CHECK(seconds_of(samples::ring(5, true), CollectiveKind::reduce_scatter) == Approx(4 * step));
  CHECK(seconds_of(samples::full(5), CollectiveKind::all_gather) == Approx(step));
  CHECK(seconds_of(samples::star(5), CollectiveKind::all_gather) == Approx(4 * step));
  // a root sends over all its links, everyone else passes on
  CHECK(seconds_of(samples::full(5), CollectiveKind::broadcast) == Approx(step / 4));
  CHECK(seconds_of(samples::full(5), CollectiveKind::reduce) == Approx(step / 4));
  CHECK(seconds_of(samples::full(5), CollectiveKind::scatter) == Approx(step));
  CHECK(seconds_of(samples::star(5), CollectiveKind::gather) == Approx(4 * step));
  // a shard for each pair: of each rank 1 + 1 + 2 + 2 + 3 hops, over two links for each rank
  CHECK(seconds_of(samples::ring(6), CollectiveKind::all_to_all) == Approx(9 * step / 2));
  CHECK(seconds_of(make_topology("torus2d:4x4,bandwidth=50GB/s"), CollectiveKind::all_gather) ==
        Approx(15 * step / 4));
  // 2 (n - 1) shards into n NPUs with two links in each
  CHECK(seconds_of(samples::ring(6), CollectiveKind::all_reduce) == Approx(2 * 5 * step / 2));
}

TEST_CASE("fluid optimum: the DGX A100 of the dissertation") {
  const std::vector<std::pair<std::uint32_t, double>> all_links{
      {1, 7.0 / 332}, {2, 15.0 / 332}, {4, 3.0 / 25}};
  for (const auto& [servers, expected] : all_links) {
    const Topology topology = samples::dgx_a100(servers, samples::DgxLinks::both);
    CHECK(seconds_of(topology, CollectiveKind::all_gather) == Approx(expected).epsilon(1e-9));
  }
  for (const std::uint32_t servers : {1U, 2U, 4U}) {
    // without NVLink everything enters a GPU by 32 GB/s; Table 6.4's objective is N (120 N - 28)
    const Topology topology = samples::dgx_a100(servers, samples::DgxLinks::pcie);
    FluidOptions options;
    options.weights = samples::dgx_a100_weights(topology);
    const FlowProblem problem =
        flow_problem(topology, collective_on(topology, CollectiveKind::all_gather));
    const FluidSolution solution = optimum(problem, options);
    CHECK(solution.seconds == Approx((8.0 * servers - 1) / 32).epsilon(1e-9));
    CHECK(solution.traffic / shard == Approx(servers * (120.0 * servers - 28)).epsilon(1e-7));
  }
}

TEST_CASE("fluid optimum: on random networks what cuts, programs and packed trees say", "[heavy]") {
  Random random(5);
  const SynthesisOptions no_limit;
  const WorkLimit limit(no_limit);
  int packed = 0, exact = 0, halves_above = 0;
  for (int i = 0; i < 60; ++i) {
    const Topology topology = random_network(random, false, false);
    for (const CollectiveKind kind : basic_collectives()) {
      INFO("case " << i << ", " << to_text(kind));
      const Collective collective = collective_on(topology, kind);
      const FlowProblem problem = flow_problem(topology, collective);
      const FluidSolution solution = optimum(problem);
      FlowProgramOptions whole;
      whole.merge = false;
      const FlowProgramAnswer program = solve_flow_program(problem, whole, limit);
      REQUIRE(program.status == SolverStatus::optimal);
      CHECK(program.seconds <= solution.seconds * (1 + 1e-7)); // a relaxation
      CHECK(price_bound(problem, program.prices) <= solution.seconds);
      const bool paths = problem.demands.front().kind == FlowKind::paths;
      if (paths) { // then it is none
        CHECK(solution.status == Status::optimal);
        CHECK(program.seconds == Approx(solution.seconds).epsilon(1e-7));
      }
      // Edmonds 1973: trees to all nodes that copy can be packed as tightly as cuts allow
      const bool only_npus = topology.node_count() == topology.npu_count();
      if (only_npus && !paths && kind != CollectiveKind::all_reduce) {
        CHECK(solution.seconds == Approx(cut_bound(topology, collective, problem)).epsilon(1e-7));
        ++exact;
      }
      const TreePacking packing = pack_trees(problem, limit);
      if (packing.obstacle.empty() && packing.solution.status == Status::optimal) {
        CHECK(packing.solution.seconds == Approx(solution.seconds).epsilon(1e-7));
        ++packed;
      }
      if (packing.obstacle.empty() && kind == CollectiveKind::all_reduce) { // two optimal halves
        CHECK(packing.solution.seconds >= solution.bound_seconds * (1 - 1e-9));
        if (packing.solution.seconds > solution.seconds * (1 + 1e-6)) ++halves_above;
      }
    }
  }
  CHECK(packed > 20);
  CHECK(halves_above > 0); // so it is no optimum, and README says so
  CHECK(exact > 20);
}

TEST_CASE("fluid optimum: shared groups, memories and process groups are honoured", "[heavy]") {
  Random random(9);
  const SynthesisOptions no_limit;
  int optimal = 0, all = 0;
  for (int i = 0; i < 60; ++i) {
    const Topology topology = random_network(random, true, true);
    for (const CollectiveKind kind : basic_collectives()) {
      std::vector<NodeId> group;
      if (i % 2 == 0)
        for (std::uint32_t v = 0; v + 1 < topology.npu_count(); ++v) group.emplace_back(v);
      INFO("case " << i << ", " << to_text(kind));
      const FlowProblem problem = flow_problem(topology, collective_on(topology, kind, group));
      const FluidSolution solution = optimum(problem);
      FlowProgramOptions whole;
      whole.merge = false;
      const FlowProgramAnswer program = solve_flow_program(problem, whole, WorkLimit(no_limit));
      REQUIRE(program.status == SolverStatus::optimal);
      CHECK(program.seconds <= solution.seconds * (1 + 1e-7));
      CHECK(solution.seconds <= program.seconds * 1.25); // it doesn't give up early either
      CHECK(price_bound(problem, program.prices) <= solution.seconds);
      ++all;
      optimal += solution.status == Status::optimal ? 1 : 0;
    }
  }
  CHECK(10 * optimal > 8 * all);
}

TEST_CASE("fluid optimum: symmetries change nothing but the work", "[heavy]") {
  for (const char* name : {"torus2d:3x4", "hypercube:3", "mesh2d:4x4", "multi_rail:4x3",
                           "dgx_a100_rail:2", "rfs:2x2x2", "switch:6"}) {
    const Topology topology = make_topology(name);
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
      INFO(name << ", " << to_text(kind));
      const FlowProblem problem = flow_problem(topology, collective_on(topology, kind));
      FluidOptions options;
      options.weights.assign(topology.link_count(), 1);
      const FluidSolution mirrored = optimum(problem, options);
      options.mirrored = false;
      const FluidSolution plain = optimum(problem, options);
      CHECK(mirrored.symmetry.size() > 1);
      CHECK(plain.symmetry.size() <= 1);
      CHECK(mirrored.seconds == Approx(plain.seconds).epsilon(1e-8));
    }
  }
}

TEST_CASE("fluid optimum: traffic that counts at one node only isn't mirrored to others") {
  // mirrored four times, its links would stand for all
  const Topology topology = samples::ring(4);
  const FlowProblem problem =
      flow_problem(topology, collective_on(topology, CollectiveKind::all_gather));
  FluidOptions options;
  for (const Link& link : topology.links())
    options.weights.push_back(link.from.value == 0 || link.to.value == 0 ? 1 : 0);
  const FluidSolution mirrored = optimum(problem, options);
  options.mirrored = false;
  const FluidSolution plain = optimum(problem, options);
  CHECK(mirrored.seconds == Approx(plain.seconds));
  CHECK(mirrored.traffic == Approx(plain.traffic).epsilon(1e-7));
}

TEST_CASE("fluid optimum: several collectives share the network") {
  // two Broadcasts along a line, from both ends: each has the links of its direction for itself;
  // two from the same end share them
  const Topology topology(samples::mesh_parts(1, 4));
  const auto broadcast = [&](std::uint32_t root) {
    return make_collective(
        topology,
        {.kind = CollectiveKind::broadcast, .size = Bytes{shard}, .group = {}, .root = root});
  };
  const auto together = [&](std::uint32_t a, std::uint32_t b) {
    return flow_problem(topology, merge(std::vector<Collective>{broadcast(a), broadcast(b)}));
  };
  CHECK(optimum(together(0, 3)).seconds == Approx(shard / rate));
  CHECK(optimum(together(0, 0)).seconds == Approx(2 * shard / rate));
}

TEST_CASE("fluid optimum: an amount of work leaves the best so far, the same each time") {
  for (const char* network : {"torus2d:4x4,without-link=npu0>npu1", "random:10,degree=3,seed=4"})
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all,
                                      CollectiveKind::all_reduce, CollectiveKind::reduce_scatter}) {
      const Topology topology = make_topology(network);
      const FlowProblem problem = flow_problem(topology, collective_on(topology, kind));
      FluidOptions options;
      options.weights.assign(topology.link_count(), 1);
      const FluidSolution whole = optimum(problem, options);
      CHECK_FALSE(whole.is_cut_short);
      double before = std::numeric_limits<double>::infinity();
      for (const std::uint64_t work : {0U, 30'000U, 300'000U, 3'000'000U}) {
        INFO(network << ' ' << to_text(kind) << ' ' << work);
        options.most_work = work;
        const FluidSolution some = optimum(problem, options);
        if (work == 0) CHECK(some.is_cut_short);
        if (some.seconds > whole.seconds * (1 + 1e-8)) CHECK(some.is_cut_short);
        REQUIRE_FALSE(some.trees.empty());
        const FluidVerdict verdict = check_fluid(problem, expanded(problem, some));
        CHECK(verdict.fault.empty());
        CHECK(verdict.seconds == Approx(some.seconds));
        CHECK(some.seconds >= whole.seconds * (1 - 1e-8));
        CHECK(some.seconds <= before * (1 + 1e-8));
        CHECK(some.bound_seconds <= whole.seconds * (1 + 1e-8));
        CHECK(some.status != Status::timed_out);
        CHECK(optimum(problem, options).seconds == some.seconds);
        before = some.seconds;
      }
    }
}

TEST_CASE("fluid optimum: a limit leaves what there is, with its bound") {
  const Topology topology = make_topology("torus2d:6x6");
  const FlowProblem problem =
      flow_problem(topology, collective_on(topology, CollectiveKind::all_gather));
  for (const int after : {0, 1, 10, 100, 300, 1000}) {
    SynthesisOptions options;
    int asked = 0;
    options.cancelled = [&] { return ++asked > after; };
    FluidOptions unmirrored;
    unmirrored.mirrored = false;
    const FluidSolution solution = fluid_optimum(problem, unmirrored, WorkLimit(options));
    INFO("after " << after);
    CHECK(solution.bound_seconds <= 35 * shard / (4 * rate) * (1 + 1e-9));
    if (solution.trees.empty()) {
      CHECK(solution.status == Status::timed_out);
      continue;
    }
    const FluidVerdict verdict = check_fluid(problem, expanded(problem, solution));
    CHECK(verdict.fault.empty());
    if (solution.status == Status::optimal)
      CHECK(verdict.seconds <= solution.bound_seconds * (1 + 1e-9));
  }
}

} // namespace fluid_optimum_test
