// Which points a condition chooses is counted by hand on four points, one without a result and one
// that takes no time.
#include "experiments/driver/sweep/report/points_report.hpp"

#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sweep/tables.hpp"

namespace points_report_test {

using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using namespace tutti;
using namespace tutti::sweep;

namespace {

Sweep cases() {
  Sweep sweep = sweep_of({{"network", {"torus", "mesh"}}, {"size", {"1KiB", "1MiB"}}}, {});
  sweep.objectives = {{"time", "collective_time_s"}, {"rate", "8 / collective_time_s", true}};
  return sweep;
}

/// One point has no result, one takes no time.
PointTable made() {
  return with_objectives(cases(), table_of({{"network", Role::parameter},
                                            {"size", Role::parameter},
                                            {"npus", Role::fact},
                                            {"collective_time_s", Role::result, Unit::seconds},
                                            {"status", Role::record}},
                                           {{"torus", "1KiB", "16", "2e-6", "done"},
                                            {"torus", "1MiB", "16", "0.5", "done"},
                                            {"mesh", "1KiB", "16", "0", "done"},
                                            {"mesh", "1MiB", "16", "", "timed_out"}}));
}

std::vector<std::uint32_t> rows(const std::string& condition) {
  return points_where(made(), condition).rows;
}

} // namespace

TEST_CASE("points are chosen by parameters, facts, results, objectives and status") {
  using Rows = std::vector<std::uint32_t>;
  CHECK(rows("network = 'torus'") == Rows{0, 1});
  CHECK(rows("size >= '1MiB'") == Rows{1, 3});
  CHECK(rows("time < 1e-3 and npus = 16") == Rows{0, 2}); // not what is unknown
  CHECK(rows("status <> 'done'") == Rows{3});
  CHECK(rows("rate > 0") == Rows{0, 1});
  CHECK(points_where(made(), "8 / collective_time_s > 0").unclear == 1); // a division by zero
  CHECK(rows("npus < 16").empty());
}

TEST_CASE("a condition that can't be read or computed is refused") {
  CHECK_THAT(message_of([] { (void)rows("tim < 1"); }),
             StartsWith("column 1 of \"tim < 1\": unknown name") &&
                 EndsWith("did you mean \"time\"?)"));
  CHECK_THAT(message_of([] { (void)rows("network + 1 > 2"); }), ContainsSubstring("torus"));
  CHECK_THAT(message_of([] { (void)rows("8 / collective_time_s > 1e9"); }),
             ContainsSubstring("division by 0"));
}

TEST_CASE("a table of points has what varies, what is named, objectives, and the rest at the end") {
  const PointTable table = made();
  const ChosenPoints chosen = points_where(table, "npus > 1 and network = 'torus'");
  const Table few = points_table(cases(), table, chosen, false);
  std::vector<std::string> titles;
  for (const Column& column : few.columns) titles.push_back(column.title);
  CHECK(titles == std::vector<std::string>{"network", "size", "npus", "time", "rate"});
  CHECK(few.rows ==
        std::vector<std::vector<std::string>>{{"torus", "1 KiB", "16", "2 us", "4000000"},
                                              {"torus", "1 MiB", "16", "500 ms", "16"}});
  const Table all = points_table(cases(), table, chosen, true);
  REQUIRE(all.columns.size() == 7);
  CHECK(all.columns[5].title == "collective_time_s");
  CHECK(all.columns[6].title == "status");
}

TEST_CASE("points as JSON have all columns; what isn't known is null") {
  const PointTable table = made();
  const auto json = points_json(table, points_where(table, "status = 'timed_out'"));
  CHECK(json.dump() ==
        R"([{"kind":"point","values":{"network":"mesh","size":1048576,"npus":16,)"
        R"("collective_time_s":null,"status":"timed_out","time":null,"rate":null}}])");
}

} // namespace points_report_test
