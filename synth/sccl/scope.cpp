// A group of two among 65,536 NPUs has its schedules in a neighbourhood of a few hundred, but
// symmetries and linear programs of the whole network take minutes and all memory. A chunk that is
// `a` steps from every source and `b` from every destination is of no use to
// schedules of fewer than a + b steps: such nodes are left out, exactly. Bounds must hold for
// schedules of any number of steps: there they are contracted to one node, which relaxes the flow
// problem of Cai et al. 2021, sec. 3.2 (sends among them cost nothing any more).

#include "synth/sccl/scope.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t most_scope_lanes = 20'000; // whose symmetries are found within a second
constexpr std::uint32_t left_out = UINT32_MAX;

/// For each node the steps of the shortest path over it from a source of any chunk to a destination
/// of any.
std::vector<std::uint32_t> path_lengths(const StepProblem& problem) {
  std::vector<bool> is_source(problem.network.node_count()), is_end(is_source.size());
  for (const TimedChunk& chunk : problem.chunks) {
    for (const std::uint32_t n : chunk.sources) is_source[n] = true;
    // A chunk without a destination stays where it is.
    for (const std::uint32_t n : chunk.destinations.empty() ? chunk.sources : chunk.destinations)
      is_end[n] = true;
  }
  const auto members = [](const std::vector<bool>& chosen) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t n = 0; n < chosen.size(); ++n)
      if (chosen[n]) all.push_back(n);
    return all;
  };
  std::vector<std::uint32_t> length = problem.network.distances_from(members(is_source));
  const std::vector<std::uint32_t> to = problem.network.distances_to(members(is_end));
  for (std::uint32_t n = 0; n < length.size(); ++n)
    length[n] = length[n] == unreachable || to[n] == unreachable ? unreachable : length[n] + to[n];
  return length;
}

/// How many steps paths may have so that there are at most `most_scope_lanes` among their nodes;
/// `steps` where fewer steps leave out nothing.
std::uint32_t narrowed(const StepNetwork& network, const std::vector<std::uint32_t>& lengths,
                       std::uint32_t fewest, std::uint32_t steps) {
  std::map<std::uint32_t, std::size_t> count; // of lanes that need paths so long
  for (const Lane& lane : network.lanes)
    if (const std::uint32_t length = std::max(lengths[lane.from], lengths[lane.to]);
        length <= steps)
      ++count[std::max(length, fewest)];
  std::size_t sum = 0;
  for (const auto& [length, lanes] : count) {
    sum += lanes;
    if (sum > most_scope_lanes && length > fewest) return length - 1;
  }
  return steps;
}

/// The chunks by the nodes' new numbers.
std::vector<TimedChunk> renumbered(const std::vector<TimedChunk>& chunks,
                                   const std::vector<std::uint32_t>& number) {
  const auto within = [&](const std::vector<std::uint32_t>& nodes) {
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t n : nodes)
      if (number[n] != left_out) kept.push_back(number[n]);
    return kept;
  };
  std::vector<TimedChunk> all;
  for (const TimedChunk& chunk : chunks)
    all.push_back({within(chunk.sources), within(chunk.destinations)});
  return all;
}

/// The whole network's nodes in the scope's numbers.
std::vector<std::uint32_t> numbers_in(const StepNetwork& whole, const StepNetwork& part) {
  std::vector<std::uint32_t> number(whole.node_count(), left_out);
  for (std::uint32_t n = 0, at = 0; n < whole.node_count() && at < part.nodes.size(); ++n)
    if (whole.nodes[n] == part.nodes[at]) number[n] = at++;
  return number;
}

} // namespace

