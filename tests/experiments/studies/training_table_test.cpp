// Iterations as text, CSV, JSON and figures, of runs with accounts by hand.
#include "experiments/driver/studies/training/columns.hpp"

#include "experiments/driver/figures/stacked_bars.hpp"
#include "experiments/driver/records/json.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/experiments/records/cells.hpp"
#include "tests/experiments/studies/training_samples.hpp"
#include "tests/message_of.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace training_table_test {

using namespace tutti;
using samples::account_of;
using samples::us;

namespace {

TrainingRun tacos_run() {
  TrainingRun run =
      samples::run_of("pair", "tacos",
                      {account_of(Time{60 * us}, Time{20 * us}, Time{20 * us}),
                       account_of(Time{80 * us}, Time{}, Time{}, Time{15 * us}, Time{5 * us})});
  run.workload.items = 4;
  run.workload.item = "image";
  run.workload.flops = 1e9;
  run.workload.peak_flops = 1e14;
  run.workload.memory = MemoryEstimate{Bytes{1 << 20}, Bytes{1 << 20}, Bytes{0}, Bytes{1 << 21}};
  run.workload.memory_npu = NodeId{1};
  run.workload.memory_warning = "npu1 needs more";
  run.bound = Time{80 * us};
  run.hottest = "npu0>npu1";
  run.report->link_transfers = 8;
  run.report->replayed = 2;
  run.report->links = {{Bytes{1000}, Time{50 * us}, 4}, {Bytes{1000}, Time{25 * us}, 4}};
  run.communications.push_back({CollectiveKind::all_reduce, false, Bytes{1'000'000}, 2, 3, "direct",
                                "", 1, Time{21 * us}, Time{20 * us}, true});
  return run;
}

TrainingEvaluation evaluation() {
  TrainingEvaluation e;
  e.label = "Small";
  e.engines = {"native"};
  e.runs = {samples::run_of("pair", "ring",
                            {account_of(Time{80 * us}, Time{120 * us}),
                             account_of(Time{80 * us}, Time{120 * us})}),
            tacos_run()};
  e.runs[0].workload = e.runs[1].workload;
  return e;
}

} // namespace

TEST_CASE("the report has times, where they go, plans and memory") {
  const std::string text = training_text(evaluation());
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("Small\n"));
  CHECK_THAT(text,
             ContainsSubstring("npu1 needs 4 MiB") || ContainsSubstring("npu1 needs 4.000 MiB"));
  CHECK_THAT(text, ContainsSubstring("WARNING: npu1 needs more"));
  CHECK_THAT(text, ContainsSubstring("throughput"));
  CHECK_THAT(text, ContainsSubstring("2.000x"));        // ring over the fastest
  CHECK_THAT(text, ContainsSubstring("40 k images/s")); // 4 images in 100 us
  CHECK_THAT(text, ContainsSubstring("5.0 %"));         // 1e9 of 2e14 / s in 100 us
  CHECK_THAT(text, ContainsSubstring("1.250x"));        // 100 us over the bound of 80
  CHECK_THAT(text, ContainsSubstring("exposed tensor"));
  CHECK_THAT(text, !ContainsSubstring("exposed pipeline"));
  CHECK_THAT(text, ContainsSubstring(" plan remembered"));
  CHECK_THAT(text, ContainsSubstring("8 link crossings, 2 simulated one by one"));
  CHECK_THAT(text, ContainsSubstring("70.00 us")); // mean compute
}

TEST_CASE("a disturbed iteration that halts has a row, and says which cables failed") {
  TrainingEvaluation e = evaluation();
  TrainingRun halted = e.runs[1];
  halted.condition = {Condition::Kind::reroute, 1, 1};
  halted.report.reset();
  halted.failed = {"npu0-npu1 down"};
  halted.note = "npu0 waits for npu1";
  e.runs.push_back(halted);
  const std::string text = training_text(e);
  INFO(text);
  CHECK_THAT(text, ContainsSubstring("\ntacos      reroute, 1 failed link, seed 1          -"));
  CHECK_THAT(text, ContainsSubstring("tacos, reroute, 1 failed link, seed 1: failed: npu0-npu1 "
                                     "down\ntacos, reroute, 1 failed link, seed 1: npu0 waits"));
}

TEST_CASE("tables that have only labels of what is asked for are left out") {
  const std::string text = training_text(evaluation(), {.columns = {"algorithm", "x_fastest"}});
  CHECK_THAT(text, ContainsSubstring("x fastest") && !ContainsSubstring("where an iteration") &&
                       !ContainsSubstring("what communicates"));
}

TEST_CASE("crossings may be simulated twice") {
  TrainingEvaluation e = evaluation();
  e.runs[1].report->replayed = 9;
  CHECK_THAT(training_text(e), ContainsSubstring("8 link crossings, 9 simulated one by one (some "
                                                 "twice: alone, and with what they met); "));
}

TEST_CASE("notes and defects stand in the report") {
  TrainingEvaluation e = evaluation();
  e.runs[0].report.reset();
  e.runs[0].note = "ring can't";
  e.runs[1].problem = "too good";
  const std::string text = training_text(e);
  CHECK_THAT(text, ContainsSubstring("ring: ring can't"));
  CHECK_THAT(text, ContainsSubstring("DEFECT: tacos: too good"));
  CHECK(problems_of(e).size() == 1);
  CHECK(csv_rows(training_records(e)).size() == 3);
}

