// Events come as TOML or as texts of the command line; a text becomes TOML and is read by the same
// code, so that both know the same keys and complain in the same words.
#include "experiments/driver/studies/event_reader.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/gzip.hpp"
#include "sim/text.hpp"
#include "topologies/named_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

using Kind = NetworkEvent::Kind;

struct Word {
  const char* key;
  Kind kind;
};
constexpr std::array words{
    Word{"link_down", Kind::link_down}, Word{"link_up", Kind::link_up},
    Word{"link_rate", Kind::link_rate}, Word{"link_latency", Kind::link_latency},
    Word{"npu_down", Kind::npu_down},   Word{"straggler", Kind::npu_rate}};

std::string known_words() {
  std::vector<std::string> known;
  for (const Word& word : words) known.emplace_back(word.key);
  return joined(known, ", ");
}

// Errors come with their place.
std::string place_of(const ConfigTable& table) { return table.error("").what(); }

NodeId npu_of(const Topology& topology, const std::string& text) {
  const NodeId node = topology.find_node(text);
  if (node.value >= topology.npu_count())
    throw InputError(fmt::format("{} is no NPU", topology.node(node).name));
  return node;
}

// The one key of the table that says what happens.
Word word_of(const ConfigTable& table) {
  const Word* found = nullptr;
  for (const Word& word : words) {
    if (!table.has(word.key)) continue;
    if (found != nullptr)
      throw table.error(
          fmt::format("an event is one thing, not both {} and {}", found->key, word.key));
    found = &word;
  }
  if (found == nullptr)
    throw table.error(
        fmt::format("this event doesn't say what happens (one of {})", known_words()));
  return *found;
}

// One event for each link that its text names.
void read_event(ConfigTable table, const Topology& topology, std::vector<PlannedEvent>& events) {
  table.allow_only({"at", "link_down", "link_up", "link_rate", "link_latency", "npu_down",
                    "straggler", "share", "latency"});
  const Word word = word_of(table);
  PlannedEvent event;
  event.place = place_of(table);
  event.at = parsed(table.at("at"), parse_event_time);
  event.what.kind = word.kind;
  const bool has_share = word.kind == Kind::link_rate || word.kind == Kind::npu_rate;
  if (has_share) event.what.share = share_of(table.at("share"));
  if (word.kind == Kind::link_latency) event.what.latency = table.at("latency").time();
  for (const auto& [key, fits] :
       {std::pair{"share", has_share}, std::pair{"latency", word.kind == Kind::link_latency}})
    if (const auto value = table.find(key); value && !fits)
      throw value->error(fmt::format("{} has no {}", word.key, key));
  const ConfigValue subject = table.at(word.key);
  if (word.kind == Kind::npu_down || word.kind == Kind::npu_rate) {
    event.what.npu =
        parsed(subject, [&](const std::string& text) { return npu_of(topology, text); });
    events.push_back(event);
    return;
  }
  for (const LinkId link : parsed(subject, [&](const std::string& text) {
         return topologies::links_named(topology, text);
       })) {
    event.what.link = link;
    events.push_back(event);
  }
}

FailureRates read_rates(ConfigTable table, EventPlan& plan) {
  constexpr double most_weeks = 520;
  FailureRates rates;
  table.allow_only({"weeks", "npus_per_week", "links_per_week", "stragglers_per_week",
                    "straggler_share", "seed"});
  if (const auto weeks = table.find("weeks")) {
    rates.weeks = weeks->number();
    if (!(rates.weeks > 0 && rates.weeks <= most_weeks))
      throw weeks->error(
          fmt::format("{} weeks are out of range (above 0, at most {})", rates.weeks, most_weeks));
  }
  rates.npus = parsed_at(table, "npus_per_week", "0%", parse_percentage);
  rates.links = parsed_at(table, "links_per_week", "0%", parse_percentage);
  rates.stragglers = parsed_at(table, "stragglers_per_week", "0%", parse_percentage);
  if (rates.npus == 0 && rates.links == 0 && rates.stragglers == 0)
    throw table.error("nothing fails at these rates: give npus_per_week, links_per_week or "
                      "stragglers_per_week");
  if (const auto share = table.find("straggler_share")) rates.straggler_share = share_of(*share);
  if (const auto seed = table.find("seed")) {
    if (!plan.seeds.empty()) throw seed->error("\"seed\" and \"seeds\" exclude each other");
    plan.seeds = {static_cast<std::uint64_t>(seed->integer(0))};
  }
  return rates;
}

