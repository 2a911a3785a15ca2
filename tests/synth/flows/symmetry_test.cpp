#include "synth/flows/fluid/symmetry.hpp"

#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/synth/flows/samples.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace symmetry_test {

namespace {

using namespace tutti;
using samples::DgxLinks;

FlowProblem problem_of(const Topology& topology, CollectiveKind kind = CollectiveKind::all_gather) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{std::int64_t{1} << 30};
  return flow_problem(topology, make_collective(topology, spec));
}

bool permutes(const Permutation& permutation, std::size_t points) {
  const std::set<std::uint32_t> images(permutation.begin(), permutation.end());
  return permutation.size() == points && images.size() == points && *images.rbegin() == points - 1;
}

std::vector<std::uint32_t> image(const Permutation& by, std::vector<std::uint32_t> set) {
  for (std::uint32_t& member : set) member = by[member];
  std::ranges::sort(set);
  return set;
}

// What an automorphism is, word by word; empty where it is one.
std::string fault(const FlowProblem& problem, const FlowAutomorphism& one) {
  const FlowNetwork& network = problem.network;
  if (!permutes(one.nodes, network.node_count()) || !permutes(one.links, network.link_count()) ||
      !permutes(one.resources, network.resource_count()) ||
      !permutes(one.demands, problem.demands.size()))
    return "not a permutation";
  for (std::uint32_t n = 0; n < network.node_count(); ++n)
    if (network.copies[n] != network.copies[one.nodes[n]] ||
        network.reduces[n] != network.reduces[one.nodes[n]])
      return "abilities of node " + std::to_string(n);
  for (std::uint32_t l = 0; l < network.link_count(); ++l) {
    const FlowNetwork::Link &from = network.links[l], &to = network.links[one.links[l]];
    if (one.nodes[from.from] != to.from || one.nodes[from.to] != to.to)
      return "ends of link " + std::to_string(l);
  }
  for (std::uint32_t r = 0; r < network.resource_count(); ++r) {
    const FlowNetwork::Resource &from = network.resources[r],
                                &to = network.resources[one.resources[r]];
    if (from.bandwidth != to.bandwidth) return "bandwidth of resource " + std::to_string(r);
    if (image(one.links, from.links) != to.links) return "links of resource " + std::to_string(r);
  }
  for (std::uint32_t l = 0; l < network.link_count(); ++l)
    if (one.resources[l] != one.links[l]) return "link " + std::to_string(l) + " as a resource";
  for (std::uint32_t d = 0; d < problem.demands.size(); ++d) {
    const FlowDemand &from = problem.demands[d], &to = problem.demands[one.demands[d]];
    if (from.kind != to.kind || from.bytes != to.bytes ||
        image(one.nodes, problem.sets[from.sources]) != problem.sets[to.sources] ||
        image(one.nodes, problem.sets[from.sinks]) != problem.sets[to.sinks])
      return "demand " + std::to_string(d);
  }
  return "";
}

// In one line, to compare and compose.
std::vector<std::uint32_t> line(const FlowAutomorphism& one) {
  std::vector<std::uint32_t> all = one.nodes;
  for (const Permutation* part : {&one.links, &one.resources, &one.demands})
    all.insert(all.end(), part->begin(), part->end());
  return all;
}

FlowAutomorphism product(const FlowAutomorphism& a, const FlowAutomorphism& b) {
  return {composed(a.nodes, b.nodes), composed(a.links, b.links),
          composed(a.resources, b.resources), composed(a.demands, b.demands)};
}

std::set<std::uint32_t> ends(const FlowProblem& problem) {
  std::set<std::uint32_t> found;
  for (const FlowDemand& demand : problem.demands)
    for (const FlowSet set : {demand.sources, demand.sinks})
      found.insert(problem.sets[set].begin(), problem.sets[set].end());
  return found;
}

// Checks all of few elements, and some of many; returns how many there are.
std::size_t checked_free_symmetry(const FlowProblem& problem) {
  const std::vector<FlowAutomorphism> generators = flow_automorphisms(problem);
  const std::size_t some = problem.network.link_count() < 1000 ? SIZE_MAX : 8;
  for (std::size_t i = 0; i < std::min(some, generators.size()); ++i)
    CHECK(fault(problem, generators[i]).empty());
  const std::vector<FlowAutomorphism> group = free_flow_symmetry(problem, generators);
  REQUIRE_FALSE(group.empty());
  std::set<std::vector<std::uint32_t>> known;
  for (const FlowAutomorphism& one : group) known.insert(line(one));
  CHECK(known.size() == group.size());
  for (const Permutation* part : {&group.front().nodes, &group.front().links,
                                  &group.front().resources, &group.front().demands})
    CHECK(std::ranges::is_sorted(*part)); // the identity
  const std::set<std::uint32_t> points = ends(problem);
  std::size_t fixing = 0, outside = 0, faults = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (i > 0)
      fixing += static_cast<std::size_t>(
          std::ranges::count_if(points, [&](auto n) { return group[i].nodes[n] == n; }));
    const std::size_t step = std::max<std::size_t>(1, group.size() / some);
    if (i % step == 0) faults += fault(problem, group[i]).empty() ? 0 : 1;
    for (std::size_t j = 0; j < group.size(); j += 1 + group.size() / 16)
      outside += known.contains(line(product(group[i], group[j]))) ? 0 : 1;
  }
  CHECK(fixing == 0);
  CHECK(outside == 0);
  CHECK(faults == 0);
  return group.size();
}

