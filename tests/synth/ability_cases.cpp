// Random networks whose nodes have any abilities, and what every algorithm answers there: schedules
// that verify() accepts, or a reason. What a switch may do is where planners go wrong unseen.
#include "tests/synth/ability_cases.hpp"

#include "algorithms/list.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "synth/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::samples {

namespace {

Abilities any_abilities(Random& random) {
  return {random.below(4) == 0, random.below(2) == 0, random.below(2) == 0};
}

Topology random_able_network(Random& random, const std::vector<bool>& member) {
  TopologyParts parts;
  parts.name = "random";
  for (std::size_t n = 0; n < member.size(); ++n) {
    const NodeId npu = parts.add_node({fmt::format("npu{}", n), NodeKind::npu, {}, {}});
    if (random.below(member[n] ? 20 : 2) == 0) parts.nodes[npu.value].can = any_abilities(random);
  }
  for (std::uint64_t s = 0, switches = 1 + random.below(3); s < switches; ++s)
    parts.add_node({fmt::format("switch{}", s), NodeKind::switching, any_abilities(random), {}});
  const auto nodes = static_cast<std::uint32_t>(parts.nodes.size());
  const std::array<std::int64_t, 2> latencies{
      0, random.below(2) == 0 ? 0 : static_cast<std::int64_t>(random.below(3'000'000))};
  const std::uint64_t most_rate = 1 + random.below(2);
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    parts.add_link(
        {NodeId{from}, NodeId{to}, Time{latencies[random.below(2)]},
         Bandwidth{static_cast<std::int64_t>(1 + random.below(most_rate)) * 1'000'000'000}, -1});
  };
  std::vector<std::uint32_t> around;
  for (std::uint32_t n = 0; n < nodes; ++n) around.push_back(n);
  random.shuffle(around);
  const bool cycle = random.below(4) > 0;
  for (std::uint32_t n = 0; n + (cycle ? 0 : 1) < nodes; ++n)
    link(around[n], around[(n + 1) % nodes]);
  for (std::uint64_t more = random.below(2 * nodes); more > 0; --more) {
    const auto from = static_cast<std::uint32_t>(random.below(nodes)),
               to = static_cast<std::uint32_t>(random.below(nodes));
    if (from != to) link(from, to);
  }
  if (random.below(4) == 0) {
    SharedGroup group{"shared", {}, Bandwidth{1'000'000'000}};
    for (std::uint32_t l = 0; l < parts.links.size(); ++l)
      if (random.below(3) == 0) group.links.emplace_back(l);
    if (!group.links.empty()) parts.groups.push_back(std::move(group));
  }
  return Topology(std::move(parts));
}

} // namespace

AbilityCase random_ability_case(Random& random) {
  std::vector<bool> member(3 + random.below(3));
  std::vector<NodeId> group;
  const bool all = random.below(2) == 0;
  for (std::uint32_t n = 0; n < member.size(); ++n)
    if (all || n < 2 || random.below(2) == 0) group.emplace_back(n);
  for (const NodeId node : group) member[node.value] = true;
  random.shuffle(group);
  Topology topology = random_able_network(random, member);
  std::vector<Collective> parts;
  for (std::uint64_t count = random.below(8) == 0 ? 2 : 1; count > 0; --count) {
    const auto kinds = basic_collectives();
    const CollectiveKind kind = kinds[random.below(kinds.size())];
    const auto root = has_root(kind) ? static_cast<std::uint32_t>(random.below(group.size())) : 0;
    parts.push_back(make_collective(topology, {kind, Bytes{6000}, group, root,
                                               1 + static_cast<std::uint32_t>(random.below(3))}));
  }
  return {std::move(topology), parts.size() == 1 ? std::move(parts.front()) : merge(parts)};
}

void ask_all(const AbilityCase& given, AbilityAnswers& answers) {
  const Topology& topology = given.topology;
  const Collective& collective = given.collective;
  const auto ask = [&](const AlgorithmRow& row) {
    SynthesisOptions options;
    if (row.name == "sccl") options.settings = {{"effort", "200"}, {"largest", "1000"}};
    if (row.name == "teccl") options.settings = {{"effort", "100"}, {"largest", "1000"}};
    std::string fault;
    try {
      const Outcome outcome = synthesize(row, topology, collective, options);
      if (outcome.schedule) {
        const Verdict verdict = verify(topology, collective, *outcome.schedule);
        if (verdict.fault)
          fault = verdict.fault->text;
        else if (verdict.redundant > 0)
          fault = fmt::format("{} redundant transfers", verdict.redundant);
        else
          (void)run_native(topology, collective, *outcome.schedule, {});
        ++answers.schedules;
      } else if (outcome.note.empty()) {
        fault = "no schedule, and no word about it";
      }
    } catch (const InputError& error) { // what nobody can reach
      if (std::string_view(error.what()).empty()) fault = "an error without words";
    }
    if (fault.empty() || !answers.fault.empty()) return;
    answers.fault = fmt::format("{}, {}: {}; on", row.name, collective.name(), fault);
    for (const Node& node : topology.nodes())
      answers.fault += fmt::format(" {}{}{}{}", node.name, node.can.store ? "+store" : "",
                                   node.can.copy ? "+copy" : "", node.can.reduce ? "+reduce" : "");
    for (const Link& link : topology.links())
      answers.fault += fmt::format(" {}>{}/{}ps", link.from.value, link.to.value, link.latency.ps);
  };
  for (const AlgorithmRow& row : baseline_algorithms()) ask(row);
  for (const AlgorithmRow& row : synthesizers()) ask(row);
}

} // namespace tutti::samples
