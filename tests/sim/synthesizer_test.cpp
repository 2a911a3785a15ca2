// What synthesize() does around every algorithm: refusals, settings, abilities, and collectives of
// several parts.

#include "sim/synthesizer.hpp"

#include "sim/error.hpp"
#include "sim/verify.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <array>

namespace synthesizer_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

constexpr std::array only_gather{CollectiveKind::gather};

/// A stand-in: `direct`, with the status and bound that a solver would state.
Outcome solver(const Topology& topology, const Collective& collective,
               const SynthesisOptions& options) {
  Outcome outcome = direct(topology, collective, options);
  const bool timed_out = collective.parts[0].root == 1;
  outcome.status = timed_out ? Status::timed_out : Status::optimal;
  outcome.bound = Time{timed_out ? 7 : 5};
  return outcome;
}

const AlgorithmRow solver_row{"solver", solver, only_gather, 1, "any", "this test"};

Collective gather(const Topology& topology, std::vector<NodeId> group, std::uint32_t root = 0) {
  return make_collective(topology, {CollectiveKind::gather, Bytes{100}, std::move(group), root, 1});
}

} // namespace

TEST_CASE("several collectives at once are made part by part") {
  const Topology topology = mesh(2, 3);
  const auto part = [&](CollectiveKind kind, std::vector<NodeId> group) {
    return make_collective(topology, {kind, Bytes{1000}, std::move(group), 0, 2});
  };
  const std::array parts{part(CollectiveKind::all_reduce, {NodeId{0}, NodeId{1}, NodeId{5}}),
                         part(CollectiveKind::all_to_all, {}),
                         part(CollectiveKind::broadcast, {NodeId{2}, NodeId{4}})};
  const Collective all = merge(parts);
  for (const std::string_view name : {"ring", "direct"}) {
    const Schedule schedule = schedule_of(name, topology, all);
    const Verdict verdict = verify(topology, all, schedule);
    CHECK(verdict.correct());
    CHECK(verdict.redundant == 0);
  }
  const Outcome refusal = run_baseline("rhd", topology, all);
  CHECK_FALSE(refusal.schedule);
  CHECK(refusal.note == "rhd needs a power of two of NPUs, not 3");
}

TEST_CASE("the whole is as good as its worst part, and no faster than its slowest") {
  const Topology topology = ring(5);
  const std::array optimal{gather(topology, {}), gather(topology, {NodeId{1}, NodeId{2}})};
  CHECK(synthesize(solver_row, topology, optimal[0], {}).status == Status::optimal);
  const Outcome both = synthesize(solver_row, topology, merge(optimal), {});
  CHECK(both.status == Status::feasible); // each alone optimal, not both at once
  CHECK(both.bound == Time{5});
  CHECK(both.routing == "shortest");
  const std::array late{gather(topology, {}), gather(topology, {}, 1)};
  const Outcome timed_out = synthesize(solver_row, topology, merge(late), {});
  CHECK(timed_out.status == Status::timed_out);
  CHECK(timed_out.bound == Time{7});
}

TEST_CASE("synthesize refuses what can't be before it runs anything") {
  const Topology line = [] {
    TopologyParts parts = npus("line", 3);
    parts.add_link(link(0, 1));
    parts.add_link(link(1, 2));
    return Topology(std::move(parts));
  }();
  const Outcome impossible = synthesize(solver_row, line, gather(line, {}), {});
  CHECK(impossible.status == Status::infeasible);
  CHECK(impossible.note == "chunk 1 can't get from npu1 to npu0");
  const Topology topology = ring(4);
  const Collective reduce =
      make_collective(topology, {CollectiveKind::reduce, Bytes{100}, {}, 0, 1});
  const Outcome refusal = synthesize(solver_row, topology, reduce, {});
  CHECK(refusal.status == Status::unsupported);
  CHECK(refusal.note == "solver doesn't define reduce");
}

TEST_CASE("unknown settings are refused in words") {
  SynthesisOptions options;
  options.settings["treis"] = "3";
  const Topology topology = samples::ring(3);
  const Collective gather =
      make_collective(topology, {CollectiveKind::all_gather, Bytes{100}, {}, 0, 1});
  AlgorithmRow row = solver_row;
  CHECK_THROWS_WITH(synthesize(row, topology, gather, options),
                    "unknown setting \"treis\" (solver has none)");
  const std::array known{Setting{"tries", "3"}, Setting{"pool", "1"}};
  row.settings = known;
  CHECK_THROWS_WITH(
      synthesize(row, topology, gather, options),
      "unknown setting of solver \"treis\" (known: tries, pool; did you mean \"tries\"?)");
  options.settings = {{"pool", "4"}};
  CHECK_NOTHROW(synthesize(row, topology, gather, options));
}

TEST_CASE("members that lack an ability are named") {
  TopologyParts parts = mesh_parts(1, 3);
  parts.nodes[2].can.reduce = false;
  const Topology topology(std::move(parts));
  const auto make = [&](CollectiveKind kind) {
    return make_collective(topology, {kind, Bytes{100}, {}, 0, 1});
  };
  const Outcome refusal = run_baseline("direct", topology, make(CollectiveKind::all_reduce));
  CHECK(refusal.status == Status::unsupported);
  CHECK(refusal.note == "npu2 can't reduce");
  CHECK(run_baseline("direct", topology, make(CollectiveKind::all_gather)).schedule);
}

TEST_CASE("status names") {
  CHECK(to_text(Status::optimal) == "optimal");
  CHECK(to_text(Status::feasible) == "feasible");
  CHECK(to_text(Status::infeasible) == "infeasible");
  CHECK(to_text(Status::unsupported) == "unsupported");
  CHECK(to_text(Status::timed_out) == "timed_out");
}

} // namespace synthesizer_test
