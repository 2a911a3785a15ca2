#include "experiments/driver/sweep/analysis/sensitivity.hpp"

#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "tests/catch.hpp"
#include "tests/sweep/tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace sensitivity_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Sensitivity sensitivity_in(const Sweep& sweep, const PointTable& table,
                           const std::vector<std::string>& parameters) {
  AnalysedPoints points(sweep, table);
  std::vector<std::uint32_t> rows(table.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  return sensitivity_of(points, points.objective("time"), parameters, rows);
}

const ParameterSensitivity& of(const Sensitivity& all, const std::string& name) {
  const auto found =
      std::find_if(all.parameters.begin(), all.parameters.end(),
                   [&](const ParameterSensitivity& each) { return each.name == name; });
  REQUIRE(found != all.parameters.end());
  return *found;
}

const std::vector<TestColumn> two_columns{{"a", Role::parameter},
                                          {"b", Role::parameter},
                                          {"time", Role::result},
                                          {"status", Role::record}};

} // namespace

TEST_CASE("Shares, ranges and ratios of a product of powers, by hand") {
  // time = 4^a * 2^b. In units of log 2: 2a + b. Over a in {0, 1}, b in {0, 1}: 0 1 2 3, mean 1.5,
  // total squares 5; a: means 0.5 and 2.5, 4 * 1 = 4; b: means 1 and 2, 4 * 0.25 = 1.
  const Sweep sweep = sweep_of({{"a", {"0", "1"}}, {"b", {"0", "1"}}}, {least("time")});
  const PointTable table = table_of(two_columns, {{"0", "0", "1", "done"},
                                                  {"0", "1", "2", "done"},
                                                  {"1", "0", "4", "done"},
                                                  {"1", "1", "8", "done"}});
  const Sensitivity all = sensitivity_in(sweep, table, {"b", "a"});
  CHECK(all.ratios);
  CHECK(all.points == 4);
  CHECK(all.parameters[0].name == "a"); // the larger share first
  CHECK(*of(all, "a").share == Approx(0.8));
  CHECK(*of(all, "b").share == Approx(0.2));
  CHECK(of(all, "a").best.text == "0");
  CHECK(of(all, "a").best.mean == Approx(std::sqrt(2.0)));
  CHECK(of(all, "a").worst.mean == Approx(std::sqrt(32.0)));
  CHECK(of(all, "a").effect == Approx(4));
  CHECK(of(all, "b").effect == Approx(2));
  const EqualOthers& equal = of(all, "a").equal_others;
  CHECK(equal.groups == 2);
  CHECK(equal.least == Approx(4));
  CHECK(equal.median == Approx(4));
  CHECK(equal.largest == Approx(4));
}

TEST_CASE("All else equal: least, median and largest over groups with two values") {
  // b = 1: 1 to 2; b = 2: 1 to 6; b = 3: 3 to 12; b = 4 has one value only.
  const Sweep sweep = sweep_of({{"a", {"x", "y"}}, {"b", {"1", "2", "3", "4"}}}, {least("time")});
  const PointTable table = table_of(two_columns, {{"x", "1", "1", "done"},
                                                  {"x", "2", "6", "done"},
                                                  {"x", "3", "3", "done"},
                                                  {"x", "4", "9", "done"},
                                                  {"y", "1", "2", "done"},
                                                  {"y", "2", "1", "done"},
                                                  {"y", "3", "12", "done"},
                                                  {"y", "4", "", "infeasible"}});
  const EqualOthers equal = of(sensitivity_in(sweep, table, {"a"}), "a").equal_others;
  CHECK(equal.groups == 3);
  CHECK(equal.least == Approx(2));
  CHECK(equal.median == Approx(4));
  CHECK(equal.largest == Approx(6));
}

