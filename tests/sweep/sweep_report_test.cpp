#include "experiments/driver/sweep/report/sweep_report.hpp"

#include "experiments/driver/records/html.hpp"
#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/sweep/report/points_csv.hpp"
#include "experiments/driver/sweep/report/sweep_page.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/explored_page.hpp"
#include "tests/sweep/tables.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace sweep_report_test {

using namespace tutti;
using namespace tutti::sweep;
using Json = nlohmann::json;

namespace {

using Rows = std::vector<std::vector<std::string>>;

const std::vector<TestColumn> columns{
    {"network", Role::parameter}, {"size", Role::parameter, Unit::bytes},
    {"cost", Role::fact},         {"collective_time_s", Role::result, Unit::seconds},
    {"status", Role::record},     {"message", Role::record}};

// One analysis of each kind.
Sweep complete_sweep() {
  Sweep sweep = sweep_of({{"network", {"torus", "mesh<8>"}}, {"size", {"1KiB", "2KiB", "4KiB"}}},
                         {{"time", "collective_time_s", false, Unit::none}, least("cost")});
  sweep.title = "Costs & \"times\"";
  sweep.toml = "name = \"<hand_made>\"\n";
  sweep.paretos.push_back({{"Front", "", {"size"}}, "cost", "time", "network"});
  sweep.bests.push_back({{"Best", "Best <network>", {}}, "time", {"network"}, "size", ""});
  sweep.sensitivities.push_back({{"What matters", "", {}}, "time", {}});
  sweep.curves.push_back({{"Curves", "", {}}, "time", "size", "network", "", "", true});
  sweep.selections.push_back({{"Table", "", {}}, "time", {"network"}, "size"});
  return sweep;
}

const Rows rows{{"torus", "1KiB", "10", "0.001", "done", ""},
                {"torus", "2KiB", "10", "0.002", "done", ""},
                {"torus", "4KiB", "10", "", "infeasible", "no <b>, \"really\" & truly"},
                {"mesh<8>", "1KiB", "8", "0.0015", "done", ""},
                {"mesh<8>", "2KiB", "8", "0.0015", "done", "a note"},
                {"mesh<8>", "4KiB", "8", "", "infeasible", "no <b>, \"really\" & truly"}};

std::map<std::string, std::string> contents_of(const std::vector<std::string>& files) {
  std::map<std::string, std::string> contents;
  for (const std::string& file : files)
    contents[file.substr(file.rfind('/') + 1)] = read_file(file);
  return contents;
}

std::map<std::string, std::string> written(const Sweep& sweep, const PointTable& table) {
  const TemporaryFolder folder;
  return contents_of(write_sweep(sweep, analyses_of(sweep, table), folder.file("out")));
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

} // namespace

TEST_CASE("A sweep's analyses are files: a CSV and figures for each, and a page with all") {
  const auto files = written(complete_sweep(), table_of(columns, rows));
  std::vector<std::string> names;
  for (const auto& [name, content] : files) names.push_back(name);
  CHECK(names == std::vector<std::string>{
                     "best_best.csv", "best_best.svg", "best_best_data.csv", "curves_curves.csv",
                     "curves_curves.svg", "curves_curves_data.csv", "index.html",
                     "pareto_front.csv", "pareto_front.svg", "pareto_front_data.csv", "points.csv",
                     "selection_table.csv", "selection_table.json", "selection_table.svg",
                     "selection_table_data.csv", "sensitivity_what_matters.csv",
                     "sensitivity_what_matters.svg", "sensitivity_what_matters_data.csv"});
  CHECK(files.at("points.csv") ==
        "network,size [bytes],cost,collective_time_s,status,message\n"
        "torus,1024,10,0.001,done,\n"
        "torus,2048,10,0.002,done,\n"
        "torus,4096,10,,infeasible,\"no <b>, \"\"really\"\" & truly\"\n"
        "mesh<8>,1024,8,0.0015,done,\n"
        "mesh<8>,2048,8,0.0015,done,a note\n"
        "mesh<8>,4096,8,,infeasible,\"no <b>, \"\"really\"\" & truly\"\n");
}

TEST_CASE(
    "The page has all points, analyses with their pictures, what was varied and what failed") {
  const std::string page = written(complete_sweep(), table_of(columns, rows)).at("index.html");
  const Json data = explored_page::data_of(page);
  CHECK(data["title"] == "Costs & \"times\"");
  const Json results = explored_page::results_of(data);
  std::vector<std::string> titles;
  for (const Json& table : results["tables"]) titles.push_back(table["title"]);
  CHECK(titles == std::vector<std::string>{"conclusions", "points", "Front", "Best <network>",
                                           "What matters", "Curves", "Table", "what was varied",
                                           "objectives", "what has no result", "the sweep"});
  const Json points = explored_page::table_of(results, "points");
  CHECK(explored_page::values_of(points, "network") ==
        Json{"torus", "torus", "torus", "mesh<8>", "mesh<8>", "mesh<8>"});
  for (const Json& column : points["columns"])
    if (column["name"] == "time [s]")
      CHECK((column["quantity"] == "seconds" && column["title"] == "time"));
  CHECK(explored_page::values_of(points, "time [s]") ==
        Json{0.001, 0.002, nullptr, 0.0015, 0.0015, nullptr});
  CHECK(explored_page::values_of(explored_page::table_of(results, "what has no result"),
                                 "message") == Json::array({"no <b>, \"really\" & truly"}));
  std::size_t pictures = 0;
  for (const Json& table : results["tables"])
    for (const Json& picture : table["pictures"]) {
      ++pictures;
      CHECK_THAT(picture["svg"].get<std::string>(), ContainsSubstring("<svg"));
    }
  CHECK(pictures == 5 + 5); // each, and the first of each analysis among the conclusions
  CHECK(explored_page::table_of(results, "the sweep")["notes"] ==
        Json::array({complete_sweep().toml}));
}

TEST_CASE("The page begins with what came out, in words with their numbers") {
  const auto conclusions = [](const Rows& some) {
    const std::string page = written(complete_sweep(), table_of(columns, some)).at("index.html");
    return explored_page::results_of(explored_page::data_of(page))["tables"][0];
  };
  const Json of_all = conclusions(rows);
  std::string words;
  for (const Json& note : of_all["notes"]) words += note.get<std::string>() + "\n";
  for (const char* said :
       {"3 of 4 points aren't beaten in both cost and time.",
        "On the 2 fronts: mesh<8> on 2, torus on 1.",
        "The network with the least time: torus in 1 of 2 cases, mesh<8> in 1.",
        "at most 1.50x (size 1 KiB, where it is mesh<8> after torus)", "decides most about time",
        "At size 1 KiB torus has the least time, 1 ms, mesh<8> has 1.50x as much"})
    CHECK_THAT(words, ContainsSubstring(said));
  CHECK_THAT(of_all["notes"][0].get<std::string>(), ContainsSubstring("4 done, 2 infeasible"));
  // Of points without a result nothing is concluded.
  Rows none = rows;
  for (auto& row : none) row[4] = "crashed";
  CHECK_THAT(conclusions(none)["notes"][0].get<std::string>(), ContainsSubstring("6 crashed"));
}

TEST_CASE("Hostile names make no other page and no other pictures") {
  const std::string hostile = "\"<b>&'%d\\n{x}\x01\n😀";
  Sweep sweep = complete_sweep();
  sweep.axes[0].rows = {{text_value("torus")}, {text_value(hostile)}};
  Rows some = rows;
  for (auto& row : some)
    if (row[0] != "torus") row[0] = hostile;
  const auto files = written(sweep, table_of(columns, some));
  CHECK(explored_page::data_of(files.at("index.html"))["version"] == 2);
  for (const auto& [name, content] : files) {
    if (!name.ends_with(".svg")) continue;
    CAPTURE(name);
    const svg_reading::Svg svg = svg_reading::read_svg(content);
    CHECK(std::ranges::any_of(svg.texts, [](const auto& text) {
      return text.text.find("\"<b>&'%d\\n{x}\\u0001") != std::string::npos;
    }));
  }
}

TEST_CASE("Whatever order the rows had, the files have the same bytes") {
  const Sweep sweep = complete_sweep();
  const auto files = written(sweep, table_of(columns, rows));
  for (const std::uint64_t seed : {1U, 2U, 3U})
    CHECK(written(sweep, table_of(columns, shuffled(rows, seed))) == files);
}

TEST_CASE("No points, all failed, one point: files and a page all the same") {
  const Sweep sweep = complete_sweep();
  Rows failed = rows;
  for (auto& row : failed) {
    row[3] = "";
    row[4] = "crashed";
    row[5] = "signal 11";
  }
  for (const Rows& some : {Rows{}, failed, Rows{rows[0]}}) {
    const auto files = written(sweep, table_of(columns, some));
    CHECK(files.size() >= 8); // five analyses, the JSON, points and page
    CHECK(count_of(files.at("points.csv"), "\n") == 1 + some.size());
    CHECK_THAT(files.at("index.html"), ContainsSubstring("</html>"));
    CHECK_FALSE(analyses_text(analyses_of(sweep, table_of(columns, some)), 5).empty());
  }
  const Json results = explored_page::results_of(
      explored_page::data_of(written(sweep, table_of(columns, failed)).at("index.html")));
  const Json problems = explored_page::table_of(results, "what has no result");
  CHECK(explored_page::values_of(problems, "points") == Json::array({"6"}));
  CHECK(explored_page::values_of(problems, "message") == Json::array({"signal 11"}));
  CHECK(explored_page::table_of(results, "Front")["notes"].back() ==
        "No point has a result to show.");
}

TEST_CASE("Labels whose letters agree have files of their own") {
  Sweep sweep = complete_sweep();
  sweep.curves.push_back(sweep.curves.front());
  sweep.curves.back().head.label = "curves!";
  const auto files = written(sweep, table_of(columns, rows));
  CHECK(files.contains("curves_curves.csv"));
  CHECK(files.contains("curves_curves_2.csv"));
  CHECK(files.contains("curves_curves_2.svg"));
}

TEST_CASE("A folder that can't be written is an InputError") {
  const TemporaryFolder folder;
  write_file(folder.file("file"), "");
  CHECK_THROWS_AS(write_sweep(complete_sweep(),
                              analyses_of(complete_sweep(), table_of(columns, rows)),
                              folder.file("file")),
                  InputError);
}

TEST_CASE("Text for a terminal is cut") {
  const std::string text = analyses_text(analyses_of(complete_sweep(), table_of(columns, rows)), 2);
  CHECK_THAT(text, ContainsSubstring("Best <network>\n"));
  CHECK_THAT(text, ContainsSubstring("... 1 more\n"));
}

TEST_CASE("Large tables are cut on the page, with the file that has all") {
  Table table{{{"a"}}, {}};
  for (int i = 0; i < 5; ++i) table.rows.push_back({fmt::to_string(i)});
  const std::string html = html_table(table, 3, "a.csv");
  CHECK(count_of(html, "<td>") == 3);
  CHECK_THAT(html, ContainsSubstring("The first 3 of 5 rows; all are in <a href=\"a.csv\">"));
  CHECK(html_table(table, 5, "a.csv").find("first") == std::string::npos);
}

TEST_CASE("Texts are escaped, and pictures have names") {
  CHECK(escaped("<a href=\"x\" b='y'>&\x01") == "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp; ");
  CHECK(inline_svg("<svg width=\"1\"></svg>", "a < b") ==
        "<svg role=\"img\" aria-label=\"a &lt; b\" width=\"1\"></svg>");
}

TEST_CASE("Problems are grouped, the most frequent first; what is pending is none") {
  const PointTable table =
      table_of({{"status", Role::record}, {"message", Role::record}}, {{"crashed", "b"},
                                                                       {"infeasible", "a"},
                                                                       {"crashed", "b"},
                                                                       {"pending", ""},
                                                                       {"done", "note"},
                                                                       {"timed_out", ""}});
  CHECK(problem_table(table).rows ==
        Rows{{"2", "crashed", "b"}, {"1", "infeasible", "a"}, {"1", "timed_out", ""}});
  CHECK(status_table(table).rows == Rows{{"pending", "1"},
                                         {"done", "1"},
                                         {"infeasible", "1"},
                                         {"timed_out", "1"},
                                         {"crashed", "2"}});
}

} // namespace sweep_report_test