StepScope scope_within(const StepProblem& problem, std::uint32_t fewest, std::uint32_t steps) {
  const StepNetwork& whole = problem.network;
  const std::vector<std::uint32_t> lengths = path_lengths(problem);
  StepScope scope;
  scope.steps = narrowed(whole, lengths, fewest, steps);
  StepNetwork& network = scope.problem.network;
  network.round = whole.round;
  network.step_latency = whole.step_latency;
  for (std::uint32_t n = 0; n < whole.node_count(); ++n)
    if (lengths[n] <= scope.steps) network.nodes.push_back(whole.nodes[n]);
  const std::vector<std::uint32_t> number = numbers_in(whole, network);
  std::vector<LaneId> made(whole.lanes.size()); // of each of the whole's
  for (std::uint32_t l = 0; l < whole.lanes.size(); ++l) {
    const Lane& lane = whole.lanes[l];
    if (number[lane.from] == left_out || number[lane.to] == left_out) continue;
    made[l] = LaneId{static_cast<std::uint32_t>(scope.lanes.size())};
    scope.lanes.emplace_back(l);
    network.lanes.push_back({number[lane.from], number[lane.to], lane.links});
  }
  for (const StepLimit& limit : whole.limits) {
    StepLimit kept{limit.name, {}, limit.per_round};
    for (const LaneId l : limit.lanes)
      if (made[l.value].valid()) kept.lanes.push_back(made[l.value]);
    if (!kept.lanes.empty()) network.limits.push_back(std::move(kept));
  }
  network.index_lanes(static_cast<std::uint32_t>(network.nodes.size()));
  scope.problem.chunks = renumbered(problem.chunks, number);
  scope.problem.limit = problem.limit;
  return scope;
}

StepProblem contracted(const StepProblem& problem, const StepScope& scope) {
  const StepNetwork &whole = problem.network, &part = scope.problem.network;
  if (part.node_count() == whole.node_count()) return scope.problem;
  const std::vector<std::uint32_t> number = numbers_in(whole, part);
  const std::uint32_t elsewhere = part.node_count();
  const auto node_of = [&](std::uint32_t n) {
    return number[n] == left_out ? elsewhere : number[n];
  };

  StepProblem small = scope.problem;
  StepNetwork& network = small.network;
  network.nodes.push_back(
      whole.nodes[static_cast<std::size_t>(std::ranges::find(number, left_out) - number.begin())]);
  // Bundles of lanes from or to elsewhere, by their ends.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<LaneId>> bundles;
  std::vector<LaneId> made(whole.lanes.size()); // of each of the whole's
  for (std::uint32_t l = 0; l < scope.lanes.size(); ++l) made[scope.lanes[l].value] = LaneId{l};
  for (std::uint32_t l = 0; l < whole.lanes.size(); ++l) {
    const std::uint32_t from = node_of(whole.lanes[l].from), to = node_of(whole.lanes[l].to);
    if (from != to && (from == elsewhere || to == elsewhere)) bundles[{from, to}].emplace_back(l);
  }
  const std::vector<Ratio> widths = lane_widths(whole);
  std::vector<StepLimit> bundle_limits;
  for (const auto& [ends, lanes] : bundles) {
    const LaneId bundle{static_cast<std::uint32_t>(network.lanes.size())};
    network.lanes.push_back({ends.first, ends.second, whole.lane(lanes.front()).links});
    Ratio width;
    for (const LaneId l : lanes) {
      made[l.value] = bundle;
      width = width + widths[l.value];
    }
    bundle_limits.push_back({"elsewhere", {bundle}, width});
  }
  network.limits.clear();
  for (const StepLimit& limit : whole.limits) {
    StepLimit kept{limit.name, {}, limit.per_round};
    std::map<LaneId, std::set<LaneId>> parts; // of bundles in this limit
    for (const LaneId l : limit.lanes) {
      const LaneId lane = made[l.value];
      if (!lane.valid()) continue;
      if (lane.value < scope.lanes.size())
        kept.lanes.push_back(lane);
      else
        parts[lane].insert(l);
    }
    // A limit tells about a bundle only if it has all of its lanes in it.
    for (const auto& [bundle, lanes] : parts) {
      const Lane& lane = network.lane(bundle);
      if (lanes.size() == bundles.at({lane.from, lane.to}).size()) kept.lanes.push_back(bundle);
    }
    if (!kept.lanes.empty()) network.limits.push_back(std::move(kept));
  }
  std::ranges::move(bundle_limits, std::back_inserter(network.limits));
  network.index_lanes(static_cast<std::uint32_t>(network.nodes.size()));
  for (std::uint32_t c = 0; c < small.chunks.size(); ++c)
    if (small.chunks[c].sources.size() < problem.chunks[c].sources.size())
      small.chunks[c].sources.push_back(elsewhere);
  return small;
}

} // namespace tutti