Topology ring_with(std::uint32_t nodes, std::vector<std::vector<std::uint32_t>> buses,
                   std::vector<std::int64_t> bandwidths = {}) {
  TopologyParts parts = samples::ring(nodes, true).parts();
  for (std::size_t b = 0; b < buses.size(); ++b) {
    std::vector<LinkId> links;
    for (const std::uint32_t l : buses[b]) links.emplace_back(l);
    parts.groups.push_back({"bus" + std::to_string(b), links,
                            Bandwidth{bandwidths.empty() ? 10'000'000'000 : bandwidths[b]}});
  }
  return Topology(std::move(parts));
}

std::size_t group_order(const FlowProblem& problem, std::span<const std::uint32_t> fixed = {}) {
  std::vector<Permutation> lines;
  for (const FlowAutomorphism& one : flow_automorphisms(problem, fixed)) {
    CHECK(fault(problem, one).empty());
    Permutation& moves = lines.emplace_back(one.nodes);
    for (const std::uint32_t l : one.links) moves.push_back(problem.network.node_count() + l);
  }
  return elements(lines, problem.network.node_count() + problem.network.link_count(), 100'000)
      .size();
}

// Tries all permutations of the nodes. Pre: no parallel links, no shared groups; each node is the
// source of its own demand.
std::size_t counted_automorphisms(const FlowProblem& problem) {
  const FlowNetwork& network = problem.network;
  Permutation nodes(network.node_count());
  std::iota(nodes.begin(), nodes.end(), 0U);
  std::set<std::array<std::int64_t, 3>> links;
  for (std::uint32_t l = 0; l < network.link_count(); ++l)
    links.insert({network.links[l].from, network.links[l].to, network.resources[l].bandwidth});
  std::size_t count = 0;
  do {
    bool keeps = true;
    for (const auto& [from, to, bandwidth] : links)
      keeps = keeps && links.contains({nodes[static_cast<std::size_t>(from)],
                                       nodes[static_cast<std::size_t>(to)], bandwidth});
    for (std::uint32_t n = 0; n < network.node_count(); ++n)
      keeps = keeps && network.copies[n] == network.copies[nodes[n]];
    count += keeps ? 1 : 0;
  } while (std::next_permutation(nodes.begin(), nodes.end()));
  return count;
}

} // namespace

TEST_CASE("the symmetries of a flow problem are those that trying all permutations finds") {
  std::vector<std::string> names{"ring:5",      "ring:6",    "mesh2d:2x3",
                                 "hypercube:3", "switch:5",  "fully_connected:5",
                                 "torus2d:2x3", "mesh2d:2x4"};
  for (const std::string& name : names) {
    INFO(name);
    const FlowProblem problem = problem_of(make_topology(name));
    const std::size_t order = group_order(problem);
    CHECK(order > 1);
    CHECK(order == counted_automorphisms(problem));
  }
  std::vector<std::size_t> uneven;
  for (const Topology& topology : {samples::full(5), samples::ring(6)}) {
    for (std::uint32_t changed = 1; changed < 6; ++changed) {
      TopologyParts parts = topology.parts();
      for (std::uint32_t l = 0; l < changed; ++l) parts.links[l].bandwidth.bytes_per_second /= 2;
      const FlowProblem problem = problem_of(Topology(std::move(parts)));
      uneven.push_back(group_order(problem));
      CHECK(uneven.back() == counted_automorphisms(problem));
    }
  }
  CHECK(std::set(uneven.begin(), uneven.end()).size() > 2); // the cases do differ
}

TEST_CASE("the symmetries of collectives on random graphs are found") {
  for (const int npus : {4, 8, 12})
    for (int seed = 1; seed <= 12; ++seed) {
      const Topology topology =
          make_topology(fmt::format("random:{},degree=3,seed={}", npus, seed));
      for (const CollectiveKind kind : basic_collectives()) {
        INFO(topology.name() << ", " << to_text(kind));
        const FlowProblem problem = problem_of(topology, kind);
        for (const FlowAutomorphism& one : flow_automorphisms(problem))
          CHECK(fault(problem, one) == "");
      }
    }
}

TEST_CASE("a node that is to stay does so in all symmetries") {
  const FlowProblem problem = problem_of(samples::ring(5));
  CHECK(group_order(problem) == 10);
  const std::vector<std::uint32_t> fixed{3};
  CHECK(group_order(problem, fixed) == 2); // the reflection that keeps it
  for (const FlowAutomorphism& one : flow_automorphisms(problem, fixed)) CHECK(one.nodes[3] == 3);
  CHECK(free_flow_symmetry(problem, flow_automorphisms(problem, fixed)).size() == 1);
  CHECK(group_order(problem, std::vector<std::uint32_t>{3, 0}) == 1);
}

TEST_CASE("shared bandwidth and unequal bandwidths break symmetries") {
  CHECK(checked_free_symmetry(problem_of(ring_with(4, {}))) == 4);
  CHECK(checked_free_symmetry(problem_of(ring_with(4, {{0, 1, 2, 3}}))) == 4);
  CHECK(checked_free_symmetry(problem_of(ring_with(4, {{0, 2}}))) == 2);
  CHECK(checked_free_symmetry(problem_of(ring_with(4, {{0, 1}}))) == 1);
  CHECK(checked_free_symmetry(problem_of(ring_with(4, {{0, 2}, {1, 3}}))) == 4);
  CHECK(checked_free_symmetry(problem_of(ring_with(4, {{0, 2}, {1, 3}}, {7, 8}))) == 2);
  // Each link once in a group of two: the ring of buses has a rotation.
  CHECK(checked_free_symmetry(problem_of(ring_with(4, {{0, 1}, {2, 3}}))) == 2);
  CHECK(checked_free_symmetry(problem_of(ring_with(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}))) == 4);
  TopologyParts parts = samples::ring(4, true).parts();
  parts.links[0].bandwidth.bytes_per_second += 1;
  CHECK(checked_free_symmetry(problem_of(Topology(parts))) == 1);
  parts.links[2].bandwidth = parts.links[0].bandwidth;
  CHECK(checked_free_symmetry(problem_of(Topology(parts))) == 2);
}

TEST_CASE("parallel links go with their ends and can be exchanged where they are equal") {
  TopologyParts parts = samples::npus("double ring", 3);
  for (const std::int64_t bandwidth : {10, 20, 10})
    for (std::uint32_t n = 0; n < 3; ++n)
      parts.add_link({NodeId{n}, NodeId{(n + 1) % 3}, samples::alpha, Bandwidth{bandwidth}});
  const FlowProblem problem = problem_of(Topology(parts));
  CHECK(group_order(problem) == 3 * 2 * 2 * 2); // the links of 10 between two nodes, each pair
  CHECK(checked_free_symmetry(problem) == 3);
  // A bus joins the first links of two pairs of nodes: nothing is left but to exchange the third's.
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, Bandwidth{5}});
  CHECK(group_order(problem_of(Topology(parts))) == 2);
}

