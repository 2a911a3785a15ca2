// TACOS, flows, TACCL and TE-CCL plan whatever has a schedule at all: on random networks with
// process groups, switches, shared groups, one-way links, nodes that lack abilities, and NPUs out
// of everybody's reach.

#include "sim/engines/engine.hpp"
#include "sim/feasibility.hpp"
#include "sim/random.hpp"
#include "sim/synthesizer.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace feasible_everywhere_test {

using namespace tutti;

namespace {

struct RandomNeed {
  Topology topology;
  Collective collective;
};

/// Rates are up to 10^`digits` apart.
Topology random_network(Random& random, std::uint64_t digits, bool unable_npus) {
  TopologyParts parts;
  parts.name = "random";
  const std::uint64_t npus = 3 + random.below(4), switches = random.below(3);
  const auto rarely = [&](std::uint64_t in) { return random.below(in) == 0; };
  for (std::uint64_t n = 0; n < npus; ++n) {
    Abilities can;
    if (unable_npus && rarely(4)) can = {!rarely(4), !rarely(2), !rarely(2)};
    parts.add_node({fmt::format("npu{}", n), NodeKind::npu, can, {}});
  }
  for (std::uint64_t s = 0; s < switches; ++s)
    parts.add_node(
        {fmt::format("switch{}", s), NodeKind::switching, {rarely(4), rarely(2), rarely(2)}, {}});
  const auto rate = [&] {
    std::int64_t value = 1'000'000'000'000;
    for (std::uint64_t d = random.below(digits + 1); d > 0; --d) value /= 10;
    return Bandwidth{value};
  };
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link({NodeId{from}, NodeId{to},
                    Time{static_cast<std::int64_t>(random.below(3)) * 500'000}, rate(), -1});
  };
  // One or two NPUs may be out of reach; the others are on a cycle, or on a line of links that
  // lead both ways or one.
  const std::uint64_t apart = rarely(3) ? 1 + random.below(npus - 2) : 0;
  std::vector<std::uint32_t> around;
  for (auto n = static_cast<std::uint32_t>(apart); n < parts.nodes.size(); ++n) around.push_back(n);
  random.shuffle(around);
  const std::uint64_t shape = random.below(4);
  for (std::size_t i = 0; i + (shape < 2 ? 0 : 1) < around.size(); ++i) {
    const std::uint32_t from = around[i], to = around[(i + 1) % around.size()];
    if (from == to) continue;
    link(from, to);
    if (shape != 0 && shape != 3) link(to, from);
  }
  for (std::uint64_t more = random.below(parts.nodes.size()); more > 0; --more) {
    const std::uint32_t from = around[random.below(around.size())],
                        to = around[random.below(around.size())];
    if (from != to) link(from, to);
  }
  if (rarely(4)) {
    SharedGroup group{"shared", {}, rate()};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (rarely(3)) group.links.emplace_back(l);
    if (!group.links.empty()) parts.groups.push_back(std::move(group));
  }
  return Topology(std::move(parts));
}

std::vector<NodeId> some_npus(Random& random, const Topology& topology, std::size_t least) {
  std::vector<NodeId> some;
  while (some.size() < least) {
    some.clear();
    const std::uint64_t in = 1 + random.below(3);
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
      if (random.below(in + 1) > 0 || in == 1) some.emplace_back(n);
  }
  return some;
}

/// Chunks of any sources and destinations, some of them sums; at times of the shape of an
/// All-Reduce, or of a Reduce-Scatter.
Collective random_custom(Random& random, const Topology& topology) {
  Collective collective;
  CollectivePart part;
  const std::uint64_t shape = random.below(3);
  const std::vector<NodeId> all = some_npus(random, topology, 2);
  for (std::uint64_t c = 0, count = 1 + random.below(3); c < count; ++c) {
    const auto set = static_cast<SetId>(collective.sets.size());
    collective.sets.push_back(shape == 2 ? some_npus(random, topology, 1) : all);
    collective.sets.push_back(shape == 0   ? all
                              : shape == 1 ? std::vector{all[random.below(all.size())]}
                                           : some_npus(random, topology, 1));
    collective.chunks.push_back({Bytes{1000 + static_cast<std::int64_t>(random.below(5000))}, set,
                                 set + 1, shape < 2 || random.below(2) == 0});
    part.size += collective.chunks.back().size;
    ++part.chunk_count;
  }
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) part.group.emplace_back(n);
  collective.parts.push_back(part);
  return collective;
}

RandomNeed random_need(Random& random, std::uint64_t digits, bool unable_npus) {
  Topology topology = random_network(random, digits, unable_npus);
  if (random.below(3) == 0) {
    Collective custom = random_custom(random, topology);
    return {std::move(topology), std::move(custom)};
  }
  std::vector<Collective> parts;
  for (std::uint64_t count = random.below(8) == 0 ? 2 : 1; count > 0; --count) {
    const CollectiveKind kind = basic_collectives()[random.below(basic_collectives().size())];
    std::vector<NodeId> group;
    for (int tries = 0; group.empty() || tries < 4; ++tries) { // mostly of those in reach
      group = some_npus(random, topology, 2);
      if (group.front().value > 0 || random.below(2) == 0) break;
    }
    random.shuffle(group);
    const auto root = has_root(kind) ? static_cast<std::uint32_t>(random.below(group.size())) : 0;
    parts.push_back(make_collective(topology, {kind, Bytes{60'000}, group, root,
                                               1 + static_cast<std::uint32_t>(random.below(2))}));
  }
  Collective collective = parts.size() == 1 ? parts.front() : merge(parts);
  return {std::move(topology), std::move(collective)};
}

std::string described(const RandomNeed& need) {
  std::string text = need.collective.name() + " on";
  for (const Node& node : need.topology.nodes())
    text += fmt::format(" {}{}{}{}", node.name, node.can.store ? "+store" : "",
                        node.can.copy ? "+copy" : "", node.can.reduce ? "+reduce" : "");
  for (const Link& link : need.topology.links())
    text += fmt::format(" {}>{}/{}", link.from.value, link.to.value, to_text(link.bandwidth));
  for (const SharedGroup& group : need.topology.groups()) {
    text += fmt::format(" shared {}:", to_text(group.bandwidth));
    for (const LinkId link : group.links) text += fmt::format(" {}", link.value);
  }
  for (std::uint32_t c = 0; c < need.collective.chunks.size(); ++c) {
    text += need.collective.chunks[c].reduces ? "; sum" : "; copy";
    for (const NodeId node : need.collective.sources(ChunkId{c}))
      text += fmt::format(" {}", node.value);
    text += " to";
    for (const NodeId node : need.collective.destinations(ChunkId{c}))
      text += fmt::format(" {}", node.value);
  }
  return text;
}

/// What one algorithm does wrong; empty: nothing. Gives its time where there is one.
std::string fault_of(const AlgorithmRow& row, const RandomNeed& need, bool is_infeasible,
                     std::map<std::string_view, Time>& times) {
  SynthesisOptions options;
  if (row.name == "teccl") options.settings = {{"effort", "20"}, {"nodes", "5"}};
  Outcome outcome = synthesize(row, need.topology, need.collective, options);
  if (outcome.compact)
    outcome.schedule = expanded(need.topology, need.collective, *outcome.compact);
  if (is_infeasible)
    return outcome.status == Status::infeasible && !outcome.note.empty()
               ? ""
               : "isn't infeasible: " + std::string(to_text(outcome.status));
  if (!outcome.schedule)
    return fmt::format("has no schedule: {}, {}", to_text(outcome.status), outcome.note);
  const Verdict verdict = verify(need.topology, need.collective, *outcome.schedule);
  if (verdict.fault) return verdict.fault->text;
  if (verdict.redundant > 0) return fmt::format("{} redundant copies", verdict.redundant);
  times[row.name] = run_native(need.topology, need.collective, *outcome.schedule, {}).completion;
  return {};
}

/// What these algorithms answer in so many random cases, some of which nobody can do.
void check_planners(std::uint64_t seed, int cases, std::uint64_t digits, bool unable_npus) {
  Random random(seed);
  constexpr std::array<std::string_view, 4> planners{"tacos", "flows", "taccl", "teccl"};
  int feasible = 0, infeasible = 0;
  for (int i = 0; i < cases; ++i) {
    const RandomNeed need = random_need(random, digits, unable_npus);
    const std::string proof = infeasibility(need.topology, need.collective);
    ++(proof.empty() ? feasible : infeasible);
    std::map<std::string_view, Time> times;
    for (const AlgorithmRow& row : synthesizers()) {
      if (std::ranges::find(planners, row.name) == planners.end()) continue;
      const std::string fault = fault_of(row, need, !proof.empty(), times);
      INFO("seed " << seed << ", case " << i << ": " << described(need) << "; " << proof);
      INFO(row.name << ": " << fault);
      CHECK(fault.empty());
    }
    INFO("seed " << seed << ", case " << i << ": " << described(need));
    if (need.collective.parts.size() == 1)     // several go one after another
      CHECK(times["teccl"] <= times["tacos"]); // from whose schedule it starts
  }
  CHECK(feasible > cases / 3);
  CHECK(infeasible > 0);
}

} // namespace

TEST_CASE("a solver that fails ends no plan", "[slow]") {
  // Cbc 2.10 gives up on one of the two programs with an error of its own.
  TopologyParts parts;
  parts.name = "star";
  for (const char* name : {"npu0", "npu1", "npu2", "npu3"})
    parts.add_node({name, NodeKind::npu, {}, {}});
  const auto join = [&](std::uint32_t from, std::uint32_t to, std::int64_t ns, std::int64_t gb) {
    parts.add_link({NodeId{from}, NodeId{to}, Time{ns * 1000}, Bandwidth{gb * 1'000'000'000}, -1});
  };
  join(0, 3, 2000, 10);
  join(3, 0, 1, 25);
  join(0, 1, 0, 400);
  join(1, 0, 500, 25);
  join(0, 2, 2000, 1);
  join(2, 0, 0, 100);
  RandomNeed need{Topology(std::move(parts)), {}};
  CollectivePart part;
  const auto sum = [&](std::int64_t bytes, std::vector<NodeId> from, std::vector<NodeId> to) {
    const auto set = static_cast<SetId>(need.collective.sets.size());
    need.collective.sets.push_back(std::move(from));
    need.collective.sets.push_back(std::move(to));
    need.collective.chunks.push_back({Bytes{bytes}, set, set + 1, true});
    part.size += Bytes{bytes};
    ++part.chunk_count;
  };
  const NodeId a{0}, b{1}, c{2}, d{3};
  sum(64'000, {a, b, c}, {d});
  sum(3'000, {c}, {a, b, c, d});
  sum(64'000, {b, c, d}, {b, d});
  sum(100, {c, d}, {a, b, c, d});
  part.group = {a, b, c, d};
  need.collective.parts.push_back(part);
  const auto row =
      std::ranges::find(synthesizers(), std::string_view("teccl"), &AlgorithmRow::name);
  const Outcome outcome = synthesize(*row, need.topology, need.collective, {});
  REQUIRE(outcome.schedule);
  CHECK(verify(need.topology, need.collective, *outcome.schedule).correct());
}

TEST_CASE("four planners have a schedule wherever there is one") {
  check_planners(1, 15, 1, false);
  check_planners(2, 8, 1, true);
  check_planners(3, 8, 9, false);
}

TEST_CASE("four planners have a schedule wherever there is one of many", "[slow]") {
  check_planners(11, 1000, 1, false);
  check_planners(12, 500, 1, true);
  check_planners(13, 500, 9, false);
}

} // namespace feasible_everywhere_test
