// Events as they are asked for: at instants or at fractions of the run that nothing disturbs,
// written one by one or drawn at random. For a run of known length they become NetworkEvents.
#pragma once

#include "sim/network_event.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct EventTime {
  Time instant;
  /// Share of the undisturbed run in millionths, 0 .. 1,000,000; where given, `instant` is ignored.
  std::optional<std::uint32_t> millionths;

  /// Rounded down to a picosecond. Pre: undisturbed >= 0.
  [[nodiscard]] Time in_run_of(Time undisturbed) const;
};

/// `2ms`, or `50%` of the undisturbed run.
/// Errors: InputError for anything else, and for more than 100 %.
[[nodiscard]] EventTime parse_event_time(std::string_view text);

struct PlannedEvent {
  EventTime at;
  NetworkEvent what; ///< without its time
  std::string place; ///< "events.toml:3:1: ", in front of errors; empty where it was drawn
};

/// How often things fail, and for how long they had the time to: as many failures as that, at
/// random moments of the run (Won et al. 2024, sec. III.A: 0.25 to 0.5 % of the NPUs a week).
struct FailureRates {
  double weeks = 1;
  double npus = 0, links = 0, stragglers = 0; ///< a week, of all NPUs, cables and NPUs: 0 .. 1
  Share straggler_share{500'000};
};

struct EventPlan {
  std::vector<PlannedEvent> events; ///< as written
  /// A sweep: so many random cables go down at `failed_at`. Empty: none do.
  std::vector<std::size_t> failed_links;
  EventTime failed_at;
  std::string failed_place; ///< as PlannedEvent::place
  std::optional<FailureRates> generated;
  std::vector<std::uint64_t> seeds; ///< of what is drawn, one run each; empty: the run's own seed

  [[nodiscard]] bool draws() const { return !failed_links.empty() || generated.has_value(); }
};

/// One run of a plan.
struct Scenario {
  std::optional<std::size_t> failed_links; ///< of a sweep
  std::uint64_t seed = 1;
};

/// "4 failed links, seed 2"; "seed 2" where there is no sweep.
[[nodiscard]] std::string to_text(const Scenario& scenario);

/// Every number of failed links with every seed, by number; one scenario where nothing is drawn.
[[nodiscard]] std::vector<Scenario> scenarios_of(const EventPlan& plan, std::uint64_t seed);

/// What is written, then the links that fail, then what the rates bring. Links fail so that every
/// NPU still reaches all; rates know no such mercy. Errors: InputError where so many can't fail.
[[nodiscard]] std::vector<PlannedEvent>
planned_events(const Topology& topology, const EventPlan& plan, const Scenario& scenario);

/// By time. Errors: InputError of sorted_events() with the event's place in front.
[[nodiscard]] std::vector<NetworkEvent>
timed_events(const Topology& topology, std::span<const PlannedEvent> events, Time undisturbed);

} // namespace tutti
