#include "synth/teccl/flows/flows.hpp"

#include "sim/random.hpp"
#include "synth/teccl/bounds/load_bound.hpp"
#include "synth/teccl/fault.hpp"
#include "synth/teccl/flows/integral_plan.hpp"
#include "synth/teccl/flows/paths.hpp"
#include "tests/catch.hpp"
#include "tests/synth/teccl/flow_samples.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace teccl_flows_test {

using namespace tutti;

namespace {

const SynthesisOptions no_options;

WorkLimit no_limit() { return WorkLimit(no_options); }

/// 1/a + 1/(a+1) + ... + 1/epochs.
double worth(std::uint32_t arrival, std::uint32_t epochs) {
  double sum = 0;
  for (std::uint32_t k = arrival; k <= epochs; ++k) sum += 1.0 / k;
  return sum;
}

EpochProblem problem_of(EpochNetwork network, std::vector<TimedChunk> chunks) {
  return {{std::move(network), std::move(chunks)}, std::nullopt};
}

/// Uses of a limit by epoch.
std::vector<double> uses_of(const EpochLimit& limit, const std::vector<EpochFlows::Part>& parts) {
  std::vector<double> used;
  for (const EpochFlows::Part& part : parts)
    for (const LaneUse& use : limit.uses) {
      if (use.lane != part.send.lane) continue;
      const std::size_t at = (part.send.epoch + use.offset).value;
      if (used.size() <= at) used.resize(at + 1);
      used[at] += part.amount;
    }
  return used;
}

constexpr double tolerance = 1e-5;

std::string limit_fault(const EpochProblem& problem, const std::vector<EpochFlows::Part>& parts) {
  for (const EpochLimit& limit : problem.network.limits) {
    const std::vector<double> used = uses_of(limit, parts);
    for (std::size_t first = 0; first < used.size(); ++first) {
      double sum = 0;
      for (std::size_t k = first; k < std::min(used.size(), first + limit.window); ++k)
        sum += used[k];
      if (sum > limit.most + tolerance)
        return limit.name + " carries " + std::to_string(sum) + " from epoch " +
               std::to_string(first);
    }
  }
  return "";
}

/// What came to a node, less what left it, never below zero; in a switch in each epoch for itself.
std::string conservation_fault(const EpochProblem& problem, std::uint32_t chunk,
                               const std::vector<EpochFlows::Part>& parts) {
  const EpochNetwork& network = problem.network;
  const std::uint32_t source = problem.chunks[chunk].sources.front();
  std::map<std::uint32_t, std::map<Epoch, double>> change; // [node][epoch]
  for (const EpochFlows::Part& part : parts) {
    const Lane& lane = network.lane(part.send.lane);
    change[lane.from][part.send.epoch] -= part.amount;
    change[lane.to][part.send.epoch + lane.delay] += part.amount;
    if (lane.to == source) return "back to its source";
  }
  for (const auto& [node, by_epoch] : change) {
    if (node == source) continue;
    double held = 0;
    for (const auto& [epoch, more] : by_epoch) {
      held = (network.stores[node] ? held : 0) + more;
      if (held < -tolerance)
        return "node " + std::to_string(node) + " sends what it hasn't in epoch " +
               std::to_string(epoch.value);
    }
  }
  double there = 0;
  for (const auto& [epoch, more] : change[problem.chunks[chunk].destinations.front()])
    there += more;
  if (std::abs(there - 1) > tolerance) return "destination gets " + std::to_string(there);
  return "";
}

std::string flow_fault(const EpochProblem& problem, const EpochFlows& flows) {
  std::vector<std::vector<EpochFlows::Part>> by_chunk(problem.chunks.size());
  for (const EpochFlows::Part& part : flows.parts) by_chunk[part.send.chunk.value].push_back(part);
  for (std::uint32_t c = 0; c < by_chunk.size(); ++c) {
    if (problem.chunks[c].destinations.empty()) continue;
    if (const std::string fault = conservation_fault(problem, c, by_chunk[c]); !fault.empty())
      return "chunk " + std::to_string(c) + ": " + fault;
  }
  return limit_fault(problem, flows.parts);
}

/// The reward by what the parts bring.
double reward_of_parts(const EpochProblem& problem, const EpochFlows& flows, std::uint32_t epochs) {
  double reward = 0;
  for (const EpochFlows::Part& part : flows.parts) {
    const Lane& lane = problem.network.lane(part.send.lane);
    if (lane.to == problem.chunks[part.send.chunk.value].destinations.front())
      reward += part.amount * worth((part.send.epoch + lane.delay).value, epochs);
  }
  return reward;
}

/// All that an optimum must keep; the optimum.
EpochFlows checked_flows(const EpochProblem& problem, std::uint32_t epochs, bool merged = true) {
  EpochFlows flows = epoch_flows(problem, epochs, no_limit(), {merged});
  if (flows.status != SolverStatus::optimal) return flows;
  CHECK(flow_fault(problem, flows) == "");
  CHECK(reward_of_parts(problem, flows, epochs) == Approx(flows.reward).epsilon(1e-6));
  CHECK(flows.epochs <= epochs);
  CHECK(std::ranges::is_sorted(flows.parts, {}, &EpochFlows::Part::send));
  return flows;
}

/// By trying all paths in time of all chunks.
class BestByEnumeration {
public:
  BestByEnumeration(const EpochProblem& problem, std::uint32_t epochs)
      : problem_(problem), epochs_(epochs) {
    for (std::uint32_t c = 0; c < problem.chunks.size(); ++c) {
      paths_.emplace_back();
      extend(c, {}, problem.chunks[c].sources.front(), 0);
    }
    choose(0, 0);
  }
  /// Nothing where no plan exists in so many epochs.
  [[nodiscard]] std::optional<double> reward() const { return best_; }

private:
  using Sends = std::vector<EpochFlows::Part>;

