// Instants that are fractions of a run need its length, so a plan stays a plan until the collective
// has been replayed undisturbed; only then are its events sorted and checked against each other.
#include "experiments/driver/studies/event_plan.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/studies/event_generator.hpp"
#include "sim/error.hpp"
#include "topologies/failed_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

// Picoseconds times millionths exceed 64 bits for runs of more than ten seconds.
__extension__ typedef __int128 int128;

constexpr std::int64_t millionths_of_all = 1'000'000;

} // namespace

Time EventTime::in_run_of(Time undisturbed) const {
  if (!millionths) return instant;
  return Time{static_cast<std::int64_t>(static_cast<int128>(undisturbed.ps) * *millionths /
                                        millionths_of_all)};
}

EventTime parse_event_time(std::string_view text) {
  if (!text.ends_with('%')) return {parse_time(text), {}};
  const double part = parse_percentage(text);
  return {{}, static_cast<std::uint32_t>(std::lround(part * 1e6))};
}

std::string to_text(const Scenario& scenario) {
  if (!scenario.failed_links) return fmt::format("seed {}", scenario.seed);
  return fmt::format("{} failed link{}, seed {}", *scenario.failed_links,
                     *scenario.failed_links == 1 ? "" : "s", scenario.seed);
}

// No failed links look the same for every seed, so that point of a sweep is run once.
std::vector<Scenario> scenarios_of(const EventPlan& plan, std::uint64_t seed) {
  if (!plan.draws()) return {{{}, seed}};
  std::vector<std::optional<std::size_t>> counts{plan.failed_links.begin(),
                                                 plan.failed_links.end()};
  if (counts.empty()) counts.emplace_back();
  const std::vector<std::uint64_t> seeds = plan.seeds.empty() ? std::vector{seed} : plan.seeds;
  std::vector<Scenario> scenarios;
  for (const auto& count : counts)
    for (const std::uint64_t each : seeds) {
      scenarios.push_back({count, each});
      if (count == 0U && !plan.generated) break; // nothing is drawn
    }
  return scenarios;
}

namespace {

void add_failed_links(const Topology& topology, const EventPlan& plan, const Scenario& scenario,
                      std::vector<PlannedEvent>& events) {
  try {
    for (const LinkId link :
         topologies::failed_links(topology, *scenario.failed_links, scenario.seed))
      events.push_back({plan.failed_at,
                        {.at = {}, .kind = NetworkEvent::Kind::link_down, .link = link},
                        plan.failed_place});
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}{}: {}", plan.failed_place, to_text(scenario), e.what()));
  }
}

} // namespace

std::vector<PlannedEvent> planned_events(const Topology& topology, const EventPlan& plan,
                                         const Scenario& scenario) {
  std::vector<PlannedEvent> events = plan.events;
  if (scenario.failed_links) add_failed_links(topology, plan, scenario, events);
  if (plan.generated) {
    const auto drawn = drawn_events(topology, *plan.generated, scenario.seed, events);
    events.insert(events.end(), drawn.begin(), drawn.end());
  }
  return events;
}

namespace {

// The place of the first event that contradicts those before it.
std::string place_of_fault(const Topology& topology, std::span<const NetworkEvent> events,
                           std::span<const std::string* const> places) {
  for (std::size_t count = 1; count <= events.size(); ++count) {
    try {
      (void)sorted_events(topology, events.first(count));
    } catch (const InputError&) {
      return *places[count - 1];
    }
  }
  return {};
}

} // namespace

std::vector<NetworkEvent> timed_events(const Topology& topology,
                                       std::span<const PlannedEvent> planned, Time undisturbed) {
  std::vector<std::pair<NetworkEvent, const std::string*>> placed;
  for (const PlannedEvent& event : planned) {
    placed.emplace_back(event.what, &event.place);
    placed.back().first.at = event.at.in_run_of(undisturbed);
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const auto& a, const auto& b) { return a.first.at < b.first.at; });
  std::vector<NetworkEvent> events;
  std::vector<const std::string*> places;
  for (const auto& [event, place] : placed) {
    events.push_back(event);
    places.push_back(place);
  }
  try {
    return sorted_events(topology, events);
  } catch (const InputError& e) {
    throw InputError(place_of_fault(topology, events, places) + e.what());
  }
}

} // namespace tutti
