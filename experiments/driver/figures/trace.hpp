// The timeline of replays for ui.perfetto.dev and chrome://tracing: each run a process of the
// viewer, each link a track of it.
#pragma once

#include "experiments/driver/figures/trace_events.hpp"
#include "sim/collective.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

/// A replay of a schedule and what it is called in the viewer: "tacos, 64MiB, fifo".
struct TracedRun {
  std::string name;
  const Topology* topology = nullptr; ///< not owned, as the others
  const Collective* collective = nullptr;
  const Schedule* schedule = nullptr;
  const Report* report = nullptr; ///< with hops
  /// Only so many, the first ones, are shown: some 400 bytes each in the file.
  std::size_t most_crossings = 1'000'000;
};

/// "tacos, 64MiB, fifo"
[[nodiscard]] std::string trace_name(std::string_view algorithm, Bytes size, Discipline discipline);

/// Number of links up to which a trace has the load of each; in larger networks it has only the
/// load of all together.
inline constexpr std::uint32_t most_links_with_load = 64;

/// What traces of all runs on this network leave out, in words; empty: nothing.
[[nodiscard]] std::vector<std::string> left_out_of_trace(const Topology& topology);

/// The events of one run, as process `pid`:
/// - A slice for each of Report::hops, on its link's track (and further ones where transfers share
///   the link): category "transfer" or "reduce", arguments transfer, chunk, bytes, source and
///   destination of the transfer, and the rate of this crossing. Tracks stand by source, then
///   destination of the link.
/// - Arrows, category "flow": "hop" from each link of a transfer's path to the next, where that
///   begins later; "data" as arrivals_awaited() says; "left" and "arrived" to a transfer from those
///   that it names.
/// - Counters, category "load": crossings under way in the network, their bytes per second, and for
///   each link (up to most_links_with_load) the used percentage of its bandwidth. A crossing counts
///   with its mean rate.
/// - A mark at the completion.
/// Returns what of the run is left out, in words; empty: nothing.
/// Errors: InputError where the run recorded no hops (RunOptions::record_hops) though the schedule
/// has transfers. Pre: nothing happened to the network. Cost: O(hops * longest path + links).
std::string write_run(TraceEvents& events, std::uint32_t pid, const TracedRun& run);

/// Which arrivals the transfers wait for, of all that a schedule's meaning says (all earlier ones
/// of the chunk at the sender): those since the sender's last send of the chunk, and the one that
/// `arrival` puts last. So each transfer is joined to the arrival that was decisive, and each
/// arrival to the first transfer that carries it on; at most two for each transfer altogether.
struct AwaitedArrivals {
  std::vector<std::size_t> begin;       ///< [transfer], and one more
  std::vector<std::uint32_t> transfers; ///< whose arrivals transfer i waits for, from begin[i] on

  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t transfer) const {
    return std::span(transfers).subspan(begin[transfer], begin[transfer + 1] - begin[transfer]);
  }
};
[[nodiscard]] AwaitedArrivals arrivals_awaited(const Topology& topology, const Schedule& schedule,
                                               std::span<const Time> arrivals);

} // namespace tutti
