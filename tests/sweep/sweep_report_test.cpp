#include "experiments/driver/sweep/report/sweep_report.hpp"

#include "experiments/driver/records/html.hpp"
#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/sweep/report/points_csv.hpp"
#include "experiments/driver/sweep/report/sweep_page.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/sweep/tables.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace sweep_report_test {

using namespace tutti;
using namespace tutti::sweep;

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

TEST_CASE("The page has everything inline and escaped, and no scripts") {
  const std::string page = written(complete_sweep(), table_of(columns, rows)).at("index.html");
  CHECK_THAT(page, ContainsSubstring("<h1>Costs &amp; &quot;times&quot;</h1>"));
  CHECK_THAT(page, ContainsSubstring("Best &lt;network&gt;"));
  CHECK_THAT(page, ContainsSubstring("name = &quot;&lt;hand_made&gt;&quot;"));
  CHECK_THAT(page, ContainsSubstring("<td class=\"n\">2</td><td>infeasible</td>"
                                     "<td>no &lt;b&gt;, &quot;really&quot; &amp; truly</td>"));
  CHECK(page.find("mesh<8") == std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(count_of(page, "<svg") == 5);
  CHECK(count_of(page, "<svg") == count_of(page, "</svg>"));
  CHECK(page.find("<?xml") == std::string::npos);
  CHECK(page.find("<title>Gnuplot</title>") == std::string::npos);
  // Each entry of the contents leads somewhere.
  for (const char* id : {"varied", "points", "problems", "analysis-1", "analysis-5", "sweep"}) {
    CHECK_THAT(page, ContainsSubstring(fmt::format("<a href=\"#{}\">", id)));
    CHECK_THAT(page, ContainsSubstring(fmt::format("<section id=\"{}\">", id)));
  }
}

TEST_CASE("The page begins with what came out, in words with their numbers") {
  const std::string page = written(complete_sweep(), table_of(columns, rows)).at("index.html");
  const std::string begin = page.substr(0, page.find("<main>"));
  for (const char* words :
       {"<h2>Conclusions</h2>", "3 of 4 points aren&#39;t beaten in both cost and time.",
        "On the 2 fronts: mesh&lt;8&gt; on 2, torus on 1.",
        "The network with the least time: torus in 1 of 2 cases, mesh&lt;8&gt; in 1.",
        "at most 1.50x (size 1 KiB, where it is mesh&lt;8&gt; after torus)",
        "decides most about time",
        "At size 1 KiB torus has the least time, 1 ms, mesh&lt;8&gt; has 1.50x as much",
        "4 of 6 have a result."})
    CHECK_THAT(begin, ContainsSubstring(words));
  // Of points without a result nothing is concluded.
  Rows none = rows;
  for (auto& row : none) row[4] = "crashed";
  const std::string empty = written(complete_sweep(), table_of(columns, none)).at("index.html");
  CHECK_THAT(empty, ContainsSubstring("0 of 6 have a result."));
  CHECK(count_of(empty.substr(0, empty.find("<main>")), "<li><a href=\"#analysis") == 5);
}

TEST_CASE("Ten pictures are in sight, of each analysis one before any has two") {
  PageFigure figure{"title", "a.svg", "<svg></svg>"};
  std::vector<PageSection> sections(4);
  sections[0].figures.assign(24, figure);
  sections[1].figures.assign(1, figure);
  sections[2].figures.assign(3, figure);
  const std::string page = sweep_page(complete_sweep(), table_of(columns, rows), sections);
  CHECK(count_of(page, "<svg") == 28);
  std::size_t in_sight = 0, depth = 0;
  for (std::size_t at = 0; at < page.size(); ++at) {
    if (page.compare(at, 9, "<details>") == 0) ++depth;
    if (page.compare(at, 10, "</details>") == 0) --depth;
    if (page.compare(at, 4, "<svg") == 0 && depth == 0) ++in_sight;
  }
  CHECK(in_sight == 10);
  CHECK_THAT(page, ContainsSubstring("<summary>18 more pictures</summary>")); // 6 + 1 + 3 in sight
}

TEST_CASE("Hostile names make no other page and no other pictures") {
  const std::string hostile = "\"<b>&'%d\\n{x}\x01\n😀";
  Sweep sweep = complete_sweep();
  sweep.axes[0].rows = {{text_value("torus")}, {text_value(hostile)}};
  Rows some = rows;
  for (auto& row : some)
    if (row[0] != "torus") row[0] = hostile;
  const auto files = written(sweep, table_of(columns, some));
  CHECK(files.at("index.html").find("<b>") == std::string::npos);
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
  const std::string page = written(sweep, table_of(columns, failed)).at("index.html");
  CHECK_THAT(page, ContainsSubstring("<td class=\"n\">6</td><td>crashed</td><td>signal 11</td>"));
  CHECK_THAT(page, ContainsSubstring("No point has a result to show."));
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
