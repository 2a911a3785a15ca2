// Each kind of claim by the theorem that its maker's header states, worked out again the plain way:
// one shipment, one link and one set after another.
#include "synth/bounds/check.hpp"

#include "synth/bounds/check_network.hpp"
#include "synth/bounds/check_prices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

namespace tutti {

namespace bounds::checking {

namespace {

const auto anywhere = [](NodeId) { return true; };

class BoundCheck {
public:
  BoundCheck(const Topology& topology, const Collective& collective, const TimeModel& model,
             Chunking chunking, const Bound& bound)
      : topology_(topology), collective_(collective), model_(model), bound_(bound),
        proof_(bound.proof), whole_(chunking == Chunking::given),
        all_(shipments(collective, ChunkId{0}, static_cast<std::uint32_t>(collective.chunks.size()),
                       whole_)) {}

  [[nodiscard]] std::string fault() const {
    switch (bound_.kind) {
    case BoundKind::latency_path: return path();
    case BoundKind::in_cut:
    case BoundKind::out_cut:
    case BoundKind::balanced_cut:
    case BoundKind::cluster_cut:
    case BoundKind::dimension_cut:
    case BoundKind::max_flow_cut:
    case BoundKind::timed_cut: return cut();
    case BoundKind::total_work:
    case BoundKind::work_between: return work();
    case BoundKind::spreading_cut: return spreading();
    case BoundKind::closed_form: return closed_form();
    case BoundKind::flow_prices: return prices();
    }
    return "a kind of bound that nothing is known of";
  }

private:
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::string cut() const;
  [[nodiscard]] std::string work() const;
  [[nodiscard]] std::string spreading() const;
  [[nodiscard]] std::string credits(const std::vector<Shipment>& counted, bool gathers) const;
  [[nodiscard]] std::string last_ones(const std::vector<Shipment>& counted, bool gathers) const;
  [[nodiscard]] std::string closed_form() const;
  [[nodiscard]] std::string prices() const;
  [[nodiscard]] std::vector<NodeId> sources_at(const Shipment& shipment, Time time) const;

  [[nodiscard]] bool fluid() const { return model_.discipline == Discipline::fluid; }
  [[nodiscard]] std::int64_t before() const { return bound_.time.ps - 1; } ///< too short, in ps
  [[nodiscard]] std::span<const NodeId> held(const Shipment& s) const {
    return collective_.sets[s.held_by];
  }
  [[nodiscard]] std::span<const NodeId> wanted(const Shipment& s) const {
    return collective_.sets[s.wanted_by];
  }
  [[nodiscard]] std::string not_enough(const char* what) const {
    return fmt::format("{} could do with less than {}", what, to_text(bound_.time));
  }

