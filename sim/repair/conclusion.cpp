#include "sim/repair/conclusion.hpp"

#include "sim/bounds.hpp"
#include "sim/repair/history_check.hpp"
#include "sim/repair/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tutti {

namespace {

std::vector<std::optional<Time>> deaths(const RecoveryCase& asked, std::size_t events) {
  std::vector<std::optional<Time>> died(asked.topology.npu_count());
  for (std::size_t i = 0; i < events; ++i)
    if (asked.events[i].kind == NetworkEvent::Kind::npu_down)
      died[asked.events[i].npu.value] = asked.events[i].at;
  return died;
}

/// Events that happened while something was to be done still: until all NPUs that were alive had
/// what they want.
std::size_t effective_events(const RecoveryCase& asked,
                             const std::vector<std::optional<Time>>& finished) {
  std::vector<bool> alive(asked.topology.npu_count(), true);
  for (std::size_t k = 0; k < asked.events.size(); ++k) {
    bool done = true;
    for (std::size_t n = 0; n < alive.size(); ++n)
      done = done && (!alive[n] || (finished[n] && *finished[n] < asked.events[k].at));
    if (done) return k;
    if (asked.events[k].kind == NetworkEvent::Kind::npu_down)
      alive[asked.events[k].npu.value] = false;
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

std::vector<ChunkAt> united(std::vector<ChunkAt> a, const std::vector<ChunkAt>& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a);
  a.erase(std::unique(a.begin(), a.end()), a.end());
  return a;
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

Recovery concluded(const RecoveryCase& asked, History history, const Report& last,
                   std::string problem) {
  const std::size_t npus = asked.topology.npu_count();
  std::size_t events = asked.events.size();
  if (events > 0) {
    const Achievement all = achieved(asked.topology, history.segments, history.deliveries, {},
                                     std::vector<bool>(npus, true));
    events = effective_events(asked, all.finished);
  }
  const std::vector<std::optional<Time>> died = deaths(asked, events);
  std::vector<bool> alive(npus);
  for (std::size_t n = 0; n < npus; ++n) alive[n] = !died[n];

  Recovery made;
  made.lost = std::move(history.lost);
  if (std::ranges::find(alive, false) != alive.end())
    made.lost =
        united(std::move(made.lost),
               residual(asked.topology, history.segments, asked.network(events), false).lost);
  HistoryVerdict verdict =
      check_history(asked.topology, asked.collective, history.segments, made.lost, died);
  made.missing = std::move(verdict.missing);
  made.complete = made.missing.empty() && verdict.correct();
  Achievement achievement =
      achieved(asked.topology, history.segments, history.deliveries, made.lost, alive);
  made.progress = std::move(achievement.progress);
  made.last_came = std::move(achievement.last_came);
  made.in_vain = achievement.in_vain;
  made.wanted = achievement.wanted;
  made.completion = made.progress.empty() ? Time{} : made.progress.back().at;
  made.stuck = last.stuck;
  made.links = std::move(history.links);
  made.problem = std::move(problem);
  if (made.problem.empty() && verdict.fault) made.problem = *std::move(verdict.fault);
  if (made.problem.empty() && made.complete && only_worse(asked, events))
    made.problem = beaten_bound(asked.topology, asked.collective, asked.model,
                                history.segments.front().schedule.size(), made.completion);
  made.segments = std::move(history.segments);
  return made;
}

std::string beaten_bound(const Topology& topology, const Collective& collective,
                         const TimeModel& model, std::size_t transfers, Time time) {
  constexpr std::size_t most_transfers = 200'000;
  if (transfers > most_transfers) return {};
  const Bound bound = lower_bound(topology, collective, model);
  if (time >= bound.time) return {};
  return fmt::format("{} is less than the lower bound {} ({})", to_text(time), to_text(bound.time),
                     bound.certificate);
}

} // namespace tutti
