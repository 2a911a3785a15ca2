// Why: what has crossed a cut has still to spread behind it. Idea: a crossing serves as many
// targets as can still be reached from it in time or, in the other direction, could have been its
// sources.

#include "synth/bounds/check_spreading.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::bounds::checking {

namespace {

/// Each target gets its copy of a byte from the last crossing on its path (of contributions: gives
/// its own to the first), after (before) which it stays on its side. A crossing that is early
/// (late) enough for N targets earns f(N), the sum of what is credited up to N; all crossings of a
/// byte are enough for all targets. So the byte earns the least g of sums of f(N_i) where N_1 + N_2
/// + ... make up all targets; but those that earn what is credited at N must arrive before the path
/// to the N-th nearest target.
std::string credits_fault(const Claim& claim, const std::vector<Shipment>& counted, bool gathers) {
  const std::size_t count = claim.proof.targets.size();
  std::vector<std::int64_t> earns(count + 1), least(count + 1, INT64_MAX); // f, g
  for (const Certificate::Credit& credit : claim.proof.credits) {
    if (credit.targets < 1 || credit.targets > count || credit.more < 0 || credit.more > 1 << 10)
      return "a credit of no use";
    for (std::size_t n = credit.targets; n <= count; ++n) earns[n] += credit.more;
  }
  least[0] = 0;
  for (std::size_t n = 1; n <= count; ++n)
    for (std::size_t by = 1; by <= n; ++by)
      least[n] = std::min(least[n], least[n - by] + earns[by]);

  const Load load = total(counted);
  const auto on_side = [&](NodeId node) { return claim.proof.inside[node.value] != gathers; };
  // [target][node]: how long to it or from it; the path to the others, whichever it is
  std::vector<std::vector<std::int64_t>> paths;
  for (const NodeId& target : claim.proof.targets) {
    const std::span<const NodeId> end(&target, 1);
    paths.push_back(gathers ? claim.heads(end, load.smallest, Sense::along, on_side)
                            : claim.tails(end, load.smallest, Sense::against, on_side));
  }
  const auto others =
      gathers ? claim.tails(claim.destinations(counted), load.smallest, Sense::against, anywhere)
              : claim.heads(claim.sources(counted), load.smallest, Sense::along, anywhere);
  const auto earned = [&](Counted what, Wide needed) {
    Wide sum = 0;
    for (const Certificate::Credit& credit : claim.proof.credits) {
      std::vector<Crossing> crossings;
      for (const LinkId id : claim.links_into(claim.proof.inside)) {
        const Link& link = claim.topology.link(id);
        const NodeId near = gathers ? link.from : link.to, far = gathers ? link.to : link.from;
        std::vector<std::int64_t> nearest;
        for (const std::vector<std::int64_t>& path : paths) nearest.push_back(path[near.value]);
        std::ranges::sort(nearest);
        const std::int64_t reach = nearest[credit.targets - 1], other = others[far.value];
        crossings.push_back({id, gathers ? reach : other, gathers ? other : reach});
      }
      const Wide crossed =
          carried(what, load, claim.topology, claim.model, crossings, claim.before());
      sum += credit.more * std::min(crossed, needed); // so that it fits
    }
    return sum;
  };
  const auto lacks = [&](Counted what, Wide needed) { return earned(what, needed) < needed; };
  if (lacks(Counted::bytes, load.bytes * ps_per_s * least[count]) ||
      (claim.whole && lacks(Counted::chunks, load.chunks * least[count])))
    return {};
  return claim.not_enough("what must cross and spread");
}

/// So many chunks at most have crossed before `from` (start to cross within `until` of the end);
/// the others still get to the first target, over a link from its side or as what crosses right to
/// it: of these, one more than fits in what is left of the time, since it may have set out before.
/// Where all must be there before any goes on, none of them has begun the rest of its path before.
std::string last_ones_fault(const Claim& claim, const std::vector<Shipment>& counted,
                            bool gathers) {
  if (!claim.whole) return "chunks that may be cut can't be counted";
  const NodeId target = claim.proof.targets.front();
  const Load load = total(counted);
  const std::vector<LinkId> links = claim.links_into(claim.proof.inside);
  const auto on_side = [&](NodeId node) { return claim.proof.inside[node.value] != gathers; };
  const auto others =
      gathers ? claim.tails(claim.destinations(counted), load.smallest, Sense::against, anywhere)
              : claim.heads(claim.sources(counted), load.smallest, Sense::along, anywhere);
  std::vector<Crossing> across;
  std::vector<NodeId> ports;
  for (const LinkId id : links) {
    const Link& link = claim.topology.link(id);
    ports.push_back(gathers ? link.from : link.to);
    if (!completes(claim.topology, claim.model, ports.back()))
      return "chunks may go on before all is there";
    const std::int64_t other = others[(gathers ? link.to : link.from).value];
    across.push_back({id, gathers ? 0 : other, gathers ? other : 0});
  }
  const std::int64_t aside = gathers ? claim.proof.until.ps : claim.proof.from.ps;
  if (aside < 1) return "no time that divides the first from the last";
  const Wide late =
      load.chunks - carried(Counted::chunks, load, claim.topology, claim.model, across, aside - 1);
  if (late > 0 && aside > claim.before()) return {};
  if (aside > claim.before()) return "nothing crosses last";
  const std::int64_t left = claim.before() - aside;
  const auto inwards = gathers ? claim.tails(ports, load.smallest, Sense::against, on_side)
                               : claim.heads(ports, load.smallest, Sense::along, on_side);
  Wide can = 0;
  std::vector<Crossing> from_side;
  for (const LinkId id :
       gathers ? claim.topology.out_links(target) : claim.topology.in_links(target)) {
    const Link& link = claim.topology.link(id);
    const NodeId other = gathers ? link.to : link.from;
    if (on_side(other))
      from_side.push_back(
          {id, gathers ? 0 : inwards[other.value], gathers ? inwards[other.value] : 0});
    else
      can += 1 +
             left / (occupied(claim.topology, claim.model, id, load.smallest) +
                     (claim.model.link_busy == LinkBusy::latency_and_serialization ? link.latency.ps
                                                                                   : 0));
  }
  can += carried(Counted::chunks, load, claim.topology, claim.model, from_side, left);
  return can < late ? std::string() : claim.not_enough("the last ones");
}

} // namespace

