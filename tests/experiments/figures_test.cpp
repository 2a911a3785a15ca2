#include "experiments/figures.hpp"

#include "experiments/bars.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <cmath>

using namespace tutti;

namespace {

Experiment sample() {
  return parse_experiment("name = \"e\"\ntitle = \"E\"\n[topologies]\nA = \"ring:4\"\n"
                          "B = \"ring:5\"\n[[runs]]\ncollectives = [\"all_gather\"]\n"
                          "algorithms = [\"ring\", \"direct\"]\n",
                          "e.toml");
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

} // namespace

TEST_CASE("bars: a group per topology, a bar per algorithm, over the least of the group") {
  const std::vector evaluations{evaluation_of("A", "ring", 2e9), evaluation_of("A", "direct", 8e9),
                                evaluation_of("B", "ring", 5e9)};
  FigureRequest request{FigureKind::bars, "title", "file", {}, {}, {}, Metric::algbw, false};
  const double none = std::nan("");
  CHECK(make_figure(request, sample(), evaluations).script ==
        bar_figure({"title",
                    "algorithm bandwidth [GB/s]",
                    {"ring", "direct"},
                    {{"A", {2, 8}}, {"B", {5, none}}}})
            .script);
  request.normalized = true;
  CHECK(
      make_figure(request, sample(), evaluations).script ==
      bar_figure({"title", "algbw / least", {"ring", "direct"}, {{"A", {1, 4}}, {"B", {1, none}}}})
          .script);
}

TEST_CASE("sizes: a curve per algorithm, and what isn't asked for is left out") {
  const std::vector evaluations{evaluation_of("A", "ring", 3e9, 2000),
                                evaluation_of("A", "ring", 1e9, 1000),
                                evaluation_of("B", "ring", 9e9, 1000)};
  const FigureRequest request{FigureKind::sizes, "title", "file", {"A"}, {}, {},
                              Metric::algbw,     false};
  CHECK(
      make_figure(request, sample(), evaluations).script ==
      size_figure(
          {"title", "algorithm bandwidth [GB/s]", {{"ring", {{Bytes{1000}, 1}, {Bytes{2000}, 3}}}}})
          .script);
}

TEST_CASE("a figure of nothing is refused") {
  const FigureRequest request{FigureKind::heatmap, "title", "hot", {"B"}, {}, {}, {}, false};
  const std::vector evaluations{evaluation_of("A", "ring", 2e9)};
  CHECK(message_of([&] { (void)make_figure(request, sample(), evaluations); }) ==
        "figure hot: there is nothing to draw");
}
