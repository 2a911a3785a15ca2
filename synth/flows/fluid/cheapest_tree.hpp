// The pricing of column generation: the cheapest path in which a demand can move, at given prices
// for links.
#pragma once

#include "synth/flows/fluid/fluid.hpp"
#include "synth/flows/fluid/logical_network.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// A tree over vertices of a logical network, out of the sources.
struct LogicalTree {
  std::int64_t cost = 0;
  std::vector<std::uint32_t> arcs; ///< of the logical network; each after the one into its start
};

/// Trees out of `sources` (all hold the data) to all of `sinks`, at the costs of the logical
/// network. All are empty where some sink can't be reached.
class TreeSearch {
public:
  explicit TreeSearch(const LogicalNetwork& logical);

  /// Over as few hops as possible to each vertex; of those over the cheapest last one. Not the
  /// cheapest tree, but a shallow one. Cost: O(arcs).
  [[nodiscard]] std::optional<LogicalTree> shallow(std::span<const std::uint32_t> sources,
                                                   std::span<const std::uint32_t> sinks);

  /// The cheapest (exactly so where nobody but sources and sinks copies; else others are added and
  /// left out while that makes it cheaper), and among trees of that cost a rather shallow one.
  /// Cost: that of some arborescences; if thorough, for each other node that copies.
  [[nodiscard]] std::optional<LogicalTree> cheapest(std::span<const std::uint32_t> sources,
                                                    std::span<const std::uint32_t> sinks,
                                                    bool thorough);

private:
  /// [vertex]: the arc into it, or none; of what has none only sources are part of the tree.
  using Entries = std::vector<std::uint32_t>;

  void start(std::span<const std::uint32_t> sources, std::span<const std::uint32_t> sinks);
  [[nodiscard]] bool leads_on(std::uint32_t vertex) const;
  [[nodiscard]] std::vector<std::uint32_t> levels() const;
  [[nodiscard]] Entries spanning(const std::vector<bool>& used) const;
  [[nodiscard]] Entries best_with_others(const std::vector<bool>& all, bool thorough) const;
  [[nodiscard]] std::vector<bool> used_by(const Entries& into) const;
  void prune(Entries& into) const;
  void make_shallower(Entries& into) const;
  void add_worthwhile(const Entries& into, std::vector<bool>& used) const;
  [[nodiscard]] std::int64_t cost(const Entries& into) const;
  [[nodiscard]] LogicalTree tree(const Entries& into) const;

  const LogicalNetwork& logical_;
  std::vector<bool> is_source_, is_sink_;
};

} // namespace tutti