  void extend(std::uint32_t chunk, const Sends& sends, std::uint32_t node, std::uint32_t time) {
    const EpochNetwork& network = problem_.network;
    if (node == problem_.chunks[chunk].destinations.front()) {
      paths_[chunk].push_back(sends);
      return;
    }
    const bool waits = network.stores[node];
    for (std::uint32_t k = time; k < (waits ? epochs_ : time + 1); ++k)
      for (const auto [l] : network.out_lanes[node]) {
        const Lane& lane = network.lanes[l];
        const bool again = lane.to == problem_.chunks[chunk].sources.front() ||
                           std::ranges::any_of(sends, [&](const EpochFlows::Part& part) {
                             return network.lane(part.send.lane).to == lane.to;
                           });
        if (again || k + lane.delay > epochs_) continue;
        Sends more = sends;
        more.push_back({{Epoch{k}, LaneId{l}, ChunkId{chunk}}, 1});
        extend(chunk, more, lane.to, k + lane.delay);
      }
  }

  void choose(std::uint32_t chunk, double reward) {
    if (!limit_fault(problem_, sends_).empty()) return;
    if (chunk == paths_.size()) {
      best_ = std::max(best_.value_or(0), reward);
      return;
    }
    for (const Sends& path : paths_[chunk]) {
      const EpochSend& last = path.back().send;
      sends_.insert(sends_.end(), path.begin(), path.end());
      choose(chunk + 1,
             reward + worth((last.epoch + problem_.network.lane(last.lane).delay).value, epochs_));
      sends_.resize(sends_.size() - path.size());
    }
  }

