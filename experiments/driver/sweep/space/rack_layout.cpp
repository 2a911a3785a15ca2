// A simulated link is one direction, a bought cable has two, and a shared group may be a bus inside
// a machine, the port of a NIC or a mere limit: links become cables first. Then switches take
// places in waves, each at the mean of those neighbours that stand already, which puts leaf
// switches into their NPUs' racks and spines in the middle of their leaves. Whole-number means make
// the places the same on every machine.
#include "experiments/driver/sweep/space/rack_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace tutti::sweep {

namespace {

struct Direction {
  NodeId from, to;
  Bandwidth bandwidth;
  [[nodiscard]] bool is_forwards() const { return from < to; }
  [[nodiscard]] std::pair<NodeId, NodeId> ends() const { return std::minmax(from, to); }
};

enum class GroupKind : std::uint8_t { bus, shared_nic, limit };

// The rules stand in the header (physical_cables); a topology doesn't say what a group is built of.
GroupKind kind_of_group(const Topology& topology, const SharedGroup& group) {
  const Link& first = topology.link(group.links.front());
  bool one_begin = true, one_end = true;
  std::set<std::pair<NodeId, NodeId>> seen;
  for (const LinkId id : group.links) {
    const Link& link = topology.link(id);
    one_begin = one_begin && link.from == first.from;
    one_end = one_end && link.to == first.to;
    if (seen.contains({link.to, link.from})) return GroupKind::bus;
    seen.insert({link.from, link.to});
  }
  if (!one_begin && !one_end) return GroupKind::bus;
  if (one_begin && one_end) return GroupKind::limit; // parallel links
  const NodeId hub = one_begin ? first.from : first.to;
  const auto all = one_begin ? topology.out_links(hub) : topology.in_links(hub);
  return topology.node(hub).kind == NodeKind::switching && group.links.size() < all.size()
             ? GroupKind::shared_nic
             : GroupKind::limit;
}

/// Direction of a shared NIC: from the first of its nodes, or to it.
Direction of_nic(const Topology& topology, const SharedGroup& group) {
  Direction direction{topology.link(group.links.front()).from,
                      topology.link(group.links.front()).to, group.bandwidth};
  for (const LinkId id : group.links) {
    direction.from = std::min(direction.from, topology.link(id).from);
    direction.to = std::min(direction.to, topology.link(id).to);
  }
  return direction;
}

std::vector<Direction> directions_of(const Topology& topology) {
  std::vector<Direction> directions;
  std::vector<bool> is_done(topology.link_count());
  for (const SharedGroup& group : topology.groups()) {
    const GroupKind kind = kind_of_group(topology, group);
    if (kind == GroupKind::limit) continue;
    if (kind == GroupKind::shared_nic) directions.push_back(of_nic(topology, group));
    for (const LinkId link : group.links) is_done[link.value] = true;
  }
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (const Link& link = topology.link(LinkId{l}); !is_done[l])
      directions.push_back({link.from, link.to, link.bandwidth});
  std::erase_if(directions, [&topology](const Direction& direction) {
    return topology.node(direction.from).kind == NodeKind::memory ||
           topology.node(direction.to).kind == NodeKind::memory;
  });
  return directions;
}

// Where the neighbours of a switch stand, summed over its cables.
struct Neighbours {
  std::uint64_t columns = 0, rows = 0, count = 0;
};

// To the nearest whole number, the lower of equals: the least m with 2 sum - count <= 2 count m.
std::uint32_t rounded_mean(std::uint64_t sum, std::uint64_t count) {
  return static_cast<std::uint32_t>((2 * sum + count - 1) / (2 * count));
}

class RackPlacement {
public:
  RackPlacement(const Topology& topology, const CostModel& model)
      : npus_per_rack_(model.npus_per_rack),
        racks_((topology.npu_count() + npus_per_rack_ - 1) / npus_per_rack_),
        columns_(model.racks_per_row), places_(topology.node_count()),
        is_placed_(topology.node_count()) {
    if (columns_ == 0)
      for (columns_ = 1; std::uint64_t{columns_} * columns_ < racks_;) ++columns_;
    for (std::uint32_t npu = 0; npu < topology.npu_count(); ++npu)
      place(npu, {npu / npus_per_rack_ % columns_, npu / npus_per_rack_ / columns_});
  }

  /// Those that have neighbours with a place; whether there are any.
  bool place_next(std::span<const PhysicalCable> cables) {
    std::vector<Neighbours> neighbours(places_.size());
    const auto add = [&](NodeId node, NodeId neighbour) {
      if (is_placed_[node.value] || !is_placed_[neighbour.value]) return;
      Neighbours& sums = neighbours[node.value];
      sums.columns += places_[neighbour.value].column;
      sums.rows += places_[neighbour.value].row;
      ++sums.count;
    };
    for (const PhysicalCable& cable : cables) {
      add(cable.a, cable.b);
      add(cable.b, cable.a);
    }
    bool any = false;
    for (std::size_t node = 0; node < neighbours.size(); ++node) {
      const Neighbours& sums = neighbours[node];
      if (sums.count == 0) continue;
      any = true;
      place(node, existing({rounded_mean(sums.columns, sums.count),
                            rounded_mean(sums.rows, sums.count)}));
    }
    return any;
  }

  std::vector<RackPlace> take() { return std::move(places_); }

private:
  void place(std::size_t node, RackPlace where) {
    places_[node] = where;
    is_placed_[node] = true;
  }
  // The mean of places in an incomplete last row and those above may lie beyond the last rack.
  [[nodiscard]] RackPlace existing(RackPlace where) const {
    if (std::uint64_t{where.row} * columns_ + where.column >= racks_) --where.row;
    return where;
  }

  std::uint32_t npus_per_rack_, racks_, columns_;
  std::vector<RackPlace> places_;
  std::vector<bool> is_placed_;
};

std::uint32_t distance(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

} // namespace

std::vector<PhysicalCable> physical_cables(const Topology& topology) {
  std::vector<Direction> directions = directions_of(topology);
  std::stable_sort(directions.begin(), directions.end(),
                   [](const Direction& x, const Direction& y) { return x.ends() < y.ends(); });
  std::vector<PhysicalCable> cables;
  for (std::size_t begin = 0, end = 0; begin < directions.size(); begin = end) {
    const auto [a, b] = directions[begin].ends();
    const std::size_t first = cables.size();
    std::size_t forwards = first, backwards = first; // the next cable without this direction
    for (; end < directions.size() && directions[end].ends() == std::pair{a, b}; ++end) {
      std::size_t& next = directions[end].is_forwards() ? forwards : backwards;
      if (next == cables.size()) cables.push_back({a, b});
      PhysicalCable& cable = cables[next++];
      (directions[end].is_forwards() ? cable.a_to_b : cable.b_to_a) = directions[end].bandwidth;
    }
  }
  return cables;
}

std::vector<RackPlace> rack_places(const Topology& topology, std::span<const PhysicalCable> cables,
                                   const CostModel& model) {
  RackPlacement placement(topology, model);
  while (placement.place_next(cables)) {
  }
  return placement.take();
}

double cable_length(RackPlace from, RackPlace to, const CostModel& model) {
  if (from == to) return model.inside_rack;
  return distance(from.column, to.column) * model.rack_pitch +
         distance(from.row, to.row) * model.row_pitch + model.overhead;
}

} // namespace tutti::sweep
