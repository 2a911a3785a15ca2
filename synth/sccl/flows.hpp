// What a k-synchronous problem is for linear programs: amounts that flow from sources to
// destinations.
#pragma once

#include "synth/sccl/problem.hpp"
#include "synth/sccl/symmetry.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

struct Sink {
  std::uint32_t node, amount; ///< in chunks of the problem
  auto operator<=>(const Sink&) const = default;
};

/// From any of the sources to every sink. Flows of one carrier are the same data for different
/// destinations: a lane carries the most that one of them needs, not their sum.
struct StepFlow {
  std::vector<std::uint32_t> sources; ///< ascending
  std::vector<Sink> sinks;            ///< ascending
  std::uint32_t amount = 0;           ///< sum over the sinks
  std::uint32_t carrier = 0;
};

struct StepFlows {
  std::vector<StepFlow> flows;
  std::vector<std::vector<std::uint32_t>> carriers; ///< their flows, ascending
  /// flow_of[chunk]: its first flow; none where it has no destination. A chunk with several
  /// destinations has as many flows one after another.
  std::vector<std::uint32_t> flow_of;
  static constexpr std::uint32_t none = UINT32_MAX;

  /// Where the flows go under an automorphism.
  [[nodiscard]] std::vector<std::uint32_t> image(const StepAutomorphism& automorphism) const;
};

/// Chunks with one destination and the same sources flow together; chunks that several want flow
/// once for each, in a carrier of those with the same sources and destinations.
[[nodiscard]] StepFlows step_flows(const StepProblem& problem);

/// When a flow can be where: in step s over a lane only if a source is at most s steps
/// from the lane's start, and a sink at most S - 1 - s from its end.
class FlowWindows {
public:
  FlowWindows(const StepProblem& problem, const StepFlow& flow);
  [[nodiscard]] std::uint32_t from_sources(std::uint32_t node) const { return from_[node]; }
  [[nodiscard]] std::uint32_t to_sink(std::uint32_t node) const { return to_[node]; }
  /// Whether the lane can be of use at all: not into a source, not out of the only sink.
  [[nodiscard]] bool usable(const Lane& lane) const;
  [[nodiscard]] bool open(const Lane& lane, std::uint32_t step, std::uint32_t steps) const;

private:
  std::vector<std::uint32_t> from_, to_;
  bool single_sink_;
};

/// The a_l of Algorithm 1: the fewest steps in which anything that is wanted can arrive: the
/// longest of the shortest paths.
[[nodiscard]] std::uint32_t fewest_steps(const StepProblem& problem);

} // namespace tutti