// Cables that fail, and the seeds of all that is drawn.
void read_drawn(ConfigTable& table, const Topology& topology, EventPlan& plan) {
  const auto counts = table.find("failed_links");
  plan.failed_links =
      list_at(table, "failed_links", std::vector<std::size_t>{}, [&](const ConfigValue& value) {
        return static_cast<std::size_t>(value.integer(0, topology.link_count()));
      });
  plan.failed_at = parsed_at(table, "at", "50%", parse_event_time);
  if (const auto at = table.find("at"); at && !counts)
    throw at->error(fmt::format("{} says when {} go down, and there are none", table.name_of("at"),
                                table.name_of("failed_links")));
  plan.seeds = list_at(table, "seeds", std::vector<std::uint64_t>{}, [](const ConfigValue& value) {
    return static_cast<std::uint64_t>(value.integer(0));
  });
  const auto generated = table.find("generated");
  if (generated) plan.generated = read_rates(generated->table(), plan);
  if (const auto seeds = table.find("seeds"); seeds && !plan.draws())
    throw seeds->error(fmt::format("nothing is drawn that {} could be of", table.name_of("seeds")));
  if (counts) plan.failed_place = counts->error("").what();
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// Where the order of events doesn't depend on how long the run takes.
void require_consistent(const Topology& topology, std::span<const PlannedEvent> events) {
  const auto relative = std::count_if(events.begin(), events.end(), [](const PlannedEvent& event) {
    return event.at.millionths.has_value();
  });
  if (relative != 0 && relative != std::ssize(events)) return;
  constexpr Time any_run{1'000'000'000'000};
  try {
    (void)timed_events(topology, events, any_run);
  } catch (const InputError& error) { // its instants of this run mean nothing
    std::string text = error.what();
    for (const PlannedEvent& event : events)
      if (event.at.millionths)
        replace_all(text, " " + to_text(event.at.in_run_of(any_run)),
                    fmt::format(" {:g} %", *event.at.millionths / 1e4));
    throw InputError(text);
  }
}

} // namespace

Share share_of(const ConfigValue& value) {
  const double share = value.number();
  const long millionths = std::lround(std::clamp(share, -1.0, 2.0) * 1e6);
  if (share > 1 || millionths < 1)
    throw value.error(fmt::format(
        "a share of {} is out of range (above 0, in millionths, and at most 1)", share));
  return Share{static_cast<std::uint32_t>(millionths)};
}

EventPlan read_events(ConfigTable& table, const Topology& topology) {
  EventPlan plan;
  for (const ConfigTable& event : table.tables("events")) read_event(event, topology, plan.events);
  read_drawn(table, topology, plan);
  require_consistent(topology, plan.events);
  return plan;
}

EventPlan parse_event_file(std::string_view toml, const std::string& source_name,
                           const Topology& topology) {
  ConfigTable root = parse_config(toml, source_name);
  root.allow_only({"events", "failed_links", "at", "seeds", "generated"});
  EventPlan plan = read_events(root, topology);
  if (plan.events.empty() && !plan.draws())
    throw root.error("no event: give [[events]], failed_links or [generated]");
  return plan;
}

EventPlan read_event_file(const std::string& file, const Topology& topology) {
  return parse_event_file(read_input_file(file), file, topology);
}

} // namespace tutti
