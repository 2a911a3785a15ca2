// TACOS's greedy link-chunk matching over time (TACOS sec. IV.D-F), from any state: some
// participating NPUs hold a chunk, some want it; those who want it pass it on. The paper's
// time-expanded network is never built: only the links that are idle now, and who holds what, are
// kept. paper.cpp has the algorithm as printed.
//
// Whenever a link has brought a chunk it takes the next, as long as its NPU holds something that
// the other end demands, so links never wait without need. Where we differ from the paper:
//
// - What a link brought is decided when it arrives, among the chunks that the sender held when the
//   transfer began ("late binding"). A slow link so never keeps a chunk from a faster one, and
//   nothing is sent that wasn't there: the paper's chunk replacement (Fig. 12b) does that on
//   networks with unequal links.
// - The receiver doesn't pick at random. It takes the chunk that its other in-neighbours are least
//   able to supply, weighed by how fast their links are; of several the one that the sender got
//   first. Random picks leave links idle at the end, since what is missing then sits behind one of
//   them only.
//
// Two forms of the same matching: where a chunk takes equally long on every link, time passes in
// rounds (rounds.cpp); otherwise it is a matter of events (events.cpp).
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/ids.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// Chunks that a link chooses among, more than these rarely help.
inline constexpr std::uint32_t usual_candidates = 8;

struct MatchingProblem {
  const Topology& topology;
  const Collective& collective;         ///< copied chunks; participants hold and want them
  std::span<const NodeId> participants; ///< NPUs
  LinkBusy link_busy = LinkBusy::serialization;
  /// Per link how long it is busy beyond the serialization, where latency counts; empty: for its
  /// latency.
  std::span<const Time> busy_latency = {};
  std::uint64_t seed = 0; ///< order of equal links: by id for 0, else shuffled
  /// Chunks that a link chooses among. Without: as usual; on equal links first 1, mostly enough.
  std::optional<std::uint32_t> candidates = {};
  /// Large matchings are made at once rather than as well as can be: somebody waits.
  bool hurried = false;
  unsigned threads = 1; ///< for one matching; the result is the same for any number
  const WorkLimit& limit;
  /// Matchings of at least so many transfers come in compact form.
  std::size_t compact_from = many;
  static constexpr std::size_t many = std::size_t{1} << 26, never = SIZE_MAX;

  /// Whether so many come as a list. Errors: InputError where that can't be as long as is asked
  /// for.
  [[nodiscard]] bool is_listed(std::uint64_t transfers) const;
};

struct Matches {
  std::optional<Schedule> schedule;       ///< in order of start
  std::optional<CompactSchedule> compact; ///< instead, if they are many
  Time makespan;                          ///< the last arrival; all chunks are taken as the largest
  Time least;                             ///< what no matching on this network can beat
};

/// Copies over single links. Each participant gets each chunk that it wants once, and only from a
/// participant that holds it when the transfer starts. Nothing where the limit is reached first.
/// Pre: whoever wants a chunk can be reached from a source through others who hold or want it.
/// Cost: O(links * chunks * candidates * in-degree) at most, usually O(links * chunks). Memory: for
/// each (chunk, NPU) 2 or 4 bytes and some bits, with unequal links another 4 bytes.
[[nodiscard]] std::optional<Matches> match_links_and_chunks(const MatchingProblem& problem);

} // namespace tutti
