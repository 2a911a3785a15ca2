// Every way that sccl answers one instance, compared with exhaustive search on random tiny
// problems: schedules exist where it says so, and are correct; none exist where it says so.
#include "sim/verify.hpp"
#include "synth/sccl/fault.hpp"
#include "synth/sccl/flows.hpp"
#include "synth/sccl/multicast.hpp"
#include "synth/sccl/rounds.hpp"
#include "synth/sccl/transfers.hpp"
#include "synth/sccl/unicast.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/synth/sccl/exhaustive_steps.hpp"
#include "tests/synth/sccl/random_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace exhaustive_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

constexpr std::uint64_t most_choices = 200'000;

/// How much was compared, so that a test can't pass by comparing nothing.
struct Tally {
  std::uint32_t exist = 0, impossible = 0, undecided = 0, symmetric = 0, unicast = 0;
};

/// Counts again what every link and group carries in each step, without lanes and limits.
std::string overload(const Topology& topology, const StepNetwork& network,
                     const StepSchedule& schedule) {
  for (std::uint32_t step = 0; step < schedule.rounds.size(); ++step) {
    std::vector<std::int64_t> crossings(topology.link_count());
    for (const StepSend& send : schedule.sends)
      if (send.step == Step{step})
        for (const LinkId link : network.lane(send.lane).links) ++crossings[link.value];
    const auto exceeds = [&](std::int64_t chunks, Bandwidth bandwidth) {
      return chunks * network.round.bytes_per_second >
             schedule.rounds[step] * bandwidth.bytes_per_second;
    };
    for (std::uint32_t l = 0; l < topology.link_count(); ++l)
      if (exceeds(crossings[l], topology.link(LinkId{l}).bandwidth))
        return "link " + std::to_string(l) + " in step " + std::to_string(step);
    for (const SharedGroup& group : topology.groups()) {
      std::int64_t chunks = 0;
      for (const LinkId link : group.links) chunks += crossings[link.value];
      if (exceeds(chunks, group.bandwidth)) return group.name + " in step " + std::to_string(step);
    }
  }
  return "";
}

/// One problem, and all that is asked of it.
class Comparison {
public:
  Comparison(const StepCase& asked, Tally& tally)
      : topology_(asked.topology), collective_(asked.collective),
        problem_(step_problem(topology_, collective_, false)), generators_(automorphisms(problem_)),
        symmetries_(free_symmetries(problem_, generators_, 4)), tally_(tally) {}

  [[nodiscard]] std::uint32_t fewest() const { return fewest_steps(problem_); }

  void compare(const StepInstance& instance) {
    const ExhaustiveAnswer truth = try_all_schedules(problem_, instance, most_choices);
    if (truth.existence == Existence::undecided) {
      ++tally_.undecided;
      return;
    }
    const bool exists = truth.existence == Existence::exists;
    ++(exists ? tally_.exist : tally_.impossible);
    INFO(collective_.name() << " in " << instance.chunks_per_shard << " chunks per shard, "
                            << instance.steps << " steps, " << instance.rounds << " rounds");
    if (exists) {
      CHECK(step_fault(problem_, instance, truth.schedule) == "");
      CHECK(least(instance.steps) <= Ratio(instance.rounds, instance.chunks_per_shard));
    }
    agree(instance, multicast_steps(problem_, instance, {}, any_, limit_), exists);
    if (is_flow(instance))
      agree(instance, unicast_steps(problem_, instance, {}, any_, limit_), exists);
    tally_.unicast += is_flow(instance) ? 1 : 0;
    if (const auto rounds = earliest_rounds(problem_, instance); !rounds.empty())
      imply(instance, multicast_steps(problem_, instance, {}, {-1, {}, rounds}, limit_), exists);
    for (const StepSymmetry& symmetry : symmetries_) {
      INFO("kept by a symmetry of order " << symmetry.size());
      imply(instance, multicast_steps(problem_, instance, symmetry, any_, limit_), exists);
      if (is_flow(instance))
        imply(instance, unicast_steps(problem_, instance, symmetry, any_, limit_), exists);
    }
  }

private:
  [[nodiscard]] bool is_flow(const StepInstance& instance) const {
    return problem_.is_unicast() && instance.steps >= fewest();
  }

  /// The greatest of the bounds that any number of steps, these steps, and these without merged
  /// variables have.
  Ratio least(std::uint32_t steps) {
    const auto known = least_.find(steps);
    if (known != least_.end()) return known->second;
    const Ratio merged = least_rounds(problem_, generators_, steps, limit_);
    CHECK(least_rounds(problem_, generators_, std::nullopt, limit_) <= merged);
    return least_[steps] = std::max(merged, least_rounds(problem_, {}, steps, limit_));
  }

