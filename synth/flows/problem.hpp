// A collective as flows of data that can be divided at will (Shapley 2025, "Algorithmic Techniques
// for Optimal Collective Communication", ch. 2-3, model CM3): what must get where, over links and
// shared groups that carry so many bytes a second.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Nodes and links are those of the topology, under the same numbers.
struct FlowNetwork {
  struct Link {
    std::uint32_t from, to;
  };
  /// Links with a joint bandwidth. Data that crosses several of them counts for each.
  struct Resource {
    std::int64_t bandwidth = 0;       ///< bytes/s
    std::vector<std::uint32_t> links; ///< ascending
  };
  std::vector<Link> links;
  std::vector<Resource> resources; ///< first the links, each alone; then the shared groups
  std::vector<std::vector<std::uint32_t>> resources_of;        ///< [link], ascending: itself first
  std::vector<std::vector<std::uint32_t>> out_links, in_links; ///< [node], ascending
  /// [node]: what it can do with data that ends there. Others only pass it on, once.
  std::vector<bool> copies, reduces;

  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(copies.size());
  }
  [[nodiscard]] std::uint32_t link_count() const {
    return static_cast<std::uint32_t>(links.size());
  }
  [[nodiscard]] std::uint32_t resource_count() const {
    return static_cast<std::uint32_t>(resources.size());
  }
};

/// Every link reversed, with copies for reductions: where contributions that come together at
/// a node are data that spreads from it. Resources keep their numbers.
[[nodiscard]] FlowNetwork reversed(const FlowNetwork& network);

enum class FlowKind : std::uint8_t {
  paths,   ///< from the sources, data of its own to each sink (Scatter, All-to-All)
  spread,  ///< from the sources, the same data to all sinks: copied (Broadcast, All-Gather)
  combine, ///< contributions of all sources to the only sink: reduced (Reduce, Reduce-Scatter)
  both,    ///< contributions of all sources, combined, to all sinks (All-Reduce)
};

/// Index into FlowProblem::sets.
using FlowSet = std::uint32_t;

/// What must move. Where data that isn't reduced has several sources, each holds all of it.
struct FlowDemand {
  FlowKind kind = FlowKind::spread;
  FlowSet sources = 0, sinks = 0; ///< for paths and spread: sinks among the sources need nothing
  std::int64_t bytes = 0;         ///< paths: for each sink
  bool operator==(const FlowDemand&) const = default;
};

struct FlowProblem {
  static constexpr std::uint32_t none = UINT32_MAX;

  FlowNetwork network;
  std::vector<std::vector<std::uint32_t>> sets; ///< of nodes; ascending, each set once
  std::vector<FlowDemand> demands;              ///< all that need something to move
  std::vector<std::uint32_t> demand_of;         ///< [chunk of the collective]; none: it stays

  [[nodiscard]] std::span<const std::uint32_t> sources(const FlowDemand& demand) const {
    return sets[demand.sources];
  }
  [[nodiscard]] std::span<const std::uint32_t> sinks(const FlowDemand& demand) const {
    return sets[demand.sinks];
  }
};

[[nodiscard]] FlowNetwork flow_network(const Topology& topology);

/// Chunks that start at the same nodes and are wanted by the same ones are one demand; those that
/// one node wants are one with others of the same sources and bytes. Where shards differ only since
/// a buffer doesn't divide, all are taken to have the bytes of the least: the optimum for these is
/// no longer than that of the collective. Pre: everything that is wanted can be reached.
/// Cost: O(chunks log chunks + set sizes).
[[nodiscard]] FlowProblem flow_problem(const Topology& topology, const Collective& collective);

} // namespace tutti
