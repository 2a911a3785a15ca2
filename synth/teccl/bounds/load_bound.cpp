// One column says how many epochs it takes, and each limit's row that so many, less those in which
// nothing can have come to it yet or what comes is late, let its flows through.
#include "synth/teccl/bounds/load_bound.hpp"

#include "synth/solvers/linear_program.hpp"
#include "synth/teccl/flows/orbits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace tutti {

namespace {

class LoadProgram {
public:
  LoadProgram(const EpochProblem& problem, std::span<const EpochSource> sources,
              const EpochFlowOrbits& orbits, std::uint32_t at_least)
      : network_(problem.network), sources_(sources), orbits_(orbits), at_least_(at_least),
        flows_(orbits.of_lane.size()), epochs_(program_.add_column(1, at_least, unlimited)) {
    for (std::uint32_t s = 0; s < sources.size(); ++s) add_flows(s);
    for (std::uint32_t s = 0; s < sources.size(); ++s) add_conservation(s);
    for (std::uint32_t i = 0; i < network_.limits.size(); ++i)
      if (orbits.of_limit[i] == i) add_limit(network_.limits[i]);
  }

  [[nodiscard]] const LinearProgram& program() const { return program_; }

private:
  /// A source's flow over a lane: when it can enter at the earliest, and how long it takes from
  /// there on at least.
  struct Flow {
    std::uint32_t column = 0, from_source = 0, to_destination = 0;
  };

  [[nodiscard]] const std::optional<Flow>& flow(std::size_t source, std::uint32_t lane) const {
    return flows_[orbits_.of_lane[source * network_.lanes.size() + lane]];
  }

  void add_flows(std::uint32_t source) {
    const FlowReach reach = flow_reach(network_, sources_[source]);
    for (std::uint32_t l = 0; l < network_.lanes.size(); ++l) {
      const Lane& lane = network_.lanes[l];
      const std::size_t point = std::size_t{source} * network_.lanes.size() + l;
      const bool is_of_use = lane.to != sources_[source].node &&
                             reach.from_source[lane.from] != unreachable &&
                             reach.to_destination[lane.to] != unreachable;
      if (orbits_.of_lane[point] == point && is_of_use)
        flows_[point] = {program_.add_column(0, 0, unlimited), reach.from_source[lane.from],
                         lane.delay + reach.to_destination[lane.to]};
    }
  }

  void add_conservation(std::uint32_t source) {
    const EpochSource& own = sources_[source];
    std::vector<double> wanted(network_.node_count());
    for (const EpochDemand& demand : own.demands)
      wanted[demand.destination] = static_cast<double>(demand.chunks.size());
    std::vector<Term> terms;
    for (std::uint32_t n = 0; n < network_.node_count(); ++n) {
      const std::size_t point = std::size_t{source} * network_.node_count() + n;
      if (orbits_.of_node[point] != point || n == own.node) continue;
      terms.clear();
      for (const auto [l] : network_.in_lanes[n])
        if (const auto& in = flow(source, l)) terms.push_back({in->column, 1});
      for (const auto [l] : network_.out_lanes[n])
        if (const auto& out = flow(source, l)) terms.push_back({out->column, -1});
      if (!terms.empty()) program_.add_row(wanted[n], unlimited, terms);
    }
  }

  // A limit can be used from the first epoch in which something can come there until what comes
  // later is late: in so many epochs, as many windows as begin in them. A limit that nothing uses
  // must not ask for more than `at_least` epochs.
  void add_limit(const EpochLimit& limit) {
    std::map<std::uint32_t, double> factors; // [column]
    std::int64_t begin = std::numeric_limits<std::int64_t>::max(), tail = begin;
    for (const LaneUse& use : limit.uses)
      for (std::uint32_t s = 0; s < sources_.size(); ++s)
        if (const auto& one = flow(s, use.lane.value)) {
          factors[one->column] += 1;
          begin = std::min(begin, std::int64_t{one->from_source} + use.offset);
          tail = std::min(tail, std::int64_t{one->to_destination} - use.offset);
        }
    if (factors.empty()) return;
    const double each = static_cast<double>(limit.most) / limit.window;
    std::vector<Term> terms{{epochs_, -each}};
    for (const auto& [column, factor] : factors) terms.push_back({column, factor});
    const std::int64_t ends =
        std::min(begin + tail, std::int64_t{at_least_} + std::int64_t{limit.window});
    program_.add_row(-unlimited, each * static_cast<double>(limit.window - ends), terms);
  }

  const EpochNetwork& network_;
  std::span<const EpochSource> sources_;
  const EpochFlowOrbits& orbits_;
  std::uint32_t at_least_;
  std::vector<std::optional<Flow>> flows_; ///< [source and lane], at the least of its orbit
  LinearProgram program_;
  std::uint32_t epochs_; ///< column
};

} // namespace

std::uint32_t epochs_by_load(const EpochProblem& problem, std::span<const EpochSource> sources,
                             const EpochFlowOrbits& orbits, std::uint32_t at_least,
                             const WorkLimit& limit) {
  const LoadProgram load(problem, sources, orbits, at_least);
  const LinearSolution solution = solve_relaxed(load.program(), limit);
  if (solution.status != SolverStatus::optimal) return at_least;
  constexpr double noise = 1e-6;
  return std::max(at_least, static_cast<std::uint32_t>(std::ceil(solution.objective - noise)));
}

} // namespace tutti
