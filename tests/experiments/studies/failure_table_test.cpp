// Collectives through failures as people, spreadsheets and programs read them.
#include "experiments/driver/studies/failures/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/experiments/records/cells.hpp"
#include "tests/experiments/studies/failure_samples.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>

namespace failure_table_test {

using namespace tutti;

namespace {

const Topology line = samples::line();

FailureEvaluation single() {
  return evaluate_failures(samples::failing_line(line), {}, samples::recover_by_hand);
}

// Once without a failed link, once with one.
FailureEvaluation sweep() {
  FailureEvaluation e = single();
  e.scenarios.push_back(e.scenarios[0]);
  e.scenarios[0].scenario.failed_links = 0;
  e.scenarios[1].scenario.failed_links = 1;
  for (PolicyEvaluation& policy : e.scenarios[0].policies)
    policy.recovery = samples::recovered(policy.recovery.policy, samples::line_time);
  return e;
}

} // namespace

TEST_CASE("the table and the story of one run") {
  const FailureEvaluation e = single();
  const std::string text = failures_text({&e, 1});
  CHECK(text.starts_with("Line: line, broadcast 1MB (3 NPUs)\n"
                         "engine native, links busy for serialization, forwarding auto; detection "
                         "100us, decision 50us\n"));
  CHECK_THAT(text, !ContainsSubstring("failed links"));
  for (const char* words :
       {"tacos      undisturbed  41.00 us         1.000x         0.0 %  ",
        "restart      82.00 us         2.000x        50.0 %", "1/2   0.750 s       yes",
        "tacos, events:\n    20.50 us: npu1>npu2",
        "  report: incomplete, the last delivery at 20.50 us\n    npu1>npu2 is down since 20.50 "
        "us: 1 transfer waits for it\n",
        "  restart: complete at 82.00 us\n    170.5 us: 1 chunk anew, begins at 171.5 us (events "
        "at 20.50 us; planned in 0.250 s)\n    170.5 us: nothing better (not taken)\n"})
    CHECK_THAT(text, ContainsSubstring(words));
  CHECK_THAT(text, !ContainsSubstring("DEFECT"));
}

TEST_CASE("the table of a sweep has a row for each number of links, and no story") {
  FailureEvaluation e = sweep();
  e.problem = "broken";
  const std::string text = failures_text({&e, 1});
  for (const char* words : {"failed links", "0  restart      41.00 us", "1  restart      82.00 us"})
    CHECK_THAT(text, ContainsSubstring(words));
  CHECK_THAT(text, !ContainsSubstring("events:"));
  CHECK_THAT(text, ContainsSubstring("DEFECT: tacos: broken\n"));
  CHECK(problems_of({&e, 1}) ==
        std::vector<std::string>{"tacos through failures on line, broadcast 1MB: broken"});
}

TEST_CASE("where nobody is left to receive anything, every form says so and has no ratio") {
  FailureEvaluation e = single();
  for (PolicyEvaluation& policy : e.scenarios[0].policies) {
    policy.recovery.ending = Ending::no_destination;
    policy.recovery.completion = {};
    policy.recovery.progress.clear();
  }
  const std::string text = failures_text({&e, 1});
  CHECK_THAT(text, ContainsSubstring("  report: no destination lives\n"));
  CHECK_THAT(text, ContainsSubstring("  restart: no destination lives\n"));
  CHECK_THAT(text, !ContainsSubstring("0.000x") && !ContainsSubstring("0.000 ps"));
  const auto rows = csv_rows(failure_records({&e, 1}));
  for (const std::size_t row : {1U, 2U}) {
    CHECK(cell_of(rows, row, "complete") == "false");
    CHECK(cell_of(rows, row, "ending") == "no destination lives");
    CHECK(cell_of(rows, row, "slowdown").empty());
    CHECK(cell_of(rows, row, "last_delivery_ps").empty());
  }
  CHECK(
      svg_reading::read(progress_figure(e, e.scenarios[0])).has("restart (no destination lives)"));
}

TEST_CASE("CSV has a row for each run and policy") {
  const FailureEvaluation e = sweep();
  const auto rows = csv_rows(failure_records({&e, 1}));
  REQUIRE(rows.size() == 1 + 2 * 2);
  const auto cell = [&](std::size_t row, const std::string& title) {
    return cell_of(rows, row, title);
  };
  CHECK(cell(1, "label") == "Line");
  CHECK(cell(1, "failed_links") == "0");
  CHECK(cell(1, "policy") == "report");
  CHECK(cell(1, "slowdown") == "1.000000");
  CHECK(cell(3, "failed_links") == "1");
  CHECK(cell(3, "complete") == "false");
  CHECK(cell(3, "slowdown").empty());
  CHECK(cell(3, "goodput_lost") == "1.000000");
  CHECK(cell(3, "npus_missing_some") == "1");
  CHECK(cell(3, "stuck") == "1");
  CHECK(cell(4, "policy") == "restart");
  CHECK(cell(4, "last_delivery_ps") == "82000000");
  CHECK(cell(4, "undisturbed_time_ps") == "41000000");
  CHECK(cell(4, "decisions_in_force") == "1");
  CHECK(cell(4, "decisions") == "2");
  CHECK(cell(4, "in_vain_bytes") == "1000000");
  CHECK(cell(4, "planning_seconds") == "0.750");
  CHECK(rows[0].back() == "planning_seconds");
}

TEST_CASE("JSON has runs, policies, decisions and progress") {
  const FailureEvaluation e = single();
  const auto about = about_failures({&e, 1});
  REQUIRE(about.size() == 1);
  CHECK(about[0]["label"] == "Line");
  CHECK(about[0]["undisturbed"]["progress"].size() > 0);
  CHECK(about[0]["wanted_bytes"] == 2'000'000);
  CHECK(about[0]["problem"].is_null());
  const auto& scenario = about[0]["scenarios"][0];
  CHECK(scenario["failed_links"].is_null());
  CHECK(scenario["events"][0]["at_ps"] == 20'500'000);
  CHECK(scenario["events"][0]["kind"] == "link_down");
  const auto runs = runs_json("failures", failure_records({&e, 1}), failure_details({&e, 1}));
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["kind"] == "failures");
  CHECK(runs[0]["complete"] == false);
  CHECK(runs[0]["slowdown"].is_null());
  CHECK(runs[0]["undisturbed_time_ps"] == 41'000'000);
  CHECK(runs[1]["slowdown"] == 2.0);
  const auto& restart = runs[1]["details"];
  CHECK(restart["decisions"][0]["at_ps"] == 20'500'000 + 150'000'000);
  CHECK(restart["decisions"][1]["in_force"] == false);
  CHECK(restart["progress"][1]["bytes"] == 2'000'000);
}