TEST_CASE("What follows by a zip needn't be equal; in a sample nothing follows") {
  Sweep sweep = sweep_of({{"size", {"1", "2"}}}, {least("time")});
  Axis zip;
  zip.names = {"network", "npus"};
  zip.rows = {{value_of("torus"), value_of("64")}, {value_of("mesh"), value_of("16")}};
  sweep.axes.push_back(zip);
  const PointTable table = table_of({{"size", Role::parameter},
                                     {"network", Role::parameter},
                                     {"npus", Role::parameter},
                                     {"time", Role::result},
                                     {"status", Role::record}},
                                    {{"1", "torus", "64", "1", "done"},
                                     {"1", "mesh", "16", "2", "done"},
                                     {"2", "torus", "64", "3", "done"},
                                     {"2", "mesh", "16", "9", "done"}});
  const Sensitivity all = sensitivity_in(sweep, table, {"network", "npus", "size"});
  CHECK(of(all, "network").equal_others.groups == 2);
  CHECK(of(all, "network").equal_others.least == Approx(2));
  CHECK(of(all, "network").equal_others.largest == Approx(3));
  CHECK(of(all, "npus").equal_others.groups == 2);
  CHECK(of(all, "size").equal_others.groups == 2);
  sweep.axes.back().drawn = true;
  const Sensitivity drawn = sensitivity_in(sweep, table, {"network", "npus", "size"});
  CHECK(of(drawn, "network").equal_others.groups == 0);
  CHECK(of(drawn, "size").equal_others.groups == 2);
}

TEST_CASE("A zip is one factor: the one that decides the others, or all of it") {
  // time = 4^size * network * rate of a zip of three rows.
  Sweep sweep = sweep_of({{"size", {"0", "1"}}}, {least("time")});
  const std::vector<TestColumn> columns{{"size", Role::parameter},
                                        {"network", Role::parameter},
                                        {"npus", Role::parameter},
                                        {"time", Role::result},
                                        {"status", Role::record}};
  const auto factors = [&](const Rows& zip) {
    sweep.axes.resize(1);
    Axis& axis = sweep.axes.emplace_back();
    axis.names = {"network", "npus"};
    Rows rows;
    for (const auto& row : zip) {
      axis.rows.push_back({value_of(row[0]), value_of(row[1])});
      rows.push_back({"0", row[0], row[1], row[2], "done"});
      rows.push_back({"1", row[0], row[1], fmt::format("{}", 4 * std::stod(row[2])), "done"});
    }
    const PointTable table = table_of(columns, rows);
    AnalysedPoints points(sweep, table);
    const Rows csv = sensitivity_report({{"S", "", {}}, "time", {}}, points).csv;
    Rows found;
    for (std::size_t i = 1; i < csv.size(); ++i)
      found.push_back({csv[i][0], fmt::format("{:.3g}", std::stod(csv[i][2]))});
    return found;
  };
  // Logarithms of base 2: 0, 1, 2 and 2 more for the size: 2/3 of 5/3.
  CHECK(factors({{"ring", "8", "1"}, {"ring", "16", "2"}, {"mesh", "32", "4"}}) ==
        Rows{{"size", "0.6"}, {"npus", "0.4"}});
  CHECK(factors({{"ring", "8", "1"}, {"mesh", "16", "2"}, {"torus", "32", "4"}}) ==
        Rows{{"size", "0.6"}, {"network", "0.4"}});
  CHECK(factors({{"ring", "8", "1"}, {"ring", "16", "2"}, {"mesh", "8", "4"}}) ==
        Rows{{"size", "0.6"}, {"network, npus", "0.4"}});
  PointTable table = table_of(columns, {{"0", "ring", "8", "1", "done"},
                                        {"0", "ring", "16", "2", "done"},
                                        {"0", "mesh", "8", "4", "done"}});
  const ParameterSensitivity all =
      of(sensitivity_in(sweep, table, {"network, npus"}), "network, npus");
  CHECK(all.levels == 3);
  CHECK(all.best.text == "ring, 8");
  CHECK(all.worst.text == "mesh, 8");
  CHECK(all.equal_others.groups == 1);
  CHECK(all.equal_others.largest == Approx(4));
}

