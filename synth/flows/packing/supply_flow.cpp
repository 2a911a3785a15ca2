// Dinic's levels are counted from the sink and end as soon as enough supply is reached; the
// blocking flow pulls data towards the sink. Stamps instead of clearing make a call cost only what
// it looks at.

#include "synth/flows/packing/supply_flow.hpp"

#include <algorithm>
#include <cstddef>

namespace tutti {

std::uint32_t ArcGraph::add_arc(std::uint32_t from, std::uint32_t to) {
  const auto arc = static_cast<std::uint32_t>(arcs.size());
  arcs.push_back({from, to});
  out[from].push_back(arc);
  in[to].push_back(arc);
  return arc;
}

std::uint32_t ArcGraph::add_node() {
  out.emplace_back();
  in.emplace_back();
  return node_count() - 1;
}

void ArcGraph::remove_last_arc() {
  out[arcs.back().from].pop_back();
  in[arcs.back().to].pop_back();
  arcs.pop_back();
}

void ArcGraph::remove_last_node() {
  const std::uint32_t node = node_count() - 1;
  while (!arcs.empty() && (arcs.back().from == node || arcs.back().to == node)) remove_last_arc();
  out.pop_back();
  in.pop_back();
}

void ArcGraph::isolate(std::uint32_t node) {
  for (const std::uint32_t arc : out[node]) std::erase(in[arcs[arc].to], arc);
  for (const std::uint32_t arc : in[node]) std::erase(out[arcs[arc].from], arc);
  out[node].clear();
  in[node].clear();
}

std::int64_t SupplyFlow::send(std::span<const std::int64_t> capacity, std::span<std::int64_t> flow,
                              std::span<std::int64_t> supply, std::uint32_t sink,
                              std::int64_t goal) {
  const std::uint32_t nodes = graph_->node_count();
  if (seen_.size() < nodes) {
    seen_.resize(nodes);
    level_.resize(nodes);
    next_.resize(nodes);
  }
  changes_.clear();
  capacity_ = capacity;
  flow_ = flow;
  supply_ = supply;
  std::int64_t sent = 0;
  while (sent < goal && search(capacity, flow, supply, sink, goal - sent))
    sent += pull(sink, goal - sent);
  return sent;
}

/// Levels of nodes around the sink, until what they could give is enough. False: they have nothing.
bool SupplyFlow::search(std::span<const std::int64_t> capacity, std::span<const std::int64_t> flow,
                        std::span<const std::int64_t> supply, std::uint32_t sink,
                        std::int64_t enough) {
  ++search_;
  queue_.clear();
  std::int64_t found = 0;
  const auto reach = [&](std::uint32_t node, std::uint32_t level) {
    if (seen_[node] == search_) return;
    seen_[node] = search_;
    level_[node] = level;
    next_[node] = 0;
    queue_.push_back(node);
    found += std::min(supply[node], enough - found);
  };
  reach(sink, 0);
  for (std::size_t i = 0; i < queue_.size() && found < enough; ++i) {
    const std::uint32_t node = queue_[i], level = level_[node] + 1;
    for (const std::uint32_t arc : graph_->in[node])
      if (flow[arc] < capacity[arc]) reach(graph_->arcs[arc].from, level);
    for (const std::uint32_t arc : graph_->out[node])
      if (flow[arc] > 0) reach(graph_->arcs[arc].to, level);
  }
  return found > 0;
}

/// Brings at most so much to a node, from itself and from nodes one level farther away. Each arc is
/// looked at again only where it may give more. A path of supplies of all lengths is used in one
/// search: whoever has some left is blocked, and farther away the next time.
std::int64_t SupplyFlow::pull(std::uint32_t node, std::int64_t most) {
  std::int64_t got = std::min(supply_[node], most);
  supply_[node] -= got;
  const std::vector<std::uint32_t>&in = graph_->in[node], &out = graph_->out[node];
  for (std::uint32_t& next = next_[node]; got < most && next < in.size() + out.size(); ++next) {
    const bool forward = next < in.size();
    const std::uint32_t arc = forward ? in[next] : out[next - in.size()];
    const std::uint32_t from = forward ? graph_->arcs[arc].from : graph_->arcs[arc].to;
    if (!reached(from) || level_[from] != level_[node] + 1) continue;
    const std::int64_t residual = forward ? capacity_[arc] - flow_[arc] : flow_[arc];
    if (residual == 0) continue;
    const std::int64_t part = pull(from, std::min(most - got, residual));
    if (part == 0) continue;
    const std::int64_t change = forward ? part : -part;
    flow_[arc] += change;
    changes_.push_back({arc, change});
    got += part;
    if (got == most) break; // the arc may give more to another
  }
  return got;
}

std::vector<bool> SupplyFlow::sink_side() const {
  std::vector<bool> side(graph_->node_count());
  for (const std::uint32_t node : queue_) side[node] = true;
  return side;
}

} // namespace tutti
