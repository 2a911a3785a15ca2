// The cheapest paths of demands of any kind at given prices for links.
#pragma once

#include "synth/flows/fluid/cheapest_paths.hpp"
#include "synth/flows/fluid/cheapest_tree.hpp"
#include "synth/flows/fluid/fluid.hpp"
#include "synth/flows/fluid/logical_network.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

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
