// Why: that flows share equally short routes evenly is an ideal. Switches take one by a hash of a
// flow's addresses, whose collisions differ from job to job, so that one seed tells little.
#include "experiments/driver/studies/runs/hashed_routes.hpp"

#include "experiments/driver/studies/noise/start_times.hpp"
#include "experiments/driver/studies/runs/carried.hpp"

#include <algorithm>
#include <optional>

namespace tutti {

std::vector<Time> times_of_other_seeds(const Case& c, const Attempt& made) {
  std::vector<Time> times;
  if (c.options.routing.rule != Routing::ecmp_hash || made.outcome.routing.empty() ||
      !made.outcome.schedule)
    return times;
  constexpr std::uint64_t seeds = 16;
  Case other = c;
  if (!c.algorithm.chooses_chunks) other.chunks = made.chunks;
  other.options.model.discipline = c.disciplines.front();
  const std::vector<Time> starts = parse_starts(*c.topology, made.collective, c.noise.starts);
  for (std::uint64_t s = 1; s < seeds; ++s) {
    other.options.routing.seed = c.options.routing.seed + s;
    const Attempt again = attempt(other);
    if (!again.usable() || !again.outcome.schedule) continue;
    RunOptions options;
    options.watch = watch_of(c.options.stage, "replay under other seeds of the hash");
    std::optional<Time> least;
    for (const Carried& on : carried(other, again, starts)) {
      options.starts = on.starts;
      const Time time =
          c.engine->run(*on.topology, again.collective, *on.schedule, other.options.model, options)
              .completion;
      least = least ? std::min(*least, time) : time;
    }
    times.push_back(*least);
  }
  return times;
}

} // namespace tutti