TEST_CASE("the figure of one run has a curve for each policy and a line for each instant") {
  FailureEvaluation e = single();
  const auto figures = failure_figures({&e, 1});
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].stem == "failures_line");
  const svg_reading::Svg svg = svg_reading::read(figures[0].figure);
  for (const char* name : {"undisturbed", "report (incomplete)", "restart"}) CHECK(svg.has(name));
  std::vector<std::vector<std::string>> restart;
  for (const auto& row : figures[0].figure.data)
    if (row[0] == "restart") restart.push_back({row[1], row[2]});
  CHECK(restart ==
        std::vector<std::vector<std::string>>{{"0", "0"}, {"20.5", "50"}, {"82", "100"}});
  CHECK(svg.lines_of("#777").size() == 1); // the event's

  e.scenarios[0].events.push_back(e.scenarios[0].events[0]); // at the same instant
  e.scenarios[0].event_texts.push_back("another");
  CHECK(svg_reading::read(progress_figure(e, e.scenarios[0])).has("2 events"));

  const std::vector<FailureEvaluation> two{e, e};
  CHECK(failure_figures(two).size() == 2);
  CHECK(failure_figures(two)[0].stem == "failures_line_tacos");
}

TEST_CASE("the figure of a sweep has times over numbers of links") {
  const FailureEvaluation e = sweep();
  const auto figures = failure_figures({&e, 1});
  REQUIRE(figures.size() == 1);
  const auto& data = figures[0].figure.data;
  REQUIRE(data.size() == 1 + 3);
  CHECK(data[0][1] == "failed links");
  // The first is complete there only.
  CHECK(data[1] == std::vector<std::string>{"tacos, report (else incomplete)", "0", "41"});
  for (const std::size_t row : {2U, 3U}) CHECK(data[row][0] == "tacos, restart");
  CHECK(data[2][2] == "41");
  CHECK(data[3][2] == "82");
}

TEST_CASE("those who wait see a line for each policy") {
  std::ostringstream out;
  (void)evaluate_failures(samples::failing_line(line), policy_announcer("tacos on line", out),
                          samples::recover_by_hand);
  CHECK(out.str() == "tutti: tacos on line: seed 1: report incomplete, the last delivery at "
                     "20.50 us\n"
                     "tutti: tacos on line: seed 1: restart complete at 82.00 us\n");
}

} // namespace failure_table_test