  /// [set]: is some node of it `inside`?
  [[nodiscard]] std::vector<bool> some_in(const std::vector<bool>& inside) const {
    std::vector<bool> some;
    for (const std::vector<NodeId>& set : collective_.sets)
      some.push_back(std::ranges::any_of(set, [&](NodeId node) { return inside[node.value]; }));
    return some;
  }
  /// Those that must get from the others to the nodes `inside`: someone there wants it, nobody
  /// there holds it or, of contributions, some are from elsewhere.
  [[nodiscard]] std::vector<Shipment> entering(const std::vector<bool>& inside) const {
    std::vector<bool> others = inside;
    others.flip();
    const std::vector<bool> some_inside = some_in(inside), some_outside = some_in(others);
    std::vector<Shipment> counted;
    for (const Shipment& s : all_)
      if (some_inside[s.wanted_by] && some_outside[s.held_by] &&
          (s.reduces || !some_inside[s.held_by]))
        counted.push_back(s);
    return counted;
  }
  [[nodiscard]] std::vector<LinkId> links_into(const std::vector<bool>& inside) const {
    std::vector<LinkId> links;
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
      if (!inside[topology_.link(LinkId{l}).from.value] &&
          inside[topology_.link(LinkId{l}).to.value])
        links.emplace_back(l);
    return links;
  }
  [[nodiscard]] static Load total(const std::vector<Shipment>& counted) {
    Load load;
    for (const Shipment& s : counted) load.add(s.load);
    return load;
  }
  /// Who holds or contributes to any of them; who wants any.
  [[nodiscard]] std::vector<NodeId> holders(const std::vector<Shipment>& counted) const {
    std::vector<bool> sets(collective_.sets.size());
    for (const Shipment& s : counted) sets[s.held_by] = true;
    return members(collective_, sets);
  }
  [[nodiscard]] std::vector<NodeId> wanters(const std::vector<Shipment>& counted) const {
    std::vector<bool> sets(collective_.sets.size());
    for (const Shipment& s : counted) sets[s.wanted_by] = true;
    return members(collective_, sets);
  }
  /// [node]: when the first byte from a start can go on from there; how long the last byte that is
  /// there has to go to an end. 0 in fluid sharing, which uses all links of a path at once.
  template <typename LeadsOn>
  [[nodiscard]] std::vector<std::int64_t> heads(std::span<const NodeId> starts, Bytes size,
                                                Sense sense, LeadsOn leads_on) const {
    if (fluid()) return std::vector<std::int64_t>(topology_.node_count());
    return least_sums(topology_, starts, head_costs(topology_, model_, size), sense, leads_on);
  }
  template <typename LeadsOn>
  [[nodiscard]] std::vector<std::int64_t> tails(std::span<const NodeId> ends, Bytes size,
                                                Sense sense, LeadsOn leads_on) const {
    if (fluid()) return std::vector<std::int64_t>(topology_.node_count());
    return least_sums(topology_, ends, tail_costs(topology_, model_, size), sense, leads_on);
  }