  void agree(const StepInstance& instance, const StepAnswer& answer, bool exists) {
    CHECK(answer.answer == (exists ? SatAnswer::sat : SatAnswer::unsat));
    CHECK(answer.schedule.has_value() == exists);
    if (answer.schedule) check(instance, *answer.schedule);
  }

  /// A restricted search finds nothing that doesn't exist.
  void imply(const StepInstance& instance, const StepAnswer& answer, bool exists) {
    CHECK(answer.answer != SatAnswer::unknown);
    CHECK((exists || answer.answer == SatAnswer::unsat));
    CHECK(answer.schedule.has_value() == (answer.answer == SatAnswer::sat));
    if (!answer.schedule) return;
    ++tally_.symmetric;
    check(instance, *answer.schedule);
  }

  void check(const StepInstance& instance, const StepSchedule& schedule) {
    CHECK(step_fault(problem_, instance, schedule) == "");
    CHECK(overload(topology_, problem_.network, schedule) == "");
    const Verdict verdict =
        verify(topology_, cut(topology_, collective_, instance.chunks_per_shard),
               as_schedule(topology_, problem_, schedule));
    CHECK((verdict.fault ? verdict.fault->text : "") == "");
    CHECK(verdict.redundant == 0);
  }

  const Topology& topology_;
  const Collective& collective_;
  StepProblem problem_;
  std::vector<StepAutomorphism> generators_;
  std::vector<StepSymmetry> symmetries_;
  std::map<std::uint32_t, Ratio> least_; // by steps
  StepSearch any_;
  SynthesisOptions options_;
  WorkLimit limit_{options_};
  Tally& tally_;
};

/// All rounds from S to S + 3 for some steps and chunks per shard: on both sides of what is
/// possible.
void compare_random(std::uint64_t first, std::uint64_t last, Tally& tally) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const StepCase asked = random_step_case(seed);
    INFO("seed " << seed);
    Comparison comparison(asked, tally);
    const std::uint32_t fewest = comparison.fewest();
    const std::uint32_t steps = fewest + static_cast<std::uint32_t>(seed % 3);
    const std::uint32_t chunks_per_shard = 1 + static_cast<std::uint32_t>(seed / 3 % 3);
    for (std::uint32_t rounds = steps; rounds <= steps + 3; ++rounds)
      comparison.compare({chunks_per_shard, steps, rounds});
    if (fewest > 1) comparison.compare({chunks_per_shard, fewest - 1, fewest + 3});
  }
}

std::vector<Topology> symmetric_networks() {
  std::vector<Topology> networks{samples::ring(3),   samples::ring(4), samples::ring(4, true),
                                 samples::full(3),   samples::full(4), samples::star(3),
                                 samples::mesh(2, 2)};
  TopologyParts bus = samples::ring(4).parts(); // half duplex, all over one bus
  bus.groups.push_back({"bus", {}, {3 * samples::bandwidth.bytes_per_second / 2}});
  for (std::uint32_t l = 0; l < bus.links.size(); ++l) bus.groups[0].links.emplace_back(l);
  networks.emplace_back(std::move(bus));
  return networks;
}

void compare_symmetric(std::uint32_t most_chunks_per_shard, Tally& tally) {
  for (const Topology& topology : symmetric_networks())
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::broadcast,
                                      CollectiveKind::gather, CollectiveKind::all_to_all}) {
      const StepCase asked{topology, make_collective(topology, {kind, Bytes{4'800'000}, {}})};
      Comparison comparison(asked, tally);
      INFO(topology.name());
      for (std::uint32_t chunks_per_shard = 1; chunks_per_shard <= most_chunks_per_shard;
           ++chunks_per_shard)
        for (std::uint32_t steps = comparison.fewest(); steps < comparison.fewest() + 2; ++steps)
          for (std::uint32_t rounds = steps; rounds <= steps + 2; ++rounds)
            comparison.compare({chunks_per_shard, steps, rounds});
    }
}

} // namespace

TEST_CASE("sccl's instances have schedules exactly where exhaustive search finds one", "[heavy]") {
  Tally tally;
  compare_random(0, 40, tally);
  compare_symmetric(1, tally);
  CHECK(tally.exist > 100);
  CHECK(tally.impossible > 40);
  CHECK(tally.undecided < 20);
  CHECK(tally.symmetric > 20);
  CHECK(tally.unicast > 50);
}

TEST_CASE("sccl's instances have schedules exactly where exhaustive search finds one, at length",
          "[slow]") {
  Tally tally;
  compare_random(40, 1000, tally);
  compare_symmetric(3, tally);
  CHECK(tally.exist > 2000);
  CHECK(tally.impossible > 700);
  CHECK(tally.undecided < 500);
}

} // namespace exhaustive_test
