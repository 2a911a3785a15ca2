// What is asked in epochs, and what is answered.
#pragma once

#include "sim/collective.hpp"
#include "synth/teccl/epoch_network.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Who holds a chunk at the start, and who else wants it. Node indices, ascending, disjoint.
struct EpochChunk {
  std::vector<std::uint32_t> holders, wanters;
  auto operator<=>(const EpochChunk&) const = default;
};

/// A collective that copies; chunks as the collective's, also those that nobody else wants.
struct EpochProblem {
  EpochNetwork network;
  std::vector<EpochChunk> chunks;
  /// Chunks that a node keeps for others at once (sec. 5.4): those that it neither wants nor held
  /// at the start, from their arrival until it sends them for the last time. Nothing: no limit.
  std::optional<std::uint32_t> buffer_limit;
  [[nodiscard]] bool is_unicast() const; ///< nobody wants what another wants too
};

/// Chunks count as large as the largest. Pre: `collective` doesn't reduce (the caller turns
/// Reduce-Scatter into All-Gather on the reversed topology, and so on).
[[nodiscard]] EpochProblem epoch_problem(const Topology& topology, const Collective& collective,
                                         const EpochSettings& settings);

struct EpochSend {
  std::uint32_t epoch = 0, lane = 0, chunk = 0;
  auto operator<=>(const EpochSend&) const = default;
};

/// Ascending.
using EpochPlan = std::vector<EpochSend>;

/// The number of epochs K that a plan takes: everything wanted is there at the beginning of epoch
/// K. Nothing where something wanted never comes.
[[nodiscard]] std::optional<std::uint32_t> epochs_of(const EpochProblem& problem,
                                                     const EpochPlan& plan);

/// What is wrong with a plan, in words with numbers; empty where all is well. Shares no code with
/// what makes plans. The rules: ascending; chunks and lanes that exist; a node that stores sends
/// what it held at the start or what arrived by then; one that doesn't passes on in epoch k what
/// arrives for epoch k, once for each arrival unless it copies (it may drop it); nobody who stores
/// receives a chunk twice, or one that it held at the start; limits; the buffer limit; everyone has
/// in the end what he wants.
/// Cost: O(sends * limits of a lane * window + chunks * nodes).
[[nodiscard]] std::string epoch_fault(const EpochProblem& problem, const EpochPlan& plan);

/// Without the sends that nobody needs in the end (walking back from the wanters).
[[nodiscard]] EpochPlan without_useless(const EpochProblem& problem, const EpochPlan& plan);

/// Fewer epochs are impossible: by distances (the latest wanter of any chunk, from its nearest
/// holder) and by what limits let into a node or out of one (windows * most), whichever is more.
/// Nothing where someone is out of reach.
[[nodiscard]] std::optional<std::uint32_t> fewest_epochs(const EpochProblem& problem);

} // namespace tutti
