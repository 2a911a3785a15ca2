// Collectives through failures as people, spreadsheets and programs read them.
#include "experiments/driver/studies/failures/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "tests/catch.hpp"
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
  CHECK_THAT(progress_figure(e, e.scenarios[0]).script,
             ContainsSubstring("set label 'restart (no destination lives)'"));
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
  const std::string& script = figures[0].figure.script;
  for (const char* name : {"'undisturbed'", "'report (incomplete)'", "'restart'"})
    CHECK_THAT(script, ContainsSubstring(std::string("set label ") + name));
  CHECK_THAT(script, ContainsSubstring("\n0 0\n20.5 50\n82 100\nEND"));
  CHECK_THAT(script, ContainsSubstring("set arrow from 20.5, graph 0"));
  CHECK_THAT(script, ContainsSubstring("with steps"));
  CHECK_THAT(script, !ContainsSubstring("logscale"));

  e.scenarios[0].events.push_back(e.scenarios[0].events[0]); // at the same instant
  e.scenarios[0].event_texts.push_back("another");
  CHECK_THAT(progress_figure(e, e.scenarios[0]).script, ContainsSubstring("'2 events'"));

  const std::vector<FailureEvaluation> two{e, e};
  CHECK(failure_figures(two).size() == 2);
  CHECK(failure_figures(two)[0].stem == "failures_line_tacos");
}

TEST_CASE("the figure of a sweep has times over numbers of links") {
  const FailureEvaluation e = sweep();
  const auto figures = failure_figures({&e, 1});
  REQUIRE(figures.size() == 1);
  const std::string& script = figures[0].figure.script;
  CHECK_THAT(script, ContainsSubstring("set label 'tacos, report (else incomplete)'"));
  CHECK_THAT(script, ContainsSubstring("$curve0 << END\n0 41\nEND")); // complete there only
  CHECK_THAT(script, ContainsSubstring("$curve1 << END\n0 41\n1 82\nEND"));
  CHECK_THAT(script, ContainsSubstring("set label 2 'failed links'"));
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