  const EpochProblem& problem_;
  std::uint32_t epochs_;
  std::vector<std::vector<Sends>> paths_;
  Sends sends_;
  std::optional<double> best_;
};

void check_merging(const EpochProblem& problem, std::uint32_t epochs) {
  const EpochFlows merged = checked_flows(problem, epochs);
  const EpochFlows plain = checked_flows(problem, epochs, false);
  REQUIRE(merged.status == SolverStatus::optimal);
  REQUIRE(plain.status == SolverStatus::optimal);
  CHECK(merged.reward == Approx(plain.reward).epsilon(1e-7));
}

/// Few nodes, perhaps a switch, lanes between most of them.
EpochProblem random_problem(std::uint64_t seed, std::uint32_t chunk_count) {
  Random random(seed);
  const auto up_to = [&](std::uint64_t most) {
    return static_cast<std::uint32_t>(1 + random.below(most));
  };
  const std::uint32_t nodes = 2 + up_to(2), switches = static_cast<std::uint32_t>(random.below(2));
  EpochNetworkMaker maker(nodes, switches);
  for (std::uint32_t a = 0; a < nodes + switches; ++a)
    for (std::uint32_t b = 0; b < nodes + switches; ++b) {
      if (a == b || random.below(3) == 0) continue;
      const std::uint32_t delay = a < nodes ? up_to(2) : up_to(2) - 1;
      maker.add(a, b, delay, up_to(3), up_to(2));
    }
  EpochNetwork network = maker.made();
  if (network.lanes.size() >= 2) { // one that lanes share, the second later
    maker.add_limit({"shared", {LaneUse{LaneId{0}, 0}, LaneUse{LaneId{1}, 1}}, up_to(2), up_to(2)});
    network = maker.made();
  }
  std::vector<TimedChunk> chunks;
  while (chunks.size() < chunk_count) {
    const auto from = static_cast<std::uint32_t>(random.below(nodes));
    const auto to = static_cast<std::uint32_t>(random.below(nodes));
    if (from != to) chunks.push_back({{from}, {to}});
  }
  return problem_of(std::move(network), std::move(chunks));
}

} // namespace

TEST_CASE("the fractional optimum of chunks over one lane counts their epochs") {
  EpochNetworkMaker fast(2);
  fast.add(0, 1);
  const EpochFlows two = checked_flows(problem_of(fast.made(), {{{0}, {1}}, {{0}, {1}}}), 2);
  CHECK(two.reward == Approx(1.5 + 0.5)); // there from 1 on, and from 2 on
  CHECK(two.epochs == 2);

  EpochNetworkMaker slow(2);
  slow.add(0, 1, 1, 2);
  const EpochFlows apart = checked_flows(problem_of(slow.made(), {{{0}, {1}}, {{0}, {1}}}), 4);
  CHECK(apart.reward == Approx((1 + 0.5 + 1. / 3 + 0.25) + (1. / 3 + 0.25)));
}

TEST_CASE("a lane that carries two in three epochs is full in every window of three") {
  EpochNetworkMaker maker(2);
  maker.add(0, 1, 2, 3, 2);
  const EpochProblem problem = problem_of(maker.made(), std::vector(4, TimedChunk{{0}, {1}}));
  // two at once, three epochs later two more: there from 2 and from 5 on
  CHECK(checked_flows(problem, 5).reward == Approx(2 * worth(2, 5) + 2 * worth(5, 5)));
  CHECK(checked_flows(problem, 4).status == SolverStatus::infeasible);
  CHECK(fewest_flow_epochs(problem, 0, no_limit()) == 5);
}

TEST_CASE("flows part where one way is not enough") {
  EpochNetworkMaker maker(4); // three chunks from 0 to 3, over 1 or over 2
  maker.add(0, 1);
  maker.add(0, 2);
  maker.add(1, 3);
  maker.add(2, 3);
  const EpochProblem problem = problem_of(maker.made(), std::vector(3, TimedChunk{{0}, {3}}));
  const EpochFlows flows = checked_flows(problem, 3);
  CHECK(flows.reward == Approx(2 * worth(2, 3) + worth(3, 3)));
  CHECK(fewest_flow_epochs(problem, 0, no_limit()) == 3);
  const EpochPlan plan = integral_plan(problem, flows);
  CHECK(epoch_fault(problem, plan) == "");
  CHECK(epochs_of(problem, plan) == 3);
}

TEST_CASE("a switch passes on at once or drops, it doesn't keep") {
  EpochNetworkMaker maker(2, 1);
  maker.add(0, 2, 1, 1, 2); // two an epoch into the switch, one out of it
  maker.add(2, 1, 0);
  const EpochProblem problem = problem_of(maker.made(), {{{0}, {1}}, {{0}, {1}}});
  const EpochFlows flows = checked_flows(problem, 3);
  CHECK(flows.reward == Approx(worth(1, 3) + worth(2, 3)));
  const EpochPlan plan = integral_plan(problem, flows);
  CHECK(epoch_fault(problem, plan) == "");
  CHECK(epochs_of(problem, plan) == 2);
}

