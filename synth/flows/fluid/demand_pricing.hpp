// The pricing of column generation: the cheapest paths and trees in which demands of any kind can
// move, at given prices for links.
#pragma once

#include "synth/flows/fluid/cheapest_paths.hpp"
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

/// Whole numbers in proportion to prices, so that sums over trees are exact: `unit` is what 1
/// stands for.
struct ScaledPrices {
  std::vector<std::int64_t> links;
  double unit = 0;
};

/// Sums over `most_links` links fit. Negative prices count as 0. The largest price gets at least 30
/// bits where most_links is below 2^30.
[[nodiscard]] ScaledPrices scaled_prices(std::span<const double> prices, std::uint64_t most_links);

struct PricedTree {
  FlowTree tree;    ///< with share 0
  double price = 0; ///< of all links in it, for one unit over each
};

/// The problem must outlive this.
class DemandPricing {
public:
  explicit DemandPricing(const FlowProblem& problem);

  /// Whether the cheapest tree is found exactly: nobody copies (or reduces) who needn't have it.
  [[nodiscard]] bool is_exact(const FlowDemand& demand) const;

  /// `prices` [link] >= 0. Of equally cheap paths those with fewest links are found.
  void set_prices(std::span<const double> prices);

  enum class Aim : std::uint8_t {
    shallow,  ///< cheap, and of few hops in a row
    cheapest, ///< as cheap as can be; but for which others help (see is_exact)
    thorough, ///< with more effort in that
  };
  /// `root`: for both, where contributions come together (the tree's own is the first node on the
  /// path there that has them all and keeps them); else ignored. Nothing where a sink can't be
  /// reached.
  [[nodiscard]] std::optional<PricedTree> priced(std::uint32_t demand, std::uint32_t root, Aim aim);

private:
  struct Side { // a direction in which trees grow
    FlowNetwork network;
    LogicalNetwork logical;
    TreeSearch search;
    Side(FlowNetwork with, const std::vector<bool>& members);
    Side(const Side&) = delete;
    Side& operator=(const Side&) = delete;
  };
  using Nodes = std::span<const std::uint32_t>;
  bool add_spreading(FlowTree& tree, Nodes sources, Nodes sinks, Aim aim);
  bool add_combining(FlowTree& tree, Nodes sources, std::uint32_t sink, Aim aim);
  void spread_from_first_whole(FlowTree& tree, Nodes sources) const;
  bool add_paths(FlowTree& tree, Nodes sources, Nodes sinks);
  [[nodiscard]] double price(const FlowTree& tree) const;

  const FlowProblem& problem_;
  std::optional<Side> forwards_, backwards_;
  std::vector<double> prices_;
  std::vector<std::int64_t> costs_; ///< [link]: price, then 1 for the link itself
  CheapestPaths paths_;
};

/// Hops that follow one another, at most, from the first to the last.
[[nodiscard]] std::uint32_t depth_of(const FlowNetwork& network, const FlowTree& tree);

} // namespace tutti
