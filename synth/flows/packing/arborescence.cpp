// Contraction as in Edmonds' algorithm: follow the cheapest arc into each vertex; a cycle becomes
// one vertex, whose arcs are the merged heaps of its members with reduced costs. Mergeable heaps
// with a pending constant make a contraction as cheap as a merge, and disjoint sets whose unions
// can be undone open the cycles again in reverse.

#include "synth/flows/packing/arborescence.hpp"

#include "sim/ids.hpp"

#include <cstddef>
#include <utility>

namespace tutti {

namespace {

/// Pairing heaps of arcs by cost; a constant can be added to all of a heap. A heap is named by its
/// least arc.
class ArcHeaps {
public:
  explicit ArcHeaps(std::span<const CostedArc> arcs) : nodes_(arcs.size()) {
    for (std::size_t a = 0; a < arcs.size(); ++a) nodes_[a].cost = arcs[a].cost;
  }

  [[nodiscard]] std::int64_t cost(std::uint32_t heap) const { return nodes_[heap].cost; }

  void add(std::uint32_t heap, std::int64_t constant) {
    if (heap == no_index) return;
    nodes_[heap].cost += constant;
    nodes_[heap].pending += constant;
  }

  [[nodiscard]] std::uint32_t merged(std::uint32_t a, std::uint32_t b) {
    if (a == no_index) return b;
    if (b == no_index) return a;
    // ties by index: the result doesn't depend on how heaps came to be
    if (std::pair(nodes_[b].cost, b) < std::pair(nodes_[a].cost, a)) std::swap(a, b);
    add(b, -nodes_[a].pending);
    nodes_[b].sibling = nodes_[a].child;
    nodes_[a].child = b;
    return a;
  }

  /// The heap without its least arc.
  [[nodiscard]] std::uint32_t popped(std::uint32_t heap) {
    pairs_.clear();
    for (std::uint32_t a = nodes_[heap].child; a != no_index;) {
      const std::uint32_t b = nodes_[a].sibling;
      const std::uint32_t next = b == no_index ? no_index : nodes_[b].sibling;
      pairs_.push_back(merged(released(a, heap), b == no_index ? no_index : released(b, heap)));
      a = next;
    }
    std::uint32_t result = no_index;
    for (; !pairs_.empty(); pairs_.pop_back()) result = merged(pairs_.back(), result);
    return result;
  }

private:
  struct Node {
    std::int64_t cost = 0, pending = 0; ///< pending: to be added to all below
    std::uint32_t child = no_index, sibling = no_index;
  };

  std::uint32_t released(std::uint32_t child, std::uint32_t parent) {
    nodes_[child].sibling = no_index;
    add(child, nodes_[parent].pending);
    return child;
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> pairs_;
};

/// Disjoint sets whose unions can be taken back.
class UndoableSets {
public:
  explicit UndoableSets(std::uint32_t size) : parent_(size, no_index), size_(size, 1) {}

  [[nodiscard]] std::uint32_t find(std::uint32_t v) const {
    while (parent_[v] != no_index) v = parent_[v];
    return v;
  }
  [[nodiscard]] std::size_t now() const { return joined_.size(); }

  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a), b = find(b);
    if (a == b) return;
    if (size_[a] < size_[b]) std::swap(a, b);
    parent_[b] = a;
    size_[a] += size_[b];
    joined_.push_back(b);
  }

  void undo(std::size_t to) {
    for (; joined_.size() > to; joined_.pop_back()) {
      const std::uint32_t b = joined_.back();
      size_[parent_[b]] -= size_[b];
      parent_[b] = no_index;
    }
  }

private:
  std::vector<std::uint32_t> parent_, size_, joined_;
};

/// Follows the cheapest arcs into each vertex, against their direction, until the root's tree is
/// met, contracting each cycle that closes; then opens them again, the last first.
class Contraction {
public:
  Contraction(std::uint32_t vertices, std::uint32_t root, std::span<const CostedArc> arcs)
      : arcs_(arcs), heaps_(arcs), sets_(vertices), heap_of_(vertices, no_index),
        entry_(vertices, no_index), visit_(vertices, no_index), root_(root) {
    for (std::uint32_t a = 0; a < arcs.size(); ++a)
      if (arcs[a].to != root && arcs[a].from != arcs[a].to)
        heap_of_[arcs[a].to] = heaps_.merged(heap_of_[arcs[a].to], a);
  }

