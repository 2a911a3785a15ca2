// What a simulation says.
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"
#include "sim/time_model.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

struct LinkUse {
  Bytes bytes;
  Time busy; ///< occupied, latency included where the time model says so; fluid: bytes / bandwidth
  std::uint64_t transfers = 0; ///< those that share a send count as one
};

/// One crossing of one link, for timelines.
struct HopRecord {
  std::uint32_t transfer = 0; ///< the first of those that share a send
  LinkId link;
  Time start, end; ///< of occupying the link with data
};

/// A transfer that a run with RunOptions::may_halt left undelivered.
struct StuckTransfer {
  enum class Why : std::uint8_t {
    link_down, ///< it has entered, and waits for `link` or stands still on it
    frozen,    ///< it had not set out when the run was frozen
    waiting,   ///< for data, for its part's start, or for others of its connection
    held_back, ///< it is there (or was when its receiver died), but its receiver's earlier sends
               ///< of the chunk haven't left
    lost,      ///< it reached an NPU that was down, or that died before it had reduced it
    named,     ///< for `awaited`, which it names and which hasn't come as far as it says
  };
  std::uint32_t transfer = 0;
  Why why = Why::waiting;
  LinkId link = {};          ///< for link_down
  Time since = {};           ///< for link_down: when it entered that link's queue
  std::uint32_t awaited = 0; ///< for named
};

/// How far the histories are apart that two engines give of one run.
struct EngineAgreement {
  Time largest;     ///< of all differences; where some are more than they may be, of these
  Time allowed;     ///< for what differs by `largest`
  std::string what; ///< that is, in words
  bool holds = true;
  /// More than `allowed`, as the order of some crossings depends on less than a picosecond: in
  /// finer time, where rounding is less, the engines agree.
  bool depends_on_rounding = false;
};

/// Derived by an engine, never edited.
struct Report {
  std::string engine; ///< "native", "simgrid" or "native+simgrid"
  TimeModel model;
  std::string network_parameters; ///< SimGrid's own, where one of its models was in use
  /// The last delivery, or the last start of those who hold or want something.
  Time completion;
  std::vector<LinkUse> links;
  std::vector<Time> chunk_done;     ///< per chunk: its last delivery
  std::vector<Time> deliveries;     ///< per transfer; only where asked for
  std::vector<HopRecord> hops;      ///< by start, then link; only where asked for
  std::uint64_t link_transfers = 0; ///< crossings of a link, over all sends
  // Only of runs with RunOptions::may_halt:
  std::vector<StuckTransfer> stuck; ///< by transfer
  /// When the last crossing or reduction that could end had ended, and what waited for a late start
  /// was delivered.
  Time quiet;
  std::optional<EngineAgreement> agreement; ///< of "native+simgrid"
};

/// size / time in bytes per second (nccl-tests, doc/PERFORMANCE.md). 0 for zero time.
[[nodiscard]] double algbw(const Collective& collective, Time time);

/// How much of the data crosses each NPU's port, relative to algbw: 2(n-1)/n for All-Reduce;
/// (n-1)/n for All-Gather, Reduce-Scatter, All-to-All, Gather, Scatter; 1 for Broadcast, Reduce and
/// what nccl-tests doesn't define (nccl-tests, doc/PERFORMANCE.md).
[[nodiscard]] double bus_factor(CollectiveKind kind, std::size_t npus);

/// algbw times that factor; of several collectives at once: algbw.
[[nodiscard]] double busbw(const Collective& collective, Time time);

/// Fraction of the completion time that each link was busy, 0 .. 1.
[[nodiscard]] std::vector<double> utilisation(const Report& report);

} // namespace tutti
