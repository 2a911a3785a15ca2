// The four policies from outside. Report and reroute leave the schedule as it is and need one
// replay; the others are in replanning.cpp.

#include "sim/repair/recovery.hpp"

#include "sim/error.hpp"
#include "sim/repair/conclusion.hpp"
#include "sim/repair/replanning.hpp"
#include "sim/repair/rerouting.hpp"
#include "sim/repair/running_plan.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tutti {

namespace {

constexpr std::array policies{Policy::report, Policy::reroute, Policy::resynthesize,
                              Policy::restart};

/// Report and reroute: the schedule stays what it is.
Recovery unchanged(const RecoveryCase& asked, Schedule schedule) {
  Rerouting rerouting;
  if (asked.reaction.policy == Policy::reroute) rerouting = rerouted(asked, schedule);
  RunningPlan running(asked, first_segment(asked.collective, std::move(schedule)));
  const Report& report = running.run(asked.events.size(), rerouting.changes);
  History history;
  history.add(performed(running.plan(), report, {}), report);
  history.route_changes = std::move(rerouting.changes);
  Recovery made = concluded(asked, std::move(history), report, {});
  made.decisions = std::move(rerouting.decisions);
  if (report.stuck.empty()) { // what would have come into force later found nothing to do
    const Time last = made.deliveries.front().empty()
                          ? Time{}
                          : std::ranges::max(made.deliveries.front()); // not the last start
    std::erase_if(made.decisions, [&](const Decision& decision) { return decision.at > last; });
  }
  return made;
}

} // namespace

std::string_view to_text(Policy policy) {
  switch (policy) {
  case Policy::report: return "report";
  case Policy::reroute: return "reroute";
  case Policy::resynthesize: return "resynthesize";
  case Policy::restart: break;
  }
  return "restart";
}

Policy parse_policy(std::string_view text) {
  std::vector<std::string> known;
  for (const Policy policy : policies) {
    if (to_text(policy) == text) return policy;
    known.emplace_back(to_text(policy));
  }
  throw InputError(unknown_name("policy", text, known));
}

std::span<const Policy> all_policies() { return policies; }

Recovery recover(const EngineRow& engine, const Topology& topology, const Collective& collective,
                 const Schedule& schedule, const TimeModel& model,
                 std::span<const NetworkEvent> events, const Reaction& reaction) {
  const RecoveryCase asked{engine, topology, collective,
                           model,  reaction, sorted_events(topology, events)};
  const bool plans = reaction.policy == Policy::resynthesize || reaction.policy == Policy::restart;
  Recovery made = plans ? replanned(asked, schedule) : unchanged(asked, schedule);
  made.policy = reaction.policy;
  return made;
}

std::vector<std::string> missing_text(const Topology& topology, const Collective& collective,
                                      const Recovery& recovery, std::size_t most) {
  std::vector<std::size_t> wanted(topology.npu_count()), missing(topology.npu_count());
  for (const Chunk& chunk : collective.chunks)
    for (const NodeId npu : collective.sets[chunk.destinations]) ++wanted[npu.value];
  for (const ChunkAt& one : recovery.missing) ++missing[one.npu.value];
  std::vector<std::string> lines;
  for (std::uint32_t n = 0; n < missing.size(); ++n) {
    if (missing[n] == 0) continue;
    if (lines.size() == most) {
      lines.push_back(fmt::format("and {} more NPUs",
                                  std::count_if(missing.begin() + n, missing.end(),
                                                [](std::size_t count) { return count > 0; })));
      break;
    }
    lines.push_back(fmt::format(
        "{} lacks {} of {} chunks, {}", topology.node(NodeId{n}).name, missing[n], wanted[n],
        recovery.last_came[n] == Time{} ? std::string("none came")
                                        : "the last came at " + short_text(recovery.last_came[n])));
  }
  return lines;
}

} // namespace tutti
