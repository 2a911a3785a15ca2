// What is asked in epochs, and what is answered.
#pragma once

#include "sim/collective.hpp"
#include "synth/teccl/network.hpp"
#include "synth/timed/timed_chunk.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Nodes are NodeId values.
struct EpochProblem : TimedProblem<EpochNetwork> {
  /// Chunks that a node keeps for others at once (sec. 5.4): those that it neither wants nor held
  /// at the start, from the epoch for which they arrive to the one in which it sends them for the
  /// last time, both included; what it never sends doesn't count. Nothing: no limit.
  std::optional<std::uint32_t> buffer_limit;
};

/// Chunks count as large as the largest. Pre: `collective` doesn't reduce (the caller turns
/// Reduce-Scatter into All-Gather on the reversed topology, and so on). Errors: those of
/// epoch_network(), and where someone who holds or wants a chunk can't store and copy.
[[nodiscard]] EpochProblem epoch_problem(const Topology& topology, const Collective& collective,
                                         const EpochSettings& settings);

struct EpochSend {
  std::uint32_t epoch = 0, lane = 0, chunk = 0;
  auto operator<=>(const EpochSend&) const = default;
};

/// Ascending, without repeats.
using EpochPlan = std::vector<EpochSend>;

/// The number of epochs K that a plan takes: everything wanted is there at the beginning of epoch
/// K. Nothing where something wanted never comes.
[[nodiscard]] std::optional<std::uint32_t> epochs_of(const EpochProblem& problem,
                                                     const EpochPlan& plan);

/// Without the sends that nobody needs (see without_useless()), each with the one that brought what
/// it passes on, where its sender doesn't store.
struct EpochForest {
  static constexpr std::uint32_t root = UINT32_MAX;
  EpochPlan sends;
  std::vector<std::uint32_t> parent; ///< [send]: index into sends; root: its sender stores
};

/// Pre: epoch_fault() is empty.
[[nodiscard]] EpochForest needed_sends(const EpochProblem& problem, const EpochPlan& plan);

/// What is wrong with a plan, in words with numbers; empty where all is well. Shares no code with
/// what makes plans. The rules: ascending; chunks and lanes that exist; a node that stores sends
/// what it held at the start or what arrived by then; one that doesn't passes on in epoch k what
/// arrives for epoch k, once for each arrival unless it copies (it may drop it); nobody who stores
/// receives a chunk twice, or one that it held at the start; limits; the buffer limit; everyone has
/// in the end what he wants.
/// Cost: O(sends * log(sends) * uses of limits by a lane + chunks * nodes).
[[nodiscard]] std::string epoch_fault(const EpochProblem& problem, const EpochPlan& plan);

/// Without the sends that nobody needs in the end (walking back from the destinations). Pre:
/// epoch_fault() is empty.
[[nodiscard]] EpochPlan without_useless(const EpochProblem& problem, const EpochPlan& plan);

/// Fewer epochs are impossible: by distances (the latest destination of any chunk, from its nearest
/// source) and by what limits let into a node, out of one, or through a narrow cut of the network
/// (windows * most, between the first that can be there and the last that is in time), whichever is
/// more. Nothing where someone is out of reach.
[[nodiscard]] std::optional<std::uint32_t> fewest_epochs(const EpochProblem& problem);

} // namespace tutti
