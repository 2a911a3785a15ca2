// Limits are of one kind where they carry as much in a round.
#include "synth/sccl/symmetry.hpp"

#include <map>
#include <numeric>

namespace tutti {

namespace {

ChunkTraffic step_traffic(const StepProblem& problem) {
  const StepNetwork& network = problem.network;
  ChunkTraffic traffic = traffic_of(network, problem.chunks);
  traffic.node_kinds.resize(network.node_count());
  traffic.moving_nodes.resize(network.node_count());
  std::iota(traffic.moving_nodes.begin(), traffic.moving_nodes.end(), 0U);
  std::map<Ratio, std::uint32_t> widths;
  for (const StepLimit& each : network.limits) widths.emplace(each.per_round, 0);
  std::uint32_t next = 0;
  for (auto& [width, kind] : widths) kind = next++;
  for (const StepLimit& each : network.limits) {
    ChunkTraffic::Limit& limit = traffic.limits.emplace_back();
    limit.kind = widths.at(each.per_round);
    for (const LaneId lane : each.lanes) limit.uses.push_back({lane.value, 0});
  }
  return traffic;
}

} // namespace

std::vector<StepAutomorphism> automorphisms(const StepProblem& problem) {
  constexpr std::size_t most_lanes = 100'000;
  if (problem.network.lanes.size() > most_lanes) return {};
  return automorphisms(step_traffic(problem));
}

std::vector<StepSymmetry> free_symmetries(const StepProblem& problem,
                                          std::span<const StepAutomorphism> generators,
                                          std::size_t most, const WorkLimit& limit) {
  return free_symmetries(step_traffic(problem), generators, most, limit);
}

} // namespace tutti
