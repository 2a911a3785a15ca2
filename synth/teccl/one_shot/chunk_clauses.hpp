// A chunk's paths through lanes and epochs, in clauses: where it can be, and what brought it there.
#pragma once

#include "synth/solvers/sat.hpp"
#include "synth/teccl/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// A literal for each epoch, 0 where it can't be.
using EpochLiterals = std::vector<Literal>;

struct ChunkLiterals {
  /// [node that stores]: the chunk is there at the beginning of epoch 0 .. K. Only as long as it
  /// can be of use there.
  std::vector<EpochLiterals> has;
  std::vector<EpochLiterals> sends; ///< [lane]: it enters the lane in epoch 0 .. K - 1
};

/// Adds variables and clauses of chunks to a solver. Only what can be of use has variables: no node
/// has a chunk before its distance, and nothing is sent where it comes too late for any
/// destination. Without loss, nodes that don't store send all on that they get, and those that copy
/// get a chunk once an epoch. Within an epoch no chunk goes round a cycle (of lanes without delay).
class ChunkClauses {
public:
  /// `always`: a literal that is true.
  ChunkClauses(SatSolver& solver, const EpochNetwork& network, std::uint32_t epochs,
               Literal always);

  /// Each destination has the chunk at the beginning of epoch K.
  [[nodiscard]] ChunkLiterals add(const TimedChunk& chunk);

  /// [epoch]: the node has to keep the chunk, for it sends it then or later. Pre: it stores.
  [[nodiscard]] EpochLiterals add_kept(const ChunkLiterals& literals, std::uint32_t node);

private:
  /// Lanes without delay between nodes each of which they join to each other.
  struct Cycle {
    std::vector<std::uint32_t> lanes;
    std::size_t nodes = 0;
    bool is_tree = false; ///< but for lanes in both directions, and parallel ones
  };
  using Windows = std::vector<std::uint32_t>; // [node]: epochs, or unreachable

  void find_cycles();
  void add_places(const TimedChunk& chunk, const Windows& from, const Windows& to,
                  ChunkLiterals& literals);
  void add_sends(const TimedChunk& chunk, const Windows& from, const Windows& to,
                 ChunkLiterals& literals);
  void add_receipts(const ChunkLiterals& literals, std::uint32_t node, std::uint32_t epoch);
  void add_passing(const ChunkLiterals& literals, std::uint32_t node, std::uint32_t epoch);
  void pass_copies(const std::vector<Literal>& in, const std::vector<Literal>& out);
  void pass_each_once(const ChunkLiterals& literals, std::uint32_t node, std::uint32_t epoch);
  void forbid_cycle(const ChunkLiterals& literals, const Cycle& cycle, std::uint32_t epoch);
  void add_ranks(const ChunkLiterals& literals, const Cycle& cycle, std::uint32_t epoch);
  [[nodiscard]] std::vector<Literal> arrivals(const ChunkLiterals& literals, std::uint32_t node,
                                              std::uint32_t epoch) const;
  [[nodiscard]] std::vector<Literal> departures(const ChunkLiterals& literals, std::uint32_t node,
                                                std::uint32_t epoch) const;
  void add_some(std::vector<Literal> clause, const std::vector<Literal>& some);

  SatSolver& solver_;
  const EpochNetwork& network_;
  std::uint32_t epochs_;
  Literal always_;
  std::vector<Cycle> cycles_;
};

} // namespace tutti