  std::vector<std::uint32_t> run() {
    visit_[root_] = root_;
    for (std::uint32_t v = 0; v < visit_.size(); ++v)
      if (visit_[sets_.find(v)] == no_index && !follow(v)) return {};
    for (; !cycles_.empty(); cycles_.pop_back()) open(cycles_.back());
    entry_[root_] = no_index;
    return std::move(entry_);
  }

private:
  struct Cycle {
    std::uint32_t vertex; ///< that it became
    std::size_t before;   ///< the state of the sets before
    std::vector<std::uint32_t> arcs;
  };

  /// False where there is no path to it.
  bool follow(std::uint32_t start) {
    std::vector<std::uint32_t> path, taken; // contracted vertices and the arcs into them
    for (std::uint32_t v = sets_.find(start); visit_[v] == no_index;) {
      const std::uint32_t arc = take(v);
      if (arc == no_index) return false;
      visit_[v] = start;
      path.push_back(v);
      taken.push_back(arc);
      v = sets_.find(arcs_[arc].from);
      if (visit_[v] == start && v != root_) v = contract(v, path, taken);
    }
    for (const std::uint32_t arc : taken) entry_[sets_.find(arcs_[arc].to)] = arc;
    return true;
  }

  /// The cheapest arc into the contracted vertex from elsewhere; others now cost what they cost
  /// more.
  std::uint32_t take(std::uint32_t v) {
    std::uint32_t& heap = heap_of_[v];
    while (heap != no_index && sets_.find(arcs_[heap].from) == v) heap = heaps_.popped(heap);
    if (heap == no_index) return no_index;
    const std::uint32_t arc = heap;
    heaps_.add(heap, -heaps_.cost(heap));
    heap = heaps_.popped(heap);
    return arc;
  }

  std::uint32_t contract(std::uint32_t v, std::vector<std::uint32_t>& path,
                         std::vector<std::uint32_t>& taken) {
    Cycle cycle{no_index, sets_.now(), {}};
    std::uint32_t heap = no_index;
    for (bool closed = false; !closed; path.pop_back(), taken.pop_back()) {
      closed = path.back() == v;
      cycle.arcs.push_back(taken.back());
      heap = heaps_.merged(heap, heap_of_[path.back()]);
    }
    for (const std::uint32_t arc : cycle.arcs) sets_.join(v, arcs_[arc].to);
    cycle.vertex = sets_.find(v);
    heap_of_[cycle.vertex] = heap;
    visit_[cycle.vertex] = no_index;
    cycles_.push_back(std::move(cycle));
    return cycles_.back().vertex;
  }

  void open(const Cycle& cycle) {
    const std::uint32_t into = entry_[cycle.vertex];
    sets_.undo(cycle.before);
    for (const std::uint32_t arc : cycle.arcs) entry_[sets_.find(arcs_[arc].to)] = arc;
    entry_[sets_.find(arcs_[into].to)] = into;
  }

  std::span<const CostedArc> arcs_;
  ArcHeaps heaps_;
  UndoableSets sets_;
  std::vector<std::uint32_t> heap_of_, entry_;
  std::vector<std::uint32_t> visit_; ///< [contracted vertex]: from which start it was reached
  std::vector<Cycle> cycles_;
  std::uint32_t root_;
};

} // namespace

std::vector<std::uint32_t> minimum_arborescence(std::uint32_t vertices, std::uint32_t root,
                                                std::span<const CostedArc> arcs) {
  return Contraction(vertices, root, arcs).run();
}

} // namespace tutti