TEST_CASE("what a node can do tells it from others") {
  TopologyParts parts = samples::ring(6, true).parts();
  parts.nodes[0].can.copy = false;
  CHECK(checked_free_symmetry(problem_of(Topology(parts))) == 1);
  parts.nodes[3].can.copy = false;
  CHECK(checked_free_symmetry(problem_of(Topology(parts))) == 2);
  parts.nodes[3].can.copy = true;
  parts.nodes[3].can.reduce = false;
  CHECK(checked_free_symmetry(problem_of(Topology(parts))) == 1);
}

TEST_CASE("free symmetries of every collective", "[heavy]") {
  const Topology cluster = samples::dgx_a100(4, DgxLinks::both);
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_reduce, CollectiveKind::all_to_all})
    CHECK(checked_free_symmetry(problem_of(cluster, kind)) == 32);
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::reduce,
                                    CollectiveKind::gather, CollectiveKind::scatter}) {
    const FlowProblem problem = problem_of(cluster, kind);
    CHECK_FALSE(flow_automorphisms(problem).empty());
    CHECK(checked_free_symmetry(problem) == 1); // the root stays
  }
}

TEST_CASE("only nodes that send or want something need to move") {
  // GPUs 0 and 2 of a server under NVSwitch: swapping these may leave the others where they are.
  const Topology server = samples::dgx_a100(1, DgxLinks::nvlink);
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_to_all;
  spec.size = Bytes{1 << 20};
  spec.group = {NodeId{2}, NodeId{0}, NodeId{5}};
  const FlowProblem problem = flow_problem(server, make_collective(server, spec));
  CHECK(checked_free_symmetry(problem) == 3);
}

