#include "synth/flows/rounding/fluid_steps.hpp"

#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "synth/flows/fluid/check.hpp"
#include "synth/flows/fluid/optimum.hpp"
#include "tests/catch.hpp"
#include "tests/synth/flows/fluid_samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace fluid_steps_test {

using namespace tutti;
using samples::FluidSample;

namespace {

constexpr std::int64_t gigabyte = 1'000'000'000;

Schedule steps_of(const FluidSample& sample) {
  return stepped(sample.topology, sample.collective, sample.problem, sample.trees);
}

double seconds(const FluidSample& sample, const Schedule& schedule) {
  return static_cast<double>(
             run_native(sample.topology, sample.collective, schedule, {}).completion.ps) *
         1e-12;
}

double fluid_seconds(const FluidSample& sample) {
  return check_fluid(sample.problem, sample.trees).seconds;
}

/// What the fullest link needs for all that crosses it.
double fullest_link(const FluidSample& sample, const Schedule& schedule) {
  std::vector<double> busy(sample.topology.link_count());
  for (std::size_t i = 0; i < schedule.size(); ++i)
    for (const LinkId link : schedule.paths().links(schedule.path_of(i)))
      busy[link.value] +=
          static_cast<double>(sample.collective.chunks[schedule[i].chunk.value].size.count) /
          static_cast<double>(sample.topology.link(link).bandwidth.bytes_per_second);
  return std::ranges::max(busy);
}

void check_correct(const FluidSample& sample, const Schedule& schedule) {
  const Verdict verdict = verify(sample.topology, sample.collective, schedule);
  INFO((verdict.fault ? verdict.fault->text : ""));
  CHECK(verdict.correct());
  CHECK(verdict.redundant == 0);
}

struct Named {
  std::string name;
  FluidSample sample;
  double seconds; // of the fluid schedule, by hand
};

/// 1 GB per NPU. A byte needs 20 ps, a GB 0.02 s.
std::vector<Named> all_samples(std::uint32_t chunks_per_shard) {
  using enum CollectiveKind;
  constexpr double per_gb = 0.02;
  std::vector<Named> made;
  const auto add = [&](std::string name, FluidSample sample, double gb_over_a_link) {
    made.push_back({std::move(name), std::move(sample), gb_over_a_link * per_gb});
  };
  // A node of degree d gets (n - 1) / n of the buffer over d links.
  add("ring gathers", samples::on_ring(8, all_gather, gigabyte, chunks_per_shard), 7. / 8 / 2);
  add("odd ring scatters", samples::on_ring(7, reduce_scatter, gigabyte, chunks_per_shard),
      6. / 7 / 2);
  add("ring reduces", samples::on_ring(6, all_reduce, gigabyte, chunks_per_shard), 2 * 5. / 6 / 2);
  add("torus gathers", samples::on_torus(4, all_gather, gigabyte, chunks_per_shard), 15. / 16 / 4);
  add("torus scatters", samples::on_torus(4, reduce_scatter, gigabyte, chunks_per_shard),
      15. / 16 / 4);
  add("torus reduces", samples::on_torus(4, all_reduce, gigabyte, chunks_per_shard),
      2 * 15. / 16 / 4);
  add("odd torus gathers", samples::on_torus(5, all_gather, gigabyte, chunks_per_shard),
      24. / 25 / 4);
  add("star gathers", samples::on_star(8, all_gather, gigabyte, chunks_per_shard), 7. / 8);
  add("star scatters", samples::on_star(8, reduce_scatter, gigabyte, chunks_per_shard), 7. / 8);
  add("star reduces", samples::on_star(8, all_reduce, gigabyte, chunks_per_shard), 2 * 7. / 8);
  add("star exchanges", samples::on_star(8, all_to_all, gigabyte, chunks_per_shard), 7. / 8);
  // Distances 1, 2, 3 each way and 4 half each way, an 8th of a buffer of 1 GB each.
  add("ring exchanges", samples::exchange_on_ring(8, gigabyte, chunks_per_shard),
      (1 + 2 + 3 + 2) / 8.);
  add("memory copies", samples::through_memory(4, gigabyte, chunks_per_shard), 3. / 4);
  return made;
}

} // namespace

