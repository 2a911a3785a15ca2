// What chunks add to the loads of resources by the paths that they take.
#pragma once

#include "synth/flows/rounding/chunk_bundles.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// How full the resources are, where 1 is the fullest one of the fluid schedule. Where some data
/// first comes together and then spreads, each of these phases also counts alone: a few chunks
/// don't overlap enough for one to fill what the other leaves free.
class PathLoads {
public:
  PathLoads(const FlowProblem& problem, std::span<const FlowTree> trees, const Bundles& bundles,
            const Collective& collective)
      : network_(problem.network), trees_(trees), count_(network_.resource_count()) {
    const bool phases = std::ranges::any_of(
        problem.demands, [](const FlowDemand& one) { return one.kind == FlowKind::both; });
    loads_.resize(phases ? 3 * count_ : count_);
    for (std::size_t i = 0; i < loads_.size(); ++i)
      per_byte_.push_back(1 / static_cast<double>(network_.resources[i % count_].bandwidth));
    for (const Bundle& bundle : bundles.list) {
      double bytes = 0;
      for (std::size_t i = 0; i < bundle.chunk_count; ++i)
        bytes += static_cast<double>(
            collective.chunks[bundles.chunks[bundle.first_chunk + i].value].size.count);
      for (std::size_t w = 0; w < bundle.path_count; ++w) {
        const ChunkPath& path = bundles.paths[bundle.first_path + w];
        add(path, path.share * bytes);
      }
    }
    for (std::size_t from = 0; from < loads_.size(); from += count_) {
      const double fullest = highest(from);
      for (std::size_t i = from; fullest > 0 && i < from + count_; ++i) {
        loads_[i] /= fullest;
        per_byte_[i] /= fullest;
      }
    }
  }

  void clear() { std::ranges::fill(loads_, 0.0); }

  void add(const ChunkPath& path, double bytes) {
    for_each_crossed(path, [&](std::size_t i) { loads_[i] += bytes * per_byte_[i]; });
  }

  /// Adds and returns by how much that raises the sum of load^(2^squarings).
  double add_rated(const ChunkPath& path, double bytes, int squarings) {
    double rise = 0;
    for_each_crossed(path, [&](std::size_t i) {
      const double before = loads_[i];
      loads_[i] += bytes * per_byte_[i];
      rise += power(loads_[i], squarings) - power(before, squarings);
    });
    return rise;
  }

  /// Mean over what the path crosses of load^(2^squarings).
  [[nodiscard]] double mean_power(const ChunkPath& path, double scale, int squarings) const {
    double sum = 0;
    std::size_t crossed = 0;
    for_each_crossed(path, [&](std::size_t i) {
      sum += power(loads_[i] * scale, squarings);
      ++crossed;
    });
    return sum / static_cast<double>(crossed);
  }

  /// The highest load of both phases together; then that of either alone, 0 without phases.
  [[nodiscard]] std::pair<double, double> highest() const {
    return {highest(0),
            loads_.size() > count_ ? std::max(highest(count_), highest(2 * count_)) : 0};
  }
  /// The most that a byte adds anywhere.
  [[nodiscard]] double most_per_byte() const {
    return *std::max_element(per_byte_.begin(),
                             per_byte_.begin() + static_cast<std::ptrdiff_t>(count_));
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool has_phases() const { return loads_.size() > count_; }

private:
  [[nodiscard]] static double power(double load, int squarings) {
    for (int i = 0; i < squarings; ++i) load *= load;
    return load;
  }

  [[nodiscard]] double highest(std::size_t from) const {
    const auto begin = loads_.begin() + static_cast<std::ptrdiff_t>(from);
    return *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(count_));
  }

  /// Indices into loads, once for each crossing.
  template <typename Visit> void for_each_crossed(const ChunkPath& path, const Visit& visit) const {
    const std::span<const std::uint32_t> links = path.links(trees_);
    for (const std::uint32_t link : links)
      for (const std::uint32_t r : network_.resources_of[link]) visit(r);
    if (!has_phases() || path.hop != ChunkPath::all) return;
    const FlowTree& tree = trees_[path.tree];
    const std::size_t together = tree.combining == 0 ? 0 : tree.hop_end[tree.combining - 1];
    for (std::size_t i = 0; i < links.size(); ++i)
      for (const std::uint32_t r : network_.resources_of[links[i]])
        visit((i < together ? count_ : 2 * count_) + r);
  }

  const FlowNetwork& network_;
  std::span<const FlowTree> trees_;
  std::size_t count_;                    // of resources
  std::vector<double> loads_, per_byte_; // [resource], [count + resource] together, [.. spreading]
};

/// What may be looked at, in links, before choices are made more simply.
inline constexpr double most_work = 5e7;

} // namespace tutti