TEST_CASE("switches without delay in a circle pass nothing on that didn't come") {
  EpochNetworkMaker maker(2, 2);
  maker.add(0, 2, 1, 2);
  maker.add_duplex(2, 3, 0);
  maker.add(3, 1, 0);
  const EpochProblem problem = problem_of(maker.made(), {{{0}, {1}}, {{0}, {1}}});
  CHECK(checked_flows(problem, 2).status == SolverStatus::infeasible);
  CHECK(checked_flows(problem, 3).reward == Approx(worth(1, 3) + worth(3, 3)));
}

TEST_CASE("what is out of reach has no flow") {
  EpochNetworkMaker maker(3);
  maker.add(0, 1, 3);
  const EpochProblem near = problem_of(maker.made(), {{{0}, {1}}});
  CHECK(checked_flows(near, 2).status == SolverStatus::infeasible);
  CHECK(checked_flows(near, 3).reward == Approx(1. / 3));
  CHECK(fewest_flow_epochs(near, 0, no_limit()) == 3);
  const EpochProblem far = problem_of(maker.made(), {{{0}, {2}}});
  CHECK(checked_flows(far, 9).status == SolverStatus::infeasible);
  CHECK_FALSE(fewest_flow_epochs(far, 0, no_limit()));
}

TEST_CASE("without destinations there is nothing to send") {
  const EpochProblem problem = problem_of(epoch_ring(3), {{{0}, {}}});
  const EpochFlows flows = checked_flows(problem, 1);
  CHECK(flows.status == SolverStatus::optimal);
  CHECK(flows.epochs == 0);
  CHECK(flows.parts.empty());
  CHECK(integral_plan(problem, flows).empty());
  CHECK(fewest_flow_epochs(problem, 0, no_limit()) == 0);
}

TEST_CASE("no plan of whole chunks has a higher reward or fewer epochs than flows") {
  int decided = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const EpochProblem problem = random_problem(seed, 1 + static_cast<std::uint32_t>(seed % 3));
    INFO("seed " << seed);
    const std::optional<std::uint32_t> fewest = fewest_flow_epochs(problem, 0, no_limit());
    for (std::uint32_t epochs = 1; epochs <= 5; ++epochs) {
      const std::optional<double> whole = BestByEnumeration(problem, epochs).reward();
      const EpochFlows flows = checked_flows(problem, epochs);
      CHECK((flows.status == SolverStatus::optimal) == (fewest && epochs >= *fewest));
      if (!whole) continue;
      REQUIRE(flows.status == SolverStatus::optimal);
      CHECK(flows.reward >= *whole - 1e-6);
      const EpochPlan plan = integral_plan(problem, flows);
      CHECK(epoch_fault(problem, plan) == "");
      ++decided;
      break; // more epochs are easier
    }
  }
  CHECK(decided >= 30);
}

TEST_CASE("flows merged by symmetry are worth what each for itself is") {
  check_merging(problem_of(epoch_ring(6), all_to_all_chunks(6)), 6);
  check_merging(problem_of(epoch_ring(5), all_to_all_chunks(5, 2)), 8);
  check_merging(problem_of(epoch_torus(3, 3), all_to_all_chunks(9)), 5);
  check_merging(problem_of(epoch_torus(3, 3), gather_chunks(9, 4)), 3);
  check_merging(problem_of(epoch_torus(3, 3), scatter_chunks(9, 0)), 3);
  check_merging(problem_of(epoch_dgx1(1), all_to_all_chunks(8)), 7);
  check_merging(problem_of(epoch_chassis(2), gather_chunks(8, 1)), 12);
}

TEST_CASE("flows through a switch merged by symmetry are worth what each is", "[slow]") {
  check_merging(problem_of(epoch_chassis(2), all_to_all_chunks(8)), 19);
}

