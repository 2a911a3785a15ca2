// Trees and fat trees as everybody draws them: NPUs in a row, switches above them by level. What a
// switch reaches downwards is found by taking the top level away and looking what still hangs
// together: each such part gets a stretch of the row, and its own top switches are spread over it.
// So pods of a fat tree stand apart without anybody having said where they are. Trees whose tops
// are linked stand around a circle, their tops inwards.
#include "experiments/driver/figures/layout/arrangement.hpp"
#include "experiments/driver/figures/layout/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace tutti::layouts {

namespace {

/// The tree below some level, and where it stands.
class TreePlan {
public:
  TreePlan(const Topology& topology, const Neighbours& next, std::vector<std::uint32_t> level)
      : topology_(topology), next_(next), level_(std::move(level)), x_(topology.node_count()),
        top_(*std::ranges::max_element(level_)) {}
  /// Behind what has been added before. Pre: nodes ascend.
  void add(const std::vector<std::uint32_t>& nodes) { place(nodes, top_); }
  void add_gap(double npus) { end_ += npus; }
  [[nodiscard]] std::uint32_t top() const { return top_; }
  [[nodiscard]] double x(std::uint32_t node) const { return x_[node]; }
  [[nodiscard]] double end() const { return end_; } ///< of the row

private:
  // Parts below come one after the other; then the switches of this level above them.
  void place(const std::vector<std::uint32_t>& nodes, std::uint32_t level) {
    if (level == 0) {
      for (const std::uint32_t node : nodes) x_[node] = end_++;
      return;
    }
    const double begin = end_;
    std::vector<std::uint32_t> own;
    for (const std::uint32_t node : nodes)
      if (level_[node] == level) own.push_back(node);
    bool first = true;
    for (const std::vector<std::uint32_t>& part : parts_below(nodes, level)) {
      if (!first && level >= 1) end_ += level == 1 ? 0 : 0.5;
      first = false;
      place(part, level - 1);
    }
    const double width = std::max(end_ - begin, 1.0);
    for (std::size_t i = 0; i < own.size(); ++i)
      x_[own[i]] =
          begin - 0.5 + width * (static_cast<double>(i) + 0.5) / static_cast<double>(own.size());
  }

  std::vector<std::vector<std::uint32_t>> parts_below(const std::vector<std::uint32_t>& nodes,
                                                      std::uint32_t level) {
    std::vector<bool> open(topology_.node_count());
    for (const std::uint32_t node : nodes) open[node] = level_[node] < level;
    std::vector<std::vector<std::uint32_t>> parts;
    for (const std::uint32_t first : nodes) {
      if (!open[first]) continue;
      std::vector<std::uint32_t> part{first};
      open[first] = false;
      for (std::size_t i = 0; i < part.size(); ++i)
        for (const Neighbour& neighbour : next_.of(part[i]))
          if (open[neighbour.node]) {
            open[neighbour.node] = false;
            part.push_back(neighbour.node);
          }
      std::ranges::sort(part);
      parts.push_back(std::move(part));
    }
    return parts; // by their first node, since `nodes` ascends
  }

  const Topology& topology_;
  const Neighbours& next_;
  std::vector<std::uint32_t> level_;
  std::vector<double> x_; // in NPUs
  double end_ = 0;
  std::uint32_t top_;
};

/// "12" of switch12, since levels say what is what.
std::string number_of(const std::string& name) {
  const std::size_t first = name.find_first_of("0123456789");
  return first == std::string::npos ? name : name.substr(first);
}

/// Whether this node has all NPUs below it.
bool is_root(const Topology& topology, const Neighbours& next,
             const std::vector<std::uint32_t>& level, std::uint32_t node) {
  std::vector<bool> seen(next.count());
  std::vector<std::uint32_t> below{node};
  std::uint32_t npus = 0;
  for (std::size_t i = 0; i < below.size(); ++i)
    for (const Neighbour& neighbour : next.of(below[i])) {
      if (level[neighbour.node] + 1 != level[below[i]] || seen[neighbour.node]) continue;
      seen[neighbour.node] = true;
      below.push_back(neighbour.node);
      npus += neighbour.node < topology.npu_count() ? 1U : 0U;
    }
  return npus == topology.npu_count();
}

bool is_tree(const Topology& topology, const Neighbours& next,
             const std::vector<std::uint32_t>& level) {
  if (topology.node_count() == topology.npu_count()) return false;
  for (std::uint32_t node = 0; node < next.count(); ++node) {
    if (level[node] == UINT32_MAX) return false;
    for (const Neighbour& neighbour : next.of(node))
      if (level[neighbour.node] + 1 != level[node] && level[node] + 1 != level[neighbour.node])
        return false;
  }
  for (std::uint32_t npu = 0; npu < topology.npu_count(); ++npu) {
    for (const Neighbour& hub : next.of(npu)) // NPUs of one switch have all switches in common
      if (!std::ranges::equal(next.of(npu), next.of(next.of(hub.node).front().node), {},
                              &Neighbour::node, &Neighbour::node))
        return false;
  }
  // Else it is servers, joined by what has a few NPUs of each below it.
  const std::uint32_t top = *std::ranges::max_element(level);
  for (std::uint32_t node = topology.npu_count(); node < next.count(); ++node)
    if (level[node] == top && is_root(topology, next, level, node)) return true;
  return false;
}

} // namespace

bool is_tree(const Topology& topology) {
  const Neighbours next(topology);
  return is_tree(topology, next, levels(topology, next));
}

