// Random workloads against a check that replays all communication as jobs; folded against unfolded;
// one engine against the other.
#include "sim/engines/agreement.hpp"
#include "sim/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sim/random_workload.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace iteration_random_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

void check_equal(const IterationReport& a, const IterationReport& b) {
  CHECK(a.duration == b.duration);
  CHECK(a.accounts == b.accounts);
  CHECK(a.communication == b.communication);
  CHECK(a.spans == b.spans);
  CHECK(a.operations == b.operations);
  CHECK(a.communications == b.communications);
  CHECK(a.link_transfers == b.link_transfers);
  REQUIRE(a.links.size() == b.links.size());
  for (std::size_t l = 0; l < a.links.size(); ++l) {
    CHECK(a.links[l].bytes == b.links[l].bytes);
    CHECK(a.links[l].busy == b.links[l].busy);
    CHECK(a.links[l].transfers == b.links[l].transfers);
  }
}

/// How often the engines were compared, and differ by more than rounding: an order that depends on
/// less than a picosecond.
struct Compared {
  int runs = 0, apart = 0;
  int halts_apart = 0; ///< of `apart`, those that end otherwise; none in the fast cases
  void take(std::uint64_t seed, const RandomWorkload& random, const IterationReport& native,
            const IterationReport& simgrid) {
    ++runs;
    const EngineAgreement agreement = agreement_of(random.topology, random.workload, random.plans,
                                                   random.options(false), native, simgrid);
    if (agreement.holds) return;
    ++apart;
    UNSCOPED_INFO("seed " << seed << ": " << to_text(agreement));
  }

  /// What happens at once by exact numbers has an order of its own by each engine's rounding, and
  /// with one communication at a time that may decide who waits for whom for ever.
  bool same_halt(std::uint64_t seed, const std::string& native, const std::string& simgrid) {
    if (native == simgrid) return true;
    ++runs;
    ++apart;
    ++halts_apart;
    UNSCOPED_INFO("seed " << seed << ": \"" << native << "\" and \"" << simgrid << "\"");
    return false;
  }
};

void compare(std::uint64_t seed, bool disturbed, Compared* with_simgrid, bool late = false) {
  INFO("seed " << seed << (disturbed ? ", disturbed" : "") << (late ? ", late" : ""));
  RandomWorkload random = random_workload(seed, disturbed);
  if (late) delay_starts(random, seed);
  const IterationReport unfolded =
      run_iteration_native(random.topology, random.workload, random.plans, random.options(false));
  REQUIRE(fault_of(random, unfolded) == "");
  const IterationReport folded =
      run_iteration_native(random.topology, random.workload, random.plans, random.options(true));
  check_equal(unfolded, folded);
  if (with_simgrid != nullptr)
    with_simgrid->take(seed, random, unfolded,
                       run_iteration_simgrid(random.topology, random.workload, random.plans,
                                             random.options(true)));
}

/// What a run says: its report, or why it comes to a halt.
template <typename Run>
std::string halt_of(const Run& run, const RandomWorkload& random, bool fold,
                    std::optional<IterationReport>& report) {
  return message_of(
      [&] { report = run(random.topology, random.workload, random.plans, random.options(fold)); });
}

/// Returns whether it ends: members may wait for each other's one communication.
bool compare_turns(std::uint64_t seed, bool disturbed, Compared* with_simgrid, bool late = false) {
  INFO("seed " << seed << (disturbed ? ", disturbed" : "") << (late ? ", late" : ""));
  RandomWorkload random = random_workload(seed, disturbed);
  if (late) delay_starts(random, seed);
  random.one_at_a_time = true;
  std::optional<IterationReport> unfolded, folded, simgrid;
  const std::string halt = halt_of(run_iteration_native, random, false, unfolded);
  REQUIRE(halt_of(run_iteration_native, random, true, folded) == halt);
  const bool has_both =
      with_simgrid != nullptr &&
      with_simgrid->same_halt(seed, halt, halt_of(run_iteration_simgrid, random, true, simgrid));
  if (!unfolded) {
    REQUIRE(halt.starts_with("the run comes to a halt with "));
    return false;
  }
  REQUIRE(fault_of(random, *unfolded) == "");
  check_equal(*unfolded, *folded);
  if (has_both) with_simgrid->take(seed, random, *unfolded, *simgrid);
  return true;
}

} // namespace

TEST_CASE("random workloads, one communication at a time", "[heavy]") {
  int ended = 0;
  Compared compared;
  for (std::uint64_t seed = 0; seed < 800; ++seed)
    ended += compare_turns(seed, seed % 3 == 0, seed % 20 == 0 ? &compared : nullptr) ? 1 : 0;
  CHECK(ended > 300);
  CHECK(compared.halts_apart == 0);
  CHECK(compared.apart <= compared.runs / 20);
}

TEST_CASE("many random workloads, one communication at a time", "[slow]") {
  Compared compared;
  for (std::uint64_t seed = 800; seed < 10'000; ++seed)
    (void)compare_turns(seed, seed % 3 == 0, seed % 10 == 0 ? &compared : nullptr);
  CHECK(compared.apart <= compared.runs / 20);
}

TEST_CASE("random workloads: operations begin and end when they should, folded or not", "[heavy]") {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) compare(seed, false, nullptr);
}

TEST_CASE("random workloads with events and stragglers, folded or not", "[heavy]") {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) compare(seed, true, nullptr);
}

TEST_CASE("random workloads: both engines agree", "[heavy]") {
  Compared compared;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    compare(seed, false, &compared);
    compare(seed, true, &compared);
  }
  CHECK(compared.apart <= compared.runs / 20);
}

TEST_CASE("random workloads whose NPUs start late") {
  int ended = 0;
  Compared compared;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Compared* const with_simgrid = seed % 15 == 0 ? &compared : nullptr;
    compare(seed, seed % 3 == 0, with_simgrid, true);
    ended += compare_turns(seed, seed % 3 == 0, with_simgrid, true) ? 1 : 0;
  }
  CHECK(ended > 100);
  CHECK(compared.halts_apart == 0);
  CHECK(compared.apart <= compared.runs / 20);
}

TEST_CASE("many random workloads", "[slow]") {
  Compared compared;
  for (std::uint64_t seed = 1500; seed < 10'000; ++seed) {
    Compared* const with_simgrid = seed % 10 == 0 ? &compared : nullptr;
    compare(seed, false, nullptr);
    compare(seed, true, with_simgrid);
    compare(seed, seed % 2 == 0, with_simgrid, true);
    (void)compare_turns(seed, seed % 2 == 0, with_simgrid, true);
  }
  CHECK(compared.apart <= compared.runs / 20);
}

} // namespace iteration_random_test
