// A solution's whole flows are taken apart from the sinks back, step by step: a chunk waits where
// it can, else it came over a lane with flow left; what returns to a node could have stayed there.
#include "synth/sccl/unicast.hpp"

#include "synth/sccl/program.hpp"
#include "synth/solvers/integer_program.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace tutti {

namespace {

constexpr std::int64_t effort_of_a_node = 100; // what a conflict is to a clause solver

std::uint32_t whole(double value) { return static_cast<std::uint32_t>(std::lround(value)); }

/// Takes one flow apart into the paths of its chunks, from the sinks back.
class FlowPaths {
public:
  FlowPaths(const StepProblem& problem, const StepInstance& instance, const StepProgram& program,
            std::span<const double> columns, std::uint32_t flow)
      : network_(problem.network), steps_(instance.steps) {
    const std::size_t nodes = network_.node_count();
    sent_.resize(std::size_t{steps_} * network_.lanes.size());
    kept_.resize(std::size_t{steps_} * nodes);
    std::vector<std::uint32_t> held(nodes);
    for (const std::uint32_t v : program.flows().flows[flow].sources)
      held[v] = whole(program.given(columns, flow, v));
    for (std::uint32_t s = 0; s < steps_; ++s) {
      for (std::uint32_t l = 0; l < network_.lanes.size(); ++l) {
        sent(s, l) = whole(program.sent(columns, flow, l, s));
        held[network_.lanes[l].from] -= sent(s, l);
      }
      std::copy(held.begin(), held.end(), kept_.begin() + static_cast<std::ptrdiff_t>(s * nodes));
      for (std::uint32_t l = 0; l < network_.lanes.size(); ++l)
        held[network_.lanes[l].to] += sent(s, l);
    }
  }

  /// The sends of a chunk that ends at this node, in order; waits where it can. A path that comes
  /// back to a node waits there instead.
  std::vector<StepSend> take(std::uint32_t node, ChunkId chunk) {
    std::vector<StepSend> path; // backwards
    for (std::uint32_t s = steps_; s-- > 0;) {
      if (std::uint32_t& kept = kept_[std::size_t{s} * network_.node_count() + node]; kept > 0) {
        --kept;
        continue;
      }
      const auto& in = network_.in_lanes[node];
      const auto lane = std::ranges::find_if(in, [&](LaneId l) { return sent(s, l.value) > 0; });
      assert(lane != in.end());
      --sent(s, lane->value);
      node = network_.lanes[lane->value].from;
      path.push_back({chunk, *lane, Step{s}});
      const auto again = std::ranges::find_if(
          path, [&](const StepSend& send) { return network_.lane(send.lane).to == node; });
      if (again != path.end()) path.erase(again, path.end());
    }
    std::ranges::reverse(path);
    return path;
  }

private:
  std::uint32_t& sent(std::uint32_t step, std::uint32_t lane) {
    return sent_[std::size_t{step} * network_.lanes.size() + lane];
  }

  const StepNetwork& network_;
  std::uint32_t steps_;
  std::vector<std::uint32_t> sent_; // [step][lane], what no chunk has taken yet
  std::vector<std::uint32_t> kept_; // [step][node]
};

StepSchedule decoded(const StepProblem& problem, const StepInstance& instance,
                     const StepProgram& program, std::span<const double> columns) {
  StepSchedule schedule;
  std::uint32_t rounds = 0;
  for (std::uint32_t s = 0; s < instance.steps; ++s) {
    schedule.rounds.push_back(whole(program.rounds(columns, s)));
    rounds += schedule.rounds.back();
  }
  schedule.rounds.back() += instance.rounds - rounds;
  std::vector<FlowPaths> paths;
  for (std::uint32_t f = 0; f < program.flows().flows.size(); ++f)
    paths.emplace_back(problem, instance, program, columns, f);
  for (std::uint32_t c = 0; c < problem.chunks.size(); ++c) {
    const std::uint32_t flow = program.flows().flow_of[c];
    if (flow == StepFlows::none) continue;
    for (std::uint32_t k = 0; k < instance.chunks_per_shard; ++k) {
      const std::vector<StepSend> path = paths[flow].take(
          problem.chunks[c].destinations.front(), ChunkId{c * instance.chunks_per_shard + k});
      schedule.sends.insert(schedule.sends.end(), path.begin(), path.end());
    }
  }
  sort_sends(schedule);
  return schedule;
}

} // namespace

StepAnswer unicast_steps(const StepProblem& problem, const StepInstance& instance,
                         std::span<const StepAutomorphism> automorphisms, const StepSearch& search,
                         const WorkLimit& limit) {
  const StepProgram program(
      problem, automorphisms,
      {instance.steps, StepProgramForm::Whole{instance.chunks_per_shard, instance.rounds}});
  const std::int64_t nodes =
      search.effort < 0 ? search.effort : search.effort / effort_of_a_node + 1;
  const IntegerSolution solution =
      solve_integer(program.program(), limit, {.first_feasible = true, .most_nodes = nodes});
  StepAnswer result;
  if (!solution.columns.empty()) {
    result.answer = SatAnswer::sat;
    result.schedule = decoded(problem, instance, program, solution.columns);
  } else if (solution.status == SolverStatus::infeasible) {
    result.answer = SatAnswer::unsat;
  }
  return result;
}

} // namespace tutti
