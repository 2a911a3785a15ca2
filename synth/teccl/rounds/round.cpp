// Closeness is a step function of the nearest node that holds the chunk in the end: a column for
// each set of nodes within a distance, worth the step, at most 1 if any of them holds it.
#include "synth/teccl/rounds/round.hpp"

#include "synth/solvers/integer_program.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

namespace tutti {

namespace {

EpochReward round_reward(Epoch last) {
  return [last](ChunkId, NodeId, Epoch epoch) {
    return epoch == last ? EpochRound::arrival_worth : 1.0;
  };
}

} // namespace

EpochRound::EpochRound(const EpochProblem& problem, const EpochDistances& distances,
                       const EpochHorizon& horizon)
    : program_(problem, horizon, round_reward(horizon.last())) {
  assert(!horizon.must_finish);
  for (std::uint32_t chunk = 0; chunk < problem.chunks.size(); ++chunk) {
    problem.require_time();
    add_closeness(problem, distances, ChunkId{chunk}, horizon.last());
  }
}

void EpochRound::add_closeness(const EpochProblem& problem, const EpochDistances& distances,
                               ChunkId chunk, Epoch last) {
  std::vector<std::uint32_t> settled, open; // nodes that hold it in the end, and that may
  for (std::uint32_t node = 0; node < problem.network.node_count(); ++node) {
    if (program_.always_holds(chunk, NodeId{node}, last)) settled.push_back(node);
    if (program_.holds(chunk, NodeId{node}, last)) open.push_back(node);
  }
  std::map<std::vector<std::uint32_t>, double> worth; // by nodes: columns, ascending
  for (const std::uint32_t destination : problem.chunks[chunk.value].destinations) {
    std::uint32_t known = unreachable;
    for (const std::uint32_t node : settled) known = std::min(known, distances(node, destination));
    std::map<std::uint32_t, std::vector<std::uint32_t>> nodes; // by distance
    for (const std::uint32_t node : open)
      if (const std::uint32_t away = distances(node, destination); away < known)
        nodes[away].push_back(*program_.holds(chunk, NodeId{node}, last));
    std::vector<std::uint32_t> near;
    for (auto level = nodes.begin(); level != nodes.end(); ++level) {
      near.insert(near.end(), level->second.begin(), level->second.end());
      std::ranges::sort(near);
      const auto next = std::next(level);
      const double step = closeness(std::max(level->first, 1U)) -
                          closeness(next == nodes.end() ? known : std::max(next->first, 1U));
      if (step > 0) worth[near] += step;
    }
  }
  for (auto& [holds, closer] : worth) {
    const std::uint32_t column = program_.program().add_column(-arrival_worth * closer, 0, 1);
    std::vector<Term> terms{{column, 1}};
    for (const std::uint32_t held : holds) terms.push_back({held, -1});
    program_.program().add_row(-unlimited, 0, terms);
    near_.push_back({column, holds});
  }
}

double EpochRound::cost(std::vector<double> columns) const {
  const LinearProgram& program = program_.program();
  columns.resize(program.column_count());
  for (const Near& near : near_)
    for (const std::uint32_t held : near.holds)
      columns[near.column] = std::max(columns[near.column], columns[held]);
  double sum = 0;
  for (std::uint32_t c = 0; c < columns.size(); ++c) sum += program.cost(c) * columns[c];
  return sum;
}

EpochPlan EpochRound::improved(const EpochPlan& start, std::int64_t most_nodes,
                               const WorkLimit& limit) const {
  const IntegerSolution found =
      solve_integer(program_.program(), limit, {.first_feasible = false, .most_nodes = most_nodes});
  if (found.columns.empty()) return start;
  const std::optional<std::vector<double>> columns = program_.columns(start);
  // Without, `start` breaks a rule that the round before made binding.
  if (columns && cost(*columns) <= found.objective + 1e-6) return start;
  return program_.plan(found.columns);
}

std::size_t sends_of_horizon(const EpochProblem& problem, const EpochHorizon& horizon) {
  const EpochHops hops = epoch_hops(problem.network);
  std::vector<std::vector<EpochSend>> past(problem.chunks.size());
  for (const EpochSend& send : horizon.past) past[send.chunk.value].push_back(send);
  std::size_t sum = 0;
  for (std::uint32_t chunk = 0; chunk < problem.chunks.size(); ++chunk) {
    problem.require_time();
    for (const EpochWindow& window :
         epoch_windows(problem, hops, horizon, ChunkId{chunk}, past[chunk]).sends)
      sum += window.size();
  }
  return sum;
}

} // namespace tutti
