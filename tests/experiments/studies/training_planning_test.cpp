#include "workloads/planning/planning.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/training_planning.hpp"
#include "tests/message_of.hpp"
#include "tests/one_in.hpp"
#include "tests/samples.hpp"
#include "tests/workloads/planning/workload_samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace training_planning_test {

using namespace tutti;
using testing::OneIn;
using namespace tutti::samples;

namespace {

PlanningOptions by(std::vector<std::string> names) {
  PlanningOptions options;
  options.algorithms = find_algorithms(names);
  return options;
}

bool is_correct(const Topology& topology, const Workload& workload,
                const CommunicationRequest& request, const PlacedPlan& placed) {
  const Verdict verdict = verify(topology, asked_for(topology, workload, request, placed),
                                 on_the_whole(topology, placed));
  return verdict.correct() && verdict.redundant == 0;
}

/// All plans of a workload, each correct on the whole network.
WorkloadPlanning sound(const Topology& topology, const Workload& workload,
                       const PlanningOptions& options) {
  WorkloadPlanning planning = planned(topology, workload, options);
  CHECK(planning.problem.empty());
  REQUIRE(planning.plans.requests == requests_of(workload));
  REQUIRE(planning.plans.plans.size() == planning.plans.requests.size());
  for (std::size_t i = 0; i < planning.plans.plans.size(); ++i)
    CHECK(is_correct(topology, workload, planning.plans.requests[i], planning.plans.plans[i]));
  return planning;
}

} // namespace

TEST_CASE("groups in different servers share a plan") {
  const Topology topology = make_topology("dgx_a100_rail:4");
  std::vector<Group> servers(4), rails(8);
  for (std::uint32_t npu = 0; npu < 32; ++npu) {
    servers[npu / 8].push_back(npu);
    rails[npu % 8].push_back(npu);
  }
  const Workload tensor =
      communicating(32, servers, {{CollectiveKind::all_gather, Bytes{1 << 20}}});
  const WorkloadPlanning in_servers = sound(topology, tensor, by({"tacos"}));
  REQUIRE(in_servers.communications.size() == 1);
  CHECK(in_servers.communications.front().requests == 4);
  CHECK(in_servers.communications.front().members == 8);
  for (const PlacedPlan& placed : in_servers.plans.plans)
    CHECK(placed.plan == in_servers.plans.plans.front().plan);
  CHECK(in_servers.plans.plans[0].links != in_servers.plans.plans[1].links);

  const Workload data = communicating(32, rails, {{CollectiveKind::all_reduce, Bytes{1 << 20}}});
  CHECK(sound(topology, data, by({"ring"})).communications.size() == 1);
}

