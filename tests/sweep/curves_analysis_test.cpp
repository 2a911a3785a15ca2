#include "experiments/driver/sweep/analysis/curve_values.hpp"

#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sweep/tables.hpp"

namespace curves_analysis_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

using Rows = std::vector<std::vector<std::string>>;

const std::vector<TestColumn> columns{{"links", Role::parameter},
                                      {"network", Role::parameter},
                                      {"draw", Role::parameter},
                                      {"time", Role::result, Unit::seconds},
                                      {"status", Role::record}};

Sweep failure_sweep() {
  return sweep_of(
      {{"links", {"0", "1"}}, {"network", {"torus", "mesh"}}, {"draw", {"1", "2", "3"}}},
      {least("time")});
}

const Rows rows{{"0", "torus", "1", "1", "done"}, {"0", "torus", "2", "1", "done"},
                {"0", "torus", "3", "1", "done"}, {"0", "mesh", "1", "2", "done"},
                {"0", "mesh", "2", "4", "done"},  {"0", "mesh", "3", "6", "done"},
                {"1", "torus", "1", "2", "done"}, {"1", "torus", "2", "", "infeasible"},
                {"1", "torus", "3", "4", "done"}, {"1", "mesh", "1", "", "done"},
                {"1", "mesh", "2", "9", "done"},  {"1", "mesh", "3", "8", "done"}};

CurvesAnalysis failures(const std::string& replicates, const std::string& relative_to = "") {
  return {{"Curves", "", {}}, "time", "links", "network", replicates, relative_to, false, 0};
}

} // namespace

TEST_CASE("A curve has the best over parameters that aren't named, and says which") {
  const Sweep sweep = failure_sweep();
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  const AnalysisReport report = curves_report(failures(""), points);
  CHECK(report.csv == Rows{{"network", "links", "time [s]", "draw"},
                           {"torus", "0", "1", "1"},
                           {"torus", "1", "2", "1"},
                           {"mesh", "0", "2", "1"},
                           {"mesh", "1", "8", "3"}});
  CHECK(report.figures.size() == 1);
}

TEST_CASE("A quantile of repetitions takes the place of their mean") {
  const Sweep sweep = failure_sweep();
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  CurvesAnalysis analysis = failures("draw");
  analysis.quantile = 0.5;
  std::vector<double> values;
  for (const CurveCell& cell : curve_cells(analysis, points)) values.push_back(cell.value);
  CHECK(values == std::vector<double>{1, 2, 4, 8}); // of 1 1 1, 2 4, 2 4 6, 8 9
  const AnalysisReport report = curves_report(analysis, points);
  CHECK(report.csv.front() ==
        std::vector<std::string>{"network", "links", "n", "time_mean [s]", "low [s]", "high [s]",
                                 "median [s]", "median_low [s]", "median_high [s]", "least [s]",
                                 "largest [s]", "p50 [s]", "without_result"});
  CHECK(quantile_of({9, 1, 5, 7}, 0.9) == 9);
  CHECK(quantile_of({9, 1, 5, 7}, 0.75) == 7);
  CHECK(quantile_of({9, 1, 5, 7}, 0.01) == 1);
}

TEST_CASE("A title names the values of `by`, and of what doesn't vary") {
  const Sweep sweep = failure_sweep();
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  CurvesAnalysis analysis = failures("");
  analysis.series = "draw";
  analysis.head.by = {"network"};
  const auto titles = [&](const std::string& title) {
    analysis.head.title = title;
    const AnalysisReport report = curves_report(analysis, points);
    std::vector<std::string> all{report.title};
    for (const ReportFigure& figure : report.figures) all.push_back(figure.title);
    return all;
  };
  CHECK(titles("Failures") ==
        std::vector<std::string>{"Failures", "Failures: torus", "Failures: mesh"});
  CHECK(titles("Failures of a ${network}, $${network}") ==
        std::vector<std::string>{"Failures of a network, ${network}",
                                 "Failures of a torus, ${network}",
                                 "Failures of a mesh, ${network}"});
  const Rows tori{{"0", "torus", "1", "1", "done"}, {"0", "torus", "2", "1", "done"}};
  const PointTable same = table_of(columns, tori);
  AnalysedPoints of_same(sweep, same);
  CHECK(begun_report("curves", {"label", "With ${links} of ${draw}", {}}, of_same).title ==
        "With 0 of draw");
}

TEST_CASE("Repetitions: means, medians, extremes, and how many have no result") {
  const Sweep sweep = failure_sweep();
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  const std::vector<CurveCell> cells = curve_cells(failures("draw"), points);
  REQUIRE(cells.size() == 4);
  CHECK(cells[0].summary->count == 3); // torus, 0 links
  CHECK(cells[0].summary->mean_interval->low == 1);
  CHECK(cells[1].value == 3); // torus, 1 link: 2 and 4
  CHECK(cells[1].without_result == 1);
  CHECK(cells[2].value == 4); // mesh, 0 links: 2, 4, 6: deviation 2, t(0.975, 2) = 4.302653
  CHECK(cells[2].summary->mean_interval->high == Approx(4 + 4.302653 * 2 / std::sqrt(3.0)));
  CHECK(cells[3].summary->median == 8.5);
  CHECK(cells[3].without_result == 1); // done, but without a time: something was left out

  const AnalysisReport report = curves_report(failures("draw"), points);
  CHECK(report.csv[0].back() == "without_result");
  CHECK(report.csv[2].back() == "1");
  REQUIRE(report.notes.size() == 1);
  CHECK_THAT(report.notes[0], ContainsSubstring("2 of 12 repetitions have no result"));
}

TEST_CASE("Relative curves divide by the reference of the same repetition") {
  const Sweep sweep = failure_sweep();
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  const std::vector<CurveCell> cells = curve_cells(failures("draw", "torus"), points);
  CHECK(cells[2].value == 4); // 2/1, 4/1, 6/1
  // Draw 1: no mesh; draw 2: no torus; draw 3: 8/4.
  CHECK(cells[3].value == 2);
  CHECK(cells[3].summary->count == 1);
  CHECK(cells[3].without_result == 2);
  CHECK_THAT(message_of([&] { static_cast<void>(curve_cells(failures("", "ring"), points)); }),
             ContainsSubstring("ring") && ContainsSubstring("torus, mesh"));
}

TEST_CASE("Without repetitions or a result a cell is empty") {
  const Sweep sweep = failure_sweep();
  const PointTable table = table_of(columns, {{"0", "torus", "1", "1", "done"},
                                              {"1", "torus", "1", "", "timed_out"},
                                              {"1", "torus", "2", "", "crashed"}});
  AnalysedPoints points(sweep, table);
  const AnalysisReport report = curves_report(failures(""), points);
  CHECK(report.csv[2] == std::vector<std::string>{"torus", "1", "", ""});
  CHECK_THAT(report.notes.at(0), ContainsSubstring("1 of 2 points of curves have no result"));
}

} // namespace curves_analysis_test