TEST_CASE("two collectives at once are told apart") {
  const Topology ring = samples::ring(6, true);
  CollectiveSpec even, odd;
  even.kind = odd.kind = CollectiveKind::all_gather;
  even.size = odd.size = Bytes{1 << 20};
  even.group = {NodeId{0}, NodeId{2}, NodeId{4}};
  odd.group = {NodeId{1}, NodeId{3}, NodeId{5}};
  const auto both = [&] {
    const std::vector<Collective> parts{make_collective(ring, even), make_collective(ring, odd)};
    return flow_problem(ring, merge(parts));
  };
  CHECK(checked_free_symmetry(both()) == 6); // an odd rotation exchanges them
  odd.size = Bytes{1 << 21};
  CHECK(checked_free_symmetry(both()) == 3);
}

TEST_CASE("groups that take every end to every other are found", "[heavy]") {
  // All look the same from each of their NPUs, and have commuting symmetries that show it.
  for (const std::string name :
       {"torus2d:5x7", "torus3d:4x4x4", "hypercube:6", "ring:9", "ring:2", "fully_connected:64",
        "switch:64", "rfs:2x4x8", "multi_rail:8x16", "multi_rail:4x4x2", "fat_tree:4", "fat_tree:8",
        "two_level_switch:8x4", "dragonfly:4x5"}) {
    INFO(name);
    const Topology topology = make_topology(name);
    CHECK(checked_free_symmetry(problem_of(topology)) == topology.npu_count());
  }
  for (const std::uint32_t servers : {1U, 2U, 3U, 4U, 5U, 8U, 16U})
    for (const DgxLinks links : {DgxLinks::nvlink, DgxLinks::pcie, DgxLinks::both}) {
      INFO(servers << " servers, links " << static_cast<int>(links));
      CHECK(checked_free_symmetry(problem_of(samples::dgx_a100(servers, links))) == 8 * servers);
    }
}

TEST_CASE("groups that take every end to every other are found in large networks", "[slow]") {
  for (const std::string name : {"torus2d:32x32", "torus3d:8x8x8", "hypercube:10"}) {
    INFO(name);
    const Topology topology = make_topology(name);
    CHECK(checked_free_symmetry(problem_of(topology)) == topology.npu_count());
  }
  for (const std::uint32_t servers : {32U, 64U, 128U})
    for (const DgxLinks links : {DgxLinks::nvlink, DgxLinks::pcie, DgxLinks::both}) {
      INFO(servers << " servers, links " << static_cast<int>(links));
      CHECK(checked_free_symmetry(problem_of(samples::dgx_a100(servers, links))) == 8 * servers);
    }
}

TEST_CASE("what isn't the same everywhere has the free symmetries that its form allows") {
  CHECK(checked_free_symmetry(problem_of(make_topology("mesh2d:8x8"))) == 4);
  CHECK(checked_free_symmetry(problem_of(make_topology("mesh2d:8x6"))) == 4);
  CHECK(checked_free_symmetry(problem_of(make_topology("mesh2d:7x6"))) == 2);
  CHECK(checked_free_symmetry(problem_of(make_topology("mesh2d:7x7"))) == 1); // the middle stays
  const std::vector<LinkId> cut{LinkId{0}};
  CHECK(checked_free_symmetry(problem_of(without(make_topology("torus2d:4x4"), {}, cut))) == 1);
}

TEST_CASE("a group that doesn't commute is found where no commuting one is as large") {
  // The Cayley graph of S3 of (1 2) and the cycle, coloured by bandwidth: its symmetries are S3
  // acting on itself, and nothing else.
  const std::vector<std::vector<std::uint32_t>> elements_of_s3{{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                               {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  TopologyParts parts = samples::npus("S3", 6);
  for (std::uint32_t e = 0; e < 6; ++e)
    for (const auto& [generator, bandwidth] : {std::pair(1U, 10), std::pair(3U, 20)}) {
      const Permutation to = composed(elements_of_s3[generator], elements_of_s3[e]);
      const auto at = std::ranges::find(elements_of_s3, to) - elements_of_s3.begin();
      parts.add_link({NodeId{e}, NodeId{static_cast<std::uint32_t>(at)}, samples::alpha,
                      Bandwidth{bandwidth}});
    }
  const FlowProblem problem = problem_of(Topology(parts));
  CHECK(group_order(problem) == 6);
  CHECK(checked_free_symmetry(problem) == 6);
}

TEST_CASE("free symmetries are the same every time") {
  for (const char* name : {"hypercube:5", "fat_tree:4", "torus2d:6x6", "multi_rail:8x4"}) {
    const FlowProblem problem = problem_of(make_topology(name));
    const auto lines = [&] {
      std::vector<std::vector<std::uint32_t>> all;
      for (const FlowAutomorphism& one : free_flow_symmetry(problem, flow_automorphisms(problem)))
        all.push_back(line(one));
      return all;
    };
    CHECK(lines() == lines());
  }
}

} // namespace symmetry_test
