// A run again and again, each time with start times and links of another draw, and what that comes
// to: how long it takes at best, at worst and in between, and whom or what it depends on.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "sim/collective.hpp"
#include "sim/noise.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"
#include "sim/watch.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What came of one draw.
struct Draw {
  static constexpr Time never{INT64_MAX}; ///< the time of one that is never complete

  Time time, last_start;
  /// "npu3, late" or "npu3>npu4": whose start, or on which link, most of the time went that the end
  /// waited for; empty where nobody knows.
  std::string critical_cause = {};
  std::string problem = {}; ///< a defect of Tutti in words; empty where all is well
  bool operator==(const Draw&) const = default;
};

/// What came of all draws of one skew and jitter.
struct NoiseOutcome {
  std::string skew, jitter; ///< as asked for
  std::uint64_t seed = 1;
  Time quiet;              ///< the same run without noise
  std::vector<Draw> draws; ///< by their number; at least one

  /// The least time that so many of all draws (0 .. 1) don't exceed; Draw::never where fewer are
  /// ever complete.
  [[nodiscard]] Time time_at(double share) const;
  /// The same of what is left of a draw's time after its last start.
  [[nodiscard]] Time after_last_start_at(double share) const;
  /// time_at() over the time without noise; NaN where that is 0, or there is none.
  [[nodiscard]] double slowdown_at(double share) const;

  struct Cause {
    std::string name;
    double share = 0; ///< of the draws, 0 .. 1
  };
  /// What most draws depended on, of several the first in order of names; empty where unknown.
  [[nodiscard]] Cause usual_cause() const;
};

/// Start times and jitter of one draw, as a run takes them.
struct DrawnConditions {
  const Topology& network;
  std::span<const Time> starts; ///< per node: what is given and what is drawn, added up
};
/// May be called by several threads at once. Errors: passed on.
using DrawnRun = std::function<Draw(const DrawnConditions&, const Watch&)>;

/// What is drawn: for whom, on which network, how often.
struct NoisePlan {
  const Topology* topology = nullptr; ///< not owned
  std::vector<NodeId> members;        ///< who may start late
  std::vector<Time> starts;           ///< per node, or empty: given ones
  Noise noise;
  std::uint32_t draws = 1;
  unsigned threads = 1;
};

/// The draws of a plan, side by side on its threads, in order of their numbers. The watch counts
/// draws. Where nothing is drawn one draw stands for all. Errors: those of the run; Stopped.
[[nodiscard]] std::vector<Draw> performed(const NoisePlan& plan, const DrawnRun& run,
                                          const Watch& watch);

/// Draws of each skew that is asked for, with its jitter and seed. `lower_bound`: of skews that are
/// times it; `quiet`: the same run without noise. Those who wait hear of "draws of skew none, " and
/// `what` is drawn. `problem` becomes that of the first draw that has one, unless there is one
/// already. The plan's noise and draws are the request's. Errors: as performed(), with the outcomes
/// of skews that are complete.
void draw_noise(NoisePlan plan, const NoiseRequest& request, Time lower_bound, Time quiet,
                const DrawnRun& run, const StageWatch& stage, const std::string& what,
                std::vector<NoiseOutcome>& outcomes, std::string& problem);

/// The cause of the end of a replay, for Draw::critical_cause: the late start that its chain begins
/// with, or the link that it was longest on, whichever took longer. Pre: that of critical_chain().
[[nodiscard]] std::string cause_of(const Topology& topology, const Collective& collective,
                                   const Schedule& schedule, std::span<const Time> starts,
                                   const Report& report);

/// Skew, jitter, seed and number of draws, times, slowdowns, causes.
[[nodiscard]] const Fields<NoiseOutcome>& noise_fields();

/// Columns of noise_fields(), to stand after those that tell rows apart. `causes`: also what draws
/// depended on.
[[nodiscard]] std::vector<ShownColumn> shown_noise(bool causes);

/// An object with lists: of each draw its time (null: never), last start and what it depended on.
[[nodiscard]] nlohmann::ordered_json draws_json(const NoiseOutcome& outcome);

/// "200 draws of uniform:20us, jitter none, seed 1": for headings.
[[nodiscard]] std::string noise_text(const NoiseOutcome& outcome);

/// "skew uniform:20us, jitter none, seed 1, 200 draws", of a table of these: without the skew where
/// they have several. Pre: they differ in their skew only; not empty.
[[nodiscard]] std::string noise_heading(std::span<const NoiseOutcome* const> outcomes);

} // namespace tutti
