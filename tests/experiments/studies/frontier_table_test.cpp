// What people and programs read of a frontier: tables, CSV, JSON, the picture and the lines of
// those who wait.
#include "experiments/driver/studies/frontiers/columns.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/experiments/records/cells.hpp"
#include "tests/experiments/studies/frontier_samples.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace frontier_table_test {

using namespace tutti;

namespace {

FrontierEvaluation sample() {
  const Topology line = samples::line();
  return evaluate_points(samples::line_case(line), samples::pipelines());
}

// (2,4,4), which a point with fewer steps and rounds beats.
FrontierStudyEvaluation study() {
  FrontierStudyEvaluation all{sample(), {}};
  InstanceEvaluation beaten;
  beaten.paper = {.chunks = 2,
                  .steps = 4,
                  .rounds = 4,
                  .chunks_per_shard = 2,
                  .claimed = {},
                  .seconds = 1.5,
                  .explanation = ""};
  beaten.answer = "sat";
  beaten.method = "by hand";
  beaten.verified = true;
  beaten.seconds = 0.125;
  beaten.better = 1;
  beaten.agreement = Agreement::match;
  all.instances.push_back(beaten);
  return all;
}

} // namespace

TEST_CASE("the table of a frontier") {
  const FrontierEvaluation e = sample();
  const std::string text = frontier_text(e);
  CHECK_THAT(text, ContainsSubstring("Line: line, broadcast 4kB..4MB (3 NPUs)\n") &&
                       ContainsSubstring("engine native and simgrid, links busy for "
                                         "latency+serialization, forwarding auto; "
                                         "a step 500ns, a round one chunk at 50GB/s\n"));
  CHECK_THAT(text, ContainsSubstring("C  S  R  ") && ContainsSubstring("2  3  3  3/2 = 1.500"));
  CHECK_THAT(text, ContainsSubstring("nothing beats 1 rounds per chunk\n"));
  CHECK_THAT(text, ContainsSubstring("ends here: three points are enough\n"));
  CHECK_THAT(text, ContainsSubstring("best by time: (1,2,2) from 3.906 KiB, (2,3,3) from 48.8") &&
                       ContainsSubstring(", (4,5,5) from 195.3 KiB\n"));

  CHECK_THAT(text, ContainsSubstring("instances: 1 sat, 1 unsat, 0 undecided; CPU: synthesis "));

  FrontierEvaluation cut = e;
  cut.frontier.timed_out = true;
  cut.frontier.in_class = "of two halves";
  cut.problem = "a slip";
  CHECK_THAT(frontier_text(cut), ContainsSubstring("timed out, points may be missing: three") &&
                                     ContainsSubstring("in this class\noptimal: of two halves\n") &&
                                     ContainsSubstring("DEFECT: a slip\n"));
  FrontierEvaluation empty;
  empty.sizes = {{1}};
  empty.frontier.stop = "the farthest are 3 steps apart, more than 2";
  CHECK_THAT(frontier_text(empty),
             ContainsSubstring("no point was found\nends here: the farthest"));
}

TEST_CASE("the table of a paper's rows says what ours beat") {
  const std::string text = instances_text(study());
  CHECK_THAT(text, ContainsSubstring("(2,4,4)") && ContainsSubstring("1.5 s") &&
                       ContainsSubstring("0.125 s") && ContainsSubstring("match"));
  // Against (2,4,4) with 2 rounds per chunk in 4 steps all are new: fewer steps, or fewer rounds.
  CHECK_THAT(text,
             ContainsSubstring("beyond the paper: (1,2,2), 2 rounds per chunk in 2 steps\n") &&
                 ContainsSubstring("(2,3,3), 3/2 = 1.500 rounds per chunk in 3 steps\n"));
  CHECK(instances_text({sample(), {}}).empty());
}

TEST_CASE("the CSV of frontiers has a row for each point and size") {
  const FrontierStudyEvaluation e{sample(), {}};
  const auto rows = csv_rows(frontier_records(e));
  REQUIRE(rows.size() == 1 + 3 * 4);
  CHECK(cell_of(rows, 6, "rounds_per_chunk") == "3/2"); // the second size of the second point
  CHECK(cell_of(rows, 6, "size_bytes") == "40000");
  CHECK(cell_of(rows, 6, "model_time_ps") == "2700000"); // 3 (0.5 us + 20000 B * 20 ps)
  CHECK(cell_of(rows, 6, "collective_time_ps") == "2700000");
  CHECK(cell_of(rows, 6, "best") == "false"); // 2 (0.5 us + 0.8 us) is less
  CHECK(cell_of(rows, 2, "best") == "true");
  CHECK(cell_of(rows, 1, "optimal_in") == "latency");
  CHECK(rows[0].back() == "synthesis_seconds");
  const FrontierStudyEvaluation all = study();
  const auto paper = csv_rows(paper_records(all));
  REQUIRE(paper.size() == 2);
  CHECK(cell_of(paper, 1, "label") == "Line");
  CHECK(cell_of(paper, 1, "better") == "(2,3,3)");
  CHECK(cell_of(paper, 1, "paper_seconds") == "1.5");
}

TEST_CASE("JSON has all of it") {
  const FrontierStudyEvaluation made = study();
  const auto json = about_frontier(made)[0];
  CHECK(json["points"].size() == 3);
  CHECK(json["points"][1]["rounds_per_chunk"] == "3/2");
  const auto details = frontier_details(made);
  REQUIRE(details.size() == 3 * 4);
  CHECK(details[5]["point"] == 1);
  CHECK(details[5]["native_time_ps"] == 2'700'000);
  CHECK(details[5]["simgrid_time_ps"] == 2'700'000);
  CHECK(json["points"][0]["latency_optimal"] == true);
  CHECK(json["points"][0]["proof"] == "LP-tight");
  CHECK(json["best"].size() == 3);
  CHECK(json["best"][0]["from_bytes"] == 4'000);
  CHECK(json["bandwidth_bound"] == "1");
  CHECK(json["trials"][1]["answer"] == "unsat");
  CHECK(json["in_class"].is_null());
  CHECK(json["paper"][0]["better_point"] == 1);
  CHECK(json["beyond_paper"].size() == 3);
  CHECK(json["paper"][0]["paper_seconds"] == 1.5);
  CHECK(json["paper"][0]["verdict"] == "match");
}

TEST_CASE("the picture has a curve for each point and a mark at each crossover") {
  const svg_reading::Svg svg = svg_reading::read(frontier_figure(sample()));
  for (const char* text : {"(1,2,2)", "(4,5,5)", "(4,5,5) from 195.3 KiB"}) CHECK(svg.has(text));
  CHECK_FALSE(svg.shows("(1,2,2) from"));
}

TEST_CASE("points are announced as they are found") {
  std::ostringstream out;
  point_announcer("broadcast on line", out)(samples::pipeline(2));
  CHECK(out.str() == "tutti: broadcast on line: (2,3,3), 3/2 rounds per chunk, by hand, 0.250 s\n");
}

} // namespace frontier_table_test