  const Topology& topology_;
  const Collective& collective_;
  const TimeModel& model_;
  const Bound& bound_;
  const Certificate& proof_;
  bool whole_; ///< these chunks; else they may be cut
  std::vector<Shipment> all_;
};

/// A chunk goes from its holders (the nearest will do), or from the contributor that is named, to
/// the destination: each link takes its latency and, before a node that has to have all of it, its
/// serialization. Where all is cut through, still the first link and the last take theirs.
std::string BoundCheck::path() const {
  const NodeId to = proof_.destination;
  if (!to.valid() || to.value >= topology_.node_count()) return "no destination";
  std::int64_t longest = 0;
  for (const Shipment& s : all_) {
    const std::span<const NodeId> from = held(s);
    const bool named = std::ranges::binary_search(from, proof_.source);
    if ((proof_.source.valid() ? !named : s.reduces) || !std::ranges::binary_search(wanted(s), to))
      continue;
    const auto starts = s.reduces ? std::span(&proof_.source, 1) : from;
    if (std::ranges::find(starts, to) != starts.end()) continue;
    const Bytes size = whole_ ? s.load.largest : Bytes{0};
    const std::span<const NodeId> end(&to, 1);
    const std::vector<std::int64_t> head =
        least_sums(topology_, starts, head_costs(topology_, model_, size), Sense::along, anywhere);
    const std::vector<std::int64_t> tail =
        least_sums(topology_, end, tail_costs(topology_, model_, size), Sense::against, anywhere);
    const auto whole_link = [&](LinkId id) {
      return topology_.link(id).latency.ps + occupied(topology_, model_, id, size);
    };
    std::int64_t by_last = unreachable, by_first = unreachable;
    for (const LinkId id : topology_.in_links(to))
      if (head[topology_.link(id).from.value] < unreachable)
        by_last = std::min(by_last, head[topology_.link(id).from.value] + whole_link(id));
    for (const NodeId start : starts)
      for (const LinkId id : topology_.out_links(start))
        if (tail[topology_.link(id).to.value] < unreachable)
          by_first = std::min(by_first, whole_link(id) + tail[topology_.link(id).to.value]);
    longest = std::max({longest, by_last, by_first});
  }
  if (longest >= bound_.time.ps) return {};
  return fmt::format("what is to get from {} to {} can be there after {}",
                     proof_.source.valid() ? topology_.node(proof_.source).name : "its holders",
                     topology_.node(to).name, to_text(Time{longest}));
}

/// Of each byte that must enter, from a source outside that is `from` away to a destination
/// inside that is `until` away, consider the first link into the set on its way: it has come there
/// by nodes outside only.
std::string BoundCheck::cut() const {
  const std::vector<bool>& inside = proof_.inside;
  if (inside.size() != topology_.node_count()) return "no set of nodes";
  if (fluid() && (proof_.from.ps > 0 || proof_.until.ps > 0))
    return "a transfer of fluid sharing uses all links of its path at once";
  const std::vector<Shipment> entering_all = entering(inside);
  if (entering_all.empty()) return "nothing has to enter these nodes";
  const auto outside = [&](NodeId node) { return !inside[node.value]; };
  std::vector<NodeId> starts, ends, before_links, behind_links;
  std::ranges::copy_if(holders(entering_all), std::back_inserter(starts), outside);
  std::ranges::copy_if(wanters(entering_all), std::back_inserter(ends), std::not_fn(outside));
  const std::vector<LinkId> links = links_into(inside);
  for (const LinkId link : links) {
    before_links.push_back(topology_.link(link).from);
    behind_links.push_back(topology_.link(link).to);
  }
  const Bytes size = total(entering_all).smallest;
  const auto to_cut = heads(before_links, size, Sense::against, outside);
  const auto from_cut = tails(behind_links, size, Sense::along, anywhere);
  Load load;
  for (const Shipment& s : entering_all) {
    std::int64_t nearest = unreachable, farthest = 0, deepest = 0;
    for (const NodeId node : held(s))
      if (outside(node)) {
        nearest = std::min(nearest, to_cut[node.value]);
        farthest = std::max(farthest, to_cut[node.value]);
      }
    for (const NodeId node : wanted(s))
      if (inside[node.value]) deepest = std::max(deepest, from_cut[node.value]);
    if ((s.reduces ? farthest : nearest) >= proof_.from.ps && deepest >= proof_.until.ps)
      load.add(s.load);
  }
  if (load.chunks == 0) return "nothing has to enter these nodes from so far, or to go so far";
  const auto head = heads(starts, size, Sense::along, outside);
  const auto tail = tails(ends, size, Sense::against, anywhere);
  std::vector<Crossing> crossings;
  for (const LinkId link : links)
    crossings.push_back({link, std::max(head[topology_.link(link).from.value], proof_.from.ps),
                         std::max(tail[topology_.link(link).to.value], proof_.until.ps)});
  if (exceeds(load, topology_, model_, crossings, before())) return {};
  return not_enough("what must cross");
}

/// A part has what its nodes have had. Who has nothing of it at the start and wants it must be
/// entered; this adds up over parts, whose links differ. For contributions, let x be the first
/// part of those that want it that has all. Deliveries to parts until then connect all
/// contributors' parts with x: |C + x| - 1 at least. All the others that want it still miss some:
/// one delivery each. They end at nodes that copy or reduce, or else hold or want something: what
/// only passes them on, once, is between two such.
std::string BoundCheck::work() const {
  const std::vector<std::uint32_t>& part_of = proof_.part_of;
  if (part_of.size() != topology_.node_count()) return "no parts";
  const std::uint32_t parts = 1 + *std::ranges::max_element(part_of);
  if (parts > topology_.node_count()) return "parts without nodes";
  std::vector<std::vector<std::uint32_t>> sets; // of parts
  std::vector<bool> takes(parts), npus(parts);
  for (const std::vector<NodeId>& set : collective_.sets) {
    std::vector<std::uint32_t>& in_parts = sets.emplace_back();
    for (const NodeId node : set) in_parts.push_back(part_of[node.value]);
    std::ranges::sort(in_parts);
    in_parts.erase(std::unique(in_parts.begin(), in_parts.end()), in_parts.end());
    for (const std::uint32_t part : in_parts) takes[part] = true;
  }
  for (std::uint32_t v = 0; v < topology_.node_count(); ++v) {
    const Node& node = topology_.node(NodeId{v});
    if (node.can.copy || node.can.reduce) takes[part_of[v]] = true;
    if (node.kind == NodeKind::npu) npus[part_of[v]] = true;
  }
  Load entries, deliveries;
  std::vector<bool> entered(parts);
  std::vector<Shipment> counted;
  for (const Shipment& s : all_) {
    const std::vector<std::uint32_t>&from = sets[s.held_by], &to = sets[s.wanted_by];
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
  const auto head = heads(holders(counted), size, Sense::along, anywhere);
  const auto tail = tails(wanters(counted), size, Sense::against, anywhere);
  const auto into = [&](const std::vector<bool>& receivers) {
    std::vector<Crossing> crossings;
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      const std::uint32_t to = part_of[link.to.value];
      if (receivers[to] && part_of[link.from.value] != to)
        crossings.push_back({LinkId{l}, head[link.from.value], tail[link.to.value]});
    }
    return crossings;
  };
  if (exceeds(deliveries, topology_, model_, into(takes), before()) ||
      exceeds(entries, topology_, model_, into(entered), before()))
    return {};
  return not_enough("all deliveries");
}

/// What spreads from a cut to its targets inside, or (`gathers`) comes together from its targets
/// outside before it crosses. All chunks count that must cross and that each target wants (or
/// contributes to).
std::string BoundCheck::spreading() const {
  if (fluid()) return "a transfer of fluid sharing uses all links of its path at once";
  if (proof_.inside.size() != topology_.node_count()) return "no set of nodes";
  if (proof_.targets.empty()) return "no targets";
  for (const NodeId node : proof_.targets)
    if (!node.valid() || node.value >= topology_.node_count() ||
        std::ranges::count(proof_.targets, node) > 1)
      return "targets that aren't different nodes";
  const auto inside = [&](NodeId node) { return bool{proof_.inside[node.value]}; };
  const bool gathers = std::ranges::none_of(proof_.targets, inside);
  if (!gathers && !std::ranges::all_of(proof_.targets, inside))
    return "targets on both sides of the cut";
  std::vector<Shipment> counted;
  for (const Shipment& s : entering(proof_.inside)) {
    const std::span<const NodeId> set = gathers ? held(s) : wanted(s);
    if ((s.reduces || !gathers) && std::ranges::all_of(proof_.targets, [&](NodeId target) {
          return std::ranges::binary_search(set, target);
        }))
      counted.push_back(s);
  }
  if (counted.empty()) return "nothing that must cross is of all targets";
  return proof_.credits.empty() ? last_ones(counted, gathers) : credits(counted, gathers);
}

/// Each target gets its copy of a byte from the last crossing on its way (of contributions: gives
/// its own to the first), after (before) which it stays on its side. A crossing that is early
/// (late) enough for N targets earns f(N), the sum of what is credited up to N; all crossings of a
/// byte are enough for all targets. So the byte earns the least g of sums of f(N_i) where N_1 + N_2
/// + ... make up all targets; but those that earn what is credited at N must arrive before the way
/// to the N-th nearest target.
std::string BoundCheck::credits(const std::vector<Shipment>& counted, bool gathers) const {
  const std::size_t count = proof_.targets.size();
  std::vector<std::int64_t> earns(count + 1), least(count + 1, INT64_MAX); // f, g
  for (const Certificate::Credit& credit : proof_.credits) {
    if (credit.targets < 1 || credit.targets > count || credit.more < 0 || credit.more > 1 << 10)
      return "a credit of no use";
    for (std::size_t n = credit.targets; n <= count; ++n) earns[n] += credit.more;
  }
  least[0] = 0;
  for (std::size_t n = 1; n <= count; ++n)
    for (std::size_t by = 1; by <= n; ++by)
      least[n] = std::min(least[n], least[n - by] + earns[by]);

  const Load load = total(counted);
  const auto on_side = [&](NodeId node) { return proof_.inside[node.value] != gathers; };
  // [target][node]: how long to it or from it; the way to the others, whichever it is
  std::vector<std::vector<std::int64_t>> ways;
  for (const NodeId& target : proof_.targets) {
    const std::span<const NodeId> end(&target, 1);
    ways.push_back(gathers ? heads(end, load.smallest, Sense::along, on_side)
                           : tails(end, load.smallest, Sense::against, on_side));
  }
  const auto others = gathers ? tails(wanters(counted), load.smallest, Sense::against, anywhere)
                              : heads(holders(counted), load.smallest, Sense::along, anywhere);
  const auto earned = [&](Counted what, Wide needed) {
    Wide sum = 0;
    for (const Certificate::Credit& credit : proof_.credits) {
      std::vector<Crossing> crossings;
      for (const LinkId id : links_into(proof_.inside)) {
        const Link& link = topology_.link(id);
        const NodeId near = gathers ? link.from : link.to, far = gathers ? link.to : link.from;
        std::vector<std::int64_t> nearest;
        for (const std::vector<std::int64_t>& way : ways) nearest.push_back(way[near.value]);
        std::ranges::sort(nearest);
        const std::int64_t reach = nearest[credit.targets - 1], other = others[far.value];
        crossings.push_back({id, gathers ? reach : other, gathers ? other : reach});
      }
      const Wide crossed = carried(what, load, topology_, model_, crossings, before());
      sum += credit.more * std::min(crossed, needed); // so that it fits
    }
    return sum;
  };
  const auto lacks = [&](Counted what, Wide needed) { return earned(what, needed) < needed; };
  if (lacks(Counted::bytes, load.bytes * ps_per_s * least[count]) ||
      (whole_ && lacks(Counted::chunks, load.chunks * least[count])))
    return {};
  return not_enough("what must cross and spread");
}

/// So many chunks at most have crossed before `from` (start to cross within `until` of the end);
/// the others still get to the first target, over a link from its side or as what crosses right to
/// it: of these, one more than fits in what is left of the time, since it may have set out before.
/// Where all must be there before any goes on, none of them has begun the rest of its way before.
std::string BoundCheck::last_ones(const std::vector<Shipment>& counted, bool gathers) const {
  if (!whole_) return "chunks that may be cut can't be counted";
  const NodeId target = proof_.targets.front();
  const Load load = total(counted);
  const std::vector<LinkId> links = links_into(proof_.inside);
  const auto on_side = [&](NodeId node) { return proof_.inside[node.value] != gathers; };
  const auto others = gathers ? tails(wanters(counted), load.smallest, Sense::against, anywhere)
                              : heads(holders(counted), load.smallest, Sense::along, anywhere);
  std::vector<Crossing> across;
  std::vector<NodeId> ports;
  for (const LinkId id : links) {
    const Link& link = topology_.link(id);
    ports.push_back(gathers ? link.from : link.to);
    if (!completes(topology_, model_, ports.back())) return "chunks may go on before all is there";
    const std::int64_t other = others[(gathers ? link.to : link.from).value];
    across.push_back({id, gathers ? 0 : other, gathers ? other : 0});
  }
  const std::int64_t aside = gathers ? proof_.until.ps : proof_.from.ps;
  if (aside < 1) return "no time that divides the first from the last";
  const Wide late =
      load.chunks - carried(Counted::chunks, load, topology_, model_, across, aside - 1);
  if (late > 0 && aside > before()) return {};
  if (aside > before()) return "nothing crosses last";
  const std::int64_t left = before() - aside;
  const auto inwards = gathers ? tails(ports, load.smallest, Sense::against, on_side)
                               : heads(ports, load.smallest, Sense::along, on_side);
  Wide can = 0;
  std::vector<Crossing> from_side;
  for (const LinkId id : gathers ? topology_.out_links(target) : topology_.in_links(target)) {
    const Link& link = topology_.link(id);
    const NodeId other = gathers ? link.to : link.from;
    if (on_side(other))
      from_side.push_back(
          {id, gathers ? 0 : inwards[other.value], gathers ? inwards[other.value] : 0});
    else
      can += 1 + left / (occupied(topology_, model_, id, load.smallest) +
                         (model_.link_busy == LinkBusy::latency_and_serialization ? link.latency.ps
                                                                                  : 0));
  }
  can += carried(Counted::chunks, load, topology_, model_, from_side, left);
  return can < late ? std::string() : not_enough("the last ones");
}

/// Of one named collective alone, with b the most that links of any member carry together: what
/// must leave a member needs it out, what must enter one needs it in. Where nobody but members
/// reduces, and all NPUs are members, each chunk unites n contributions in n - 1 deliveries to
/// members (Lemma 14), and all others who want it need another one (Theorem 18).
std::string BoundCheck::closed_form() const {
  const Wide time = bound_.time.ps;
  for (const CollectivePart& part : collective_.parts) {
    if (part.kind == CollectiveKind::custom) continue;
    std::vector<Wide> out(topology_.node_count()), in(topology_.node_count()); // bytes
    Wide delivered = 0;
    const auto lacks = [](std::span<const NodeId> set, NodeId node) {
      return !std::ranges::binary_search(set, node);
    };
    for (const Shipment& s : shipments(collective_, part.first, part.chunk_count, true)) {
      const std::span<const NodeId> from = held(s), to = wanted(s);
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
    std::vector<bool> is_member(topology_.node_count());
    for (const NodeId member : part.group) {
      is_member[member.value] = true;
      most_out = std::max(most_out, out[member.value]);
      most_in = std::max(most_in, in[member.value]);
      b_out = std::max(b_out, joint_bandwidth(topology_, topology_.out_links(member)));
      b_in = std::max(b_in, joint_bandwidth(topology_, topology_.in_links(member)));
    }
    bool only_members = part.group.size() == topology_.npu_count();
    for (std::uint32_t v = 0; v < topology_.node_count(); ++v)
      only_members = only_members && (is_member[v] || !topology_.node(NodeId{v}).can.reduce);
    const auto members = static_cast<std::int64_t>(part.group.size());
    if (time * b_out <= most_out * ps_per_s || time * b_in <= most_in * ps_per_s ||
        (only_members && time * b_in * members <= delivered * ps_per_s))
      return {};
  }
  return not_enough("what any member must send and receive");
}

/// Who can have some of it by then, or be about to: crossings that began before end there.
std::vector<NodeId> BoundCheck::sources_at(const Shipment& shipment, Time time) const {
  std::vector<NodeId> sources(held(shipment).begin(), held(shipment).end());
  if (time.ps == 0) return sources;
  const auto head = heads(held(shipment), shipment.load.smallest, Sense::along, anywhere);
  for (const Link& link : topology_.links())
    if (head[link.from.value] < time.ps) sources.push_back(link.to);
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return sources;
}

/// Whatever carries a byte pays a whole number for each link and shared group that it crosses. A
/// resource of price p and bandwidth b earns p * b in each second that any of it can cross, at
/// most, and so from the first moment at which its first byte can start until the last one has
/// still to get to where it is wanted.
/// With `from`, only crossings count that begin then or later: before, its first bytes can have set
/// out from where they can have come by then (or are from the start), so that what isn't reduced
/// starts there, or where links from there end.
std::string BoundCheck::prices() const {
  constexpr double most = 1LL << 40;
  const std::uint32_t links = topology_.link_count();
  if (proof_.prices.size() != links + topology_.groups().size()) return "no price for each link";
  std::vector<std::int64_t> price;
  for (const double each : proof_.prices) {
    if (!(each >= 0 && each <= most) || std::floor(each) != each)
      return "a price that isn't a whole number of 40 bits";
    price.push_back(static_cast<std::int64_t>(each));
  }
  std::vector<std::int64_t> costs;
  for (std::uint32_t l = 0; l < links; ++l) {
    costs.push_back(price[l]);
    for (const std::uint32_t g : topology_.groups_of(LinkId{l})) costs.back() += price[links + g];
  }
  if (fluid() && proof_.from.ps > 0)
    return "a transfer of fluid sharing uses all links of its path at once";
  std::vector<Shipment> moving;
  long double paid = 0;
  std::vector<NodeId> sources;          // of the shipments from one set
  std::vector<std::int64_t> cheapest;   // paths from there
  const Shipment* from_there = nullptr; // one of them
  for (const Shipment& s : all_) {
    const bool reduced = s.reduces && held(s).size() > 1;
    if (reduced && proof_.from.ps > 0) continue;
    if (!from_there || from_there->held_by != s.held_by) {
      sources = sources_at(s, proof_.from);
      cheapest = least_sums(topology_, sources, costs, Sense::along, anywhere);
      from_there = &s;
    }
    const std::int64_t each = !reduced && wanted(s).size() == 1
                                  ? cheapest[wanted(s).front().value]
                                  : least_payment(topology_, collective_, s, sources, costs);
    if (each == 0 || each >= unreachable) continue;
    moving.push_back(s);
    paid += static_cast<long double>(each) * static_cast<long double>(s.load.bytes);
  }
  if (moving.empty()) return not_enough("what pays");
  const Bytes size = total(moving).smallest;
  const auto head = heads(holders(moving), size, Sense::along, anywhere);
  const auto tail = tails(wanters(moving), size, Sense::against, anywhere);
  long double earned = 0;
  const auto earn = [&](std::int64_t at, Bandwidth bandwidth, std::span<const LinkId> carriers) {
    std::int64_t entry = unreachable, exit = unreachable;
    for (const LinkId id : carriers) {
      const Link& link = topology_.link(id);
      if (head[link.from.value] >= unreachable || tail[link.to.value] >= unreachable) continue;
      entry = std::min(entry, std::max(head[link.from.value], proof_.from.ps));
      exit = std::min(exit, tail[link.to.value] + std::min(link.latency.ps, unreachable));
    }
    const std::int64_t left = before() - entry - exit;
    if (left > 0)
      earned += static_cast<long double>(at) * static_cast<long double>(left) *
                static_cast<long double>(bandwidth.bytes_per_second);
  };
  for (std::uint32_t l = 0; l < links; ++l)
    earn(price[l], topology_.link(LinkId{l}).bandwidth, std::array{LinkId{l}});
  for (std::size_t g = 0; g < topology_.groups().size(); ++g)
    earn(price[links + g], topology_.groups()[g].bandwidth, topology_.groups()[g].links);
  // Sums of products beyond 128 bits: each term and each addition is off by a few units in the
  // last of 64 places.
  const long double terms = static_cast<long double>(price.size() + all_.size()) + 4;
  const long double off = std::numeric_limits<long double>::epsilon() * 4 * terms;
  if (earned * (1 + off) < paid * static_cast<long double>(ps_per_s)) return {};
  return not_enough("what pays");
}

} // namespace

} // namespace bounds::checking

std::string refuted(const Topology& topology, const Collective& collective, const TimeModel& model,
                    Chunking chunking, const Bound& bound) {
  if (bound.time.ps <= 0) return {};
  return bounds::checking::BoundCheck(topology, collective, model, chunking, bound).fault();
}

} // namespace tutti
