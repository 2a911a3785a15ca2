// Flows in time as a linear program (TE-CCL sec. 4.1), one flow for all that a node sends.
#pragma once

#include "synth/solvers/linear_program.hpp"
#include "synth/teccl/flows/orbits.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// Whole plans are among its solutions. Flows that have one orbit are one column. Columns exist
/// only where they can be of use: nothing is at a node before its distance from the source, and
/// nothing leaves for where it reaches no destination in time; nothing goes back to its source.
class EpochFlowProgram {
public:
  /// All references must outlive the program. `has_reward`: maximizes it, else any solution will
  /// do.
  EpochFlowProgram(const EpochProblem& problem, std::span<const EpochSource> sources,
                   const EpochFlowOrbits& orbits, std::uint32_t epochs, bool has_reward);

  [[nodiscard]] const LinearProgram& program() const { return program_; }
  /// False: someone is too far away for so few epochs, and the program says nothing.
  [[nodiscard]] bool is_in_reach() const { return is_in_reach_; }

  /// What source (index) has enter the lane in this epoch, in chunks.
  [[nodiscard]] double entering(std::span<const double> columns, std::uint32_t source, LaneId lane,
                                Epoch epoch) const;
  /// What `destination` takes of the source's chunks at the beginning of this epoch.
  [[nodiscard]] double taken(std::span<const double> columns, std::uint32_t source,
                             NodeId destination, Epoch epoch) const;

private:
  /// Columns for the epochs begin .. end - 1, one after another.
  struct Span {
    std::uint32_t begin = 0, end = 0, first_column = 0;
  };
  /// A lane orbit's share in a limit.
  struct Share {
    std::uint32_t orbit = 0, offset = 0;
    double factor = 0;
  };

  void add_columns(std::uint32_t source, bool has_reward);
  void add_conservation(std::uint32_t source);
  void add_demands(std::uint32_t source);
  void add_limits();
  void add_buffer_limits();
  [[nodiscard]] std::vector<Share> shares_of(const EpochLimit& limit) const;
  Span add_span(std::uint32_t begin, std::uint32_t end);
  static void add_term(std::vector<Term>& terms, const Span& span, std::int64_t epoch,
                       double factor);
  [[nodiscard]] std::size_t lane_point(std::uint32_t source, std::uint32_t lane) const {
    return std::size_t{source} * problem_.network.lanes.size() + lane;
  }
  [[nodiscard]] std::size_t node_point(std::uint32_t source, std::uint32_t node) const {
    return std::size_t{source} * problem_.network.node_count() + node;
  }

  const EpochProblem& problem_;
  std::span<const EpochSource> sources_;
  const EpochFlowOrbits& orbits_;
  std::uint32_t epochs_;
  bool is_in_reach_ = true;
  std::vector<std::uint32_t> node_orbit_size_; ///< [source and node]
  /// The paper's F: [source and lane], at the least of its orbit.
  std::vector<Span> entering_;
  std::vector<Span> kept_, taken_; ///< the paper's B and R: [source and node], likewise
  LinearProgram program_;
};

/// What it is worth that a unit is there from the beginning of an epoch >= 1 on, of `epochs`: the
/// sum of 1 / (k + 1) over the epochs k at whose end it is there (paper, sec. 3.1 and 4.1).
[[nodiscard]] double arrival_reward(std::uint32_t epoch, std::uint32_t epochs);

} // namespace tutti
