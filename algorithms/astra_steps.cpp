// Why: what ASTRA-sim's implementations (ring, direct, halvingDoubling, doubleBinaryTree) send step
// by step in a line of NPUs knows nothing of chunks that wait for each other, nor of grids.
//
// An All-Reduce is a Reduce-Scatter and an All-Gather. Left out: windows of direct exchange.
// Source: astra-sim 518bd51, system/astraccl.
// Cost: O(messages) for each step.
#include "algorithms/astra_steps.hpp"

#include "algorithms/double_binary_tree.hpp"

#include <bit>

namespace tutti {

namespace {

using AstraMessages = std::vector<AstraMessage>;

/// As send_around_ring() in one direction.
AstraMessages ring_step(CollectiveKind kind, std::size_t n, std::size_t step, bool downwards) {
  AstraMessages messages;
  const auto pass_on = [&](std::size_t from, std::size_t source, std::size_t target, Op op) {
    const auto at = [&](std::size_t p) { return downwards ? (2 * n - p % n) % n : p % n; };
    messages.push_back({at(from), at(from + 1), at(source), at(target), op});
  };
  for (std::size_t p = 0; p < n; ++p)
    if (kind == CollectiveKind::reduce_scatter)
      pass_on(p + step + 1, p, p, Op::reduce);
    else if (kind == CollectiveKind::all_gather)
      pass_on(p + step, p, p, Op::copy);
    else
      for (std::size_t distance = n - 1; distance > step; --distance)
        pass_on(p + step, p, p + distance, Op::copy);
  return messages;
}

AstraMessages direct_step(CollectiveKind kind, std::size_t n, std::size_t step) {
  AstraMessages messages;
  for (std::size_t x = 0; x < n; ++x) {
    const std::size_t y = (x + step + 1) % n;
    if (kind == CollectiveKind::reduce_scatter)
      messages.push_back({x, y, x, y, Op::reduce});
    else
      messages.push_back({x, y, x, kind == CollectiveKind::all_to_all ? y : x, Op::copy});
  }
  return messages;
}

/// Reduce-Scatter begins with the nearest and half of the data, All-Gather with the farthest.
AstraMessages doubling_step(CollectiveKind kind, std::size_t n, std::size_t step) {
  AstraMessages messages;
  const bool scatters = kind == CollectiveKind::reduce_scatter;
  const std::size_t bit = scatters ? std::size_t{1} << step : n >> (step + 1);
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t above = 0; above < n; above += 2 * bit) {
      const std::size_t owner = (scatters ? x ^ bit : x) ^ above;
      messages.push_back({x, x ^ bit, x, owner, scatters ? Op::reduce : Op::copy});
    }
  return messages;
}

/// Even chunks have the tree with the last one as its root, odd ones that with the first.
RankTree astra_tree(const AstraLine& line) {
  return double_tree(static_cast<std::uint32_t>(line.size))[line.chunk % 2 == 0 ? 1 : 0];
}

/// Up, then down.
AstraMessages tree_step(const RankTree& tree, std::size_t step) {
  AstraMessages messages;
  const std::size_t n = tree.parent.size(), height = tree.height[tree.root];
  const bool is_up = step < height;
  for (std::uint32_t v = 0; v < n; ++v) {
    if (v == tree.root) continue;
    if (is_up ? tree.height[v] != step : tree.depth[v] != step - height + 1) continue;
    const std::size_t parent = tree.parent[v];
    for (std::size_t owner = 0; owner < n; ++owner)
      messages.push_back(is_up ? AstraMessage{v, parent, v, owner, Op::reduce}
                               : AstraMessage{parent, v, parent, owner, Op::copy});
  }
  return messages;
}

} // namespace

std::size_t astra_step_count(const AstraLine& line) {
  const std::size_t halves = line.kind == CollectiveKind::all_reduce ? 2 : 1;
  switch (line.method) {
  case AstraMethod::halving_doubling: return halves * (std::bit_width(line.size) - 1);
  case AstraMethod::double_binary_tree: {
    const RankTree tree = astra_tree(line);
    return halves * tree.height[tree.root];
  }
  default: return halves * (line.size - 1);
  }
}

std::vector<AstraMessage> astra_messages(const AstraLine& line, std::size_t step) {
  if (line.method == AstraMethod::double_binary_tree) return tree_step(astra_tree(line), step);
  CollectiveKind kind = line.kind;
  if (kind == CollectiveKind::all_reduce) {
    const std::size_t half = astra_step_count(line) / 2;
    kind = step < half ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather;
    if (step >= half) step -= half;
  }
  if (line.method == AstraMethod::ring) return ring_step(kind, line.size, step, line.downwards);
  if (line.method == AstraMethod::direct) return direct_step(kind, line.size, step);
  return doubling_step(kind, line.size, step);
}

} // namespace tutti
