// Builds the linear program of program.hpp. Columns and rows that symmetries exchange are one:
// the average of a solution's images is a solution too (Shapley 2025, Theorem 7), so that
//   - of demands, of roots of a demand, and of sinks of a demand (and root) that symmetries
//     exchange one stands for all,
//   - of its flows, those over links are one that a symmetry exchanges which keeps all of these,
//   - and the load of a resource is the load of all that are exchanged with it, divided by their
//     number.
#pragma once

#include "synth/flows/fluid/program.hpp"
#include "synth/flows/problem.hpp"
#include "synth/solvers/limit_watch.hpp"
#include "synth/solvers/linear_program.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

struct FlowModel {
  enum class State : std::uint8_t { complete, too_large, stopped };
  static constexpr std::uint32_t none = UINT32_MAX;
  State state = State::complete;
  LinearProgram program; ///< minimizes its column `time`, R of the dissertation
  static constexpr std::uint32_t time = 0;
  double unit_bandwidth = 1;   ///< bytes/s: the largest
  double unit_seconds = 1;     ///< of column `time`; usage is in unit_bandwidth * unit_seconds
  std::vector<double> traffic; ///< [column]: weighted traffic in bytes
  std::vector<std::uint32_t>
      row_of; ///< [resource]: that limits what crosses it; none: nothing does
  std::vector<std::uint32_t> row_members; ///< [row]: resources with this row; 0 for other rows
};

/// Incomplete where there would be too many columns, which is mostly seen before they are made.
[[nodiscard]] FlowModel flow_model(const FlowProblem& problem, const FlowProgramOptions& options,
                                   LimitWatch& watch);

} // namespace tutti
