// Why: trees for thousands of chunks, each at other prices. Idea: Dijkstra's search, which for a
// tree isn't begun anew after each branch: the nodes of the branch are labelled as further roots,
// and all labels made so far still hold (Takahashi and Matsuyama's heuristic in about the time of
// one search). Only where the branch crosses nodes at which others may not branch are the labels
// made again.

#include "synth/tacos/route_search.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>

namespace tutti {

namespace {

constexpr double unreached = std::numeric_limits<double>::infinity();

} // namespace

RouteSearch::RouteSearch(const Topology& topology, LinkLoads& loads)
    : topology_(topology), loads_(loads), cost_(topology.node_count()), by_(topology.node_count()),
      settled_(topology.node_count()), wanted_(topology.node_count()),
      place_(topology.node_count()), entry_cost_(topology.node_count()),
      queue_cost_(topology.link_count()) {}

void RouteSearch::clear() {
  std::ranges::fill(cost_, unreached);
  std::ranges::fill(by_, LinkId{});
  settled_.assign(settled_.size(), false);
  heap_.clear();
}

void RouteSearch::label(NodeId node, double cost, LinkId link) {
  if (cost >= cost_[node.value]) return;
  cost_[node.value] = cost;
  by_[node.value] = link;
  settled_[node.value] = false;
  heap_.emplace_back(cost, node.value);
  std::ranges::push_heap(heap_, std::greater{});
}

/// The next node by cost; not valid where there is none.
NodeId RouteSearch::pop() {
  while (!heap_.empty()) {
    const std::uint32_t node = heap_.front().second;
    std::ranges::pop_heap(heap_, std::greater{});
    heap_.pop_back();
    if (settled_[node]) continue;
    settled_[node] = true;
    return NodeId{node};
  }
  return NodeId{};
}

void RouteSearch::relax(NodeId node, Direction direction, Bytes size) {
  const double here = cost_[node.value];
  const bool forward = direction == Direction::forward;
  const auto links = forward ? topology_.out_links(node) : topology_.in_links(node);
  work_ += links.size();
  for (const LinkId id : links) {
    const NodeId next = forward ? topology_.link(id).to : topology_.link(id).from;
    if (place_[next.value] != Place::outside || cost_[next.value] <= here) continue;
    label(next, here + loads_.cost(id, size) + queue_cost_[id.value], id);
  }
}

bool RouteSearch::search(std::span<const NodeId> sources, std::span<const NodeId> targets,
                         Bytes size) {
  clear();
  std::size_t unmet = 0;
  for (const NodeId target : targets) {
    unmet += wanted_[target.value] == 0 ? 1 : 0;
    wanted_[target.value] = 1;
  }
  for (const NodeId source : sources) label(source, 0, LinkId{});
  while (unmet > 0) {
    const NodeId node = pop();
    if (!node.valid()) break;
    if (wanted_[node.value]) {
      wanted_[node.value] = 0;
      --unmet;
    }
    relax(node, Direction::forward, size);
  }
  for (const NodeId target : targets) wanted_[target.value] = 0;
  return unmet == 0;
}

void RouteSearch::append_path(NodeId target, std::vector<LinkId>& links) const {
  const std::size_t first = links.size();
  for (NodeId node = target; by_[node.value].valid(); node = topology_.link(by_[node.value]).from)
    links.push_back(by_[node.value]);
  std::reverse(links.begin() + static_cast<std::ptrdiff_t>(first), links.end());
}

bool RouteSearch::copy_tree(std::span<const NodeId> sources, std::span<const NodeId> targets,
                            Bytes size, const TreeShape& shape, std::vector<LinkId>& links) {
  return tree(sources, targets, size, Direction::forward, shape, links);
}

bool RouteSearch::reduction_tree(std::span<const NodeId> contributors, NodeId root, Bytes size,
                                 const TreeShape& shape, std::vector<LinkId>& links) {
  const std::size_t first = links.size();
  if (!tree(std::span(&root, 1), contributors, size, Direction::backward, shape, links))
    return false;
  std::reverse(links.begin() + static_cast<std::ptrdiff_t>(first), links.end());
  return true;
}

bool RouteSearch::can_branch(NodeId node, Direction direction) const {
  const Abilities& can = topology_.node(node).can;
  return can.store && (direction == Direction::forward ? can.copy : can.reduce);
}

/// Links from the roots outwards, branch by branch.
bool RouteSearch::tree(std::span<const NodeId> roots, std::span<const NodeId> targets, Bytes size,
                       Direction direction, const TreeShape& shape, std::vector<LinkId>& links) {
  const std::size_t begin = links.size();
  clear();
  std::ranges::fill(place_, Place::outside);
  std::size_t unmet = 0;
  for (const NodeId target : targets) wanted_[target.value] = 1;
  for (const NodeId root : roots) {
    wanted_[root.value] = 0;
    join(root, 0);
  }
  for (const NodeId target : targets) unmet += wanted_[target.value];

  while (unmet > 0) {
    const NodeId node = pop();
    if (!node.valid()) break;
    if (!wanted_[node.value]) {
      relax(node, direction, size);
      continue;
    }
    const std::size_t first = links.size();
    const bool labels_hold = attach(node, size, direction, shape, links);
    for (std::size_t i = first; i < links.size(); ++i) { // all targets of the branch
      const Link& link = topology_.link(links[i]);
      const NodeId reached = direction == Direction::forward ? link.to : link.from;
      if (reached != node && !topology_.node(reached).can.store) continue;
      unmet -= wanted_[reached.value];
      wanted_[reached.value] = 0;
    }
    if (!labels_hold) {
      clear();
      for (std::uint32_t n = 0; n < place_.size(); ++n)
        if (place_[n] == Place::tree) label(NodeId{n}, entry_cost_[n], LinkId{});
    } else if (!topology_.node(node).can.store) {
      relax(node, direction, size); // may be passed through
    }
  }
  for (const NodeId target : targets) wanted_[target.value] = 0;
  std::ranges::fill(place_, Place::outside);
  for (std::size_t i = begin; i < links.size(); ++i) {
    loads_.remove(links[i], size);
    queue_cost_[links[i].value] = 0;
  }
  return unmet == 0;
}

/// From now on branches may start at the node.
void RouteSearch::join(NodeId node, double cost) {
  place_[node.value] = Place::tree;
  entry_cost_[node.value] = cost;
  cost_[node.value] = unreached;
  label(node, cost, LinkId{});
}

/// Joins the cheapest path to `target` to the tree, and loads its links. False where that makes
/// labels out of date: a path leads over a node that bars others now, or shares a link with another
/// branch (only behind nodes that don't store: every other link leads to a node of its own).
bool RouteSearch::attach(NodeId target, Bytes size, Direction direction, const TreeShape& shape,
                         std::vector<LinkId>& links) {
  const bool forward = direction == Direction::forward;
  branch_.clear();
  for (NodeId node = target; place_[node.value] != Place::tree;) {
    const LinkId link = by_[node.value];
    branch_.push_back(link);
    node = forward ? topology_.link(link).from : topology_.link(link).to;
  }
  std::ranges::reverse(branch_);
  links.insert(links.end(), branch_.begin(), branch_.end());
  bool labels_hold = true;
  for (const LinkId link : branch_) {
    loads_.add(link, size);
    queue_cost_[link.value] += shape.queue_weight * loads_.path_cost(link, size);
    const NodeId node = forward ? topology_.link(link).to : topology_.link(link).from;
    const Abilities& can = topology_.node(node).can;
    if (can_branch(node, direction)) {
      join(node, cost_[node.value] * shape.depth_weight);
      continue;
    }
    if (can.store && can.copy) place_[node.value] = Place::used; // what it keeps bars others
    labels_hold = false;
  }
  return labels_hold;
}

} // namespace tutti
