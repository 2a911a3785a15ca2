// Proofs that terminals still get everything, kept up to date while a network changes.
#pragma once

#include "synth/flows/packing/supply_flow.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// A flow of all supplies to each terminal. What a change doesn't concern stays; the rest is
/// rerouted around it, which is less work than the tests of the paper with flows of their own.
class FlowCertificates {
public:
  /// Both are changed here, and only here while there are certificates. Pre: each terminal can get
  /// all supplies at once.
  FlowCertificates(ArcGraph& graph, std::vector<std::int64_t>& capacity,
                   std::span<const std::int64_t> supply, std::span<const std::uint32_t> terminals);

  /// Moves capacity from an arc u -> w and an arc w -> t to one u -> t, of which there is at most
  /// one: as much as all terminals can do without, but no more than `most`. Nothing of u -> w -> u
  /// remains. Returns the amount.
  std::int64_t split(std::uint32_t in, std::uint32_t out, std::int64_t most);

  /// The most that can pass one arc and then another in a flow to one terminal.
  [[nodiscard]] std::int64_t used(std::uint32_t in, std::uint32_t out) const;
  /// The same of all pairs at a node: [index in graph.in * arcs out + index in graph.out]. Cost:
  /// for each terminal the arcs in times the arcs out that its flow takes.
  [[nodiscard]] std::vector<std::int64_t> used_at(std::uint32_t node) const;
  /// Does some flow pass this node, or end there?
  [[nodiscard]] bool use(std::uint32_t node) const;

private:
  struct Pair {
    std::uint32_t in, out;
    std::optional<std::uint32_t> around;
  };
  std::optional<std::uint32_t> around(std::uint32_t in, std::uint32_t out);
  void move_capacity(const Pair& pair, std::int64_t amount);
  std::int64_t reroute_all(const Pair& pair);
  std::int64_t reroute(const Pair& pair, std::size_t certificate);
  std::int64_t detour(std::size_t certificate, std::uint32_t arc);
  void change(std::size_t certificate, std::uint32_t arc, std::int64_t amount);
  void take_back();

  ArcGraph& graph_;
  std::vector<std::int64_t>& capacity_;
  SupplyFlow flows_;
  /// [][arc]: a flow for each terminal; those that forbade a split most recently come first.
  std::vector<std::vector<std::int64_t>> certificates_;
  struct Change {
    std::size_t certificate;
    std::uint32_t arc;
    std::int64_t amount;
  };
  std::vector<Change> changes_;        ///< of this split, to be taken back if it is too much
  std::vector<std::int64_t> detoured_; ///< [node]: 0 but for one
};

} // namespace tutti