TEST_CASE("the fluid samples are what they should be") {
  for (const Named& named : all_samples(1)) {
    INFO(named.name);
    const FluidVerdict verdict = check_fluid(named.sample.problem, named.sample.trees);
    CHECK(verdict.fault == "");
    CHECK(verdict.seconds == Approx(named.seconds));
  }
}

TEST_CASE("steps are correct for any number of chunks and add nothing to what links carry") {
  for (const std::uint32_t chunks_per_shard : {1U, 2U, 3U, 5U, 8U})
    for (const Named& named : all_samples(chunks_per_shard)) {
      INFO(named.name << ", " << chunks_per_shard << " chunks per shard");
      const Schedule schedule = steps_of(named.sample);
      check_correct(named.sample, schedule);
      CHECK(schedule == steps_of(named.sample));
      // Four trees at most, so that 8 chunks can follow their shares to the byte that shards of a
      // buffer differ by.
      if (chunks_per_shard == 8)
        CHECK(fullest_link(named.sample, schedule) < named.seconds * (1 + 1e-6));
    }
}

TEST_CASE("few chunks take different paths") {
  using enum CollectiveKind;
  const auto fullest = [](const FluidSample& sample) {
    return fullest_link(sample, steps_of(sample)) / fluid_seconds(sample);
  };
  // One chunk each: of eight sources four go each way around, each over 7 of 8 links; some link
  // has four of them, where 3.5 is the average.
  CHECK(fullest(samples::on_ring(8, all_gather, gigabyte, 1)) < 4 / 3.5 + 1e-6);
  CHECK(fullest(samples::on_ring(8, all_gather, gigabyte, 3)) < 11 / 10.5 + 1e-6);
  CHECK(fullest(samples::on_ring(7, reduce_scatter, gigabyte, 1)) < 4 / 3. + 1e-6);
  // 16 chunks cross 15 links each, of 64: 3.75 a link, so 4 at best; cut in 3: 11.25, so 12.
  CHECK(fullest(samples::on_torus(4, all_gather, gigabyte, 1)) < 4 / 3.75 + 1e-6);
  CHECK(fullest(samples::on_torus(4, reduce_scatter, gigabyte, 3)) < 12 / 11.25 + 1e-6);
  CHECK(fullest(samples::on_torus(4, all_reduce, gigabyte, 1)) < 8 / 7.5 + 1e-6);
}

TEST_CASE("with many chunks steps take hardly longer than the fluid schedule") {
  for (const Named& named : all_samples(64)) {
    INFO(named.name);
    CHECK(seconds(named.sample, steps_of(named.sample)) < 1.05 * named.seconds);
    const PlannedSteps listed = planned_steps(named.sample.topology, named.sample.collective,
                                              named.sample.problem, named.sample.trees, {});
    check_correct(named.sample, listed.schedule);
    const double replayed = seconds(named.sample, listed.schedule);
    CHECK(replayed < 1.02 * named.seconds);
    REQUIRE(listed.planned);
    CHECK(static_cast<double>(listed.planned->ps) / ps_per_s == Approx(replayed).epsilon(0.01));
  }
}

TEST_CASE("along a line chunks follow each other without a gap") {
  for (const std::uint32_t chunks_per_shard : {1U, 2U, 7U, 64U}) {
    constexpr std::int64_t bytes = 64 * 7 * 1'000'000;
    const FluidSample line = samples::on_line(8, bytes, chunks_per_shard);
    const std::int64_t step = bytes / chunks_per_shard * 20; // ps for a chunk
    const Schedule schedule = steps_of(line);
    check_correct(line, schedule);
    CHECK(run_native(line.topology, line.collective, schedule, {}).completion.ps ==
          (chunks_per_shard + 8 - 2) * step + 7 * samples::alpha.ps);
  }
}

