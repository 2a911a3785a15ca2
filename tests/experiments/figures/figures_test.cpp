#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/runs/figure.hpp"

#include "experiments/driver/figures/bars.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <cmath>
#include <string>

namespace figures_test {

using namespace tutti;
using svg_reading::read;
using svg_reading::Svg;

namespace {

Experiment sample() {
  return parse_experiment("name = \"e\"\ntitle = \"E\"\n[topologies]\nA = \"ring:4\"\n"
                          "B = \"ring:5\"\n[[runs]]\ncollectives = [\"all_gather\"]\n"
                          "algorithms = [\"ring\", \"direct\"]\n",
                          "e.toml");
}

Figure figure_of(const FigureRequest& request, const Experiment& experiment,
                 std::span<const Evaluation> evaluations) {
  const std::vector<Case> cases = experiment.all<RunStudy>().at(0)->cases(experiment.topologies);
  return make_figure(request, experiment.topologies, cases, evaluations);
}

Evaluation evaluation_of(std::string topology, std::string algorithm, double algbw,
                         std::int64_t size = 1000) {
  Evaluation e;
  e.topology = std::move(topology);
  e.algorithm = std::move(algorithm);
  e.size = {size};
  Replay replay;
  replay.algbw = algbw;
  e.replays = {replay};
  return e;
}

FigureRequest request_of(FigureKind kind) {
  FigureRequest request;
  request.kind = kind;
  request.title = "title";
  request.file = "file";
  request.metric = {"algbw_bytes_per_s", Quantity::rate};
  request.over = {"npus", Quantity::count};
  return request;
}

const Heading heading{"title", "engine , fifo, links busy for serialization, forwarding auto"};

} // namespace

TEST_CASE("bars: a group per topology, a bar per algorithm, over the least of the group") {
  const std::vector evaluations{evaluation_of("A", "ring", 2e9), evaluation_of("A", "direct", 8e9),
                                evaluation_of("B", "ring", 5e9)};
  FigureRequest request = request_of(FigureKind::bars);
  const double none = std::nan("");
  CHECK(figure_of(request, sample(), evaluations).drawing ==
        bar_figure({heading,
                    "algorithm bandwidth [GB/s]",
                    {"ring", "direct"},
                    {{"A", {2, 8}}, {"B", {5, none}}}})
            .drawing);
  request.normalized = true;
  CHECK(figure_of(request, sample(), evaluations).drawing ==
        bar_figure({heading,
                    "algorithm bandwidth / least",
                    {"ring", "direct"},
                    {{"A", {1, 4}}, {"B", {1, none}}}})
            .drawing);
}

TEST_CASE("bars: chunks and runs are named where an algorithm has several for one problem") {
  std::vector<Evaluation> evaluations;
  const auto add = [&](std::string topology, std::string algorithm, std::uint32_t chunks,
                       std::string run, double algbw) {
    Evaluation& e =
        evaluations.emplace_back(evaluation_of(std::move(topology), std::move(algorithm), algbw));
    e.chunks_per_shard = chunks;
    e.run = std::move(run);
  };
  add("A", "ring", 8, "x", 1e9); // ring cuts twice as often as asked
  add("A", "ring", 128, "x", 2e9);
  add("A", "direct", 4, "x", 3e9);
  add("A", "direct", 4, "y", 4e9);
  add("A", "dbt", 8, "x", 5e9);
  add("B", "dbt", 8, "y", 6e9);
  const double none = std::nan("");
  CHECK(figure_of(request_of(FigureKind::bars), sample(), evaluations).drawing ==
        bar_figure({heading,
                    "algorithm bandwidth [GB/s]",
                    {"ring, 4 chunks", "ring, 64 chunks", "direct, x", "direct, y", "dbt"},
                    {{"A", {1, 2, 3, 4, 5}}, {"B", {none, none, none, none, 6}}}})
            .drawing);
}

TEST_CASE("sizes: a curve per algorithm, and what isn't asked for is left out") {
  const std::vector evaluations{evaluation_of("A", "ring", 3e9, 2000),
                                evaluation_of("A", "ring", 1e9, 1000),
                                evaluation_of("B", "ring", 9e9, 1000)};
  FigureRequest request = request_of(FigureKind::sizes);
  request.topologies = {"A"};
  CHECK(figure_of(request, sample(), evaluations).drawing ==
        curve_figure({heading,
                      CurveAxis::bytes,
                      "collective size",
                      "algorithm bandwidth [GB/s]",
                      {{"ring", {{1000, 1}, {2000, 3}}, {}, CurveLook{}}},
                      ""})
            .drawing);
}

TEST_CASE("chunks: as asked for, not as cut, over one algorithm's value for the same problem") {
  std::vector evaluations{
      evaluation_of("A", "ring", 2e9, 1000), evaluation_of("A", "ring", 3e9, 2000),
      evaluation_of("A", "direct", 1e9, 1000), evaluation_of("A", "direct", 6e9, 2000)};
  evaluations[0].chunks_per_shard = 2; // ring cuts each chunk into two
  evaluations[1].chunks_per_shard = 4;
  evaluations[2].chunks_per_shard = 1;
  evaluations[3].chunks_per_shard = 2;
  FigureRequest request = request_of(FigureKind::chunks);
  request.algorithms = {"ring"};
  request.reference = "direct";
  CHECK(figure_of(request, sample(), evaluations).drawing ==
        curve_figure({heading,
                      CurveAxis::powers,
                      "chunks per shard",
                      "algorithm bandwidth / that of direct",
                      {{"ring", {{1, 2}, {2, 0.5}}, {}, CurveLook{}}},
                      ""})
            .drawing);
  evaluations.pop_back(); // where there is nothing to hold it against there is no point
  CHECK(read(figure_of(request, sample(), evaluations)).has("2")); // alone at 1
}

TEST_CASE("a fact may be drawn; who doesn't state it has no point") {
  std::vector evaluations{evaluation_of("A", "ring", 1e9), evaluation_of("B", "ring", 1e9)};
  evaluations[0].facts = {{"hops", 7}};
  FigureRequest request = request_of(FigureKind::sizes);
  request.metric = {"fact:hops", Quantity::fact};
  const Figure figure = figure_of(request, sample(), evaluations);
  CHECK(figure.data.at(1).at(2) == "7");
  const Svg svg = read(figure);
  CHECK(svg.has("hops"));
  CHECK(svg.has("ring on A"));
  CHECK_FALSE(svg.has("ring on B"));
  evaluations[0].facts.clear();
  CHECK_THROWS_AS(figure_of(request, sample(), evaluations), InputError);
}

TEST_CASE("chunks: several collectives are told apart") {
  std::vector evaluations{evaluation_of("A", "ring", 1e9), evaluation_of("A", "ring", 2e9)};
  evaluations[0].collective = "all_gather";
  evaluations[1].collective = "all_to_all";
  for (Evaluation& e : evaluations) e.chunks_per_shard = 2;
  const Svg svg = read(figure_of(request_of(FigureKind::chunks), sample(), evaluations));
  CHECK(svg.has("ring, all_gather"));
  CHECK(svg.has("ring, all_to_all"));
}

TEST_CASE("scaling: a curve per family and algorithm, with its exponent") {
  std::vector evaluations{evaluation_of("A", "ring", 1e9), evaluation_of("B", "ring", 1e9),
                          evaluation_of("A", "direct", 1e9), evaluation_of("B", "direct", 1e9)};
  evaluations[0].npus = evaluations[2].npus = 4;
  evaluations[1].npus = evaluations[3].npus = 8;
  evaluations[0].synthesis_seconds = 1;
  evaluations[1].synthesis_seconds = 4;
  evaluations[2].synthesis_seconds = 1;
  evaluations[3].synthesis_seconds = 8;
  FigureRequest request = request_of(FigureKind::scaling);
  request.metric = {"synthesis_seconds", Quantity::effort};
  // Through two sizes there is always a line.
  CHECK_FALSE(read(figure_of(request, sample(), evaluations)).shows("N^"));
  for (const std::size_t larger : {1U, 3U}) {
    evaluations.push_back(evaluations[larger]);
    evaluations.back().npus = 16;
    evaluations.back().synthesis_seconds *= larger == 1 ? 4 : 8;
  }
  const Svg svg = read(figure_of(request, sample(), evaluations));
  for (const char* text :
       {"ring on ring: N^2.00", "direct on ring: N^3.00", "synthesis time [CPU s]"})
    CHECK(svg.has(text));
  for (Evaluation& e : evaluations) e.transfers = std::uint64_t{e.npus} * e.npus;
  request.over = {"transfers", Quantity::count};
  CHECK(read(figure_of(request, sample(), evaluations)).has("ring on ring: T^1.00"));
}

TEST_CASE("scaling: several collectives are told apart") {
  std::vector evaluations{evaluation_of("A", "ring", 1e9), evaluation_of("A", "ring", 2e9)};
  evaluations[0].collective = "all_gather";
  evaluations[1].collective = "all_to_all";
  for (Evaluation& e : evaluations) e.npus = 4;
  const Svg svg = read(figure_of(request_of(FigureKind::scaling), sample(), evaluations));
  CHECK(svg.shows("ring, all_gather on ring"));
  CHECK(svg.shows("ring, all_to_all on ring"));
}

TEST_CASE("planned times are drawn in ms, and over the replayed ones") {
  std::vector evaluations{evaluation_of("A", "ring", 1e9)};
  evaluations[0].planned = Time{3'000'000'000};
  evaluations[0].replays[0].report.completion = Time{4'000'000'000};
  FigureRequest request = request_of(FigureKind::sizes);
  request.metric = {"planned_time_ps", Quantity::time};
  const Svg planned = read(figure_of(request, sample(), evaluations));
  CHECK(planned.has("planned time [ms]"));
  CHECK(planned.has("3")); // the axis ends a little above
  request.metric = {"planned_ratio", Quantity::ratio};
  const Svg ratio = read(figure_of(request, sample(), evaluations));
  CHECK(ratio.has("planned time / collective time"));
  CHECK(ratio.has("0.6")); // likewise above 0.75
  CHECK_FALSE(ratio.has("0.8"));
}

TEST_CASE("for a paper: as wide as a column, in its font, without titles") {
  const std::vector evaluations{evaluation_of("A", "ring", 1e9, 1000),
                                evaluation_of("A", "ring", 3e9, 2000)};
  FigureRequest request = request_of(FigureKind::sizes);
  const Svg page = read(figure_of(request, sample(), evaluations));
  CHECK(page.has("title"));
  request.inches = 3.3;
  request.font = "Times";
  request.has_titles = false;
  request.y_label = "speed";
  const Figure figure = figure_of(request, sample(), evaluations);
  const std::string svg = svg_of(figure);
  CHECK_THAT(svg, ContainsSubstring("width=\"3.3in\"") && ContainsSubstring("family=\"Times\""));
  CHECK(figure.width < 600);
  const Svg column = read(figure);
  CHECK_FALSE(column.has("title"));
  CHECK(column.has("speed"));
  CHECK(svg_reading::faults_of(column) == std::vector<std::string>{});
  for (const svg_reading::SvgText& text : column.texts)
    CHECK(text.font * 3.3 * 72 / column.width > 6.98); // points in print
}

TEST_CASE("the bound is a line, and what others have measured are marks") {
  std::vector evaluations{evaluation_of("A", "ring", 1e9, 1000),
                          evaluation_of("A", "ring", 3e9, 2000)};
  for (Evaluation& e : evaluations) {
    e.replays[0].report.completion = Time{2'000'000};
    e.replays[0].bound.time = Time{1'000'000};
  }
  FigureRequest request = request_of(FigureKind::sizes);
  request.shows_bound = true;
  request.given = {{"paper", {{1500, 4}}}};
  request.y_ends = {{0, 10}};
  const Figure figure = figure_of(request, sample(), evaluations);
  using Rows = std::vector<std::vector<std::string>>;
  CHECK(figure.data == Rows{{"series", "collective size", "algorithm bandwidth [GB/s]"},
                            {"ring", "1000", "1"},
                            {"ring", "2000", "3"},
                            {"bound", "1000", "2"},
                            {"bound", "2000", "6"},
                            {"paper", "1500", "4"}});
  const Svg svg = read(figure);
  for (const char* text : {"bound", "paper", "10"}) CHECK(svg.has(text));
  request = request_of(FigureKind::bars);
  request.shows_bound = true;
  evaluations.pop_back();
  const Figure bars = figure_of(request, sample(), evaluations);
  CHECK(bars.data.back() == std::vector<std::string>{"bound", "A", "2"});
  CHECK(read(bars).has("bound"));
}

TEST_CASE("schedule: as it was kept, and of one evaluation only") {
  const Experiment experiment = sample();
  const TemporaryFolder folder;
  std::vector<Case> cases = experiment.all<RunStudy>().at(0)->cases(experiment.topologies);
  std::vector<Evaluation> evaluations;
  for (Case& c : cases) {
    c.schedule_file = folder.file(std::to_string(evaluations.size()));
    evaluations.push_back(evaluate(c));
  }
  const auto figure_of = [&](const FigureRequest& request, const Experiment& e,
                             std::span<const Evaluation> all) {
    return make_figure(request, e.topologies, cases, all);
  };
  FigureRequest request = request_of(FigureKind::schedule);
  request.topologies = {"A"};
  CHECK(message_of([&] { (void)figure_of(request, experiment, evaluations); }) ==
        "figure file: a schedule is drawn of one evaluation, not of 2");
  request.algorithms = {"ring"};
  CHECK(read(figure_of(request, experiment, evaluations)).shows("step 1,"));
  evaluations[0].replays[0].report.completion.ps += 1;
  CHECK_THAT(message_of([&] { (void)figure_of(request, experiment, evaluations); }),
             ContainsSubstring("in another replay"));
}

TEST_CASE("a figure of nothing is refused") {
  FigureRequest request = request_of(FigureKind::heatmap);
  request.topologies = {"B"};
  const std::vector evaluations{evaluation_of("A", "ring", 2e9)};
  CHECK(message_of([&] { (void)figure_of(request, sample(), evaluations); }) ==
        "figure file: there is nothing to draw");
}

} // namespace figures_test