TEST_CASE("moves keep the network, what it lets through and what is sent") {
  const EpochProblem problem = problem_of(epoch_chassis(3), all_to_all_chunks(12));
  const EpochNetwork& network = problem.network;
  const std::vector<ChunkAutomorphism> moves = epoch_moves(problem, epoch_sources(problem));
  REQUIRE_FALSE(moves.empty());
  for (const ChunkAutomorphism& move : moves) {
    for (std::uint32_t l = 0; l < network.lanes.size(); ++l) {
      const Lane &lane = network.lanes[l], &image = network.lanes[move.lanes[l]];
      CHECK(image.from == move.nodes[lane.from]);
      CHECK(image.to == move.nodes[lane.to]);
      CHECK(image.delay == lane.delay);
      // made by hand, each lane has the limit of its own number
      CHECK(move.limits[l] == move.lanes[l]);
      CHECK(network.limits[move.limits[l]].window == network.limits[l].window);
    }
  }
  // one chunk that differs leaves only what keeps its ends in their places
  EpochProblem uneven = problem;
  uneven.chunks.push_back({{0}, {2}});
  for (const ChunkAutomorphism& move : epoch_moves(uneven, epoch_sources(uneven))) {
    CHECK(move.nodes[0] == 0);
    CHECK(move.nodes[2] == 2);
  }
}

TEST_CASE("whole chunks take few epochs more than flows at least") {
  struct Case {
    std::string name;
    EpochProblem problem;
    std::uint32_t more; ///< epochs, at most
  };
  std::vector<Case> cases;
  cases.push_back({"ring 8", problem_of(epoch_ring(8), all_to_all_chunks(8)), 0});
  cases.push_back({"ring 7", problem_of(epoch_ring(7), all_to_all_chunks(7)), 1});
  cases.push_back({"torus 4x4", problem_of(epoch_torus(4, 4), all_to_all_chunks(16)), 1});
  cases.push_back({"torus 3x4", problem_of(epoch_torus(3, 4), all_to_all_chunks(12)), 1});
  cases.push_back({"dgx1", problem_of(epoch_dgx1(0), all_to_all_chunks(8)), 1});
  cases.push_back({"dgx1, latency", problem_of(epoch_dgx1(2), all_to_all_chunks(8)), 1});
  cases.push_back({"chassis", problem_of(epoch_chassis(2), all_to_all_chunks(8)), 2});
  cases.push_back({"gather", problem_of(epoch_torus(3, 3), gather_chunks(9, 4)), 0});
  cases.push_back({"scatter", problem_of(epoch_torus(3, 3), scatter_chunks(9, 4)), 0});
  for (const Case& each : cases) {
    INFO(each.name);
    const std::optional<std::uint32_t> least = fewest_flow_epochs(each.problem, 0, no_limit());
    REQUIRE(least);
    const EpochFlows flows = checked_flows(each.problem, *least);
    REQUIRE(flows.status == SolverStatus::optimal);
    const EpochPlan plan = integral_plan(each.problem, flows);
    CHECK(epoch_fault(each.problem, plan) == "");
    const std::uint32_t length = epochs_of(each.problem, plan).value_or(0);
    CHECK(length >= *least);
    CHECK(length <= *least + each.more);
    CHECK(integral_plan(each.problem, flows) == plan);
  }
}

TEST_CASE("fewest epochs of an All-to-All in a ring is what its links have to carry") {
  // 8 nodes: distances 1 2 3 4 3 2 1 of 8 sources over 16 links: 8 epochs, no waiting needed
  const EpochProblem ring = problem_of(epoch_ring(8), all_to_all_chunks(8));
  CHECK(fewest_flow_epochs(ring, 0, no_limit()) == 8);
  CHECK(fewest_flow_epochs(ring, 8, no_limit()) == 8);
  // 4x4: a node's distances sum to 32, over 4 links: 8
  const EpochProblem torus = problem_of(epoch_torus(4, 4), all_to_all_chunks(16));
  CHECK(fewest_flow_epochs(torus, 0, no_limit()) == 8);
}

