// A repaired collective is several schedules, one after another: the page plays them as one, with
// the chunks of the first, and crossings that were under way when a plan was given up as they
// ended.
#include "experiments/driver/studies/failures/explored_recovery.hpp"

#include "experiments/driver/studies/failures/failure_texts.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Adds a segment's transfers, and its hops with their new numbers.
void add_segment(ExploredRun& run, const Segment& segment, std::span<const HopRecord> hops) {
  const auto first = static_cast<std::uint32_t>(run.schedule.size());
  for (std::size_t t = 0; t < segment.schedule.size(); ++t) {
    const Transfer transfer = segment.schedule[t];
    run.schedule.push({segment.chunk[transfer.chunk.value],
                       run.schedule.paths().intern(segment.schedule.paths().links(transfer.path)),
                       transfer.op});
  }
  for (HopRecord hop : hops) {
    hop.transfer += first;
    run.report.hops.push_back(hop);
  }
}

ExploredMoment moment_of(const NetworkEvent& event, std::string words) {
  ExploredMoment moment{event.at, std::move(words)};
  using Kind = NetworkEvent::Kind;
  if (event.kind == Kind::link_down) moment.links_down = {event.link};
  if (event.kind == Kind::link_up) moment.links_up = {event.link};
  if (event.kind == Kind::npu_down) moment.nodes_down = {event.npu};
  return moment;
}

ExploredRun explored(const FailureEvaluation& e, const Recovery& recovery, const std::string& name,
                     const Topology& topology) {
  ExploredRun run{.label = fmt::format("{}, {}", e.algorithm, name),
                  .facts = {{"collective", e.collective + " " + to_text(e.size)},
                            {"algorithm", e.algorithm},
                            {"ends", ending_text(recovery)},
                            {"undisturbed", short_text(e.undisturbed.report.completion)},
                            {"carried in vain", short_text(recovery.in_vain)}},
                  .topology = &topology,
                  .collective = recovery.segments.front().collective,
                  .schedule = Schedule(topology.link_count()),
                  .report = {}};
  for (std::size_t s = 0; s < recovery.segments.size(); ++s)
    add_segment(run, recovery.segments[s], recovery.hops[s]);
  std::ranges::stable_sort(run.report.hops, {},
                           [](const HopRecord& hop) { return std::pair(hop.start, hop.link); });
  run.report.engine = e.engines.front();
  run.report.model = e.model;
  run.report.links = recovery.links;
  run.report.completion = recovery.completion;
  return run;
}

ExploredRun explored(const FailureEvaluation& e, const ScenarioEvaluation& scenario,
                     const Recovery& recovery, const Topology& topology) {
  std::string name(to_text(recovery.policy));
  if (e.scenarios.size() > 1) name += ", " + to_text(scenario.scenario);
  ExploredRun run = explored(e, recovery, name, topology);
  for (std::size_t i = 0; i < scenario.events.size(); ++i)
    run.moments.push_back(moment_of(scenario.events[i], scenario.event_texts[i]));
  for (const Decision& decision : recovery.decisions)
    run.moments.push_back({std::max(decision.at, decision.begin),
                           decision.what + (decision.in_force ? "" : " (not taken)")});
  std::ranges::stable_sort(run.moments, {}, &ExploredMoment::at);
  return run;
}

} // namespace

std::vector<ExploredRun> explored_recoveries(std::span<const FailureEvaluation> made,
                                             const Topology& topology) {
  std::vector<ExploredRun> runs;
  std::size_t row = 0;
  for (const FailureEvaluation& e : made) {
    if (e.explored) {
      runs.push_back(explored(e, *e.explored, "undisturbed", topology));
      runs.back().report.deliveries = e.explored->deliveries.front(); // for its critical path
      runs.back().bound = e.undisturbed.bound.time;
      runs.back().bound_kind = e.undisturbed.bound.kind;
    }
    if (e.scenarios.empty()) ++row; // without a schedule
    for (const ScenarioEvaluation& scenario : e.scenarios)
      for (const PolicyEvaluation& policy : scenario.policies) {
        if (!policy.recovery.segments.empty()) {
          runs.push_back(explored(e, scenario, policy.recovery, topology));
          runs.back().row = row;
        }
        row += std::max<std::size_t>(policy.noises.size(), 1);
      }
  }
  return runs;
}

} // namespace tutti
