// Depth-first extension of a path, tightest vertex first (Warnsdorff 1823). A path is given up as
// soon as a vertex is out of reach, or vertices with only two neighbours left need more of a common
// one than it has to give. Meshes, tori, hypercubes and full graphs are found with few or no steps
// back; in general the problem is NP-complete, hence the limit.
// Cost: O(links) per step.

#include "algorithms/hamiltonian_cycle.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <utility>

namespace tutti {

namespace {

using Vertex = std::uint32_t;
using Adjacency = std::vector<std::vector<Vertex>>;

Adjacency turned_around(const Adjacency& successors) {
  Adjacency predecessors(successors.size());
  for (Vertex v = 0; v < successors.size(); ++v)
    for (const Vertex next : successors[v]) predecessors[next].push_back(v);
  return predecessors;
}

/// A cycle alternates between the sides of a bipartite graph, so unequal sides rule it out.
bool has_unequal_sides(const Adjacency& successors, const Adjacency& predecessors) {
  std::vector<int> side(successors.size(), 0); // -1, 1; 0 = not reached
  std::vector<Vertex> queue{0};
  side[0] = 1;
  long balance = 1;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const Adjacency* adjacent : {&successors, &predecessors})
      for (const Vertex next : (*adjacent)[queue[i]]) {
        if (side[next] == side[queue[i]]) return false; // not bipartite
        if (side[next] != 0) continue;
        side[next] = -side[queue[i]];
        balance += side[next];
        queue.push_back(next);
      }
  return balance != 0;
}

class CycleSearch {
public:
  CycleSearch(const Adjacency& successors, std::uint64_t work_limit)
      : successors_(successors), predecessors_(turned_around(successors)),
        on_path_(successors.size()), work_left_(work_limit) {}

  HamiltonianSearch run() {
    if (has_unequal_sides(successors_, predecessors_)) return {{}, true};
    start_ = static_cast<Vertex>(
        std::ranges::min_element(successors_, {}, [](const auto& next) { return next.size(); }) -
        successors_.begin());
    extend(start_);
    while (!path_.empty()) {
      if (path_.size() == successors_.size() && precedes_start(path_.back())) return {path_, false};
      if (out_of_work_) return {{}, false};
      if (untried_.back().empty()) {
        take_back();
        continue;
      }
      const Vertex next = untried_.back().back();
      untried_.back().pop_back();
      extend(next);
      if (!can_finish()) take_back();
    }
    return {{}, true};
  }

private:
  [[nodiscard]] bool precedes_start(Vertex v) const {
    return std::ranges::binary_search(successors_[v], start_);
  }

  void spend(std::size_t links) {
    out_of_work_ = out_of_work_ || links > work_left_;
    work_left_ -= std::min<std::uint64_t>(links, work_left_);
  }

  void extend(Vertex v) {
    path_.push_back(v);
    on_path_[v] = true;
    std::vector<std::pair<std::size_t, Vertex>> choices; // free edges onwards, vertex
    for (const Vertex next : successors_[v]) {
      if (on_path_[next]) continue;
      spend(successors_[next].size());
      choices.emplace_back(
          std::ranges::count_if(successors_[next], [&](Vertex after) { return !on_path_[after]; }),
          next);
    }
    std::ranges::sort(choices, std::greater<>()); // the last is tried first
    std::vector<Vertex> ordered;
    for (const auto& [free, next] : choices) ordered.push_back(next);
    untried_.push_back(std::move(ordered));
  }

  void take_back() {
    on_path_[path_.back()] = false;
    path_.pop_back();
    untried_.pop_back();
  }

  /// False only where the path can't become a cycle.
  bool can_finish() {
    const std::size_t rest = successors_.size() - path_.size();
    return reaches_rest(successors_, path_.back(), rest) &&
           reaches_rest(predecessors_, start_, rest) && enough_ends();
  }

  /// Whether all vertices off the path are reached from `from` without touching the path.
  bool reaches_rest(const Adjacency& adjacent, Vertex from, std::size_t rest) {
    std::vector<bool> seen = on_path_;
    std::vector<Vertex> queue{from};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      spend(adjacent[queue[i]].size());
      for (const Vertex next : adjacent[queue[i]])
        if (!seen[next]) {
          seen[next] = true;
          queue.push_back(next);
        }
    }
    return queue.size() == rest + 1;
  }

  /// A vertex with two open neighbours takes one end of each. Every vertex has two ends to give,
  /// the first and the last of the path one.
  bool enough_ends() {
    const Vertex head = path_.back();
    if (head == start_) return true;
    std::vector<std::uint8_t> taken(successors_.size());
    taken[head] = taken[start_] = 1;
    for (Vertex v = 0; v < successors_.size(); ++v) {
      if (on_path_[v]) continue;
      const std::vector<Vertex> open = open_neighbours(v);
      if (open.size() < 2) return false;
      for (std::size_t i = 0; i < open.size() && open.size() == 2; ++i)
        if (++taken[open[i]] > 2) return false;
    }
    return true;
  }

  /// What may stand beside v in the cycle: a vertex off the path, its last before v, its first
  /// after.
  std::vector<Vertex> open_neighbours(Vertex v) {
    spend(predecessors_[v].size() + successors_[v].size());
    std::vector<Vertex> open;
    for (const Vertex before : predecessors_[v])
      if (!on_path_[before] || before == path_.back()) open.push_back(before);
    for (const Vertex after : successors_[v])
      if (!on_path_[after] || after == start_) open.push_back(after);
    std::ranges::sort(open);
    open.erase(std::unique(open.begin(), open.end()), open.end());
    return open;
  }

  const Adjacency& successors_;
  Adjacency predecessors_;
  std::vector<bool> on_path_;
  std::uint64_t work_left_;
  bool out_of_work_ = false;
  Vertex start_ = 0;
  std::vector<Vertex> path_;
  std::vector<std::vector<Vertex>> untried_; // per vertex of the path: what may follow, best last
};

} // namespace

HamiltonianSearch find_hamiltonian_cycle(const Adjacency& successors, std::uint64_t work_limit) {
  assert(successors.size() >= 2);
  return CycleSearch(successors, work_limit).run();
}

} // namespace tutti