TEST_CASE("groups without a part of their own share a plan where a torus looks the same") {
  const std::vector<Communication> all{{CollectiveKind::all_reduce, Bytes{64'000}},
                                       {CollectiveKind::broadcast, Bytes{64'000}, 1}};
  // Knights' moves: nobody is a neighbour. The third comes round both ends.
  const std::vector<Group> alike{{0, 6, 12}, {17, 23, 29}, {28, 34, 0}}, mirrored{{0, 4, 8}};
  const auto plans_on = [&](const Topology& topology, std::vector<Group> groups) {
    const Workload workload = communicating(topology.npu_count(), groups, all);
    return sound(topology, workload, by({"ring"})).communications.size();
  };
  const Topology torus = make_topology("torus2d:5x7");
  CHECK(plans_on(torus, alike) == 2);
  CHECK(plans_on(torus, {alike[0], {6, 0, 12}}) == 4); // ranks differ
  CHECK(plans_on(torus, {alike[0], mirrored[0]}) == 4);
  CHECK(plans_on(make_topology("mesh2d:5x7"), alike) == 6);
  TopologyParts parts = torus.parts();
  parts.links[40].latency.ps += 1;
  CHECK(plans_on(Topology(parts), alike) == 6);
  parts = torus.parts();
  parts.nodes[9].reduce_rate = bandwidth;
  CHECK(plans_on(Topology(parts), alike) == 6);
}

TEST_CASE("groups that differ in a latency, a rank or a shared group don't share a plan") {
  const auto plans_of = [](TopologyParts parts, const std::vector<Group>& groups) {
    const Topology topology(std::move(parts));
    const Workload workload =
        communicating(6, groups, {{CollectiveKind::all_gather, Bytes{3'000}}});
    return sound(topology, workload, by({"direct"})).communications.size();
  };
  const auto two_lines = [] {
    TopologyParts parts = npus("two lines", 6);
    for (const std::uint32_t first : {0U, 3U}) {
      parts.add_duplex(link(first, first + 1));
      parts.add_duplex(link(first + 1, first + 2));
    }
    return parts;
  };
  const std::vector<Group> lines{{0, 1, 2}, {3, 4, 5}};
  CHECK(plans_of(two_lines(), lines) == 1);
  CHECK(plans_of(two_lines(), {{0, 1, 2}, {4, 3, 5}}) == 2);
  TopologyParts farther = two_lines();
  farther.links[6].latency.ps += 1;
  CHECK(plans_of(farther, lines) == 2);
  TopologyParts shared = two_lines();
  shared.groups.push_back({"bus", {LinkId{4}, LinkId{5}}, bandwidth});
  CHECK(plans_of(shared, lines) == 2);
  TopologyParts reducing = two_lines();
  reducing.nodes[4].reduce_rate = bandwidth;
  CHECK(plans_of(reducing, lines) == 2);
}

namespace {

/// One in `step` of all combinations.
void check_plans(std::uint32_t step) {
  OneIn is_due(step);
  const std::vector<Communication> all{{CollectiveKind::all_reduce, Bytes{100'003}},
                                       {CollectiveKind::all_gather, Bytes{65'536}},
                                       {CollectiveKind::reduce_scatter, Bytes{65'536}},
                                       {CollectiveKind::broadcast, Bytes{9'999}, 2},
                                       {CollectiveKind::gather, Bytes{4'096}, 1},
                                       {CollectiveKind::all_to_all, Bytes{160'000}}};
  struct Sample {
    std::string topology;
    std::vector<Group> groups;
  };
  for (const Sample& sample : {Sample{"torus2d:4x4", {{0, 4, 8, 12}, {1, 3, 9, 11}, {15, 2, 5, 7}}},
                               Sample{"fat_tree:4", {{0, 1, 2, 3}, {0, 4, 8, 12}, {3, 7, 1, 5}}},
                               Sample{"rfs:2x4x2", {{0, 2, 4, 6}, {0, 1, 8, 9}, {7, 8, 2, 1}}},
                               Sample{"mesh2d:4x4", {{0, 5, 10, 15}, {0, 1, 2, 3}}}})
    for (const std::string algorithm : {"ring", "direct", "tacos"}) {
      if (!is_due()) continue;
      INFO(sample.topology << " " << algorithm);
      const Topology topology = make_topology(sample.topology);
      sound(topology, communicating(topology.npu_count(), sample.groups, all), by({algorithm}));
    }
}

} // namespace

TEST_CASE("plans are correct on the whole network, whatever the algorithm and network") {
  check_plans(2);
}

TEST_CASE("plans are correct on the whole network by every algorithm", "[slow]") { check_plans(1); }

TEST_CASE("strided groups on a torus get their ring") {
  const Topology topology = make_topology("torus2d:4x4");
  const Workload workload = communicating(16, {{0, 4, 8, 12}, {3, 7, 11, 15}},
                                          {{CollectiveKind::all_gather, Bytes{4'000'000}}});
  const WorkloadPlanning planning = sound(topology, workload, by({"ring_hamiltonian"}));
  CHECK(planning.communications.size() == 1);
  for (const PlacedPlan& placed : planning.plans.plans)
    for (const LinkId id : placed.links)
      CHECK(topology.link(id).from.value % 4 == topology.link(id).to.value % 4);
}

TEST_CASE("of several algorithms the fastest plans, by an independent evaluation") {
  const Topology topology = make_topology("torus2d:4x2");
  const std::vector<std::string> names{"ring", "direct", "rhd", "tacos"};
  for (const std::int64_t size : {std::int64_t{1'024}, std::int64_t{64'000'000}}) {
    std::string fastest;
    Time least{INT64_MAX};
    for (const std::string& name : names) {
      Case c;
      c.topology = &topology;
      c.collective = {{"all_reduce"}, Bytes{size}};
      c.algorithm = find_algorithm(name);
      c.engine = &find_engine("native");
      const Time needed = evaluate(c).replays.front().report.completion;
      if (needed < least) fastest = name;
      least = std::min(least, needed);
    }
    const Workload workload =
        communicating(8, {{0, 1, 2, 3, 4, 5, 6, 7}}, {{CollectiveKind::all_reduce, Bytes{size}}});
    PlanningOptions options = by(names);
    options.chunks = {1}; // as the case
    const WorkloadPlanning planning = sound(topology, workload, options);
    CHECK(planning.communications.front().algorithm == fastest);
    CHECK(planning.communications.front().alone == least);
    CHECK(planning.plans.plans.front().plan->algorithm == fastest);
  }
}

TEST_CASE("of algorithms that are as fast the first plans") {
  const Topology topology = samples::full(2);
  const Workload workload =
      communicating(2, {{0, 1}}, {{CollectiveKind::all_gather, Bytes{1'000'000}}});
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"direct", "rhd"}, std::vector<std::string>{"rhd", "direct"}})
    CHECK(sound(topology, workload, by(names)).communications.front().algorithm == names.front());
}

TEST_CASE("algorithms that can't are left out, and named where none can") {
  const Topology topology = samples::full(3);
  const Workload workload =
      communicating(3, {{0, 1, 2}}, {{CollectiveKind::all_reduce, Bytes{3'000}}});
  CHECK(sound(topology, workload, by({"rhd", "ring"})).communications.front().algorithm == "ring");

  const std::string message = message_of([&] {
    (void)planned(topology, workload, by({"rhd", "hierarchical"}));
  });
  CHECK_THAT(message, ContainsSubstring("rhd: ") && ContainsSubstring("hierarchical: ") &&
                          ContainsSubstring("all_reduce 3kB among NPUs 0-2"));
}

TEST_CASE("an algorithm that doesn't define a collective: another one can be named for it") {
  const Topology topology = samples::full(4);
  const Workload workload = communicating(
      4, {{0, 1, 2, 3}},
      {{CollectiveKind::all_reduce, Bytes{4'000}}, {CollectiveKind::all_to_all, Bytes{16'000}}});
  PlanningOptions options = by({"dbt"});
  CHECK_THAT(message_of([&] { (void)planned(topology, workload, options); }),
             ContainsSubstring("dbt doesn't define all_to_all") &&
                 ContainsSubstring("by_collective"));
  options.by_collective.emplace("all_to_all", find_algorithm("direct"));
  const WorkloadPlanning planning = sound(topology, workload, options);
  CHECK(planning.communications[0].algorithm == "direct"); // the larger one comes first
  CHECK(planning.communications[1].algorithm == "dbt");

  options.by_collective.emplace("all_to_some", find_algorithm("direct"));
  CHECK_THROWS_AS(planned(topology, workload, options), InputError);
}

TEST_CASE(
    "All-to-Alls send shares that differ where these are said, by the algorithm named for them") {
  const Topology topology = samples::full(4);
  const Workload workload =
      communicating(4, {{0, 1, 2, 3}}, {{CollectiveKind::all_to_all, Bytes{16'000'000}}});
  PlanningOptions options = by({"tacos"});
  options.by_collective.emplace("all_to_all", find_algorithm("direct"));
  const auto duration = [&] {
    const WorkloadPlanning planning = planned(topology, workload, options);
    CHECK(planning.problem.empty());
    CHECK(planning.communications[0].algorithm == "direct");
    return run_iteration_native(topology, workload, planning.plans).duration;
  };
  const Time equal = duration();
  options.shares = "all_to_all_v,zipf=0";
  const Time alike = duration();
  options.shares = "all_to_all_v,zipf=2";
  const Time unequal = duration();
  CHECK(4 * equal.ps > 3 * alike.ps * 99 / 100); // a member's own quarter isn't sent
  CHECK(unequal.ps > alike.ps * 2);              // one pair has more than half of a row's sum
}

TEST_CASE("unknown settings are refused, those of one algorithm don't disturb the others") {
  const Topology topology = samples::full(3);
  const Workload workload =
      communicating(3, {{0, 1, 2}}, {{CollectiveKind::all_gather, Bytes{3'000}}});
  PlanningOptions options = by({"ring", "tacos"});
  options.options.settings["starts"] = "2";
  CHECK_NOTHROW(planned(topology, workload, options));
  options.options.settings["stops"] = "2";
  CHECK_THROWS_AS(planned(topology, workload, options), InputError);
}

TEST_CASE("shards are cut as asked, as far as the buffer goes") {
  const Topology topology = samples::ring(4);
  const Workload workload = communicating(4, {{0, 1, 2, 3}},
                                          {{CollectiveKind::all_gather, Bytes{4'000}},
                                           {CollectiveKind::all_gather, Bytes{17}},
                                           {CollectiveKind::all_gather, Bytes{3}}});
  PlanningOptions options = by({"ring"}); // chunks come in pairs
  options.chunks = {3};
  const WorkloadPlanning planning = sound(topology, workload, options);
  const auto part = [&](std::size_t i) -> const CollectivePart& {
    return planning.plans.plans[i].plan->collective.parts.front();
  };
  CHECK(part(0).size == Bytes{8}); // 3 bytes can't make eight chunks
  CHECK(part(0).chunks_per_shard == 2);
  CHECK(part(1).size == Bytes{17}); // four chunks for each of four shards
  CHECK(part(1).chunks_per_shard == 4);
  CHECK(part(2).chunks_per_shard == 6);
  CHECK(planning.communications.back().size == Bytes{3});
}

TEST_CASE("of several numbers of chunks the fastest is taken") {
  const Topology topology = samples::ring(4);
  const Workload workload =
      communicating(4, {{0, 1, 2, 3}}, {{CollectiveKind::broadcast, Bytes{1'000'000}}});
  const auto alone = [&](std::vector<std::uint32_t> chunks) {
    PlanningOptions options = by({"ring"});
    options.chunks = std::move(chunks);
    return sound(topology, workload, options).communications.front().alone;
  };
  CHECK(alone({8}) < alone({1})); // a pipeline
  CHECK(alone({1, 8}) == alone({8}));
  CHECK(alone({8, 1}) == alone({8}));
  CHECK(alone({1, 2, 4, 8, 16}) <= alone({8}));
  CHECK(alone({}) <= alone({1})); // auto
}

TEST_CASE("algorithms that choose their chunks plan buffers of a few bytes, too") {
  const Topology topology = samples::ring(4);
  const Workload workload = communicating(
      4, {{0, 1, 2, 3}},
      {{CollectiveKind::all_gather, Bytes{1}}, {CollectiveKind::all_gather, Bytes{1 << 20}}});
  for (const std::string name : {"sccl", "flows"}) {
    INFO(name);
    const WorkloadPlanning planning = sound(topology, workload, by({name}));
    CHECK(planning.plans.plans[0].plan->collective.parts.front().chunks_per_shard == 1);
    CHECK(planning.plans.plans[0].plan->collective.size() == Bytes{4});
  }
}

TEST_CASE("what one NPU sends to another is a transfer over a switch") {
  const Topology topology = samples::star(4);
  const Workload workload = communicating(4, {{2, 1}},
                                          {{CollectiveKind::broadcast, Bytes{1'000'000}, 0},
                                           {CollectiveKind::broadcast, Bytes{1'000'000}, 1}});
  const WorkloadPlanning planning = sound(topology, workload, {}); // needs no algorithm
  REQUIRE(planning.communications.size() == 2);
  const Time sent{2 * alpha.ps + 20'000'000};
  for (const PlannedCommunication& send : planning.communications) {
    CHECK(send.is_send);
    CHECK(send.alone == sent);
  }
  for (const PlacedPlan& placed : planning.plans.plans) CHECK(placed.plan->schedule.size() == 1);
  const PlacedPlan& back = planning.plans.plans[1]; // from its second member, npu1
  CHECK(topology.link(back.links.front()).from == NodeId{1});
}

TEST_CASE("what passes nodes that store it goes in as many chunks as are fastest") {
  const Topology topology = samples::mesh(1, 4); // a line
  for (const std::int64_t size : {std::int64_t{64}, std::int64_t{640'000}}) {
    const Workload workload =
        communicating(4, {{0, 3}}, {{CollectiveKind::broadcast, Bytes{size}, 0}});
    const WorkloadPlanning planning = sound(topology, workload, {});
    std::int64_t least = INT64_MAX; // k chunks over 3 hops: 3 alpha, and k + 2 times one's bytes
    for (std::int64_t chunks_per_shard = 1; chunks_per_shard <= 64; chunks_per_shard *= 2)
      least =
          std::min(least, 3 * alpha.ps + (chunks_per_shard + 2) * (size / chunks_per_shard) * 20);
    CHECK(planning.communications.front().alone.ps == least);
  }
}

TEST_CASE("sends go by the routing that is asked for") {
  const Topology topology = samples::mesh(2, 2); // npu0 npu1 / npu2 npu3
  const Workload workload =
      communicating(4, {{0, 3}}, {{CollectiveKind::broadcast, Bytes{1'000}, 0}});
  PlanningOptions options;
  options.options.routing = Routing::dimension_order;
  const PlacedPlan by_dimension = sound(topology, workload, options).plans.plans.front();
  REQUIRE(by_dimension.links.size() == 2);
  CHECK(topology.link(by_dimension.links[0]).dimension == 0); // rows first
  CHECK(topology.link(by_dimension.links[1]).dimension == 1);
}

TEST_CASE("sends that look alike share a plan, wherever they are") {
  const Topology topology = make_topology("torus2d:8x8");
  std::vector<Group> pairs;
  for (std::uint32_t i = 0; i < 64; ++i) pairs.push_back({i, (i + 2 * 8) % 64}); // two rows on
  const Workload workload =
      communicating(64, pairs, {{CollectiveKind::broadcast, Bytes{1'000'000}, 0}});
  CHECK(sound(topology, workload, {}).communications.size() == 1);
}

TEST_CASE("planning twice gives the same") {
  const Topology topology = make_topology("torus2d:4x4");
  const Workload workload = communicating(16, {{0, 1, 2, 3}, {0, 5, 10, 15}},
                                          {{CollectiveKind::all_reduce, Bytes{1'000'000}}});
  const WorkloadPlanning a = sound(topology, workload, by({"tacos"}));
  const WorkloadPlanning b = sound(topology, workload, by({"tacos"}));
  for (std::size_t i = 0; i < a.plans.plans.size(); ++i) {
    CHECK(a.plans.plans[i].plan->schedule == b.plans.plans[i].plan->schedule);
    CHECK(a.plans.plans[i].links == b.plans.plans[i].links);
  }
}

TEST_CASE("a member that can't be reached is named") {
  const Topology topology = wired("islands", 4, {{0, 1}, {2, 3}});
  const Workload workload =
      communicating(4, {{0, 1, 2}}, {{CollectiveKind::all_reduce, Bytes{3'000}}});
  CHECK_THAT(message_of([&] { (void)planned(topology, workload, by({"ring"})); }),
             ContainsSubstring("can't get from npu2 to npu0"));
}

TEST_CASE("an iteration by the best of several algorithms is no slower than by any of them") {
  const std::vector<std::string> names{"ring", "direct", "tacos"};
  std::mt19937_64 random(GENERATE(4U, 5U));
  for (const std::string network :
       {"k_ary_tree:4x2,bandwidth=25GB/s,latency=500ns",
        "k_ary_tree:2x4,bandwidth=25GB/s,latency=500ns", "torus2d:4x4,bandwidth=10GB/s,latency=1us",
        "hypercube:4,bandwidth=50GB/s,latency=100ns"}) {
    INFO(network);
    const Topology topology = make_topology(network);
    // Neighbouring and strided groups at once, as tensor and data parallelism have them.
    const std::uint32_t npus = topology.npu_count();
    std::vector<Group> groups(npus / 2);
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      groups[npu / 4].push_back(npu);
      groups[npus / 4 + npu % (npus / 4)].push_back(npu);
    }
    std::vector<Communication> all;
    for (int i = 0; i < 3; ++i)
      all.push_back(
          {random() % 2 == 0 ? CollectiveKind::all_gather : CollectiveKind::reduce_scatter,
           Bytes{std::int64_t{1} << (12 + random() % 10)}});
    const Workload workload = communicating(npus, groups, all);
    const auto duration = [&](const std::vector<std::string>& algorithms) {
      PlanningOptions options;
      options.algorithms = find_algorithms(algorithms);
      return run_iteration_native(topology, workload, planned(topology, workload, options).plans)
          .duration;
    };
    const Time best = duration(names);
    for (const std::string& name : names) CHECK(best <= duration({name}));
  }
}

} // namespace training_planning_test
