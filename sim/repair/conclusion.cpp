// Whatever policy was followed, the answer is derived here from the segments alone and then checked
// by check_history(), which shares no code with it. Events after the last delivery that anyone
// alive wants do not count; a time below a lower bound would be reported as a problem.

#include "sim/repair/conclusion.hpp"

#include "sim/repair/history_check.hpp"
#include "sim/repair/residual.hpp"
#include "sim/sends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti {

namespace {

std::vector<ChunkAt> united(std::vector<ChunkAt> a, std::span<const ChunkAt> b) {
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a);
  a.erase(std::unique(a.begin(), a.end()), a.end());
  return a;
}

/// Events that happened while something was to be done still: until all NPUs that were alive had
/// joined and had what they want, as far as it survived.
std::size_t effective_events(const RecoveryCase& asked, const History& history) {
  std::vector<std::optional<Time>> finished;
  std::vector<bool> alive(asked.topology.npu_count(), true);
  for (std::size_t k = 0; k < asked.events.size(); ++k) {
    if (finished.empty()) finished = account_of(asked, history, k).achievement.finished;
    bool done = true;
    for (std::size_t n = 0; n < alive.size(); ++n)
      done = done && (!alive[n] || (finished[n] && *finished[n] < asked.events[k].at));
    if (done) return k;
    if (asked.events[k].kind != NetworkEvent::Kind::npu_down) continue;
    alive[asked.events[k].npu.value] = false;
    finished.clear();
  }
  return asked.events.size();
}

/// Whether events can only have made things slower, for the same NPUs.
bool only_worse(const RecoveryCase& asked, std::size_t events) {
  return std::all_of(asked.events.begin(),
                     asked.events.begin() + static_cast<std::ptrdiff_t>(events),
                     [&](const NetworkEvent& event) {
                       return event.kind != NetworkEvent::Kind::npu_down &&
                              (event.kind != NetworkEvent::Kind::link_latency ||
                               event.latency >= asked.topology.link(event.link).latency);
                     });
}

} // namespace

void History::add(Segment segment, const Report& report) {
  links.resize(report.links.size());
  for (std::size_t l = 0; l < links.size(); ++l) {
    links[l].bytes += report.links[l].bytes;
    links[l].busy += report.links[l].busy;
    links[l].transfers += report.links[l].transfers;
  }
  segments.push_back(std::move(segment));
  deliveries.push_back(report.deliveries);
}

void History::give_up(std::span<const ChunkAt> contributions) {
  lost = united(std::move(lost), contributions);
}

Account account_of(const RecoveryCase& asked, const History& history, std::size_t events) {
  const NetworkState network = asked.network(events);
  std::vector<bool> alive(asked.topology.npu_count());
  for (std::uint32_t n = 0; n < alive.size(); ++n) alive[n] = network.is_up(NodeId{n});
  Account made{history.lost, {}};
  if (std::ranges::find(alive, false) != alive.end())
    made.lost =
        united(std::move(made.lost), held_by_nobody(asked.topology, history.segments, network));
  made.achievement = achieved(asked.topology, history.segments, history.deliveries, made.lost,
                              alive, asked.reaction.starts);
  return made;
}

Recovery concluded(const RecoveryCase& asked, History history, const Report& last,
                   std::string problem) {
  const std::size_t events = effective_events(asked, history);
  Account end = account_of(asked, history, events);
  Recovery made;
  made.lost = std::move(end.lost);
  made.missing = std::move(end.achievement.missing);
  made.ending = end.achievement.ending;
  made.progress = std::move(end.achievement.progress);
  made.last_came = std::move(end.achievement.last_came);
  made.in_vain = end.achievement.in_vain;
  made.wanted = end.achievement.wanted;
  made.completion = made.progress.empty() ? Time{} : made.progress.back().at;
  made.last_start = end.achievement.last_start;
  if (made.complete()) made.completion = std::max(made.completion, made.last_start);
  made.stuck = last.stuck;
  made.links = std::move(history.links);
  made.problem = std::move(problem);
  if (made.problem.empty())
    made.problem =
        check_history(asked.topology, asked.collective,
                      {history.segments, history.deliveries, asked.events, history.route_changes,
                       asked.reaction.starts, asked.engine.name != "simgrid"},
                      {made.ending, made.completion, made.lost, made.missing, events})
            .value_or("");
  if (made.problem.empty() && made.complete() && only_worse(asked, events)) {
    auto bounded = std::ranges::find_if(
        history.segments, [](const Segment& one) { return one.schedule.has_contiguous(); });
    if (bounded == history.segments.end()) bounded = history.segments.begin();
    made.problem =
        beaten_bound(asked, asked.topology, asked.collective, bounded->schedule, made.completion);
  }
  made.segments = std::move(history.segments);
  made.deliveries = std::move(history.deliveries);
  made.route_changes = std::move(history.route_changes);
  made.events_counted = events;
  return made;
}

std::string beaten_bound(const RecoveryCase& asked, const Topology& topology,
                         const Collective& collective, const Schedule& schedule, Time time) {
  constexpr std::size_t most_transfers = 200'000;
  if (schedule.size() > most_transfers || !asked.reaction.beaten_bound) return {};
  return asked.reaction.beaten_bound(topology, collective, bounding_model(asked.model, schedule),
                                     time);
}

} // namespace tutti
