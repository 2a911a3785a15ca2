#include "experiments/driver/sweep/analysis/pareto_front.hpp"

#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/sweep/tables.hpp"

namespace pareto_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

// By comparing all pairs.
std::vector<FrontPoint> front_by_pairs(const std::vector<Candidate>& candidates, bool maximise_x,
                                       bool maximise_y) {
  const double sx = maximise_x ? -1 : 1, sy = maximise_y ? -1 : 1;
  const auto beats = [&](const Candidate& a, const Candidate& b) {
    return sx * a.x <= sx * b.x && sy * a.y <= sy * b.y && (a.x != b.x || a.y != b.y);
  };
  std::map<double, FrontPoint> by_x;
  for (const Candidate& each : candidates) {
    if (std::any_of(candidates.begin(), candidates.end(),
                    [&](const Candidate& other) { return beats(other, each); }))
      continue;
    const auto [entry, is_new] = by_x.try_emplace(each.x, FrontPoint{each.row, 1});
    if (!is_new) {
      ++entry->second.equals;
      entry->second.row = std::min(entry->second.row, each.row);
    }
  }
  std::vector<FrontPoint> front;
  for (const auto& [x, point] : by_x) front.push_back(point);
  return front;
}

} // namespace

TEST_CASE("The front by sorting is the front by comparing all pairs") {
  Random random(11);
  for (int round = 0; round < 60; ++round) {
    const std::size_t n = 1 + random.below(120);
    const std::uint64_t grid = 2 + random.below(40); // coarse ones make ties
    std::vector<Candidate> candidates;
    for (std::uint32_t i = 0; i < n; ++i)
      candidates.push_back({static_cast<double>(random.below(grid)),
                            static_cast<double>(random.below(grid)) - 5, i});
    for (const bool maximise_x : {false, true})
      for (const bool maximise_y : {false, true}) {
        const auto expected = front_by_pairs(candidates, maximise_x, maximise_y);
        const auto found = pareto_front(candidates, maximise_x, maximise_y);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          CHECK(found[i].row == expected[i].row);
          CHECK(found[i].equals == expected[i].equals);
        }
      }
  }
}

TEST_CASE("No candidates have no front; one is its own") {
  CHECK(pareto_front({}, false, false).empty());
  const auto front = pareto_front({{1, 2, 7}}, true, false);
  REQUIRE(front.size() == 1);
  CHECK(front[0].row == 7);
}

TEST_CASE("A front of a million points is found without comparing all with all") {
  Random random(5);
  std::vector<Candidate> candidates;
  for (std::uint32_t i = 0; i < 1'000'000; ++i)
    candidates.push_back(
        {static_cast<double>(random.next() >> 11), static_cast<double>(random.next() >> 11), i});
  const auto front = pareto_front(std::move(candidates), false, false);
  CHECK(front.size() > 3); // about ln(n) = 14 of independent points
  CHECK(front.size() < 60);
}

TEST_CASE("A front for each combination, one row for each of its points") {
  Sweep sweep = sweep_of({{"collective", {"all_reduce", "all_to_all"}}, {"k", {"1", "2", "3"}}},
                         {least("time"), least("cost")});
  ParetoAnalysis analysis{{"Front", "", {"collective"}}, "cost", "time", "k"};
  const PointTable table = table_of({{"collective", Role::parameter},
                                     {"k", Role::parameter},
                                     {"time", Role::result, Unit::seconds},
                                     {"cost", Role::fact},
                                     {"status", Role::record}},
                                    {{"all_reduce", "1", "3", "10", "done"},
                                     {"all_reduce", "2", "2", "20", "done"},
                                     {"all_reduce", "3", "2", "30", "done"},
                                     {"all_to_all", "1", "9", "10", "done"},
                                     {"all_to_all", "2", "8", "10", "infeasible"},
                                     {"all_to_all", "3", "9", "10", "done"}});
  AnalysedPoints points(sweep, table);
  const AnalysisReport report = pareto_report(analysis, points);
  using Rows = std::vector<std::vector<std::string>>;
  CHECK(report.csv == Rows{{"collective", "k", "cost", "time [s]", "points"},
                           {"all_reduce", "1", "10", "3", "1"},
                           {"all_reduce", "2", "20", "2", "1"},
                           {"all_to_all", "1", "10", "9", "2"}});
  // One picture with a panel for each, in which the front's points are named.
  REQUIRE(report.figures.size() == 1);
  const svg_reading::Svg svg = svg_reading::read(report.figures[0].figure);
  for (const char* text : {"all_reduce", "all_to_all", "2"}) CHECK(svg.has(text));
  analysis.head.by = {"collective", "k"};
  CHECK(pareto_report(analysis, points).figures.size() == 2);
}

TEST_CASE("Both axes of a front have a unit, also of facts that are plain numbers") {
  Sweep sweep = sweep_of({{"k", {"1", "2"}}}, {least("power"), least("price")});
  sweep.objectives[0].expression = "power_watts";
  sweep.objectives[1].expression = "cost";
  const PointTable table = table_of({{"k", Role::parameter},
                                     {"power_watts", Role::fact},
                                     {"cost", Role::fact},
                                     {"status", Role::record}},
                                    {{"1", "3", "10", "done"}, {"2", "2", "20", "done"}});
  AnalysedPoints points(sweep, table);
  const AnalysisReport report = pareto_report({{"Front", "", {}}, "power", "price", "k"}, points);
  REQUIRE(report.figures.size() == 1);
  const svg_reading::Svg svg = svg_reading::read(report.figures[0].figure);
  CHECK(svg.has("power [W]"));
  CHECK(svg.has("price [in the cost model's money]"));
  REQUIRE(report.conclusions.size() == 1);
  CHECK(report.conclusions[0] ==
        "2 of 2 points aren't beaten in both power and price. On the front: k 1, k 2.");
}

} // namespace pareto_test