TEST_CASE("CSV rows are exact") {
  const TrainingEvaluation e = evaluation();
  const auto rows = csv_rows(training_records(e));
  REQUIRE(rows.size() == 3);
  CHECK(cell_of(rows, 2, "algorithm") == "tacos");
  CHECK(cell_of(rows, 2, "iteration_time_ps") == "100000000");
  CHECK(cell_of(rows, 2, "sum_compute_ps") == "140000000");
  CHECK(cell_of(rows, 2, "sum_exposed_data_ps") == "20000000");
  CHECK(cell_of(rows, 2, "sum_exposed_tensor_ps") == "20000000");
  CHECK(cell_of(rows, 2, "sum_bubble_ps") == "15000000");
  CHECK(cell_of(rows, 2, "sum_waiting_ps") == "5000000");
  CHECK(cell_of(rows, 2, "items_per_s") == "40000");
  CHECK(cell_of(rows, 2, "memory_bytes") == "4194304");
  const auto npus = csv_rows(npu_records(e));
  REQUIRE(npus.size() == 5);
  CHECK(cell_of(npus, 4, "npu") == "1");
  CHECK(cell_of(npus, 4, "compute_ps") == "80000000");
  CHECK(cell_of(npus, 4, "duration_ps") == "100000000");
  std::int64_t sum = 0;
  for (const char* part :
       {"compute_ps", "exposed_data_ps", "exposed_sharding_ps", "exposed_tensor_ps",
        "exposed_pipeline_ps", "exposed_expert_ps", "exposed_other_ps", "bubble_ps", "waiting_ps"})
    sum += std::stoll(cell_of(npus, 4, part));
  CHECK(sum == 100 * us);
}

TEST_CASE("JSON has it all") {
  const TrainingEvaluation e = evaluation();
  const auto json = runs_json("training", training_records(e), training_details(e, NpuDetail::all));
  CHECK(json[1]["label"] == "Small");
  CHECK(json[1]["algorithm"] == "tacos");
  CHECK(json[1]["condition"] == "undisturbed");
  CHECK(json[1]["iteration_time_ps"] == 100 * us);
  const auto& run = json[1]["details"];
  CHECK(run["workload"]["memory"]["total_bytes"] == 4'194'304);
  CHECK(run["report"]["sum_over_npus"]["total_ps"] == 200 * us);
  CHECK(run["report"]["busiest_npu"] == 1);
  CHECK(run["report"]["npu_accounts"].size() == 2);
  CHECK(run["report"]["links"][0]["bytes"] == 1000);
  CHECK(run["plans"][0]["operation"] == "all_reduce");
  CHECK(run["plans"][0]["remembered"] == true);
  CHECK_FALSE(training_details(e, NpuDetail::none)[1]["report"].contains("npu_accounts"));
  TrainingEvaluation none = evaluation();
  none.runs[0].report.reset();
  CHECK(training_details(none, NpuDetail::all)[0]["report"].is_null());
}

TEST_CASE("bars are what the accounts are made of") {
  const Figure figure = account_figure(evaluation());
  const svg_reading::Svg svg = svg_reading::read(figure);
  CHECK(svg.has("exposed tensor"));
  CHECK_FALSE(svg.has("exposed expert"));
  for (const char* text : {"tacos", "0.100", "0.200"}) CHECK(svg.has(text)); // ms, behind bars
  CHECK(figure.data.at(1) == std::vector<std::string>{"compute", "", "ring", "0.08"});
  CHECK(svg_reading::read(normalized_account_figure(evaluation())).has("2.00"));
  TrainingEvaluation referenced = evaluation();
  referenced.reference = "ring";
  const svg_reading::Svg relative = svg_reading::read(normalized_account_figure(referenced));
  CHECK(relative.has("0.500"));
  CHECK(relative.shows("that by ring"));
}

TEST_CASE("figures of a study: bars, bars over the fastest, links") {
  const Topology topology = samples::two_npus();
  const TrainingNetwork network{"pair", &topology};
  TrainingEvaluation e = evaluation();
  for (TrainingRun& run : e.runs) run.report->links.resize(2);
  const auto figures = training_figures(e, {&network, 1});
  REQUIRE(figures.size() == 3);
  CHECK(figures[0].stem == "training_small");
  CHECK(figures[1].stem == "training_small_normalized");
  CHECK(figures[2].stem == "training_small_links");
}

TEST_CASE("stacked bars need a bar; those without parts are n/a") {
  StackedChart chart;
  chart.parts = {"compute"};
  chart.groups = {{"A", {{"ring", {}}}}};
  CHECK_FALSE(message_of([&] { (void)stacked_bar_figure(chart); }).empty());
  chart.groups[0].bars.push_back({"tacos", {3}});
  CHECK(svg_reading::read(stacked_bar_figure(chart)).has("n/a"));
}

TEST_CASE("lines for those who wait") {
  std::ostringstream out;
  const auto announce = run_announcer("Small", out);
  TrainingRun run = tacos_run();
  announce(run, false);
  announce(run, true);
  run.report.reset();
  run.note = "it can't";
  announce(run, true);
  CHECK(out.str() == "tutti: Small: pair, tacos, undisturbed: begins\n"
                     "tutti: Small: pair, tacos, undisturbed: 100.0 us per iteration\n"
                     "tutti: Small: pair, tacos, undisturbed: it can't\n");
}

} // namespace training_table_test
