// SimGrid's fluid sharing against exact water-filling, on random cases whose transfers name others
// and whose nodes start late.

#include "tests/sim/exact_fluid.hpp"

#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/random_case.hpp"

#include <cmath>

namespace exact_fluid_test {

using namespace tutti;

namespace {

struct Compared {
  std::size_t cases = 0, transfers = 0, differing = 0;
  double worst = 0; // ps beyond what is allowed
};

Compared compare(std::uint64_t first, std::uint64_t last) {
  Compared compared;
  TimeModel fluid;
  fluid.discipline = Discipline::fluid;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    testing::RandomCase c = testing::random_case(seed, false);
    Random random(seed);
    testing::add_dependencies(random, c);
    std::vector<Time> starts;
    for (const Node& node : c.topology.nodes())
      starts.push_back(Time{node.can.store && random.below(3) == 0
                                ? 500 * static_cast<std::int64_t>(random.below(20'000))
                                : std::int64_t{0}});
    RunOptions options{.record_deliveries = true};
    options.starts = starts;
    const Report report = run_simgrid(c.topology, c.collective, c.schedule, fluid, options);
    const std::vector<double> exact =
        testing::exact_fluid(c.topology, c.collective, c.schedule, options);
    ++compared.cases;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      ++compared.transfers;
      // A picosecond for each event before it, and what doubles lose.
      const double allowed = static_cast<double>(c.schedule.size()) + 1e-9 * exact[i];
      const double off =
          std::abs(static_cast<double>(report.deliveries[i].ps) - exact[i]) - allowed;
      if (off <= 0) continue;
      if (compared.differing++ < 5)
        UNSCOPED_INFO("seed " << seed << ", transfer " << i << ": SimGrid "
                              << report.deliveries[i].ps << " ps, exactly " << exact[i]);
      compared.worst = std::max(compared.worst, off);
    }
  }
  return compared;
}

} // namespace

TEST_CASE("fluid sharing by SimGrid is exact water-filling, with dependencies and late starts",
          "[heavy]") {
  const Compared compared = compare(1, 300);
  CHECK(compared.differing == 0);
  CHECK(compared.worst == 0);
  CHECK(compared.transfers > 3000);
}

TEST_CASE("fluid sharing by SimGrid is exact water-filling in 2,000 cases", "[slow]") {
  CHECK(compare(301, 2300).differing == 0);
}

} // namespace exact_fluid_test
