// The general model of TE-CCL (sec. 3.1) as an integer program over some epochs: all of them, or
// one round of several (sec. 4.2).
#pragma once

#include "synth/solvers/linear_program.hpp"
#include "synth/teccl/epoch_problem.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// Which epochs a program decides, and what has happened before.
struct EpochHorizon {
  std::uint32_t begin = 0, end = 0; ///< sends begin in begin .. end - 1
  /// What has arrived and is under way then, and what limits still count, follows from it. Epochs
  /// below `begin`.
  std::span<const EpochSend> past;
  /// Arrivals at the beginning of epochs up to end + beyond count as well (what is still under way
  /// when a round ends).
  std::uint32_t beyond = 0;
  bool must_finish = true; ///< all that is wanted has arrived by end + beyond
};

/// What it is worth that `node`, who wants `chunk`, has it at the beginning of `epoch`, the first
/// after it came and every later one up to the horizon's end.
using EpochReward =
    std::function<double(std::uint32_t chunk, std::uint32_t node, std::uint32_t epoch)>;

enum class EpochObjective : std::uint8_t {
  paper,       ///< sec. 3.1: 1 / (k + 1) for what is there at the end of epoch k, counted from 0
  public_code, ///< 1 for each epoch: the weight is commented out there
};
[[nodiscard]] EpochReward reward_of(EpochObjective objective);

/// Minimizes minus the rewards. Variables only where they can be of use: a chunk isn't at a node
/// before its distance, and doesn't leave for where it comes too late for anyone (with
/// `must_finish`); nobody receives what it held. Chunks with the same holders and wanters are
/// interchangeable: the program orders their earliest sends where that cuts no optimum off.
class EpochProgram {
public:
  EpochProgram(const EpochProblem& problem, const EpochHorizon& horizon, const EpochReward& reward);

  /// To be solved, or added to before.
  [[nodiscard]] LinearProgram& program() { return program_; }
  [[nodiscard]] const LinearProgram& program() const { return program_; }

  /// The column that is 1 where `node` holds the chunk at the beginning of `epoch`; nothing where
  /// that is decided: then always_holds() says how.
  [[nodiscard]] std::optional<std::uint32_t> holds(std::uint32_t chunk, std::uint32_t node,
                                                   std::uint32_t epoch) const;
  [[nodiscard]] bool always_holds(std::uint32_t chunk, std::uint32_t node,
                                  std::uint32_t epoch) const;

  /// The sends of the horizon that a solution says; without `past`. Ascending.
  [[nodiscard]] EpochPlan plan(std::span<const double> columns) const;
  /// Values of all columns of this program for a plan's sends of the horizon, to start from;
  /// nothing where the plan isn't one of its solutions.
  [[nodiscard]] std::optional<std::vector<double>> columns(const EpochPlan& plan) const;

private:
  LinearProgram program_;
};

} // namespace tutti
