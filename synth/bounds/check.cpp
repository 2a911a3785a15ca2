// Each kind of claim by the theorem that its maker's header states, worked out again the plain way:
// one shipment, one link and one set after another.
//
// Spreading cuts. Why: what has crossed a cut has still to spread behind it. Idea: a crossing
// serves as many targets as can still be reached from it in time or, in the other direction, could
// have been its sources.
//
// Late starts. Why: what a late node alone has, or contributes to, is on no link before it joins.
// So the time of the join is worked in where data first sets out: at the entry of the node's links,
// or before the first link of a path.

#include "synth/bounds/check.hpp"

#include "synth/bounds/check_claim.hpp"
#include "synth/bounds/check_network.hpp"
#include "synth/bounds/check_prices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <vector>

namespace tutti {

namespace bounds::checking {

namespace {

/// A chunk goes from its sources (the nearest will do), or from the contributor that is named, to
/// the destination.
std::string path_fault(const Claim& claim) {
  const NodeId to = claim.proof.destination;
  if (!to.valid() || to.value >= claim.topology.node_count()) return "no destination";
  std::int64_t longest = 0;
  for (const Shipment& s : claim.all) {
    const std::span<const NodeId> from = claim.held(s);
    const bool named = std::ranges::binary_search(from, claim.proof.source);
    if ((claim.proof.source.valid() ? !named : s.reduces) ||
        !std::ranges::binary_search(claim.wanted(s), to))
      continue;
    longest = std::max(
        longest, claim.path_time(s, s.reduces ? std::span(&claim.proof.source, 1) : from, to));
  }
  if (longest >= claim.bound.time.ps) return {};
  return fmt::format("what is to get from {} to {} can be there after {}",
                     claim.proof.source.valid() ? claim.topology.node(claim.proof.source).name
                                                : "its holders",
                     claim.topology.node(to).name, to_text(Time{longest}));
}

/// Why a cut doesn't prove its time. Each byte that must enter, from a source outside that is
/// `from` away to a destination inside that is `until` away, has a first link into the set on its
/// path, to which it has come by nodes outside only.
std::string cut_fault(const Claim& claim) {
  const std::vector<bool>& inside = claim.proof.inside;
  if (inside.size() != claim.topology.node_count()) return "no set of nodes";
  if (claim.fluid() && (claim.proof.from.ps > 0 || claim.proof.until.ps > 0))
    return "a transfer of fluid sharing uses all links of its path at once";
  const std::vector<Shipment> entering_all = claim.entering(inside);
  if (entering_all.empty()) return "nothing has to enter these nodes";
  const auto outside = [&](NodeId node) { return !inside[node.value]; };
  std::vector<NodeId> starts, ends, before_links, behind_links;
  std::ranges::copy_if(claim.sources(entering_all), std::back_inserter(starts), outside);
  std::ranges::copy_if(claim.destinations(entering_all), std::back_inserter(ends),
                       std::not_fn(outside));
  const std::vector<LinkId> links = claim.links_into(inside);
  for (const LinkId link : links) {
    before_links.push_back(claim.topology.link(link).from);
    behind_links.push_back(claim.topology.link(link).to);
  }
  const Bytes size = total(entering_all).smallest;
  // By latencies alone: the more chunks count, the smaller is the smallest of them.
  const auto to_cut = claim.heads(before_links, Bytes{0}, Sense::against, outside);
  const auto from_cut = claim.tails(behind_links, Bytes{0}, Sense::along, anywhere);
  Load load;
  for (const Shipment& s : entering_all) {
    std::int64_t nearest = unreachable, farthest = 0, deepest = 0;
    for (const NodeId node : claim.held(s))
      if (outside(node)) {
        nearest = std::min(nearest, to_cut[node.value]);
        farthest = std::max(farthest, to_cut[node.value]);
      }
    for (const NodeId node : claim.wanted(s))
      if (inside[node.value]) deepest = std::max(deepest, from_cut[node.value]);
    if ((s.reduces ? farthest : nearest) >= claim.proof.from.ps && deepest >= claim.proof.until.ps)
      load.add(s.load);
  }
  if (load.chunks == 0) return "nothing has to enter these nodes from so far, or to go so far";
  const auto head = claim.heads(starts, size, Sense::along, outside);
  const auto tail = claim.tails(ends, size, Sense::against, anywhere);
  std::vector<Crossing> crossings;
  for (const LinkId link : links)
    crossings.push_back({link,
                         std::max(head[claim.topology.link(link).from.value], claim.proof.from.ps),
                         std::max(tail[claim.topology.link(link).to.value], claim.proof.until.ps)});
  if (exceeds(load, claim.topology, claim.model, crossings, claim.before())) return {};
  return claim.not_enough("what must cross");
}

/// A part has what its nodes have had. Who has nothing of it at the start and wants it must be
/// entered; this adds up over parts, whose links differ. For contributions, let x be the first
/// part of those that want it that has all. Deliveries to parts until then connect all
/// contributors' parts with x: |C + x| - 1 at least. All the others that want it still miss some:
/// one delivery each. They end at nodes that copy or reduce, or else hold or want something: what
/// only passes them on, once, is between two such.
std::string work_fault(const Claim& claim) {
  const std::vector<std::uint32_t>& part_of = claim.proof.part_of;
  if (part_of.size() != claim.topology.node_count()) return "no parts";
  const std::uint32_t parts = 1 + *std::ranges::max_element(part_of);
  if (parts > claim.topology.node_count()) return "parts without nodes";
  std::vector<std::vector<std::uint32_t>> sets; // of parts
  std::vector<bool> takes(parts), npus(parts);
  for (const std::vector<NodeId>& set : claim.collective.sets) {
    std::vector<std::uint32_t>& in_parts = sets.emplace_back();
    for (const NodeId node : set) in_parts.push_back(part_of[node.value]);
    std::ranges::sort(in_parts);
    in_parts.erase(std::unique(in_parts.begin(), in_parts.end()), in_parts.end());
    for (const std::uint32_t part : in_parts) takes[part] = true;
  }
  for (std::uint32_t v = 0; v < claim.topology.node_count(); ++v) {
    const Node& node = claim.topology.node(NodeId{v});
    if (node.can.copy || node.can.reduce) takes[part_of[v]] = true;
    if (node.kind == NodeKind::npu) npus[part_of[v]] = true;
  }
  Load entries, deliveries;
  std::vector<bool> entered(parts);
  std::vector<Shipment> counted;
  for (const Shipment& s : claim.all) {
    const std::vector<std::uint32_t>&from = sets[s.sources], &to = sets[s.destinations];
    if (from.empty() || to.empty()) continue;
    std::int64_t common = 0;
    for (const std::uint32_t part : to) {
      const bool holds = std::ranges::binary_search(from, part);
      common += holds;
      if (!npus[part] || (holds && (!s.reduces || from.size() == 1))) continue;
      entries.add(s.load);
      entered[part] = true;
    }
    const auto sources = static_cast<std::int64_t>(from.size()),
               sinks = static_cast<std::int64_t>(to.size());
    const std::int64_t needed = s.reduces ? sources + sinks - (common > 0 ? 2 : 1) : sinks - common;
    deliveries.add(s.load, needed);
    if (needed > 0) counted.push_back(s);
  }
  if (counted.empty()) return "nothing has to get from part to part";
  const Bytes size = total(counted).smallest;
  const auto head = claim.heads(claim.sources(counted), size, Sense::along, anywhere);
  const auto tail = claim.tails(claim.destinations(counted), size, Sense::against, anywhere);
  const auto into = [&](const std::vector<bool>& receivers) {
    std::vector<Crossing> crossings;
    for (std::uint32_t l = 0; l < claim.topology.link_count(); ++l) {
      const Link& link = claim.topology.link(LinkId{l});
      const std::uint32_t to = part_of[link.to.value];
      if (receivers[to] && part_of[link.from.value] != to)
        crossings.push_back({LinkId{l}, head[link.from.value], tail[link.to.value]});
    }
    return crossings;
  };
  if (exceeds(deliveries, claim.topology, claim.model, into(takes), claim.before()) ||
      exceeds(entries, claim.topology, claim.model, into(entered), claim.before()))
    return {};
  return claim.not_enough("all deliveries");
}

/// Why a closed form, which is of one named collective alone, doesn't prove its time. With b_out
/// and b_in the most that links out of and into any member carry together, what must leave a member
/// does so at b_out at most, and what must enter one at b_in at most. Where nobody but members
/// reduces, and all NPUs are members, each chunk unites n contributions in n - 1 deliveries to
/// members (Lemma 14), and all others who want it need another one (Theorem 18).
std::string closed_form_fault(const Claim& claim) {
  const Wide time = claim.bound.time.ps;
  for (const CollectivePart& part : claim.collective.parts) {
    if (part.kind == CollectiveKind::custom) continue;
    std::vector<Wide> out(claim.topology.node_count()), in(claim.topology.node_count()); // bytes
    Wide delivered = 0;
    const auto lacks = [](std::span<const NodeId> set, NodeId node) {
      return !std::ranges::binary_search(set, node);
    };
    for (const Shipment& s : shipments(claim.collective, part.first, part.chunk_count, true)) {
      const std::span<const NodeId> from = claim.held(s), to = claim.wanted(s);
      if (from.empty() || to.empty()) continue;
      for (const NodeId node : to)
        if (lacks(from, node) || (s.reduces && from.size() > 1)) in[node.value] += s.load.bytes;
      for (const NodeId node : from)
        if ((s.reduces || from.size() == 1) && (lacks(to, node) || to.size() > 1))
          out[node.value] += s.load.bytes;
      const bool apart = std::ranges::none_of(to, [&](NodeId node) { return !lacks(from, node); });
      if (s.reduces)
        delivered +=
            s.load.bytes * static_cast<std::int64_t>(from.size() + to.size() - (apart ? 1 : 2));
    }
    Wide most_out = 0, most_in = 0, b_out = 0, b_in = 0;
    std::vector<bool> is_member(claim.topology.node_count());
    for (const NodeId member : part.group) {
      is_member[member.value] = true;
      most_out = std::max(most_out, out[member.value]);
      most_in = std::max(most_in, in[member.value]);
      b_out = std::max(b_out, joint_bandwidth(claim.topology, claim.topology.out_links(member)));
      b_in = std::max(b_in, joint_bandwidth(claim.topology, claim.topology.in_links(member)));
    }
    bool only_members = part.group.size() == claim.topology.npu_count();
    for (std::uint32_t v = 0; v < claim.topology.node_count(); ++v)
      only_members = only_members && (is_member[v] || !claim.topology.node(NodeId{v}).can.reduce);
    const auto members = static_cast<std::int64_t>(part.group.size());
    if (time * b_out <= most_out * ps_per_s || time * b_in <= most_in * ps_per_s ||
        (only_members && time * b_in * members <= delivered * ps_per_s))
      return {};
  }
  return claim.not_enough("what any member must send and receive");
}

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

/// What spreads from a cut to its targets inside, or (`gathers`) comes together from its targets
/// outside before it crosses. All chunks count that must cross and that each target wants (or
/// contributes to).
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

/// The source that is named joins late, and waits itself for the end; with `inside`, which are then
/// all the others, its out-cut follows; with a destination, a path to there.
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

std::string fault(const Claim& claim) {
  switch (claim.bound.kind) {
  case BoundKind::latency_path: return path_fault(claim);
  case BoundKind::in_cut:
  case BoundKind::out_cut:
  case BoundKind::balanced_cut:
  case BoundKind::cluster_cut:
  case BoundKind::dimension_cut:
  case BoundKind::max_flow_cut:
  case BoundKind::timed_cut: return cut_fault(claim);
  case BoundKind::total_work:
  case BoundKind::work_between: return work_fault(claim);
  case BoundKind::spreading_cut: return spreading_fault(claim);
  case BoundKind::closed_form: return closed_form_fault(claim);
  case BoundKind::flow_prices: return prices_fault(claim);
  case BoundKind::late_start: return late_start_fault(claim);
  }
  return "a kind of bound that nothing is known of";
}

} // namespace

} // namespace bounds::checking

std::string refuted(const Topology& topology, const Collective& collective, const TimeModel& model,
                    Chunking chunking, const Bound& bound, std::span<const Time> starts) {
  if (bound.time.ps <= 0) return {};
  using namespace bounds::checking;
  return fault(Claim(topology, collective, model, chunking, bound, starts));
}

} // namespace tutti
