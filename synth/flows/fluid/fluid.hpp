// A fluid schedule: which share of the data takes which path, all the time and everywhere at once.
#pragma once

#include "sim/synthesizer.hpp"
#include "sim/work_limit.hpp"
#include "synth/flows/problem.hpp"
#include "synth/symmetry/permutations.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// How a share of a demand moves: hops from one node to another over links in a row, through nodes
/// that neither copy nor reduce it. Hops stand in an order in which data can move.
///   paths    one hop for each sink that isn't a source: the whole path
///   spread   the first hops leave sources, each other one a node that an earlier one reached
///   combine  every source but the sink is left by one hop, after those that enter it
///   both     `combining` hops as of combine, into `root`; then hops as of spread, from all that
///            have every contribution by then: the root, and whoever passed them all on and can
///            copy
struct FlowTree {
  std::uint32_t demand = 0;
  double share = 0;            ///< of the demand's bytes; those of all its trees add up to 1
  std::uint32_t root = 0;      ///< spread: the source (the first of several); combine: the sink
  std::uint32_t combining = 0; ///< for combine: all hops; for both: those into the root; else 0
  std::vector<std::uint32_t> hop_end; ///< [hop]: where its links end in `links`
  std::vector<std::uint32_t> links;

  [[nodiscard]] std::size_t hop_count() const { return hop_end.size(); }
  [[nodiscard]] std::span<const std::uint32_t> hop(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : hop_end[i - 1];
    return std::span(links).subspan(begin, hop_end[i] - begin);
  }
  void add_hop(std::span<const std::uint32_t> over) {
    links.insert(links.end(), over.begin(), over.end());
    hop_end.push_back(static_cast<std::uint32_t>(links.size()));
  }
};

/// A symmetry of a FlowProblem: where everything goes.
struct FlowAutomorphism {
  Permutation nodes, links, resources, demands;
};

struct FluidSolution {
  /// optimal: `seconds` is `bound_seconds` but for 1e-9 of it. timed_out: the best so far, if any.
  Status status = Status::infeasible;
  double seconds = 0;       ///< the most that a resource needs for what crosses it
  double bound_seconds = 0; ///< no fluid schedule is faster, and so no schedule at all
  double traffic = 0;       ///< bytes, weighted by link as requested
  /// The trees of one demand of each orbit of the symmetry.
  std::vector<FlowTree> trees;
  /// As fast, with as few hops in a row as was found, whatever the traffic; empty unless it counts.
  std::vector<FlowTree> direct_trees;
  /// All elements of a group, the identity first; empty: only that. Every element takes each tree
  /// to one of another demand, or to another of the same, among which its share is divided.
  std::vector<FlowAutomorphism> symmetry;
  std::uint64_t columns = 0, rounds = 0; ///< work done
  bool is_cut_short = false;             ///< by FluidOptions::most_work
};

/// All trees of all demands, by demand, those of one demand in the order of `trees` and elements.
/// The same trees twice become one. Cost: O(their links). Errors: LimitReached.
[[nodiscard]] std::vector<FlowTree>
expanded(const FlowProblem& problem, const FluidSolution& solution, const WorkLimit& limit = {});

} // namespace tutti
