// The program's flows are per source; each is cut into paths, and paths are filled with chunks one
// after another, so that parts of chunks take as few paths as they can.
#include "synth/teccl/flows/flows.hpp"

#include "synth/teccl/bounds/load_bound.hpp"
#include "synth/teccl/flows/paths.hpp"
#include "synth/teccl/flows/program.hpp"

#include <algorithm>
#include <cassert>
#include <map>

namespace tutti {

namespace {

EpochFlowOrbits epoch_orbits_of(const EpochProblem& problem, std::span<const EpochSource> sources,
                                bool merged, const WorkLimit& limit) {
  const auto moves = merged ? epoch_moves(problem, sources) : std::vector<ChunkAutomorphism>{};
  return epoch_flow_orbits(problem.network, sources, moves, limit);
}

/// The solution's flow of one source.
std::vector<TimedAmount> timed_flow_of(const EpochFlowProgram& program,
                                       std::span<const double> columns, std::uint32_t source,
                                       std::uint32_t lanes, std::uint32_t epochs) {
  std::vector<TimedAmount> flow;
  for (std::uint32_t l = 0; l < lanes; ++l)
    for (std::uint32_t k = 0; k <= epochs; ++k) // the last through switches without delay
      if (const double amount = program.entering(columns, source, LaneId{l}, Epoch{k});
          amount > least_flow)
        flow.push_back({Epoch{k}, LaneId{l}, amount});
  return flow;
}

/// Paths together as long as the chunks, one chunk after another.
class PartCutter {
public:
  explicit PartCutter(const EpochDemand& demand) : demand_(demand) {}

  void add(const TimedPath& path, double factor) {
    for (double left = path.amount * factor; left > 0;) {
      const bool is_last = chunk_ + 1 == demand_.chunks.size();
      const double now = is_last ? left : std::min(left, 1 - filled_);
      for (const TimedStep& step : path.steps)
        amounts_[{step.epoch, step.lane, ChunkId{demand_.chunks[chunk_]}}] += now;
      filled_ += now;
      left -= now;
      if (is_last || filled_ < 1 - least_flow) continue;
      ++chunk_;
      filled_ = 0;
    }
  }

  void append_to(std::vector<EpochFlows::Part>& parts) const {
    for (const auto& [send, amount] : amounts_)
      if (amount > least_flow) parts.push_back({send, amount});
  }

private:
  const EpochDemand& demand_;
  std::size_t chunk_ = 0;
  double filled_ = 0; ///< of that chunk
  std::map<EpochSend, double> amounts_;
};

void add_parts(const EpochProblem& problem, const EpochFlowProgram& program,
               std::span<const double> columns, std::span<const EpochSource> sources,
               std::uint32_t epochs, EpochFlows& flows) {
  const auto lanes = static_cast<std::uint32_t>(problem.network.lanes.size());
  for (std::uint32_t s = 0; s < sources.size(); ++s) {
    FlowTracer tracer(problem.network, NodeId{sources[s].node},
                      timed_flow_of(program, columns, s, lanes, epochs));
    for (const EpochDemand& demand : sources[s].demands) {
      std::vector<TimedPath> paths;
      double found = 0;
      for (std::uint32_t k = 0; k <= epochs; ++k)
        for (double left = program.taken(columns, s, NodeId{demand.destination}, Epoch{k});
             left > least_flow;) {
          std::optional<TimedPath> path = tracer.take(NodeId{demand.destination}, Epoch{k}, left);
          if (!path) break;
          left -= path->amount;
          found += path->amount;
          flows.epochs = std::max(flows.epochs, k);
          paths.push_back(std::move(*path));
        }
      PartCutter cutter(demand);
      for (const TimedPath& path : paths)
        cutter.add(path, static_cast<double>(demand.chunks.size()) / found);
      cutter.append_to(flows.parts);
    }
  }
  std::ranges::sort(flows.parts, {}, &EpochFlows::Part::send);
}

} // namespace

EpochFlows epoch_flows(const EpochProblem& problem, std::uint32_t epochs, const WorkLimit& limit,
                       const EpochFlowSettings& settings) {
  EpochFlows flows;
  const std::vector<EpochSource> sources = epoch_sources(problem);
  const EpochFlowOrbits orbits = epoch_orbits_of(problem, sources, settings.merged, limit);
  const EpochFlowProgram program(problem, sources, orbits, epochs, true);
  if (!program.is_in_reach()) {
    flows.status = SolverStatus::infeasible;
    return flows;
  }
  if (program.program().column_count() > settings.most_columns) return flows;
  const LinearSolution solution = solve_relaxed(program.program(), limit);
  flows.status = solution.status;
  if (solution.status != SolverStatus::optimal) return flows;
  flows.reward = -solution.objective;
  add_parts(problem, program, solution.columns, sources, epochs, flows);
  return flows;
}

std::optional<std::uint32_t> fewest_flow_epochs(const EpochProblem& problem, std::uint32_t at_least,
                                                const WorkLimit& limit) {
  const std::vector<EpochSource> sources = epoch_sources(problem);
  for (const EpochSource& source : sources) {
    const std::vector<std::uint32_t> distance = problem.network.distances_from({source.node});
    for (const EpochDemand& demand : source.demands) {
      if (distance[demand.destination] == unreachable) return std::nullopt;
      at_least = std::max(at_least, distance[demand.destination]);
    }
  }
  const EpochFlowOrbits orbits = epoch_orbits_of(problem, sources, true, limit);
  const auto status_in = [&](std::uint32_t epochs) {
    const EpochFlowProgram program(problem, sources, orbits, epochs, false);
    return solve_relaxed(program.program(), limit).status;
  };
  at_least = epochs_by_load(problem, sources, orbits, at_least, limit);
  std::uint32_t low = at_least, high = at_least; // all below `low` are infeasible
  for (std::uint32_t more = 1;; more *= 2) {
    const SolverStatus status = status_in(high);
    if (status == SolverStatus::optimal) break;
    if (status != SolverStatus::infeasible) return std::nullopt;
    low = high + 1;
    high += more;
  }
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const SolverStatus status = status_in(middle);
    if (status == SolverStatus::optimal)
      high = middle;
    else if (status == SolverStatus::infeasible)
      low = middle + 1;
    else
      return std::nullopt;
  }
  return low;
}

} // namespace tutti