TEST_CASE("what limits carry in all bounds the epochs from below") {
  const auto by_load = [](const EpochProblem& problem, std::uint32_t at_least) {
    const std::vector<EpochSource> sources = epoch_sources(problem);
    const auto moves = epoch_moves(problem, sources);
    const EpochFlowOrbits orbits = epoch_flow_orbits(problem.network, sources, moves);
    return epochs_by_load(problem, sources, orbits, at_least, no_limit());
  };
  CHECK(by_load(problem_of(epoch_ring(8), all_to_all_chunks(8)), 4) == 8);
  // 4 * 12 chunks leave a chassis over two links, one every other epoch: the last of 24 enters in
  // epoch 46 and is there 3 + 1 epochs later
  const EpochProblem chassis = problem_of(epoch_chassis(4), all_to_all_chunks(16));
  CHECK(by_load(chassis, 6) == 50);
  CHECK(fewest_flow_epochs(chassis, 0, no_limit()) == 50);
  EpochNetworkMaker detour(3); // what nobody needs to use asks for nothing
  detour.add(0, 1);
  detour.add(0, 2, 50);
  detour.add(2, 1, 50);
  CHECK(by_load(problem_of(detour.made(), {{{0}, {1}}}), 1) == 1);
  for (std::uint64_t seed = 100; seed < 160; ++seed) {
    const EpochProblem problem = random_problem(seed, 8);
    INFO("seed " << seed);
    const auto fewest = fewest_flow_epochs(problem, 0, no_limit());
    if (!fewest) continue;
    CHECK(by_load(problem, 1) <= *fewest);
    CHECK(epoch_flows(problem, *fewest, no_limit()).status == SolverStatus::optimal);
    CHECK(epoch_flows(problem, *fewest - 1, no_limit()).status == SolverStatus::infeasible);
  }
}

TEST_CASE("a buffer limit is kept by flows and by plans") {
  EpochNetworkMaker maker(4); // 0 and 1 send over 2 to 3; the lane out of 2 is slow
  maker.add(0, 2);
  maker.add(1, 2);
  maker.add(2, 3, 1, 3);
  EpochProblem problem = problem_of(maker.made(), {{{0}, {3}}, {{1}, {3}}, {{0}, {3}}});
  problem.buffer_limit = 1;
  const EpochFlows flows = epoch_flows(problem, 9, no_limit());
  REQUIRE(flows.status == SolverStatus::optimal);
  CHECK(flow_fault(problem, flows) == "");
  const EpochPlan plan = integral_plan(problem, flows);
  CHECK(epoch_fault(problem, plan) == "");
  CHECK(plan.size() == 6);
  // what is passed on at once is there for an epoch too
  problem.buffer_limit = 0;
  CHECK(epoch_flows(problem, 9, no_limit()).status == SolverStatus::infeasible);
}

TEST_CASE("a tracer takes the whole flow, whatever is asked for first") {
  EpochNetworkMaker maker(3);
  maker.add(0, 1); // what comes early leaves early
  maker.add(1, 2);
  const EpochNetwork network = maker.made();
  const std::vector<TimedAmount> flow{{Epoch{0}, LaneId{0}, 0.5},
                                      {Epoch{4}, LaneId{0}, 0.5},
                                      {Epoch{2}, LaneId{1}, 0.5},
                                      {Epoch{6}, LaneId{1}, 0.5}};
  FlowTracer tracer(network, NodeId{0}, flow);
  const auto late = tracer.take(NodeId{2}, Epoch{7}, 1);
  REQUIRE(late);
  CHECK(late->amount == 0.5);
  CHECK(late->steps == std::vector<TimedStep>{{Epoch{4}, LaneId{0}}, {Epoch{6}, LaneId{1}}});
  const auto early = tracer.take(NodeId{2}, Epoch{3}, 1);
  REQUIRE(early);
  CHECK(early->steps == std::vector<TimedStep>{{Epoch{0}, LaneId{0}}, {Epoch{2}, LaneId{1}}});
  CHECK_FALSE(tracer.take(NodeId{2}, Epoch{9}, 1));
}

TEST_CASE("a tracer leaves detours out") {
  EpochNetworkMaker maker(4);
  maker.add(0, 1);
  maker.add(1, 2);
  maker.add(2, 1);
  maker.add(1, 3);
  const EpochNetwork network = maker.made();
  const std::vector<TimedAmount> flow{{Epoch{0}, LaneId{0}, 1},
                                      {Epoch{1}, LaneId{1}, 1},
                                      {Epoch{2}, LaneId{2}, 1},
                                      {Epoch{3}, LaneId{3}, 1}};
  FlowTracer tracer(network, NodeId{0}, flow);
  const auto way = tracer.take(NodeId{3}, Epoch{4}, 1);
  REQUIRE(way);
  CHECK(way->amount == 1);
  CHECK(way->steps == std::vector<TimedStep>{{Epoch{0}, LaneId{0}}, {Epoch{3}, LaneId{3}}});
}

} // namespace teccl_flows_test
