// Kahn's algorithm ("Topological sorting of large networks", CACM 1962) with a heap, so that of the
// nodes that are free the lowest id comes next. What it leaves over waits for each other: following
// dependencies among those nodes leads into a cycle, which the error names.

#include "workloads/traces/chakra_order.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

namespace tutti {

NodeOrder::NodeOrder(const std::vector<ChakraNode>& nodes) : nodes_(nodes) {
  by_id_.resize(nodes.size());
  std::iota(by_id_.begin(), by_id_.end(), std::size_t{0});
  std::sort(by_id_.begin(), by_id_.end(),
            [&](std::size_t a, std::size_t b) { return nodes[a].id < nodes[b].id; });
  for (std::size_t i = 1; i < by_id_.size(); ++i)
    if (nodes[by_id_[i]].id == nodes[by_id_[i - 1]].id)
      throw InputError(fmt::format("{}: its id is also that of {}", text_of(nodes[by_id_[i]]),
                                   text_of(nodes[by_id_[i - 1]])));
}

std::size_t NodeOrder::find(const ChakraNode& node, std::uint64_t id) const {
  const auto found =
      std::lower_bound(by_id_.begin(), by_id_.end(), id,
                       [&](std::size_t i, std::uint64_t wanted) { return nodes_[i].id < wanted; });
  if (found == by_id_.end() || nodes_[*found].id != id)
    throw InputError(
        fmt::format("{}: it depends on node {}, which isn't there", text_of(node), id));
  return *found;
}

std::vector<std::size_t> NodeOrder::topological() const {
  std::vector<std::vector<std::size_t>> followers(nodes_.size());
  std::vector<std::size_t> waits(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    waits[i] = nodes_[i].dependencies.size();
    for (const std::uint64_t id : nodes_[i].dependencies)
      followers[find(nodes_[i], id)].push_back(i);
  }
  using Entry = std::pair<std::uint64_t, std::size_t>; // id, index
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> free;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (waits[i] == 0) free.emplace(nodes_[i].id, i);
  std::vector<std::size_t> order;
  while (!free.empty()) {
    const std::size_t next = free.top().second;
    free.pop();
    order.push_back(next);
    for (const std::size_t follower : followers[next])
      if (--waits[follower] == 0) free.emplace(nodes_[follower].id, follower);
  }
  if (order.size() < nodes_.size()) refuse_cycle(waits);
  return order;
}

void NodeOrder::refuse_cycle(const std::vector<std::size_t>& waits) const {
  // Who waits for ever does so for another that does: following that leads into a cycle.
  const auto waiting = [&](std::size_t i) { return waits[i] > 0; };
  std::size_t at = *std::find_if(by_id_.begin(), by_id_.end(), waiting);
  std::vector<std::size_t> way;
  while (std::find(way.begin(), way.end(), at) == way.end()) {
    way.push_back(at);
    for (const std::uint64_t id : nodes_[way.back()].dependencies)
      if (const std::size_t other = find(nodes_[way.back()], id); waiting(other)) at = other;
  }
  constexpr std::size_t most_named = 8;
  std::string text;
  std::size_t named = 0;
  for (auto i = std::find(way.begin(), way.end(), at); i != way.end(); ++i)
    if (++named <= most_named) text += text_of(nodes_[*i]) + ", ";
  if (named > most_named) text += fmt::format("{} more, ", named - most_named);
  throw InputError(fmt::format("nodes that depend on each other in a cycle: {}and {} again", text,
                               text_of(nodes_[at])));
}

} // namespace tutti