std::string spreading_fault(const Claim& claim) {
  if (claim.fluid()) return "a transfer of fluid sharing uses all links of its path at once";
  if (claim.proof.inside.size() != claim.topology.node_count()) return "no set of nodes";
  if (claim.proof.targets.empty()) return "no targets";
  for (const NodeId node : claim.proof.targets)
    if (!node.valid() || node.value >= claim.topology.node_count() ||
        std::ranges::count(claim.proof.targets, node) > 1)
      return "targets that aren't different nodes";
  const auto inside = [&](NodeId node) { return bool{claim.proof.inside[node.value]}; };
  const bool gathers = std::ranges::none_of(claim.proof.targets, inside);
  if (!gathers && !std::ranges::all_of(claim.proof.targets, inside))
    return "targets on both sides of the cut";
  std::vector<Shipment> counted;
  for (const Shipment& s : claim.entering(claim.proof.inside)) {
    const std::span<const NodeId> set = gathers ? claim.held(s) : claim.wanted(s);
    if ((s.reduces || !gathers) && std::ranges::all_of(claim.proof.targets, [&](NodeId target) {
          return std::ranges::binary_search(set, target);
        }))
      counted.push_back(s);
  }
  if (counted.empty()) return "nothing that must cross is of all targets";
  return claim.proof.credits.empty() ? last_ones_fault(claim, counted, gathers)
                                     : credits_fault(claim, counted, gathers);
}

} // namespace tutti::bounds::checking
