// Algorithm 1 of TE-CCL, as the public code has it: a bisection on the duration of an epoch, with a
// number of epochs that stays as it is.
#include "synth/teccl/bounds/time_bound.hpp"

#include "synth/teccl/bounds/fewest_epochs.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr std::uint32_t epochs_a_hop_copied = 3, epochs_a_hop_unicast = 20;
constexpr std::int64_t time_factor_unicast = 100;
constexpr std::uint32_t most_bound_attempts = 11;

// So many chunks have to come to one node from one other, at most: "num_chunks" of the public code.
std::int64_t chunks_of_a_pair(const EpochProblem& problem) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> chunks;
  std::int64_t most = 1;
  for (const TimedChunk& chunk : problem.chunks)
    for (const std::uint32_t destination : chunk.destinations)
      most = std::max(most, ++chunks[{chunk.sources.front(), destination}]);
  return most;
}

// Links of the longest among the shortest paths between two nodes.
std::uint32_t most_hops(const Topology& topology) {
  std::uint32_t most = 1;
  for (std::uint32_t from = 0; from < topology.node_count(); ++from) {
    std::vector<std::uint32_t> hops(topology.node_count(), unreachable);
    std::vector<NodeId> reached{NodeId{from}};
    hops[from] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const NodeId node = reached[i];
      most = std::max(most, hops[node.value]);
      for (const LinkId link : topology.out_links(node)) {
        const NodeId to = topology.link(link).to;
        if (hops[to.value] != unreachable) continue;
        hops[to.value] = hops[node.value] + 1;
        reached.push_back(to);
      }
    }
  }
  return most;
}

// What the largest chunk needs on the slowest link, latency included.
Time slowest_hop(const Topology& topology, const Collective& collective) {
  Bytes size{1};
  for (const Chunk& chunk : collective.chunks) size = std::max(size, chunk.size);
  Time most;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const LinkId link{l};
    const Time busy = serialization(size, topology.effective_bandwidth(link));
    most = std::max(most, busy + topology.link(link).latency);
  }
  return most;
}

// Half of the public code's upper bound: the first that it asks.
Time first_guess(const Topology& topology, const Collective& collective,
                 const EpochProblem& problem, std::uint32_t epochs) {
  const std::int64_t factor = problem.is_unicast() ? time_factor_unicast : 1;
  const double times = static_cast<double>(factor * epochs) *
                       static_cast<double>(chunks_of_a_pair(problem)) * topology.node_count() / 4;
  const double most = 1e18; // ps, 11 days: below where sums of times end
  const double guess = times * static_cast<double>(slowest_hop(topology, collective).ps);
  return {static_cast<std::int64_t>(std::min(guess, most))};
}

} // namespace

std::optional<Time>
epoch_time_bound(const Topology& topology, const Collective& collective, EpochSettings settings,
                 const std::function<EpochAnswer(const EpochProblem&, std::uint32_t)>& question,
                 const WorkLimit& limit) {
  const EpochProblem fine = epoch_problem(topology, collective, settings);
  if (!fewest_epochs(fine)) return std::nullopt;
  const std::uint32_t epochs =
      most_hops(topology) * (fine.is_unicast() ? epochs_a_hop_unicast : epochs_a_hop_copied);
  Time lower, guess = first_guess(topology, collective, fine, epochs);
  std::optional<Time> upper;
  for (std::uint32_t attempt = 0; attempt < most_bound_attempts && !limit.reached(); ++attempt) {
    const Time duration{std::max(guess.ps / epochs, fine.network.epoch.ps)};
    settings.duration = duration;
    const EpochProblem coarse = epoch_problem(topology, collective, settings);
    const EpochAnswer answer = question(coarse, epochs);
    if (answer.status == EpochStatus::optimal || answer.status == EpochStatus::feasible) {
      const std::uint32_t used = epochs_of(coarse, answer.plan).value_or(epochs);
      upper = Time{used * coarse.network.epoch.ps};
      if (duration == fine.network.epoch) break;
    } else {
      lower = std::max(lower, Time{duration.ps * epochs});
    }
    if (upper && *upper <= lower) break;
    guess = upper ? Time{lower.ps + (upper->ps - lower.ps) / 2} : Time{2 * lower.ps};
  }
  return upper;
}

} // namespace tutti