std::optional<Arrangement> as_tree_groups(const Topology& topology) {
  constexpr std::uint32_t most_npus = 600;
  const std::uint32_t npus = topology.npu_count();
  if (npus > most_npus || topology.node_count() == npus) return std::nullopt;
  const Neighbours next(topology);
  const std::vector<std::uint32_t> level = levels(topology, next);
  const std::uint32_t top = *std::ranges::max_element(level);
  if (top < 2 || top == UINT32_MAX) return std::nullopt;
  // Without links along the top level the groups fall apart; no other links may be along a level.
  const std::vector<std::uint32_t> group =
      parts_joined(next, [&](std::uint32_t a, std::uint32_t b) { return level[a] != level[b]; });
  std::vector<std::vector<std::uint32_t>> groups(*std::ranges::max_element(group) + 1);
  for (std::uint32_t node = 0; node < next.count(); ++node) {
    groups[group[node]].push_back(node);
    for (const Neighbour& neighbour : next.of(node))
      if (level[node] == level[neighbour.node] && level[node] != top) return std::nullopt;
  }
  const auto size_of = [&](const std::vector<std::uint32_t>& nodes) {
    return std::pair(nodes.size(),
                     std::ranges::count_if(nodes, [&](std::uint32_t node) { return node < npus; }));
  };
  if (groups.size() < 3 || std::ranges::any_of(groups, [&](const auto& nodes) {
        return size_of(nodes) != size_of(groups[0]);
      }))
    return std::nullopt;

  TreePlan plan(topology, next, level);
  constexpr double gap = 1.6; // between groups, in NPUs
  for (const std::vector<std::uint32_t>& nodes : groups) {
    plan.add(nodes);
    plan.add_gap(gap);
  }
  const double slots = plan.end();
  const double pitch = std::clamp(1700 / slots, 3.2, 26.0);
  const double outer = std::max(pitch * slots / (2 * std::numbers::pi), 60.0 * (top + 1)),
               step = std::min(58.0, 0.6 * outer / top);
  const double disc = std::clamp(0.4 * pitch, 1.6, 9.0);
  const double half_switch = std::clamp(0.3 * pitch, 3.0, 8.0);
  Arrangement result = blank(topology, "groups");
  for (std::uint32_t node = 0; node < next.count(); ++node) {
    result.at[node] = on_circle(outer - step * level[node], plan.x(node) / slots);
    result.radius[node] = level[node] == 0 ? disc : half_switch;
    result.labels[node].sides = {Side::inside};
    if (level[node] > 0) result.labels[node].text.clear(); // the box says which
  }
  if (disc < 5)
    for (std::uint32_t npu = 0; npu < npus; ++npu) result.labels[npu].text.clear();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double first = slots, last = 0;
    for (const std::uint32_t node : groups[g]) {
      first = std::min(first, plan.x(node));
      last = std::max(last, plan.x(node));
    }
    result.boxes.push_back(sector(outer - step * top - half_switch - 6, outer + disc + 5,
                                  (first - 0.7) / slots, (last + 0.7) / slots,
                                  fmt::format("group {}", g)));
    result.boxes.back().nodes = groups[g];
  }
  result.lane = std::clamp(0.12 * pitch, 0.9, 3.0);
  result.font = 7.5;
  return result;
}

std::optional<Arrangement> as_tree(const Topology& topology) {
  const Neighbours next(topology);
  const std::vector<std::uint32_t> level = levels(topology, next);
  constexpr std::uint32_t most_leaves = 144, most_links = 1200;
  if (topology.npu_count() > most_leaves || topology.link_count() > most_links ||
      !is_tree(topology, next, level))
    return std::nullopt;
  TreePlan plan(topology, next, level);
  std::vector<std::uint32_t> all(topology.node_count());
  std::iota(all.begin(), all.end(), 0U);
  plan.add(all);
  std::vector<double> most(plan.top() + 1, 0); // nodes of a level
  for (const std::uint32_t l : level) ++most[l];
  const double widest = std::max(plan.end(), *std::ranges::max_element(most));
  Arrangement tree = blank(topology, "tree");
  double longest = 0; // name of an NPU
  for (std::uint32_t npu = 0; npu < topology.npu_count(); ++npu)
    longest = std::max(longest, label_width(tree.labels[npu].text, 7));
  const double pitch =
      std::clamp((widest > 90 ? 740 : 540) / widest, 3.0, std::max(24.0, longest + 5));
  const double gap = std::clamp(0.19 * pitch * plan.end(), 54.0, 100.0);
  const double scale = pitch * std::max(1.0, widest / plan.end());
  std::set<std::pair<std::uint32_t, std::string>> numbers; // level, number
  for (std::uint32_t n = topology.npu_count(); n < topology.node_count(); ++n)
    numbers.emplace(level[n], number_of(tree.labels[n].text));
  const bool numbers_suffice =
      numbers.size() == topology.node_count() - topology.npu_count(); // memory0 and rail0 differ
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    tree.at[n] = {scale * plan.x(n), -gap * level[n]};
    const double room = scale * plan.end() / most[level[n]]; // of its level
    tree.radius[n] =
        level[n] == 0 ? std::clamp(0.36 * scale, 1.8, 9.0) : std::clamp(0.36 * room, 2.4, 9.0);
    if (level[n] > 0) {
      tree.labels[n].sides = {Side::inside};
      if (numbers_suffice) tree.labels[n].text = number_of(tree.labels[n].text);
      if (level[n] == plan.top()) tree.labels[n].sides.push_back(Side::above);
    } else {
      tree.labels[n].sides = {Side::below};
      if (longest <= 1.86 * tree.radius[n]) tree.labels[n].sides = {Side::inside};
      if (tree.radius[n] < 5 && n != 0 && n + 1 != topology.npu_count())
        tree.labels[n].text.clear();
    }
  }
  tree.lane = std::clamp(0.24 * scale, 0.9, 3.6);
  tree.font = 8;
  return tree;
}

} // namespace tutti::layouts
