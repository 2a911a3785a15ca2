// Proofs that an instance has no schedule, read by a checker that knows nothing of the solver.
#include "sim/files/files.hpp"
#include "synth/list.hpp"
#include "synth/sccl/flows.hpp"
#include "synth/sccl/multicast.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/synth/sccl/random_steps.hpp"
#include "tests/synth/sccl/samples.hpp"
#include "tests/synth/solvers/drat_check.hpp"
#include "tests/temporary_folder.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace proof_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

const SynthesisOptions no_limit;

SatAnswer answer_to(const StepProblem& problem, const StepInstance& instance,
                    const std::string& proof) {
  return multicast_steps(problem, instance, {}, {-1, proof, {}}, WorkLimit(no_limit)).answer;
}

} // namespace

TEST_CASE("an instance without schedule comes with a proof") {
  const TemporaryFolder folder;
  const std::string file = folder.file("proof.drat");
  std::uint32_t proofs = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    const StepCase asked = random_step_case(seed);
    const StepProblem problem = step_problem(asked.topology, asked.collective, false);
    const std::uint32_t steps = fewest_steps(problem);
    const auto chunks_per_shard = 1 + static_cast<std::uint32_t>(seed % 3);
    if (answer_to(problem, {chunks_per_shard, steps, steps}, file) == SatAnswer::sat) continue;
    CHECK(drat_fault(read_file(file + ".cnf"), read_file(file)) == "");
    ++proofs;
  }
  CHECK(proofs > 10);
}

TEST_CASE("a proof of one instance is none of another") {
  const TemporaryFolder folder;
  const std::string few = folder.file("few.drat"), enough = folder.file("enough.drat");
  // Nine chunks come in over two lanes in four rounds, or in five.
  const StepProblem ring = samples::all_gather(samples::ring_lanes(4));
  REQUIRE(answer_to(ring, {3, 3, 4}, few) == SatAnswer::unsat);
  REQUIRE(answer_to(ring, {3, 3, 5}, enough) == SatAnswer::sat);
  const std::string proof = read_file(few);
  CHECK(drat_fault(read_file(few + ".cnf"), proof) == "");
  CHECK(drat_fault(read_file(enough + ".cnf"), proof) != "");
  CHECK(drat_fault(read_file(enough + ".cnf"), read_file(enough)) ==
        "the empty clause isn't derived");
}

TEST_CASE("the setting proof leaves a proof of the instance that was asked for") {
  const TemporaryFolder folder;
  const Topology ring = samples::ring(4);
  const AlgorithmRow& row =
      *std::ranges::find(synthesizers(), std::string_view("sccl"), &AlgorithmRow::name);
  const auto outcome = [&](CollectiveKind kind, const char* steps, const char* rounds,
                           const std::string& file) {
    SynthesisOptions options;
    options.settings = {{"steps", steps}, {"rounds", rounds}, {"proof", file}};
    return synthesize(row, ring, make_collective(ring, {kind, Bytes{12'000'000}, {}, 0, 2}),
                      options);
  };
  // Six chunks come in over two lanes, from one step away in one step; a Gather's to its root.
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                    CollectiveKind::gather, CollectiveKind::scatter})
    for (const auto& [steps, rounds] : {std::pair{"2", "2"}, {"1", "4"}}) {
      INFO(to_text(kind) << ' ' << steps << ' ' << rounds);
      const std::string file = folder.file(std::string(to_text(kind)) + steps);
      CHECK(outcome(kind, steps, rounds, file).status == Status::infeasible);
      CHECK(drat_fault(read_file(file + ".cnf"), read_file(file)) == "");
    }
  CHECK(message_of([&] {
          (void)outcome(CollectiveKind::all_reduce, "4", "4", folder.file("all_reduce"));
        }) == "a proof is of one instance: All-Reduce is composed of two");
}

} // namespace proof_test
