// A limit is one of the whole row: wherever it comes, the row says what it has and what it hasn't
// done, and nothing goes on. Time is the number of questions, so that every place is tried.
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "tests/catch.hpp"
#include "tests/counted_limit.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace row_limit_test {

using namespace tutti;

namespace {

Evaluation evaluated(const CountedLimit& limit, const Topology& topology, const char* algorithm,
                     const char* collective, std::optional<std::uint32_t> chunks) {
  Case c;
  c.topology_label = topology.name();
  c.topology = &topology;
  c.collective = {{collective}, {std::int64_t{1} << 30}};
  c.algorithm = find_algorithm(algorithm);
  c.engine = &find_engine("native");
  c.chunks = chunks;
  c.options = limit.options;
  return evaluate(c);
}

void check_row(const Topology& topology, const char* algorithm, const char* collective,
               std::optional<std::uint32_t> chunks) {
  constexpr std::uint64_t enough = 1'000'000, most_in_vain = 40;
  const CountedLimit unlimited(enough);
  const Evaluation whole = evaluated(unlimited, topology, algorithm, collective, chunks);
  REQUIRE(whole.replays.size() == 1);
  const std::uint64_t all = unlimited.asked();
  CHECK(all > 3); // synthesis, verification and replay at least
  bool had_no_time = false;
  for (std::uint64_t questions = 1; questions + 5 < all; questions += 1 + questions / 2) {
    const CountedLimit limit(questions);
    const Evaluation e = evaluated(limit, topology, algorithm, collective, chunks);
    INFO(topology.name() << ", " << algorithm << ", " << collective << ", " << questions << " of "
                         << all << ": " << to_text(e.status) << ", " << e.note);
    CHECK(e.problem.empty());
    if (e.replays.empty()) {
      CHECK(e.status == Status::timed_out);
      CHECK_FALSE(e.note.empty());
      had_no_time = true;
    } else
      CHECK(e.verified);
    const std::uint64_t beyond = std::max<std::uint64_t>(questions / 10, 5); // for what there is
    CHECK(limit.asked_in_vain() <= beyond + most_in_vain);
  }
  CHECK((had_no_time || all < 20));
}

} // namespace

TEST_CASE("a row ends at its limit and says what it has not done") {
  const Topology dgx = make_topology("dgx1"), switches = make_topology("two_level_switch:2x3");
  for (const char* algorithm : {"tacos", "flows", "direct", "nccl"}) {
    check_row(dgx, algorithm, "all_gather", 1);
    check_row(switches, algorithm, "all_reduce", 1);
  }
  check_row(make_topology("ring:4"), "tacos", "all_gather", std::nullopt);
}

TEST_CASE("every algorithm's row ends at its limit and says what it has not done", "[slow]") {
  for (const char* network : {"torus2d:3x3", "two_level_switch:2x4", "dgx1"}) {
    const Topology topology = make_topology(network);
    for (const char* algorithm : {"tacos", "flows", "taccl", "direct", "nccl", "multitree"})
      for (const char* collective : {"all_gather", "all_reduce"})
        for (const auto chunks : {std::optional<std::uint32_t>(), std::optional(1U)})
          check_row(topology, algorithm, collective, chunks);
  }
}

} // namespace row_limit_test
