// Terminal by terminal: the set of vertices from which paid-for arcs lead to it grows, and what its
// entering arcs can still pay is raised by the least of them, until the set meets the root's
// component. Each raise is feasible in the dual, so the sum bounds every tree from below.

#include "synth/bounds/steiner_bound.hpp"

#include <algorithm>
#include <cstddef>

namespace tutti {

namespace {

class DualAscent {
public:
  DualAscent(std::uint32_t vertices, std::uint32_t root, std::span<const CostedArc> arcs)
      : arcs_(arcs), into_begin_(vertices + 1), into_(arcs.size()), next_(vertices),
        inside_(vertices), connected_(vertices) {
    connected_[root] = true;
    for (const CostedArc& arc : arcs) {
      left_.push_back(arc.cost);
      ++into_begin_[arc.to + 1];
    }
    for (std::size_t v = 1; v < into_begin_.size(); ++v) into_begin_[v] += into_begin_[v - 1];
    std::vector<std::size_t> next(into_begin_.begin(), into_begin_.end() - 1);
    for (std::uint32_t a = 0; a < arcs.size(); ++a) into_[next[arcs[a].to]++] = a;
  }

  /// Raises what sets around the terminal pay until arcs that are paid for lead there from the
  /// root. Nothing is left to pay along the path, so what was raised for others stays. -1: no path.
  std::int64_t raise(std::uint32_t terminal) {
    std::int64_t raised = 0;
    inside_.assign(inside_.size(), false);
    set_.assign(1, terminal);
    inside_[terminal] = true;
    for (;;) {
      if (grow(terminal)) return raised;
      std::int64_t least = INT64_MAX;
      for_each_entering([&](std::uint32_t a) { least = std::min(least, left_[a]); });
      if (least == INT64_MAX) return -1;
      for_each_entering([&](std::uint32_t a) { left_[a] -= least; });
      raised += least;
    }
  }

private:
  /// Takes in all from which paid arcs lead to the terminal; true once the root, or what such arcs
  /// connect with it, is among them: that stays so, and so is all of the path from now on.
  bool grow(std::uint32_t terminal) {
    if (connected_[terminal]) return true;
    for (std::size_t seen = 0; seen < set_.size(); ++seen)
      for (std::size_t i = into_begin_[set_[seen]]; i < into_begin_[set_[seen] + 1]; ++i) {
        const std::uint32_t from = arcs_[into_[i]].from;
        if (left_[into_[i]] > 0 || inside_[from]) continue;
        inside_[from] = true;
        next_[from] = set_[seen];
        set_.push_back(from);
        if (!connected_[from]) continue;
        for (std::uint32_t at = from; at != terminal; at = next_[at]) connected_[at] = true;
        return connected_[terminal] = true;
      }
    return false;
  }

  template <typename Visit> void for_each_into(std::uint32_t vertex, Visit visit) {
    for (std::size_t i = into_begin_[vertex]; i < into_begin_[vertex + 1]; ++i) visit(into_[i]);
  }
  template <typename Visit> void for_each_entering(Visit visit) {
    for (const std::uint32_t vertex : set_)
      for_each_into(vertex, [&](std::uint32_t a) {
        if (!inside_[arcs_[a].from]) visit(a);
      });
  }

  std::span<const CostedArc> arcs_;
  std::vector<std::size_t> into_begin_;
  std::vector<std::uint32_t> into_, set_, next_;
  std::vector<std::int64_t> left_; ///< [arc]: what it can still pay
  std::vector<bool> inside_;
  std::vector<bool> connected_; ///< with the root, by arcs that are paid for
};

} // namespace

std::int64_t steiner_bound(std::uint32_t vertices, std::uint32_t root,
                           std::span<const std::uint32_t> terminals,
                           std::span<const CostedArc> arcs) {
  DualAscent ascent(vertices, root, arcs);
  std::int64_t sum = 0;
  for (const std::uint32_t terminal : terminals) {
    const std::int64_t raised = ascent.raise(terminal);
    if (raised < 0) return 0;
    sum += raised;
  }
  return sum;
}

} // namespace tutti
