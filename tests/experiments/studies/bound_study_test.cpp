// [[bounds]]: rows against bounds and runs that are asked for one by one.
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/error.hpp"
#include "sim/files/csv.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/records/cells.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace bound_study_test {

using namespace tutti;

namespace {

const std::string head = R"(name = "e"
[topologies]
A = "ring:4"
B = "mesh2d:2x3"
[[bounds]]
label = "L"
)";

Records records_in(const std::string& toml) {
  const Experiment e = parse_experiment(toml, "e.toml");
  Interrupts interrupts;
  Refusals refusals;
  return run_study(e.studies.at(0), {.networks = e.topologies,
                                     .interrupts = interrupts,
                                     .refusals = refusals,
                                     .name = "e",
                                     .jobs = 0})
      .files.at(0)
      .records;
}

} // namespace

TEST_CASE("bounds: a row for each network, collective and size, with the best of all algorithms") {
  const Records records = records_in(head + R"(collectives = ["all_gather", "all_to_all"]
sizes = ["12KiB", "6MiB"]
chunks = [1, 8]
algorithms = ["ring", "direct", "tacos"]
)");
  REQUIRE(records.rows.size() == 8);
  const std::vector<std::string> topologies{"ring:4", "mesh2d:2x3"};
  const std::vector<std::string> names{"ring", "direct", "tacos"};
  for (std::size_t r = 0; r < 8; ++r) {
    const Topology topology = make_topology(topologies[r / 4]);
    const CollectiveRequest request{{cell_of(records, r, "collective").text()},
                                    Bytes{cell_of(records, r, "size_bytes").whole()}};
    CHECK(request.texts.front() == (r % 4 < 2 ? "all_gather" : "all_to_all"));
    const auto bound_at = [&](std::uint32_t chunks, Chunking chunking) {
      return lower_bound(topology, make_collective(topology, request, chunks), {}, chunking);
    };
    const Time any = bound_at(1, Chunking::any).time;
    CHECK(cell_of(records, r, "lower_bound_ps").whole() == any.ps);
    for (const std::uint32_t chunks : {1U, 8U})
      CHECK(cell_of(records, r, "lower_bound_at_" + std::to_string(chunks) + "_ps").whole() ==
            std::max(any, bound_at(chunks, Chunking::given).time).ps);
    std::optional<Time> least;
    for (const std::string& name : names) {
      Case c;
      c.topology_label = "x";
      c.topology = &topology;
      c.collective = request;
      c.algorithm = find_algorithm(name);
      c.chunks = std::nullopt;
      c.engine = &find_engine("native");
      const Evaluation e = evaluate(c);
      if (e.replays.empty()) continue;
      const Time time = e.replays.front().report.completion;
      if (!least || time < *least) least = time;
    }
    CHECK(cell_of(records, r, "collective_time_ps").whole() == least.value().ps);
    CHECK(cell_of(records, r, "gap").number() ==
          Approx(static_cast<double>(least->ps) / static_cast<double>(any.ps)));
  }
}

TEST_CASE("bounds: the size of several collectives at once is their sum") {
  const Records records =
      records_in(head + "collectives = [[\"all_gather\", \"all_reduce\"]]\nsizes = [\"4KiB\"]\n"
                        "topologies = [\"A\"]\nchunks = 1\nalgorithms = [\"ring\"]\n");
  REQUIRE(records.rows.size() == 1);
  CHECK(cell_of(records, 0, "size_bytes").whole() == 8192);
}

TEST_CASE("bounds: one study has no label, and its CPU seconds are told from its bounds") {
  std::string alone = head;
  alone.erase(alone.find("label"));
  const Experiment e = parse_experiment(
      alone + "collectives = \"all_gather\"\ntopologies = \"A\"\nalgorithms = \"ring\"\n",
      "e.toml");
  Interrupts interrupts;
  Refusals refusals;
  const std::string text = run_study(e.studies.at(0), {.networks = e.topologies,
                                                       .interrupts = interrupts,
                                                       .refusals = refusals,
                                                       .name = "e",
                                                       .jobs = 0})
                               .story({});
  CHECK_THAT(text, Catch::Matchers::StartsWith("1 problem\n") &&
                       ContainsSubstring("  bound CPU  at chunks CPU"));
}

TEST_CASE("bounds: what can't be cut so finely has no bound there") {
  const Records records =
      records_in(head + "collectives = [\"all_gather\"]\nsizes = [\"64B\"]\ntopologies = [\"A\"]\n"
                        "algorithms = [\"ring\"]\n");
  REQUIRE(records.rows.size() == 1);
  CHECK(cell_of(records, 0, "lower_bound_at_8_ps").is_known());
  CHECK_FALSE(cell_of(records, 0, "lower_bound_at_64_ps").is_known());
  CHECK(csv_rows(records).at(1).size() == records.columns.size());
}

TEST_CASE("bad [[bounds]] are refused with their place") {
  const auto error = [](const std::string& rest) {
    return experiment_error(head + "collectives = [\"all_gather\"]\n" + rest);
  };
  CHECK(error("chunks = [8, 1]\n") == "e.toml:8:10: numbers of chunks must ascend");
  CHECK(error("chunks = [\"auto\"]\n") ==
        "e.toml:8:11: a bound is of a number of chunks, not of \"auto\"");
  CHECK_THAT(error("sises = [\"1B\"]\n"), ContainsSubstring("e.toml:8:1: unknown key \"sises\""));
  CHECK_THAT(error("algorithm = \"ring\"\n"), ContainsSubstring("did you mean \"algorithms\""));
  CHECK_THAT(experiment_error(head), ContainsSubstring("no collective is named"));
}

} // namespace bound_study_test
