#include "experiments/driver/sweep/analysis/selection.hpp"

#include "experiments/driver/sweep/report/analysis_report.hpp"
#include "tests/catch.hpp"
#include "tests/sweep/tables.hpp"

#include <nlohmann/json.hpp>

namespace selection_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

using Json = nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

const std::vector<TestColumn> columns{{"size", Role::parameter, Unit::bytes},
                                      {"algorithm", Role::parameter},
                                      {"npus", Role::fact},
                                      {"time", Role::result, Unit::seconds},
                                      {"status", Role::record}};

// direct up to 2 KiB, a tie at 4 KiB, nothing at 8 KiB, ring from 16 KiB on.
const Rows rows{{"1KiB", "ring", "64", "4", "done"},   {"1KiB", "direct", "64", "1", "done"},
                {"2KiB", "ring", "64", "3", "done"},   {"2KiB", "direct", "64", "2", "done"},
                {"4KiB", "ring", "64", "4", "done"},   {"4KiB", "direct", "64", "4", "done"},
                {"8KiB", "ring", "64", "", "crashed"}, {"8KiB", "direct", "64", "", "crashed"},
                {"16KiB", "ring", "64", "5", "done"},  {"16KiB", "direct", "64", "9", "done"},
                {"32KiB", "ring", "64", "6", "done"},  {"32KiB", "direct", "64", "", "refused"}};

Sweep tuner_sweep() {
  return sweep_of({{"size", {"1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB"}},
                   {"algorithm", {"ring", "direct"}}},
                  {least("time")});
}

const SelectionAnalysis tuner{{"Tuner", "", {}}, "time", {"algorithm"}, "size"};

} // namespace

TEST_CASE("Neighbours with the same choice are one range; a tie goes on, a hole ends it") {
  const Sweep sweep = tuner_sweep();
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  const AnalysisReport report = selection_report(tuner, points);
  const Json json = Json::parse(report.json);
  CHECK(json["sweep"] == "hand_made");
  CHECK(json["objective"] == Json({{"name", "time"}, {"unit", "seconds"}, {"better", "least"}}));
  CHECK(json["constants"] == Json({{"npus", 64}}));
  REQUIRE(json["selections"].size() == 1);
  const Json& ranges = json["selections"][0]["ranges"];
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0]["from"] == 1024);
  CHECK(ranges[0]["to"] == 8192);
  CHECK(ranges[0]["choice"] == Json({{"algorithm", "direct"}}));
  REQUIRE(ranges[0]["points"].size() == 3);
  CHECK(ranges[0]["points"][1] ==
        Json({{"at", 2048},
              {"objective", 2},
              {"next_best", {{"choice", {{"algorithm", "ring"}}}, {"ratio", 1.5}}}}));
  CHECK(ranges[0]["points"][2]["next_best"]["ratio"] == 1);
  CHECK(ranges[1]["from"] == 16384);
  CHECK(ranges[1]["to"].is_null());
  CHECK(ranges[1]["points"][0]["next_best"]["ratio"] == 1.8);
  CHECK(ranges[1]["points"][1]["next_best"].is_null());
  CHECK(json["selections"][0]["unanswered"] == Json::array({8192}));

  REQUIRE(report.csv.size() == 6);
  CHECK(report.csv[0] == std::vector<std::string>{"size [bytes]", "algorithm", "time [s]",
                                                  "next_algorithm", "next_over_best", "ties",
                                                  "range_from_size [bytes]",
                                                  "range_to_size [bytes]"});
  CHECK(report.csv[3] ==
        std::vector<std::string>{"4096", "direct", "4", "ring", "1", "2", "1024", "8192"});
  CHECK(report.csv[5] == std::vector<std::string>{"32768", "ring", "6", "", "", "1", "16384", ""});
}

TEST_CASE("The end of a range is where the next begins") {
  const Sweep sweep = tuner_sweep();
  const PointTable table = table_of(columns, {{"1KiB", "direct", "64", "1", "done"},
                                              {"1KiB", "ring", "64", "2", "done"},
                                              {"2KiB", "direct", "64", "2", "done"},
                                              {"2KiB", "ring", "64", "1", "done"},
                                              {"4KiB", "direct", "64", "1", "done"},
                                              {"4KiB", "ring", "64", "2", "done"}});
  AnalysedPoints points(sweep, table);
  const Json ranges = Json::parse(selection_report(tuner, points).json)["selections"][0]["ranges"];
  REQUIRE(ranges.size() == 3);
  CHECK(ranges[0]["to"] == 2048);
  CHECK(ranges[1]["from"] == 2048);
  CHECK(ranges[1]["to"] == 4096);
  CHECK(ranges[2]["to"].is_null());
}

TEST_CASE("Texts are selected for one by one") {
  const Sweep sweep = tuner_sweep();
  const PointTable table = table_of(columns, rows);
  AnalysedPoints points(sweep, table);
  const SelectionAnalysis by_algorithm{{"Size", "", {}}, "time", {"size"}, "algorithm"};
  const Json ranges =
      Json::parse(selection_report(by_algorithm, points).json)["selections"][0]["ranges"];
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0]["value"] == "ring");
  CHECK(ranges[0]["choice"] == Json({{"size", 2048}}));
  CHECK(ranges[1]["value"] == "direct");
  CHECK(ranges[1]["choice"] == Json({{"size", 1024}}));
  CHECK_FALSE(ranges[0].contains("from"));
}

} // namespace selection_test
