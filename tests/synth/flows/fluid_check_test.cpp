#include "synth/flows/fluid/check.hpp"

#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/synth/flows/fluid_samples.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace fluid_check_test {

using namespace tutti;

namespace {

using Hops = std::vector<std::vector<std::uint32_t>>; // [hop]: its links

FlowTree tree(const Hops& hops, std::uint32_t root = 0, std::uint32_t combining = 0) {
  FlowTree made;
  made.share = 1;
  made.root = root;
  made.combining = combining;
  for (const std::vector<std::uint32_t>& hop : hops) made.add_hop(hop);
  return made;
}

/// One demand on samples::ring(4): links 0..3 lead from i to i + 1, links 4..7 back from i + 1.
/// 100 GB take 2 s over a link.
FlowProblem on_ring(FlowKind kind, std::vector<std::uint32_t> sources,
                    std::vector<std::uint32_t> sinks) {
  FlowProblem problem;
  problem.network = flow_network(samples::ring(4));
  problem.sets = {std::move(sources), std::move(sinks)};
  problem.demands = {{kind, 0, 1, 100'000'000'000}};
  return problem;
}

std::string fault(const FlowProblem& problem, const FlowTree& one) {
  return check_fluid(problem, std::span(&one, 1)).fault;
}

} // namespace

TEST_CASE("a fluid schedule takes as long as its fullest resource") {
  const FlowProblem problem = on_ring(FlowKind::spread, {0}, {0, 1, 2, 3});
  FlowTree right = tree({{0}, {1}, {2}}), left = tree({{7}, {6}, {5}});
  CHECK(check_fluid(problem, std::vector{right}).seconds == Approx(2));
  CHECK(check_fluid(problem, std::vector{right}).traffic == Approx(300e9));
  right.share = 0.25;
  left.share = 0.75;
  const std::vector<double> weights{1, 2, 3, 4, 5, 6, 7, 8};
  const FluidVerdict verdict = check_fluid(problem, std::vector{right, left}, weights);
  CHECK(verdict.fault.empty());
  CHECK(verdict.seconds == Approx(1.5));
  CHECK(verdict.traffic == Approx(25e9 * (1 + 2 + 3) + 75e9 * (8 + 7 + 6)));
}

TEST_CASE("what crosses a link or a shared group several times counts as often") {
  FlowProblem problem = on_ring(FlowKind::spread, {0}, {1, 2});
  // To npu1, back to npu0 and there again: a detour, but a possible one.
  const FluidVerdict twice = check_fluid(problem, std::vector{tree({{0, 4, 0}, {1}})});
  CHECK(twice.fault.empty());
  CHECK(twice.seconds == Approx(4));
  CHECK(twice.traffic == Approx(400e9));
  problem.network.resources.push_back({100'000'000'000, {0, 1, 4}});
  CHECK(check_fluid(problem, std::vector{tree({{0, 4, 0}, {1}})}).seconds == Approx(4));
  CHECK(check_fluid(problem, std::vector{tree({{0}, {1}})}).seconds == Approx(2));
  problem.network.resources.back().bandwidth /= 2;
  CHECK(check_fluid(problem, std::vector{tree({{0, 4, 0}, {1}})}).seconds == Approx(8));
}

TEST_CASE("all kinds of demands can be met") {
  CHECK(fault(on_ring(FlowKind::paths, {0}, {0, 1, 2}), tree({{0}, {0, 1}})).empty());
  CHECK(fault(on_ring(FlowKind::paths, {0, 3}, {1, 2}), tree({{6}, {0}})).empty());
  CHECK(fault(on_ring(FlowKind::spread, {0, 2}, {1, 3}), tree({{0}, {2}})).empty());
  CHECK(fault(on_ring(FlowKind::spread, {0}, {3}), tree({{0, 1, 2}})).empty());
  CHECK(fault(on_ring(FlowKind::combine, {0, 1, 2, 3}, {0}), tree({{5}, {4}, {3}}, 0, 3)).empty());
  CHECK(fault(on_ring(FlowKind::combine, {1, 2}, {0}), tree({{5}, {4}}, 0, 2)).empty());
  CHECK(fault(on_ring(FlowKind::both, {0, 1, 2}, {0, 1, 2}), tree({{0}, {5}, {1}, {4}}, 1, 2))
            .empty());
}

TEST_CASE("a tree that isn't a list of walks is refused") {
  const FlowProblem problem = on_ring(FlowKind::spread, {0}, {1, 2});
  const FlowTree good = tree({{0}, {1}});
  REQUIRE(fault(problem, good).empty());
  FlowTree bad = good;
  bad.demand = 1;
  CHECK(fault(problem, bad) == "tree 0: there is no demand 1 (there are 1)");
  for (const double share : {-0.5, 1.5, std::nan("")}) {
    bad = good;
    bad.share = share;
    CHECK_THAT(fault(problem, bad), ContainsSubstring("demand 0, tree 0: its share is"));
  }
  bad = good;
  bad.links[1] = 8;
  CHECK_THAT(fault(problem, bad),
             ContainsSubstring("hop 1 crosses link 8, but there are only 8 links"));
  CHECK_THAT(fault(problem, tree({{0, 2}})), ContainsSubstring("hop 0 breaks between its links 0"));
  bad = good;
  bad.hop_end = {1, 1};
  CHECK_THAT(fault(problem, bad), ContainsSubstring("hop 1 has the links from 1 to 1"));
  bad.hop_end = {1, 3};
  CHECK_THAT(fault(problem, bad), ContainsSubstring("hop 1 has the links from 1 to 3 of 2"));
  bad.hop_end = {1};
  CHECK_THAT(fault(problem, bad), ContainsSubstring("1 of its links belong to no hop"));
  CHECK_THAT(fault(problem, tree({{0}, {1}}, 0, 1)), ContainsSubstring("1 of its 2 hops combine"));
  CHECK_THAT(fault(problem, tree({{0}, {1}}, 4)),
             ContainsSubstring("its root is node 4, but there are only 4 nodes"));
  CHECK_THAT(fault(problem, tree({{0}, {1}}, 1)), ContainsSubstring("node 1, isn't a source"));
}

TEST_CASE("the shares of a demand add up to one") {
  FlowProblem problem = on_ring(FlowKind::spread, {0}, {1});
  FlowTree near = tree({{0}}), far = tree({{7, 6, 5}});
  near.share = 0.5;
  far.share = 0.5 - 1e-8;
  CHECK_THAT(check_fluid(problem, std::vector{near, far}).fault,
             ContainsSubstring("demand 0: the shares of its 2 trees add up to 0.9999"));
  far.share = 0.5 + 1e-10;
  CHECK(check_fluid(problem, std::vector{near, far}).fault.empty());
  problem.demands.push_back(problem.demands.front());
  CHECK(check_fluid(problem, std::vector{near, far}).fault ==
        "demand 1: the shares of its 0 trees add up to 0");
}

TEST_CASE("paths to each sink start at a source and serve every sink once") {
  const FlowProblem problem = on_ring(FlowKind::paths, {0}, {0, 1, 2});
  CHECK_THAT(fault(problem, tree({{0}, {1}})), ContainsSubstring("hop 1 starts at node 1"));
  CHECK_THAT(fault(problem, tree({{0}, {0}})),
             ContainsSubstring("node 1, which is served already"));
  CHECK_THAT(fault(problem, tree({{0}, {7}})), ContainsSubstring("node 3, which isn't a sink"));
  CHECK_THAT(fault(problem, tree({{0}, {0, 4}})), ContainsSubstring("node 0, which is served"));
  CHECK_THAT(fault(problem, tree({{0}})), ContainsSubstring("no hop serves node 2"));
}

TEST_CASE("what spreads is sent by those who have it, to those who don't") {
  FlowProblem problem = on_ring(FlowKind::spread, {0}, {0, 1, 2, 3});
  CHECK_THAT(fault(problem, tree({{0}, {2}, {1}})),
             ContainsSubstring("hop 1 leaves node 2, which nothing has reached"));
  CHECK_THAT(fault(problem, tree({{0}, {1}, {7}, {2}})),
             ContainsSubstring("hop 3 ends at node 3, which has the data already"));
  CHECK_THAT(fault(problem, tree({{0}, {4}, {1}, {2}})), ContainsSubstring("hop 1 ends at node 0"));
  CHECK_THAT(fault(problem, tree({{0}, {1}})), ContainsSubstring("no hop reaches sink 3"));

  problem.network.copies[1] = false;
  CHECK_THAT(fault(problem, tree({{0}, {1}, {2}})),
             ContainsSubstring("sink 1 can't copy and doesn't keep"));
  CHECK(fault(problem, tree({{0}, {7}, {6}})).empty());
  problem.sets[1] = {0, 2, 3}; // now npu1 may give it away, once
  CHECK(fault(problem, tree({{0}, {1}, {2}})).empty());
  CHECK_THAT(fault(problem, tree({{0}, {1}, {7}, {4}})), ContainsSubstring("hop 3 leaves node 1"));

  problem.network.copies[0] = false;
  CHECK_THAT(fault(problem, tree({{0}, {7}, {1}})),
             ContainsSubstring("hop 1 leaves node 0, which can't copy and has sent it on"));
  CHECK_THAT(fault(problem, tree({{0}, {1}, {2}})), ContainsSubstring("sink 0 can't copy"));
  problem.sets[1] = {2, 3};
  CHECK(fault(problem, tree({{0}, {1}, {2}})).empty());
}

TEST_CASE("what is combined moves on once and ends at the sink") {
  FlowProblem problem = on_ring(FlowKind::combine, {0, 1, 2, 3}, {0});
  REQUIRE(fault(problem, tree({{5}, {4}, {3}}, 0, 3)).empty());
  CHECK_THAT(fault(problem, tree({{5}, {4}, {3}}, 1, 3)), ContainsSubstring("the sink is 0"));
  CHECK_THAT(fault(problem, tree({{5}, {4}, {3}}, 0, 2)), ContainsSubstring("2 of its 3 hops"));
  CHECK_THAT(fault(problem, tree({{5}, {4}, {1}, {3}}, 0, 4)),
             ContainsSubstring("hop 2 leaves node 1, which has been left before"));
  CHECK_THAT(fault(problem, tree({{4}, {5}, {3}}, 0, 3)),
             ContainsSubstring("hop 1 ends at node 1, which has been left before"));
  CHECK_THAT(fault(problem, tree({{4}, {3}}, 0, 2)), ContainsSubstring("source 2 is never left"));
  CHECK_THAT(fault(problem, tree({{5}, {4}, {7}}, 0, 3)),
             ContainsSubstring("the root, node 0, is left"));
  CHECK_THAT(fault(problem, tree({{5}, {4}, {3, 7, 3, 7}}, 0, 3)),
             ContainsSubstring("hop 2 ends where it starts, at node 3"));

  problem.network.reduces[1] = false;
  CHECK_THAT(fault(problem, tree({{5}, {4}, {3}}, 0, 3)),
             ContainsSubstring("hop 0 ends at node 1, which can't reduce"));
  CHECK(fault(problem, tree({{4}, {2}, {3}}, 0, 3)).empty());
  CHECK(fault(problem, tree({{5, 4}, {4}, {3}}, 0, 3)).empty());
  problem.sets[0] = {2, 3}; // npu1 has nothing of its own: it can pass on one contribution
  CHECK_THAT(fault(problem, tree({{3}, {4}}, 0, 2)),
             ContainsSubstring("node 1, which has nothing"));
  CHECK(fault(problem, tree({{5}, {4}, {3}}, 0, 3)).empty());
  CHECK_THAT(fault(problem, tree({{3}, {5}}, 0, 2)),
             ContainsSubstring("node 1, which is never left"));
  problem.network.reduces[0] = false; // and npu0 can take one, if it has none
  CHECK(fault(problem, tree({{2}, {3}}, 0, 2)).empty());
  CHECK_THAT(fault(problem, tree({{3}, {5}, {4}}, 0, 3)),
             ContainsSubstring("hop 2 ends at node 0"));
  problem.sets[0] = {1, 2};
  CHECK_THAT(fault(problem, tree({}, 0, 0)), ContainsSubstring("nothing reaches the root"));
}

TEST_CASE("what comes together at a root spreads from it") {
  FlowProblem problem = on_ring(FlowKind::both, {0, 1, 2}, {0, 1, 2});
  REQUIRE(fault(problem, tree({{0}, {5}, {1}, {4}}, 1, 2)).empty());
  CHECK_THAT(fault(problem, tree({{0}, {5}, {1}, {4}}, 1, 5)),
             ContainsSubstring("5 of its 4 hops"));
  CHECK_THAT(fault(problem, tree({{0}, {1}, {4}}, 1, 1)), ContainsSubstring("source 2 is never"));
  CHECK_THAT(fault(problem, tree({{0}, {5}, {1}}, 1, 2)), ContainsSubstring("reaches sink 0"));
  // After combining only the root has everything, and who passed it all on and can copy.
  CHECK_THAT(fault(problem, tree({{0}, {5}, {7, 6}, {1}}, 1, 2)),
             ContainsSubstring("hop 2 leaves node 0, which nothing has reached"));
  problem.network.copies[1] = false; // nor can it keep the sum that it sends on
  CHECK_THAT(fault(problem, tree({{0}, {5}, {1}, {2, 3}}, 1, 2)),
             ContainsSubstring("sink 1 can't copy and doesn't keep"));
  CHECK(fault(problem, tree({{0}, {5}, {1}, {2, 3}, {5}}, 1, 2)).empty());
  CHECK_THAT(fault(problem, tree({{0}, {5}, {1}, {4}}, 1, 2)),
             ContainsSubstring("hop 3 leaves node 1, which can't copy"));
}

TEST_CASE("whoever passes the whole sum on to the root has it, too") {
  FlowProblem problem = on_ring(FlowKind::both, {0, 1}, {0, 1});
  CHECK_THAT(fault(problem, tree({{0}, {1}, {5}, {4}}, 2, 2)),
             ContainsSubstring("hop 2 ends at node 1, which has the data already"));
  CHECK(fault(problem, tree({{0}, {1}, {4}}, 2, 2)).empty());
  CHECK(fault(problem, tree({{0}, {1}, {2, 3}}, 2, 2)).empty());
  problem.network.copies[1] = false; // it gives the sum away
  CHECK(fault(problem, tree({{0}, {1}, {2, 3}, {5}}, 2, 2)).empty());
  CHECK_THAT(fault(problem, tree({{0}, {1}, {4}}, 2, 2)), ContainsSubstring("hop 2 leaves node 1"));
}

TEST_CASE("the verdict on a tree is that of verify on its transfers") {
  Random random(7);
  std::size_t correct = 0, faulty = 0;
  for (int round = 0; round < 20'000; ++round) {
    const samples::FluidSample sample = samples::random_tree(random, 1);
    const FlowTree& one = sample.trees.front();
    Schedule schedule(sample.topology.link_count());
    for (std::size_t h = 0; h < one.hop_count(); ++h)
      schedule.push(ChunkId{0}, LinkId{one.links[h]}, h < one.combining ? Op::reduce : Op::copy);
    const Verdict verdict = verify(sample.topology, sample.collective, schedule);
    const bool expected = verdict.correct() && verdict.redundant == 0;
    const std::string found = fault(sample.problem, one);
    INFO(found << " / " << (verdict.fault ? verdict.fault->text : "no fault"));
    // verify may find the sum elsewhere than at the root, too, and lets those who contribute
    // nothing keep what they got for good
    const FlowDemand& demand = sample.problem.demands.front();
    const bool exact = demand.kind == FlowKind::spread || (demand.kind == FlowKind::combine &&
                                                           sample.problem.sources(demand).size() ==
                                                               sample.problem.network.node_count());
    if (exact)
      CHECK(found.empty() == expected);
    else if (found.empty())
      CHECK(expected);
    ++(found.empty() ? correct : faulty);
  }
  CHECK(correct > 1'000);
  CHECK(faulty > 1'000);
}

} // namespace fluid_check_test
