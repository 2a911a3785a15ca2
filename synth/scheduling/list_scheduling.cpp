// Priorities are the longest chains of transfers that must follow (critical paths), computed once
// from the precedence. Several orders are tried, since list scheduling has anomalies (Graham):
// these priorities, the same with a random precedence of whole chunks, and the order given. The
// least makespan counts; a replay tells it where a dispatch can't exactly.

#include "synth/scheduling/list_scheduling.hpp"

#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "synth/scheduling/link_dispatch.hpp"
#include "synth/scheduling/transfer_precedence.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// How long transfers take on links that nobody else uses, in ps.
class Durations {
public:
  Durations(const Topology& topology, const TimeModel& model, const PathTable& paths)
      : topology_(topology), model_(model), paths_(paths), known_(paths.size()) {}

  [[nodiscard]] std::int64_t of(PathId path, Bytes size) {
    Known& known = known_[path.value];
    if (known.size != size) known = {size, computed(path, size)};
    return known.duration;
  }

private:
  struct Known {
    Bytes size;
    std::int64_t duration = 0;
  };

  [[nodiscard]] std::int64_t computed(PathId path, Bytes size) const {
    std::int64_t head = 0, tail = 0;
    for (const LinkId id : paths_.links(path)) {
      const Link& link = topology_.link(id);
      const std::int64_t sent = serialization(size, topology_.effective_bandwidth(id)).ps;
      tail = std::max(head + sent, tail) + link.latency.ps;
      const bool cuts =
          model_.forwarding == Forwarding::cut_through ||
          (model_.forwarding == Forwarding::automatic && !topology_.node(link.to).can.store);
      head = cuts ? head + link.latency.ps : tail;
    }
    return tail;
  }

  const Topology& topology_;
  const TimeModel& model_;
  const PathTable& paths_;
  std::vector<Known> known_;
};

/// 0 .. count-1 for each chunk's class, in order.
struct Classes {
  std::vector<std::uint32_t> of_chunk; // empty: all alike
  std::uint64_t count = 1;
};

Classes classes_of(std::span<const std::int64_t> chunk_priority) {
  Classes classes;
  std::vector<std::int64_t> distinct(chunk_priority.begin(), chunk_priority.end());
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() < 2) return classes;
  classes.count = distinct.size();
  for (const std::int64_t priority : chunk_priority)
    classes.of_chunk.push_back(static_cast<std::uint32_t>(
        std::ranges::lower_bound(distinct, priority) - distinct.begin()));
  return classes;
}

/// Lower keys for lower classes, within each for longer tails.
void set_keys(TransferPrecedence& precedence, const Classes& classes,
              const std::vector<std::int64_t>& tails) {
  const std::uint64_t levels = (std::uint64_t{1} << 32) / classes.count;
  std::int64_t longest = 1;
  for (const std::int64_t tail : tails) longest = std::max(longest, tail);
  const double scale = static_cast<double>(levels - 1) / static_cast<double>(longest);
  for (std::uint32_t i = 0; i < tails.size(); ++i) {
    const auto level = static_cast<std::uint64_t>(static_cast<double>(longest - tails[i]) * scale);
    const std::uint64_t its_class =
        classes.of_chunk.empty() ? 0 : classes.of_chunk[precedence.chunk(i).value];
    precedence.set_key(i, static_cast<std::uint32_t>(its_class * levels + level));
  }
}

/// All of a chunk longer by the same, at random up to 0.7 of the longest: where every link is full,
/// it helps that one chunk has precedence over another wherever they meet (Leighton, Maggs, Rao
/// 1994, "Packet routing and job-shop scheduling in O(congestion + dilation) steps").
std::vector<std::int64_t> with_precedence(std::vector<std::int64_t> tails, const Schedule& schedule,
                                          std::size_t chunks, Random& random) {
  std::int64_t longest = 0;
  for (const std::int64_t tail : tails) longest = std::max(longest, tail);
  std::vector<std::int64_t> extra(chunks);
  for (std::int64_t& time : extra)
    time =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(longest) / 10 * 7 + 1));
  for (std::size_t i = 0; i < tails.size(); ++i) tails[i] += extra[schedule[i].chunk.value];
  return tails;
}

Schedule reordered(const Schedule& schedule, std::span<const std::uint32_t> order) {
  Schedule made(schedule.paths().link_count());
  made.paths() = schedule.paths();
  made.reserve(schedule.size());
  for (const std::uint32_t i : order) made.push(schedule[i]);
  return made;
}

} // namespace

Timed list_scheduled(const Topology& topology, const Collective& collective,
                     const Schedule& any_valid_order, const TimeModel& model,
                     std::span<const std::int64_t> chunk_priority, unsigned effort,
                     const WorkLimit& limit) {
  limit.require();
  const Schedule& given = any_valid_order;
  TransferPrecedence precedence(topology, collective.chunks.size(), given);
  const Classes classes = classes_of(chunk_priority);
  Durations durations(topology, model, given.paths());
  const auto duration = [&](std::uint32_t i) {
    return durations.of(given.path_of(i), collective.chunks[given[i].chunk.value].size);
  };
  std::optional<Dispatched> best;
  const auto attempt = [&](const std::vector<std::int64_t>& tails) {
    set_keys(precedence, classes, tails);
    Dispatched made = dispatched(topology, collective, given, model, precedence, limit);
    if (!made.as_replayed)
      made.makespan =
          run_native(topology, collective, reordered(given, made.order), model, {}).completion;
    if (!best || made.makespan < best->makespan) best = std::move(made);
  };
  const std::vector<std::int64_t> tails = precedence.tails(duration);
  limit.require();
  attempt(tails);
  Random random(given.size());
  try {
    for (unsigned e = 1; e < effort; ++e)
      if (e != 2) attempt(with_precedence(tails, given, collective.chunks.size(), random));
  } catch (const LimitReached&) { // the best so far
  }
  const bool ended = limit.reached();
  // Where much is decided by entry, luck counts.
  if (effort > 2 && classes.of_chunk.empty() && !ended) {
    const Time as_given = run_native(topology, collective, given, model, {}).completion;
    if (as_given < best->makespan) return {given, as_given};
  }
  return {reordered(given, best->order), best->makespan};
}

} // namespace tutti
