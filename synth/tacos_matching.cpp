#include "synth/tacos_matching.hpp"

#include "synth/matchings.hpp"

#include <utility>

namespace tutti {

std::optional<Matches> match_links_and_chunks(const MatchingProblem& problem) {
  constexpr std::uint32_t several = 8;
  const MatchingNetwork network(problem);
  const Time least = network.least_makespan(problem.collective);
  const bool in_rounds =
      network.uniform() && problem.link_busy == LinkBusy::latency_and_serialization;
  std::optional<Matches> best;
  if (!in_rounds) {
    best = match_by_events(problem, network, problem.candidates.value_or(several));
  } else {
    best = match_in_rounds(problem, network, problem.candidates.value_or(1));
    if (best && best->makespan > least && !problem.candidates) {
      std::optional<Matches> other = match_in_rounds(problem, network, several);
      if (!other || other->makespan < best->makespan) best = std::move(other);
    }
  }
  if (best) best->least = least;
  return best;
}

} // namespace tutti