TEST_CASE("chunks are divided among trees by share, one way after another") {
  FluidSample sample(
      samples::ring(4),
      samples::collective_on(samples::ring(4), CollectiveKind::broadcast, gigabyte, 10));
  sample.add(FlowKind::spread, 0, 0.7, samples::around(4, 0, 1));
  sample.add(FlowKind::spread, 0, 0.3, samples::around(4, 0, 3));
  const Schedule schedule = steps_of(sample);
  check_correct(sample, schedule);
  std::vector<std::uint32_t> out_of_root; // links, by chunk
  for (std::size_t i = 0; i < schedule.size(); ++i)
    if (const auto link = schedule.paths().first(schedule.path_of(i));
        sample.topology.link(link).from == NodeId{0})
      out_of_root.push_back(link.value);
  REQUIRE(out_of_root.size() == 10);
  CHECK(std::ranges::count(out_of_root, 0) == 7);
  for (std::size_t k = 1; k <= 10; ++k) {
    const auto right =
        std::count(out_of_root.begin(), out_of_root.begin() + static_cast<std::ptrdiff_t>(k), 0);
    CHECK(std::abs(static_cast<double>(right) - 0.7 * static_cast<double>(k)) <= 1);
  }
}

TEST_CASE("in All-Reduce shard i comes together at member i and spreads from there") {
  for (const FluidSample& sample :
       {samples::on_ring(6, CollectiveKind::all_reduce, gigabyte, 3),
        samples::on_torus(3, CollectiveKind::all_reduce, gigabyte, 2)}) {
    const Schedule schedule = steps_of(sample);
    const CollectivePart& part = sample.collective.parts.front();
    std::vector<bool> spreads(sample.collective.chunks.size());
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      const Transfer transfer = schedule[i];
      if (transfer.op == Op::reduce) {
        CHECK(!spreads[transfer.chunk.value]);
      } else if (!spreads[transfer.chunk.value]) {
        spreads[transfer.chunk.value] = true;
        CHECK(sample.topology.link(schedule.paths().first(transfer.path)).from ==
              part.group[transfer.chunk.value / part.chunks_per_shard]);
      }
    }
    CHECK(std::ranges::count(spreads, true) == static_cast<std::ptrdiff_t>(spreads.size()));
  }
}

TEST_CASE("a chunk spreads while others still come together") {
  const FluidSample sample = samples::on_ring(6, CollectiveKind::all_reduce, gigabyte, 64);
  const Schedule schedule = steps_of(sample);
  std::size_t first_copy = schedule.size(), last_reduce = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    if (schedule[i].op == Op::reduce)
      last_reduce = i;
    else
      first_copy = std::min(first_copy, i);
  CHECK(first_copy < schedule.size() / 8);
  CHECK(last_reduce > schedule.size() * 7 / 8);
}

TEST_CASE("few chunks fill the links both while they come together and while they spread") {
  // Trees that are even only in both phases together would need 1.6 times the fluid's time.
  const FluidSample sample = samples::on_torus(4, CollectiveKind::all_reduce, 16 * gigabyte, 2);
  CHECK(seconds(sample, steps_of(sample)) < 1.25 * fluid_seconds(sample));
}

TEST_CASE("All-Reduce over few roots divides its chunks among them") {
  // Both trees at npu0: shards have no trees of their own.
  FluidSample sample(
      samples::ring(4),
      samples::collective_on(samples::ring(4), CollectiveKind::all_reduce, gigabyte, 1));
  for (const std::uint32_t step : {1U, 3U}) {
    const auto out = samples::around(4, 0, step);
    sample.add(FlowKind::both, 0, 0.5, samples::joined(samples::inverted_walks(out), out),
               out.size());
  }
  const Schedule schedule = steps_of(sample);
  check_correct(sample, schedule);
  CHECK(fullest_link(sample, schedule) == Approx(fluid_seconds(sample)));
}

TEST_CASE("several collectives at once, cut differently, share the time") {
  // Gathering around a ring one way, scattering the other path: neither is in the other's path.
  const Topology ring = samples::ring(6);
  const std::vector<Collective> both{
      samples::collective_on(ring, CollectiveKind::all_gather, gigabyte, 64),
      samples::collective_on(ring, CollectiveKind::reduce_scatter, gigabyte, 48),
      samples::collective_on(ring, CollectiveKind::all_gather, gigabyte, 16)};
  FluidSample sample(ring, merge(both));
  for (std::uint32_t d = 0; d < sample.problem.demands.size(); ++d) {
    const bool combines = sample.problem.demands[d].kind == FlowKind::combine;
    const std::uint32_t node = combines ? sample.problem.sinks(sample.problem.demands[d]).front()
                                        : sample.problem.sources(sample.problem.demands[d]).front();
    for (const std::uint32_t step : {1U, 5U}) {
      const auto out = samples::around(6, node, step);
      FlowTree tree = samples::tree_of_walks(ring, combines ? samples::inverted_walks(out) : out,
                                             node, combines ? out.size() : 0);
      tree.demand = d;
      tree.share = 0.5;
      sample.trees.push_back(tree);
    }
  }
  const FluidVerdict verdict = check_fluid(sample.problem, sample.trees);
  CHECK(verdict.fault == "");
  CHECK(verdict.seconds == Approx(3 * 5. / 6 / 2 * 0.02));
  const Schedule schedule = steps_of(sample);
  check_correct(sample, schedule);
  // Theorem 4 for the coarsest: 16 chunks, paths of 5 links.
  CHECK(seconds(sample, schedule) < (16 + 5 - 1) / 16. * verdict.seconds);
  const Schedule listed =
      planned_steps(ring, sample.collective, sample.problem, sample.trees, {}).schedule;
  check_correct(sample, listed);
  CHECK(seconds(sample, listed) < 1.01 * verdict.seconds);
}