TEST_CASE("More than eight numbers are eight ranges with about as many points") {
  // 16 values of a, time = e^a: ranges of two. Total of 0..15: (16^3 - 16) / 12 = 340; within the
  // eight pairs 8 * 0.5 = 4.
  Rows rows;
  std::vector<std::string> values;
  for (int a = 0; a < 16; ++a) {
    values.push_back(fmt::to_string(a));
    rows.push_back({values.back(), "0", fmt::format("{}", std::exp(a)), "done"});
  }
  const Sweep sweep = sweep_of({{"a", values}, {"b", {"0"}}}, {least("time")});
  const Sensitivity all = sensitivity_in(sweep, table_of(two_columns, rows), {"a", "b"});
  CHECK(of(all, "a").levels == 8);
  CHECK(*of(all, "a").share == Approx(336.0 / 340));
  CHECK(of(all, "a").best.text == "0 to 1");
  CHECK(of(all, "a").worst.text == "14 to 15");
  CHECK(of(all, "b").levels == 1);
  CHECK(of(all, "b").share == Approx(0));
}

TEST_CASE("An objective that isn't positive has plain means and differences, and words say so") {
  const Sweep sweep = sweep_of({{"a", {"0", "1"}}, {"b", {"0", "1"}}}, {least("time")});
  const PointTable table = table_of(two_columns, {{"0", "0", "-1", "done"},
                                                  {"0", "1", "0", "done"},
                                                  {"1", "0", "3", "done"},
                                                  {"1", "1", "6", "done"}});
  const Sensitivity all = sensitivity_in(sweep, table, {"a"});
  CHECK_FALSE(all.ratios);
  // Mean 2; squares 9 + 4 + 1 + 16 = 30; a: means -0.5 and 4.5, 4 * 6.25 = 25.
  CHECK(*of(all, "a").share == Approx(25.0 / 30));
  CHECK(of(all, "a").best.mean == Approx(-0.5));
  CHECK(of(all, "a").effect == Approx(5));
  CHECK(of(all, "a").equal_others.least == Approx(4));
  CHECK(of(all, "a").equal_others.largest == Approx(6));
  AnalysedPoints points(sweep, table);
  const AnalysisReport report = sensitivity_report({{"S", "", {}}, "time", {}}, points);
  REQUIRE(report.notes.size() == 1);
  CHECK_THAT(report.notes[0], ContainsSubstring("isn't positive"));
}

TEST_CASE("Without variance, or with a point for each value, there is no share") {
  const Sweep sweep = sweep_of({{"a", {"x", "y"}}, {"b", {"0", "1"}}}, {least("time")});
  const PointTable equal =
      table_of(two_columns,
               {{"x", "0", "0.1", "done"}, {"x", "1", "0.1", "done"}, {"y", "0", "0.1", "done"}});
  CHECK_FALSE(of(sensitivity_in(sweep, equal, {"a"}), "a").share);
  const PointTable single =
      table_of(two_columns, {{"x", "0", "1", "done"}, {"y", "0", "2", "done"}});
  CHECK_FALSE(of(sensitivity_in(sweep, single, {"a"}), "a").share);
}

TEST_CASE("Where more is better the best value is that with the largest mean") {
  Sweep sweep = sweep_of({{"a", {"x", "y"}}, {"b", {"0", "1"}}}, {largest("time")});
  const PointTable table = table_of(
      two_columns, {{"x", "0", "2", "done"}, {"x", "1", "8", "done"}, {"y", "0", "1", "done"}});
  const Sensitivity all = sensitivity_in(sweep, table, {"a"});
  CHECK(of(all, "a").best.text == "x");
  CHECK(of(all, "a").best.mean == Approx(4));
  CHECK(of(all, "a").effect == Approx(4));
}

} // namespace sensitivity_test
