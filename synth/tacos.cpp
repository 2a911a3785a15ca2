// TACOS: Won et al., "TACOS: Topology-Aware Collective Algorithm Synthesizer for Distributed
// Machine Learning" (MICRO 2024). All-Gather and Broadcast by greedy matching (sec. IV.E-F, see
// tacos_matching.cpp), Reduce-Scatter and Reduce as their inverses on the reversed topology,
// All-Reduce as Reduce-Scatter then All-Gather (sec. IV.H).
//
// Works on links between NPUs; switches and memories are left out. A process group uses the links
// among its members if they suffice; otherwise all NPUs relay, and what brings nothing to a member
// is dropped afterwards.

#include "sim/random.hpp"
#include "sim/text.hpp"
#include "sim/transforms.hpp"
#include "sim/work_limit.hpp"
#include "synth/list.hpp"
#include "synth/tacos_matching.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Whether every one of `nodes` reaches every other over links among them. Cost: O(links).
bool strongly_connected(const Topology& topology, std::span<const NodeId> nodes) {
  std::vector<bool> inside(topology.node_count());
  for (const NodeId node : nodes) inside[node.value] = true;
  for (const bool forward : {true, false}) {
    std::vector<bool> seen(topology.node_count());
    std::vector<NodeId> stack{nodes.front()};
    seen[nodes.front().value] = true;
    std::size_t count = 0;
    while (!stack.empty()) {
      const NodeId at = stack.back();
      stack.pop_back();
      ++count;
      for (const LinkId link : forward ? topology.out_links(at) : topology.in_links(at)) {
        const NodeId next = forward ? topology.link(link).to : topology.link(link).from;
        if (!inside[next.value] || seen[next.value]) continue;
        seen[next.value] = true;
        stack.push_back(next);
      }
    }
    if (count != nodes.size()) return false;
  }
  return true;
}

struct Settings {
  std::uint32_t candidates = 8; // chunks that a link chooses among
  std::uint32_t starts = 1;     // attempts; the first takes links by id, the others by seed
};

Settings read_settings(const SynthesisOptions& options) {
  Settings settings;
  const auto read = [&](const std::string& key, std::uint32_t& value, std::int64_t highest) {
    const auto given = options.settings.find(key);
    if (given != options.settings.end())
      value = static_cast<std::uint32_t>(parse_integer(given->second, key, 1, highest));
  };
  read("candidates", settings.candidates, 1024);
  read("starts", settings.starts, 1'000'000);
  return settings;
}

struct Spread {
  std::optional<Schedule> schedule;
  bool timed_out = false;
};

/// A copying collective's schedule, each chunk from its one holder to all participants: the best of
/// all attempts that end before the deadline.
Spread spread(const Topology& topology, const Collective& collective,
              std::vector<NodeId> participants, const SynthesisOptions& options,
              const WorkLimit& limit) {
  const Settings settings = read_settings(options);
  MatchingProblem problem{.topology = topology,
                          .holders = {},
                          .participants = std::move(participants),
                          .chunk_size = Bytes{1},
                          .link_busy = options.model.link_busy,
                          .candidates = settings.candidates,
                          .limit = limit};
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    problem.holders.push_back(collective.held_by(ChunkId{c}).front());
    problem.chunk_size = std::max(problem.chunk_size, collective.chunks[c].size);
  }
  std::optional<Matches> best = match_links_and_chunks(problem);
  for (std::uint32_t start = 1; best && start < settings.starts; ++start) {
    problem.seed = Random(options.seed + start).next() | 1; // never 0
    std::optional<Matches> next = match_links_and_chunks(problem);
    if (!next) return {std::move(best->schedule), true};
    if (next->makespan < best->makespan) best = std::move(next);
  }
  if (!best) return {std::nullopt, true};
  return {std::move(best->schedule), false};
}

/// Without the copies that reach no member of the group, directly or passed on. Pre: single hops,
/// no chunk reaches an NPU twice.
Schedule without_idle_relays(const Topology& topology, const Schedule& schedule,
                             std::span<const NodeId> group) {
  std::vector<bool> member(topology.npu_count()), kept(schedule.size());
  for (const NodeId npu : group) member[npu.value] = true;
  std::unordered_set<std::uint64_t> passed_on; // chunk and NPU; never iterated
  const auto key = [](ChunkId chunk, NodeId npu) {
    return std::uint64_t{chunk.value} << 32 | npu.value;
  };
  for (std::size_t i = schedule.size(); i-- > 0;) {
    const Transfer transfer = schedule[i];
    const Link& link = topology.link(schedule.paths().first(transfer.path));
    kept[i] = member[link.to.value] || passed_on.contains(key(transfer.chunk, link.to));
    if (kept[i]) passed_on.insert(key(transfer.chunk, link.from));
  }
  Schedule pruned(topology.link_count());
  for (std::size_t i = 0; i < schedule.size(); ++i)
    if (kept[i]) pruned.push(schedule[i]);
  return pruned;
}

/// The copying collective that `part` is made from: Reduce-Scatter is an All-Gather backwards.
CollectiveSpec copying_spec(const CollectivePart& part) {
  const bool rooted = has_root(part.kind);
  return {rooted ? CollectiveKind::broadcast : CollectiveKind::all_gather, part.size, part.group,
          part.root, part.pieces};
}

} // namespace

Outcome tacos(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  const CollectivePart& part = collective.parts.front();
  const CollectiveSpec spec = copying_spec(part);
  const Collective copying = make_collective(topology, spec);

  std::vector<NodeId> participants = part.group;
  const bool among_themselves = strongly_connected(topology, participants);
  if (!among_themselves) {
    participants.clear();
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n) participants.emplace_back(n);
    if (!strongly_connected(topology, participants))
      return infeasible("tacos works on links between NPUs, and here they don't connect every NPU "
                        "with every other");
  }
  const WorkLimit limit(options);
  bool timed_out = false;
  const auto copies_on = [&](const Topology& network) -> std::optional<Schedule> {
    Spread made = spread(network, copying, participants, options, limit);
    timed_out = timed_out || made.timed_out;
    if (!made.schedule || among_themselves) return std::move(made.schedule);
    return without_idle_relays(network, *made.schedule, part.group);
  };
  const auto reductions = [&]() -> std::optional<Schedule> {
    const std::optional<Schedule> copies = copies_on(reversed(topology));
    if (!copies) return std::nullopt;
    return inverted(*copies, Op::reduce);
  };

  Outcome outcome;
  if (!is_reducing(part.kind)) {
    outcome.schedule = copies_on(topology);
  } else {
    outcome.schedule = reductions();
    if (outcome.schedule && part.kind == CollectiveKind::all_reduce) {
      const std::optional<Schedule> copies = copies_on(topology);
      outcome.schedule =
          copies ? std::optional(concatenated(*outcome.schedule, *copies)) : std::nullopt;
    }
  }
  outcome.status = timed_out ? Status::timed_out : Status::feasible;
  if (!outcome.schedule) outcome.note = "no schedule within the limit";
  return outcome;
}

} // namespace tutti
