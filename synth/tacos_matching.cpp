#include "synth/tacos_matching.hpp"

#include "synth/tacos_events.hpp"
#include "synth/tacos_rounds.hpp"

#include <algorithm>
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

} // namespace

std::optional<Matches> match_links_and_chunks(const MatchingProblem& problem) {
  const MatchingNetwork network(problem);
  if (std::ranges::count(network.lacking, 0U) == network.size())
    return Matches{Schedule(problem.topology.link_count()), std::nullopt, Time{}, Time{}};
  if (!network.uniform()) return by_events(problem, network);
  if (problem.link_busy == LinkBusy::latency_and_serialization) return in_rounds(problem, network);
  // Links that send while the last chunk is on its way don't keep to rounds. At this size they are
  // taken as if they did: it costs a percent or two, where chunks take far longer than the latency,
  // and saves most of time and memory.
  constexpr std::size_t large = std::size_t{1} << 24;
  if (network.size() * problem.collective.chunks.size() < large) return by_events(problem, network);
  MatchingProblem synchronous = problem;
  synchronous.link_busy = LinkBusy::latency_and_serialization;
  return in_rounds(synchronous, MatchingNetwork(synchronous));
}

} // namespace tutti
