// Why: certificates of all kinds ask the same of a collective, stated once and plainly: what must
// get into a set of nodes, from where and to where.

#include "synth/bounds/check_claim.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::bounds::checking {

namespace {

/// [set]: is some node of it `inside`?
std::vector<bool> some_in(const Collective& collective, const std::vector<bool>& inside) {
  std::vector<bool> some;
  for (const std::vector<NodeId>& set : collective.sets)
    some.push_back(std::ranges::any_of(set, [&](NodeId node) { return inside[node.value]; }));
  return some;
}

} // namespace

Claim::Claim(const Topology& on, const Collective& of, const TimeModel& by, Chunking chunking,
             const Bound& claimed, std::span<const Time> joined)
    : topology(on), collective(of), model(by), bound(claimed), proof(claimed.proof),
      whole(chunking == Chunking::given), joins(joined),
      all(shipments(of, ChunkId{0}, static_cast<std::uint32_t>(of.chunks.size()), whole)) {}

std::string Claim::not_enough(const char* what) const {
  return fmt::format("{} could do with less than {}", what, to_text(bound.time));
}

std::vector<Shipment> Claim::entering(const std::vector<bool>& inside) const {
  std::vector<bool> others = inside;
  others.flip();
  const std::vector<bool> some_inside = some_in(collective, inside),
                          some_outside = some_in(collective, others);
  std::vector<Shipment> counted;
  for (const Shipment& s : all)
    if (some_inside[s.destinations] && some_outside[s.sources] &&
        (s.reduces || !some_inside[s.sources]))
      counted.push_back(s);
  return counted;
}

std::vector<LinkId> Claim::links_into(const std::vector<bool>& inside) const {
  std::vector<LinkId> links;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (!inside[topology.link(LinkId{l}).from.value] && inside[topology.link(LinkId{l}).to.value])
      links.emplace_back(l);
  return links;
}

std::vector<NodeId> Claim::sources(const std::vector<Shipment>& counted) const {
  std::vector<bool> sets(collective.sets.size());
  for (const Shipment& s : counted) sets[s.sources] = true;
  return members(collective, sets);
}

std::vector<NodeId> Claim::destinations(const std::vector<Shipment>& counted) const {
  std::vector<bool> sets(collective.sets.size());
  for (const Shipment& s : counted) sets[s.destinations] = true;
  return members(collective, sets);
}

std::int64_t Claim::path_time(const Shipment& s, std::span<const NodeId> from, NodeId to) const {
  if (std::ranges::find(from, to) != from.end()) return 0;
  const Bytes size = whole ? s.load.largest : Bytes{0};
  const std::span<const NodeId> end(&to, 1);
  const std::vector<std::int64_t> head =
      least_sums(topology, from, head_costs(topology, model, size), Sense::along, anywhere);
  const std::vector<std::int64_t> tail =
      least_sums(topology, end, tail_costs(topology, model, size), Sense::against, anywhere);
  const auto whole_link = [&](LinkId id) {
    return topology.link(id).latency.ps + occupied(topology, model, id, size);
  };
  std::int64_t by_last = unreachable, by_first = unreachable;
  for (const LinkId id : topology.in_links(to))
    if (head[topology.link(id).from.value] < unreachable)
      by_last = std::min(by_last, head[topology.link(id).from.value] + whole_link(id));
  for (const NodeId start : from)
    for (const LinkId id : topology.out_links(start))
      if (tail[topology.link(id).to.value] < unreachable)
        by_first = std::min(by_first, whole_link(id) + tail[topology.link(id).to.value]);
  return std::max(by_last, by_first);
}

Load total(const std::vector<Shipment>& counted) {
  Load load;
  for (const Shipment& s : counted) load.add(s.load);
  return load;
}

} // namespace tutti::bounds::checking