TEST_CASE("shards that differ by a byte, and groups that others relay for") {
  const FluidSample uneven = samples::on_ring(7, CollectiveKind::all_gather, 1'000'003, 3);
  check_correct(uneven, steps_of(uneven));

  const Topology line = samples::mesh(1, 5);
  FluidSample group(line, samples::collective_on(line, CollectiveKind::all_gather, gigabyte, 2,
                                                 {NodeId{0}, NodeId{2}, NodeId{4}}));
  group.add(FlowKind::spread, 0, 1, {{0, 1}, {1, 2}, {2, 3, 4}});
  group.add(FlowKind::spread, 2, 1, {{2, 1, 0}, {2, 3}, {3, 4}});
  group.add(FlowKind::spread, 4, 1, {{4, 3, 2, 1, 0}, {4, 3, 2}});
  CHECK(check_fluid(group.problem, group.trees).fault == "");
  check_correct(group, steps_of(group));
}

TEST_CASE("a relay without a contribution takes the first one and reduces the next") {
  const Topology line = samples::mesh(1, 4);
  CustomCollectiveBuilder builder(line);
  const SetId held = builder.add_set({NodeId{0}, NodeId{2}});
  const SetId wanted = builder.add_set({NodeId{3}});
  builder.add_chunk({Bytes{1'000}, held, wanted, true});
  FluidSample sample(line, builder.build());
  sample.add(FlowKind::combine, 3, 1, {{0, 1}, {2, 1}, {1, 2, 3}}, 3);
  CHECK(check_fluid(sample.problem, sample.trees).fault == "");
  const Schedule schedule = steps_of(sample);
  check_correct(sample, schedule);
  REQUIRE(schedule.size() == 3);
  CHECK(schedule[0].op == Op::copy);
  CHECK(schedule[1].op == Op::reduce);
  CHECK(schedule[2].op == Op::copy);
}

TEST_CASE("chunks of one demand may differ in size") {
  const Topology ring = samples::ring(4);
  CustomCollectiveBuilder builder(ring);
  const SetId held = builder.add_set({NodeId{0}});
  const SetId wanted = builder.add_set({NodeId{1}, NodeId{2}, NodeId{3}});
  for (const std::int64_t size : {10, 70, 20, 60, 30, 50, 40})
    builder.add_chunk({Bytes{size * 1'000'000}, held, wanted, false});
  FluidSample sample(ring, builder.build());
  for (const std::uint32_t step : {1U, 3U})
    sample.add(FlowKind::spread, 0, 0.5, samples::around(4, 0, step));
  const Schedule schedule = steps_of(sample);
  check_correct(sample, schedule);
  CHECK(fullest_link(sample, schedule) == Approx(0.14 * 0.02)); // 280 MB in two halves
}

TEST_CASE("whatever is a fluid schedule becomes a correct one by steps") {
  Random random(11);
  std::size_t made = 0;
  for (int round = 0; round < 20'000; ++round) {
    const FluidSample sample =
        samples::random_tree(random, 1 + static_cast<std::uint32_t>(random.below(3)));
    if (!check_fluid(sample.problem, sample.trees).fault.empty()) continue;
    check_correct(sample, steps_of(sample));
    ++made;
  }
  CHECK(made > 1'000);
}

TEST_CASE("what a switch copies on the way is listed by step under every model") {
  constexpr std::uint32_t n = 4;
  TopologyParts parts = samples::npus("multicast", n);
  const NodeId hub = parts.add_node({"hub", NodeKind::switching, {false, true, false}, {}});
  for (std::uint32_t i = 0; i < n; ++i) parts.add_duplex(samples::link(i, hub.value));
  const Topology topology(std::move(parts));
  FluidSample sample(topology,
                     samples::collective_on(topology, CollectiveKind::all_gather, gigabyte, 64));
  for (std::uint32_t i = 0; i < n; ++i) {
    std::vector<samples::Walk> walks{{i, n}};
    for (std::uint32_t to = 0; to < n; ++to)
      if (to != i) walks.push_back({n, to});
    sample.add(FlowKind::spread, i, 1, walks);
  }
  const double fluid = fluid_seconds(sample);
  CHECK(fluid == Approx(3. / 4 * 0.02));
  const Schedule schedule = steps_of(sample);
  check_correct(sample, schedule);
  CHECK(schedule ==
        planned_steps(topology, sample.collective, sample.problem, sample.trees, {}).schedule);
  CHECK(seconds(sample, schedule) < 1.05 * fluid);

  const FluidSample ring = samples::on_ring(4, CollectiveKind::all_gather, gigabyte, 3);
  TimeModel shared;
  shared.discipline = Discipline::fluid;
  CHECK(steps_of(ring) ==
        planned_steps(ring.topology, ring.collective, ring.problem, ring.trees, shared).schedule);
}

TEST_CASE("links that share a bandwidth take turns") {
  // Both directions of every link of a ring together carry what one does alone.
  TopologyParts parts = samples::ring(6).parts();
  for (std::uint32_t i = 0; i < 6; ++i)
    parts.groups.push_back(
        {"bus" + std::to_string(i), {LinkId{i}, LinkId{6 + i}}, samples::bandwidth});
  const Topology topology(std::move(parts));
  FluidSample sample(topology,
                     samples::collective_on(topology, CollectiveKind::all_gather, gigabyte, 64));
  for (std::uint32_t i = 0; i < 6; ++i)
    for (const std::uint32_t step : {1U, 5U})
      sample.add(FlowKind::spread, i, 0.5, samples::around(6, i, step));
  sample.sort();
  CHECK(fluid_seconds(sample) == Approx(5. / 6 * 0.02));
  const Schedule schedule = steps_of(sample);
  check_correct(sample, schedule);
  CHECK(seconds(sample, schedule) < 1.05 * fluid_seconds(sample));
}

// What one NPU sends decides all: wherever the list is cut between images, the links of an orbit
// have carried the same number of chunks.
TEST_CASE("an All-to-All with symmetry loads the links of an orbit alike at any time") {
  for (const std::string name : {"torus2d:8x8", "dgx_a100_rail:8"})
    for (const std::uint32_t chunks_per_shard : {1U, 2U}) {
      INFO(name << ", " << chunks_per_shard << " chunks per shard");
      const Topology topology = make_topology(name);
      const Collective collective = make_collective(
          topology, {CollectiveKind::all_to_all, Bytes{64 * 64 * 1024}, {}, 0, chunks_per_shard});
      const FlowProblem problem = flow_problem(topology, collective);
      const FluidSolution solution = fluid_optimum(problem, {}, WorkLimit{});
      const std::vector<FlowAutomorphism>& symmetry = solution.symmetry;
      REQUIRE(symmetry.size() == 64);
      const Schedule schedule =
          stepped(topology, collective, problem, expanded(problem, solution), {}, symmetry);
      CHECK(schedule.size() == std::size_t{64} * 63 * chunks_per_shard);
      CHECK(verify(topology, collective, schedule).correct());
      std::vector<std::uint32_t> carried(topology.link_count());
      std::size_t unequal = 0;
      for (std::size_t i = 0; i < schedule.size(); ++i) {
        for (const LinkId link : schedule.paths().links(schedule.path_of(i))) ++carried[link.value];
        if ((i + 1) % symmetry.size() != 0) continue;
        for (const FlowAutomorphism& one : symmetry)
          for (std::uint32_t l = 0; l < carried.size(); ++l)
            if (carried[l] != carried[one.links[l]]) ++unequal;
      }
      CHECK(unequal == 0);
    }
}

} // namespace fluid_steps_test
