// k-synchronous schedules as flows in time: one linear or integer program for both bounds and
// schedules.
#pragma once

#include "synth/sccl/flows.hpp"
#include "synth/sccl/problem.hpp"
#include "synth/sccl/symmetry.hpp"
#include "synth/solvers/linear_program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// What the program is to be about.
struct StepProgramForm {
  std::uint32_t steps = 0; ///< 0: static, without an order
  /// Whole amounts of this many chunks per shard in this many rounds, at least one in each step.
  /// Without: one chunk per shard that flows in any fractions, in as few rounds as possible.
  struct Whole {
    std::uint32_t chunks_per_shard, rounds;
  };
  std::optional<Whole> whole;
  std::size_t most_sends = SIZE_MAX; ///< columns for what is sent; more are not built
};

/// Time-expanded multicommodity flow: a flow is sent over lanes and kept at nodes from step to
/// step; lanes of a limit carry at most per_round * rounds of the step. Variables that
/// automorphisms exchange are one: of the fractional program this changes nothing (averaging over
/// them), the whole one is restricted to symmetric flows. Size: flows x lanes x steps, over the
/// automorphisms.
class StepProgram {
public:
  StepProgram(const StepProblem& problem, std::span<const StepAutomorphism> automorphisms,
              const StepProgramForm& form);

  /// The program stays empty: it would have more columns than allowed.
  [[nodiscard]] bool too_large() const { return is_too_large_; }
  [[nodiscard]] const LinearProgram& program() const { return program_; }
  [[nodiscard]] const StepFlows& flows() const { return flows_; }

  /// What a solution of the program sends of a flow, over a lane, in a step; what a source gives;
  /// the rounds of a step.
  [[nodiscard]] double sent(std::span<const double> columns, std::uint32_t flow, std::uint32_t lane,
                            std::uint32_t step) const {
    return value(columns, sent_column(flow, lane, step));
  }
  [[nodiscard]] double given(std::span<const double> columns, std::uint32_t flow,
                             std::uint32_t node) const {
    return value(columns, given_[node_orbit_[node_pair(flow, node)]]);
  }
  [[nodiscard]] double rounds(std::span<const double> columns, std::uint32_t step) const {
    return columns[rounds_[step]];
  }

private:
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] static double value(std::span<const double> columns, std::uint32_t column) {
    return column == none ? 0 : columns[column];
  }
  [[nodiscard]] std::size_t lane_pair(std::uint32_t flow_or_carrier, std::uint32_t lane) const {
    return std::size_t{flow_or_carrier} * network_.lanes.size() + lane;
  }
  [[nodiscard]] std::size_t node_pair(std::uint32_t flow, std::uint32_t node) const {
    return std::size_t{flow} * network_.node_count() + node;
  }
  [[nodiscard]] std::uint32_t sent_column(std::uint32_t flow, std::uint32_t lane,
                                          std::uint32_t step) const {
    return sent_[std::size_t{lane_orbit_[lane_pair(flow, lane)]} * layers_ + step];
  }
  [[nodiscard]] double amount(const StepFlow& flow) const {
    return static_cast<double>(flow.amount) * chunks_per_shard_;
  }

  void find_orbits(std::span<const StepAutomorphism> automorphisms);
  void add_rounds();
  void add_sends(std::uint32_t flow);
  [[nodiscard]] bool open(std::uint32_t flow, std::uint32_t lane, std::uint32_t step) const;
  void add_balances(std::uint32_t flow);
  void add_static_balance(std::uint32_t flow, std::uint32_t node, std::vector<Term> balance);
  void add_balance_in_time(std::uint32_t flow, std::uint32_t node, std::vector<Term> balance);
  [[nodiscard]] double wanted(std::uint32_t flow, std::uint32_t node) const;
  [[nodiscard]] bool receives(std::uint32_t flow, std::uint32_t node, std::uint32_t step) const;
  void add_lanes(std::vector<Term>& terms, std::uint32_t flow, std::span<const LaneId> lanes,
                 std::uint32_t step, double factor) const;
  std::uint32_t give(std::uint32_t flow, std::uint32_t node);
  void add_supply(std::uint32_t flow);
  void add_limit(const StepLimit& limit);

  const StepProblem& problem_;
  const StepNetwork& network_;
  StepProgramForm form_;
  std::uint32_t layers_;
  double chunks_per_shard_;
  StepFlows flows_;
  std::vector<FlowWindows> windows_;
  // The orbit of each (flow, lane), (carrier, lane) and (flow, node), numbered by first members.
  std::vector<std::uint32_t> lane_orbit_, carrier_orbit_, node_orbit_;
  std::vector<std::uint32_t> limit_orbit_;    // the least member
  std::vector<std::uint32_t> rounds_;         // column of each layer
  std::vector<std::uint32_t> sent_;           // [lane orbit][layer]
  std::vector<std::uint32_t> carried_;        // [carrier orbit][layer]
  std::vector<std::uint32_t> given_;          // [node orbit]
  std::vector<bool> lane_first_, node_first_; // whether a pair is the first of its orbit
  bool is_too_large_ = false;
  LinearProgram program_;
};

} // namespace tutti
