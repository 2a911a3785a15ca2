// Two NPUs stand together if each reaches the other: the strongly connected components of what is
// up, which sim/repair computes. The division is looked at once for each instant, not for each
// event, since a cable that fails is two events. Many transfers wait for few links, so that words
// about what never got on are about links.
#include "experiments/driver/studies/failures/failure_texts.hpp"

#include "sim/repair/reach.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace tutti {

namespace {

/// As tables show it: "20.50 us", "0 s".
std::string instant_text(Time time) { return time == Time{} ? "0 s" : short_text(time); }

using Groups = std::vector<std::vector<NodeId>>;

/// NPUs that are alive, by who reaches whom, in order of their first ones.
Groups groups_of(const Topology& topology, const NetworkState& network) {
  const Reach reach(topology, network);
  std::map<std::uint32_t, std::size_t> group_of; // component to index
  Groups groups;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) {
    if (!network.is_up(NodeId{n})) continue;
    const auto [found, is_new] = group_of.try_emplace(reach.component(NodeId{n}), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].emplace_back(n);
  }
  return groups;
}

std::string names_of(const Topology& topology, std::span<const NodeId> npus) {
  std::vector<std::string> names;
  for (const NodeId npu : npus) names.push_back(topology.node(npu).name);
  return few_of(names);
}

std::string cut_text(const Topology& topology, Time at, const Groups& groups) {
  constexpr std::size_t most = 4;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(most, groups.size()); ++i)
    parts.push_back(names_of(topology, groups[i]));
  if (groups.size() > most) parts.push_back(fmt::format("{} more parts", groups.size() - most));
  return fmt::format("{}: the network is cut: {}", short_text(at), joined(parts, " | "));
}

std::string counted(std::size_t count, const std::string& what, const std::string& verb_of_one,
                    const std::string& verb_of_many) {
  return fmt::format("{} {}{} {}", count, what, count == 1 ? "" : "s",
                     count == 1 ? verb_of_one : verb_of_many);
}

std::string why_text(StuckTransfer::Why why, std::size_t count) {
  switch (why) {
  case StuckTransfer::Why::link_down:    // reported link by link
  case StuckTransfer::Why::named: break; // reported together
  case StuckTransfer::Why::frozen:
    return counted(count, "transfer", "was", "were") + " given up before setting out";
  case StuckTransfer::Why::waiting:
    return counted(count, "transfer", "waits", "wait") +
           " for data, or for others on the same path";
  case StuckTransfer::Why::held_back:
    return counted(count, "transfer", "has", "have") +
           " arrived, but the receiver has not sent what was there before";
  case StuckTransfer::Why::lost:
    return counted(count, "transfer", "was", "were") + " lost on the way to an NPU that died";
  }
  return {};
}

// Times since which links are down, for those that are down after all events.
std::map<LinkId, Time> down_since(const Topology& topology, std::span<const LinkId> links,
                                  std::span<const NetworkEvent> events) {
  std::map<LinkId, Time> since;
  NetworkState state(topology);
  for (const NetworkEvent& event : sorted_events(topology, events)) {
    state.apply(event);
    for (const LinkId link : links)
      if (state.is_up(link))
        since.erase(link);
      else
        since.try_emplace(link, event.at);
  }
  return since;
}

} // namespace

std::vector<std::string> network_cuts(const Topology& topology,
                                      std::span<const NetworkEvent> events) {
  std::vector<std::string> texts;
  NetworkState network(topology);
  Groups before = groups_of(topology, network);
  for (std::size_t i = 0; i < events.size(); ++i) {
    network.apply(events[i]);
    if (i + 1 < events.size() && events[i + 1].at == events[i].at) continue;
    Groups now = groups_of(topology, network);
    if (now.size() > 1 && now != before) texts.push_back(cut_text(topology, events[i].at, now));
    before = std::move(now);
  }
  return texts;
}

