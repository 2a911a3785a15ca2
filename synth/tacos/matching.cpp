// Which form of the matching fits, and with how many candidates. On equal links one candidate, the
// sender's first, mostly reaches the least makespan that the network allows; only where it doesn't,
// the matching is made again with several.

#include "synth/tacos/matching.hpp"

#include "sim/error.hpp"
#include "synth/tacos/events.hpp"
#include "synth/tacos/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

std::optional<Matches> by_events(const MatchingProblem& problem, const MatchingNetwork& network) {
  std::optional<Matches> matches =
      match_by_events(problem, network, problem.candidates.value_or(usual_candidates));
  if (matches) matches->least = network.least_makespan();
  return matches;
}

std::optional<Matches> in_rounds(const MatchingProblem& problem, const MatchingNetwork& network) {
  const Time least = network.least_makespan();
  std::optional<Matches> best = match_in_rounds(problem, network, problem.candidates.value_or(1));
  if (best && best->makespan > least && !problem.candidates) {
    std::optional<Matches> other = match_in_rounds(problem, network, usual_candidates);
    if (!other || other->makespan < best->makespan) best = std::move(other);
  }
  if (best) best->least = least;
  return best;
}

/// A link that starts its next transfer while the last is in flight doesn't keep to rounds. Large
/// matchings are made as if it did: where the serialization is far longer than the latency that
/// costs 1 or 2 % of the makespan, and saves most of the time and memory.
bool is_large(const MatchingProblem& problem, const MatchingNetwork& network) {
  constexpr std::size_t large = std::size_t{1} << 24, large_in_a_hurry = std::size_t{1} << 18;
  if (!problem.hurried) return network.size() * problem.collective.chunks.size() >= large;
  return std::accumulate(network.demand.begin(), network.demand.end(), std::size_t{0}) >=
         large_in_a_hurry;
}

} // namespace

bool MatchingProblem::is_listed(std::uint64_t transfers) const {
  if (transfers >= compact_from) return false;
  if (transfers >= UINT32_MAX - 1)
    throw InputError(fmt::format("{} transfers are too many to list", transfers));
  return true;
}

std::optional<Matches> match_links_and_chunks(const MatchingProblem& problem) {
  const MatchingNetwork network(problem);
  if (std::ranges::count(network.demand, 0U) == network.size())
    return Matches{Schedule(problem.topology.link_count()), std::nullopt, Time{}, Time{}};
  if (!network.uniform()) return by_events(problem, network);
  const bool rounds_fit = problem.link_busy == LinkBusy::latency_and_serialization;
  const bool large = is_large(problem, network);
  if (!rounds_fit && !large) return by_events(problem, network);
  MatchingProblem synchronous = problem;
  synchronous.link_busy = LinkBusy::latency_and_serialization;
  if (problem.hurried && large) synchronous.candidates = problem.candidates.value_or(1);
  return rounds_fit ? in_rounds(synchronous, network)
                    : in_rounds(synchronous, MatchingNetwork(synchronous));
}

} // namespace tutti
