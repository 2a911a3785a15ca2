// Why: a matching visits each link once for each chunk, so its network is laid out for that:
// participants numbered breadth-first, the links into each side by side. The least makespan is
// found by bisection: the number of chunks that the links into a node deliver by a given time only
// grows with time.

#include "synth/tacos/matching_network.hpp"

#include "sim/random.hpp"

#include <algorithm>

namespace tutti {

namespace {

constexpr std::uint32_t outside = UINT32_MAX;

} // namespace

MatchingNetwork::MatchingNetwork(const MatchingProblem& problem)
    : index(problem.topology.node_count(), outside) {
  const Topology& topology = problem.topology;
  std::vector<bool> takes_part(topology.node_count());
  for (const NodeId npu : problem.participants) takes_part[npu.value] = true;

  // Breadth-first, direction ignored.
  level.push_back(0);
  const auto visit = [&](NodeId npu) {
    if (!takes_part[npu.value] || index[npu.value] != outside) return;
    index[npu.value] = size();
    node.push_back(npu);
  };
  for (const NodeId first : problem.participants) { // one round, unless the network falls apart
    visit(first);
    for (std::uint32_t next = level.back(); next < size();) {
      level.push_back(size());
      for (; next < level.back(); ++next) {
        for (const LinkId out : topology.out_links(node[next])) visit(topology.link(out).to);
        for (const LinkId in : topology.in_links(node[next])) visit(topology.link(in).from);
      }
    }
  }

  for (const Chunk& chunk : problem.collective.chunks)
    chunk_size = std::max(chunk_size, chunk.size);
  Random random(problem.seed);
  in_begin.push_back(0);
  for (std::uint32_t v = 0; v < size(); ++v) {
    std::vector<Channel> into;
    for (const LinkId in : topology.in_links(node[v])) {
      const std::uint32_t from = index[topology.link(in).from.value];
      if (from == outside) continue;
      const std::int64_t sent = serialization(chunk_size, topology.effective_bandwidth(in)).ps;
      const Time latency = topology.link(in).latency;
      const Time busy_too = problem.link_busy == LinkBusy::serialization ? Time{}
                            : problem.busy_latency.empty()               ? latency
                                                           : problem.busy_latency[in.value];
      into.push_back({in, from, v, sent + busy_too.ps, sent + latency.ps});
    }
    if (problem.seed != 0) random.shuffle(into);
    std::ranges::stable_sort(into, {}, &Channel::cost);
    channels.insert(channels.end(), into.begin(), into.end());
    in_begin.push_back(static_cast<std::uint32_t>(channels.size()));
    most_in = std::max(most_in, static_cast<std::uint32_t>(into.size()));
  }
  count_demand(problem.collective);
}

/// Cost: O(what the sets hold), since consecutive chunks mostly share the set of those who want
/// them, or have one each.
void MatchingNetwork::count_demand(const Collective& collective) {
  std::vector<std::uint32_t> chunks_wanted(collective.sets.size());
  for (const Chunk& chunk : collective.chunks) ++chunks_wanted[chunk.destinations];
  demand.resize(size());
  for (SetId s = 0; s < collective.sets.size(); ++s)
    if (chunks_wanted[s] > 0)
      for (const NodeId npu : collective.sets[s]) demand[index[npu.value]] += chunks_wanted[s];

  constexpr SetId none = UINT32_MAX;
  std::vector<SetId> wants(size(), none); // the last marked set that it is in
  SetId marked = none;
  std::uint64_t taken = 0;
  for (const Chunk& chunk : collective.chunks) {
    if (chunk.destinations != marked)
      for (const NodeId npu : collective.sets[chunk.destinations])
        wants[index[npu.value]] = chunk.destinations;
    marked = chunk.destinations;
    taken += collective.sets[chunk.sources].size();
    for (const NodeId source : collective.sets[chunk.sources])
      if (wants[index[source.value]] == marked) --demand[index[source.value]];
  }
  for (const std::uint32_t chunks : demand) taken += chunks;
  everyone_takes_all = taken == std::uint64_t{size()} * collective.chunks.size();
}

bool MatchingNetwork::uniform() const {
  return std::ranges::all_of(channels, [&](const Channel& channel) {
    return channel.cost == channels.front().cost && channel.occupied == channels.front().occupied;
  });
}

Time MatchingNetwork::least_makespan() const {
  std::int64_t least = 0;
  for (std::uint32_t v = 0; v < size(); ++v) {
    const auto enough = [&](std::int64_t time) {
      std::int64_t brought = 0;
      for (const Channel& channel : into(v))
        if (time >= channel.cost) brought += 1 + (time - channel.cost) / channel.occupied;
      return brought >= demand[v];
    };
    if (into(v).empty() || enough(least)) continue;
    const Channel& fastest = into(v).front();
    std::int64_t high = fastest.cost + (std::int64_t{demand[v]} - 1) * fastest.occupied;
    for (std::int64_t low = least; low + 1 < high;) { // not enough at low, enough at high
      const std::int64_t middle = low + (high - low) / 2;
      (enough(middle) ? high : low) = middle;
    }
    least = high;
  }
  return Time{least};
}

} // namespace tutti