std::vector<std::string> stuck_texts(const Topology& topology, std::span<const StuckTransfer> stuck,
                                     std::span<const NetworkEvent> events) {
  std::map<LinkId, std::size_t> at_links; // how many
  std::map<StuckTransfer::Why, std::size_t> others;
  std::size_t waiting = 0; // by name
  std::uint32_t first_named = UINT32_MAX;
  for (const StuckTransfer& transfer : stuck) {
    if (transfer.why == StuckTransfer::Why::named) {
      ++waiting;
      first_named = std::min(first_named, transfer.awaited);
      continue;
    }
    if (transfer.why != StuckTransfer::Why::link_down) {
      ++others[transfer.why];
      continue;
    }
    ++at_links[transfer.link];
  }
  std::vector<LinkId> links;
  for (const auto& [id, count] : at_links) links.push_back(id);
  const std::map<LinkId, Time> since = down_since(topology, links, events);
  std::vector<std::string> texts;
  for (const auto& [id, count] : at_links) {
    const Link& link = topology.link(id);
    const auto time = since.find(id);
    texts.push_back(fmt::format("{}>{} is down{}: {} for it", topology.node(link.from).name,
                                topology.node(link.to).name,
                                time == since.end() ? "" : " since " + instant_text(time->second),
                                counted(count, "transfer", "waits", "wait")));
  }
  for (const auto& [why, count] : others) texts.push_back(why_text(why, count));
  if (waiting > 0)
    texts.push_back(fmt::format("{} for others by name, first of all for transfer {}, which never "
                                "came so far",
                                counted(waiting, "transfer", "waits", "wait"), first_named));
  return texts;
}

std::string ending_text(const Recovery& recovery) {
  switch (recovery.ending) {
  case Ending::complete: return "complete at " + instant_text(recovery.completion);
  case Ending::incomplete:
    return recovery.completion == Time{}
               ? "incomplete, nothing was delivered"
               : "incomplete, the last delivery at " + instant_text(recovery.completion);
  case Ending::no_destination:
  case Ending::nothing_left: break;
  }
  return std::string(to_text(recovery.ending));
}

namespace {

// At most so many lines, then how many more there are.
std::string listed(std::span<const std::string> lines, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i)
    text += fmt::format("    {}\n", lines[i]);
  if (lines.size() > most) text += fmt::format("    and {} more\n", lines.size() - most);
  return text;
}

// When it was taken, what it was, when it took effect, and because of which events.
std::string decision_text(const Decision& decision) {
  std::vector<std::string> causes;
  for (const Time cause : decision.causes)
    if (causes.empty() || causes.back() != instant_text(cause))
      causes.push_back(instant_text(cause));
  std::string text = fmt::format("{}: {}", instant_text(decision.at), decision.what);
  if (!decision.in_force) return text + " (not taken)";
  if (decision.begin != decision.at)
    text += fmt::format(", begins at {}", instant_text(decision.begin));
  return text + fmt::format(" (events at {}; planned{} in {})", joined(causes, ", "),
                            decision.by_fallback ? fmt::format(" by {}", fallback_planner) : "",
                            seconds_text(decision.planning_seconds));
}

std::string policy_story(const PolicyEvaluation& policy) {
  constexpr std::size_t most_lines = 8;
  const Recovery& recovery = policy.recovery;
  std::string text = fmt::format("  {}: {}\n", to_text(recovery.policy), ending_text(recovery));
  std::vector<std::string> decisions;
  for (const Decision& decision : recovery.decisions) decisions.push_back(decision_text(decision));
  text += listed(decisions, most_lines) + listed(policy.stuck, most_lines) +
          listed(policy.missing, policy.missing.size()); // which is short already
  if (!recovery.lost.empty())
    text += fmt::format("    lost for good: {} contribution{} of the dead\n", recovery.lost.size(),
                        recovery.lost.size() == 1 ? "" : "s");
  return text;
}

} // namespace

std::string story(const FailureEvaluation& e) {
  constexpr std::size_t most_events = 20;
  if (e.scenarios.size() != 1) return "";
  const ScenarioEvaluation& scenario = e.scenarios.front();
  std::string text = fmt::format("\n{}, events:\n", e.algorithm);
  std::vector<std::string> events;
  for (std::size_t i = 0; i < scenario.events.size(); ++i)
    events.push_back(
        fmt::format("{}: {}", instant_text(scenario.events[i].at), scenario.event_texts[i]));
  text += events.empty() ? "    none\n" : listed(events, most_events);
  text += listed(scenario.cuts, most_events);
  for (const PolicyEvaluation& policy : scenario.policies) text += policy_story(policy);
  return text;
}

} // namespace tutti
