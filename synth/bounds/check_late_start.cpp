// Why: what a late node alone has, or contributes to, is on no link before it joins. So the time of
// the join is worked in where data first sets out: at the entry of the node's links, or before the
// first link of a path.

#include "synth/bounds/check_late_start.hpp"

#include "synth/bounds/check_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::bounds::checking {

namespace {

bool takes_part(const Claim& claim, NodeId node) {
  return std::ranges::any_of(claim.all, [&](const Shipment& s) {
    return std::ranges::binary_search(claim.held(s), node) ||
           std::ranges::binary_search(claim.wanted(s), node);
  });
}

/// Does every schedule send something of these chunks, or of a sum with them, from this node?
bool comes_only_from(const Claim& claim, const Shipment& s, NodeId node) {
  return std::ranges::binary_search(claim.held(s), node) &&
         (s.reduces || claim.held(s).size() == 1);
}

std::string late_path_fault(const Claim& claim, NodeId late, std::int64_t start) {
  const NodeId to = claim.proof.destination;
  if (to.value >= claim.topology.node_count()) return "no destination";
  std::int64_t longest = 0;
  for (const Shipment& s : claim.all)
    if (comes_only_from(claim, s, late) && std::ranges::binary_search(claim.wanted(s), to))
      longest = std::max(longest, claim.path_time(s, std::span(&late, 1), to));
  if (start + longest >= claim.bound.time.ps) return {};
  return fmt::format("what only {} has can be at {} after {}", claim.topology.node(late).name,
                     claim.topology.node(to).name, to_text(Time{start + longest}));
}

std::string late_cut_fault(const Claim& claim, NodeId late, std::int64_t start) {
  const std::vector<bool>& others = claim.proof.inside;
  if (others.size() != claim.topology.node_count()) return "no set of nodes";
  for (std::uint32_t v = 0; v < others.size(); ++v)
    if (others[v] == (v == late.value)) return "more than what leaves the one who joins late";
  const std::vector<Shipment> leaving = claim.entering(others);
  if (leaving.empty()) return "nothing has to leave the one who joins late";
  std::vector<NodeId> ends = claim.destinations(leaving);
  std::erase(ends, late);
  const Load load = total(leaving);
  const auto tail = claim.tails(ends, load.smallest, Sense::against, anywhere);
  std::vector<Crossing> crossings;
  for (const LinkId link : claim.topology.out_links(late))
    if (const NodeId to = claim.topology.link(link).to; to != late)
      crossings.push_back({link, start, tail[to.value]});
  if (exceeds(load, claim.topology, claim.model, crossings, claim.before())) return {};
  return claim.not_enough("what must leave the one who joins late");
}

} // namespace

std::string late_start_fault(const Claim& claim) {
  const NodeId late = claim.proof.source;
  if (claim.joins.size() != claim.topology.node_count()) return "no start times";
  if (!late.valid() || late.value >= claim.topology.node_count()) return "no one who joins late";
  if (!takes_part(claim, late)) return "who joins late neither holds nor wants anything";
  const std::int64_t start = std::max<std::int64_t>(claim.joins[late.value].ps, 0);
  if (start >= claim.bound.time.ps) return {};
  if (start >= unreachable) return "a start that is too late to count from";
  if (claim.proof.destination.valid()) return late_path_fault(claim, late, start);
  if (!claim.proof.inside.empty()) return late_cut_fault(claim, late, start);
  return fmt::format("{} joins at {}", claim.topology.node(late).name, to_text(Time{start}));
}

} // namespace tutti::bounds::checking
