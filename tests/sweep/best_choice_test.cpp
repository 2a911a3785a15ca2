#include "experiments/driver/sweep/analysis/best_choice.hpp"

#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/sweep/tables.hpp"

#include <fmt/format.h>

namespace best_choice_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

using Rows = std::vector<std::vector<std::string>>;

const std::vector<TestColumn> columns{{"size", Role::parameter, Unit::bytes},
                                      {"algorithm", Role::parameter},
                                      {"chunks", Role::parameter},
                                      {"collective_time_s", Role::result, Unit::seconds},
                                      {"status", Role::record}};

Sweep algorithm_sweep(Objective objective = {"time", "collective_time_s", false, Unit::none}) {
  return sweep_of({{"size", {"1KiB", "2KiB", "4KiB"}},
                   {"algorithm", {"ring", "direct"}},
                   {"chunks", {"1", "2"}}},
                  {std::move(objective)});
}

// 1 KiB: direct by far; 2 KiB: both 5; 4 KiB: nobody.
const Rows rows{{"1KiB", "ring", "1", "4", "done"},      {"1KiB", "ring", "2", "3", "done"},
                {"1KiB", "direct", "1", "1", "done"},    {"1KiB", "direct", "2", "2", "done"},
                {"2KiB", "ring", "1", "6", "done"},      {"2KiB", "ring", "2", "5", "done"},
                {"2KiB", "direct", "1", "5", "done"},    {"2KiB", "direct", "2", "1", "crashed"},
                {"4KiB", "ring", "1", "", "infeasible"}, {"4KiB", "ring", "2", "", "infeasible"},
                {"4KiB", "direct", "1", "", "refused"},  {"4KiB", "direct", "2", "", "refused"}};

BestAnalysis algorithm_map() {
  return {{"Best algorithm", "", {}}, "time", {"algorithm"}, "size", ""};
}

} // namespace

TEST_CASE("The best choice of each cell, by how much, and ties") {
  const Sweep sweep = algorithm_sweep();
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  const AnalysisReport report = best_report(algorithm_map(), points);
  CHECK(report.csv == Rows{{"size [bytes]", "best algorithm", "time [s]", "second algorithm",
                            "second_over_best", "ties"},
                           {"1024", "direct", "1", "ring", "3", ""},
                           {"2048", "ring", "5", "direct", "1", "ring = direct"},
                           {"4096", "", "", "", "", ""}});
  CHECK(report.figures.size() == 1);
}

TEST_CASE("Where more is better the largest is chosen") {
  const Sweep sweep = algorithm_sweep({"rate", "collective_time_s", true, Unit::none});
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  BestAnalysis analysis = algorithm_map();
  analysis.objective = "rate";
  const AnalysisReport report = best_report(analysis, points);
  CHECK(report.csv[1] == std::vector<std::string>{"1024", "ring", "4", "direct", "2", ""});
  CHECK(report.csv[2] == std::vector<std::string>{"2048", "ring", "6", "direct", "1.2", ""});
}

TEST_CASE("Values that differ by roundings are ties, others aren't") {
  CHECK(equally_good(1, 1 + 5e-13));
  CHECK_FALSE(equally_good(1, 1 + 5e-12));
  CHECK(equally_good(0, 0));
  CHECK(equally_good(-3, -3 - 1e-12));
}

TEST_CASE("Best choices of random tables are those by looking at all") {
  Random random(8);
  for (int round = 0; round < 20; ++round) {
    Rows random_rows;
    std::map<std::string, std::map<std::string, double>> best; // [size][algorithm]
    for (const char* size : {"1KiB", "2KiB", "4KiB"})
      for (const char* algorithm : {"ring", "direct"})
        for (const char* chunks : {"1", "2"}) {
          const double time = 1 + static_cast<double>(random.below(5));
          const bool done = random.below(4) > 0;
          random_rows.push_back(
              {size, algorithm, chunks, fmt::to_string(time), done ? "done" : "timed_out"});
          if (!done) continue;
          const auto [entry, is_new] = best[size].try_emplace(algorithm, time);
          if (!is_new) entry->second = std::min(entry->second, time);
        }
    const Sweep sweep = algorithm_sweep();
    const PointTable table = in_sweep_order(sweep, table_of(columns, shuffled(random_rows, 7)));
    AnalysedPoints points(sweep, table);
    const std::vector<std::string> of{"algorithm"}, cells{"size"};
    const BestChoices found = best_choices(points, points.objective("time"), of, cells);
    REQUIRE(found.cells.size() == 3);
    for (const BestCell& cell : found.cells) {
      const auto& expected = best[to_text(table.columns[0].value(cell.first_row))];
      REQUIRE(cell.contenders.size() == expected.size());
      double last = 0;
      for (const Contender& each : cell.contenders) {
        const double time = points.objective("time").values[each.row];
        CHECK(time == expected.at(to_text(table.columns[1].value(each.row))));
        CHECK(time >= last);
        last = time;
      }
    }
  }
}

TEST_CASE("A map for each combination has the same colours") {
  Sweep sweep = algorithm_sweep();
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  BestAnalysis analysis = algorithm_map();
  analysis.head.by = {"chunks"};
  const AnalysisReport report = best_report(analysis, points);
  REQUIRE(report.figures.size() == 2);
  CHECK(report.figures[0].part == "1");
  CHECK(report.figures[1].part == "2");
  // direct is best at 1 KiB with either: the second colour, since ring, the first choice, is best
  // at 2 KiB with two chunks, where direct is the second of the legend.
  for (const ReportFigure& figure : report.figures) {
    const svg_reading::Svg svg = svg_reading::read(figure.figure);
    const auto squares = svg.lines_of("#ee8a1a");
    const double middle = (squares.back()[0].y + squares.back()[2].y) / 2; // the legend's
    double nearest = 1e9;
    for (const svg_reading::SvgText& text : svg.texts)
      if (text.text == "direct")
        nearest = std::min(nearest, std::abs((text.top + text.bottom) / 2 - middle));
    CHECK(nearest < 1);
  }
}

} // namespace best_choice_test
