// Running gnuplot: both formats, the same bytes each time, every way of failing in words.
#include "experiments/driver/figures/gnuplot.hpp"

#include "experiments/driver/figures/bars.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/heatmap.hpp"
#include "experiments/driver/figures/style.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"

#include <filesystem>
#include <limits>

namespace gnuplot_test {

using namespace tutti;

namespace {

Figure small_heatmap() {
  LinkMap map{.title = "it's _one_ 100 %",
              .nodes = 2,
              .npus = 2,
              .others = {},
              .cells = {},
              .links = {0.25, 1}};
  map.cells = {std::numeric_limits<double>::quiet_NaN(), 0.25, 1,
               std::numeric_limits<double>::quiet_NaN()};
  return heatmap_figure("µ & <ring>", std::vector{map, map}, LinkQuantity::utilisation);
}

std::vector<Figure> figures() {
  const BarChart bars{.heading = "b", .y_label = "y [s]", .series = {"a"}, .groups = {{"g", {1}}}};
  BarChart logarithmic = bars;
  logarithmic.logarithmic = true;
  const CurveChart sizes{.heading = {"s", "a note"},
                         .axis = CurveAxis::bytes,
                         .x_label = "x",
                         .y_label = "y [s]",
                         .curves = {{"a", {{1, 0}}}},
                         .growth_in = ""};
  CurveChart growth = sizes;
  growth.axis = CurveAxis::tens;
  growth.growth_in = "N";
  growth.curves = {{"a", {{1, 1}, {10, 100}}}};
  return {small_heatmap(), bar_figure(bars), bar_figure(logarithmic), curve_figure(sizes),
          curve_figure(growth)};
}

} // namespace

TEST_CASE("Figures are drawn as SVG and PNG, the same bytes each time") {
  if (!gnuplot_found()) {
    WARN("gnuplot isn't installed: pictures are not tested");
    return;
  }
  for (const Figure& figure : figures()) {
    const std::string svg = rendered(figure, PictureFormat::svg);
    CHECK_THAT(svg, ContainsSubstring("<svg"));
    CHECK_THAT(svg, ContainsSubstring("</svg>"));
    CHECK(svg == rendered(figure, PictureFormat::svg));
    const std::string png = rendered(figure, PictureFormat::png);
    CHECK(png.starts_with("\x89PNG\r\n"));
    CHECK(png == rendered(figure, PictureFormat::png));
  }
}

TEST_CASE("Text reaches the picture as it is") {
  if (!gnuplot_found()) return;
  const std::string svg = rendered(small_heatmap(), PictureFormat::svg);
  CHECK_THAT(svg, ContainsSubstring("µ &amp; &lt;ring"));
  CHECK_THAT(svg, ContainsSubstring("it's _one_ 100 %"));
  CHECK_THAT(svg, !ContainsSubstring("<image")); // squares, which no viewer blurs
  LinkMap large{.title = "all", .nodes = 90, .npus = 90, .others = {}, .cells = {}, .links = {1}};
  large.cells.assign(90 * 90, 1.0);
  CHECK_THAT(rendered(heatmap_figure("t", std::vector{large}, LinkQuantity::utilisation),
                      PictureFormat::svg),
             ContainsSubstring("<image image-rendering='pixelated' "));
}

TEST_CASE("A missing gnuplot is an error in words") {
  CHECK_FALSE(gnuplot_found("tutti-no-such-program"));
  CHECK_THROWS_WITH(rendered({"plot 1", 300, 200}, PictureFormat::svg, "tutti-no-such-program"),
                    ContainsSubstring("gnuplot isn't installed: no program "
                                      "\"tutti-no-such-program\" in PATH (install the package"));
}

TEST_CASE("A program that can't be run, or fails, is an error in words") {
  CHECK_THROWS_WITH(rendered({"plot 1", 300, 200}, PictureFormat::svg, "/"),
                    ContainsSubstring("cannot run /: "));
  CHECK_THROWS_WITH(rendered({"plot 1", 300, 200}, PictureFormat::svg, "false"),
                    ContainsSubstring("false failed"));
}

TEST_CASE("gnuplot's own words come through on one line") {
  if (!gnuplot_found()) return;
  try {
    (void)rendered({"plot nonsense(\n", 300, 200}, PictureFormat::svg);
    FAIL("expected an InputError");
  } catch (const InputError& e) {
    const std::string message = e.what();
    CHECK_THAT(message, ContainsSubstring("gnuplot failed: "));
    CHECK_THAT(message, ContainsSubstring("invalid expression"));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("The file's ending decides the format; nothing is left where drawing fails") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "tutti_gnuplot_test";
  fs::remove_all(folder);
  CHECK_THROWS_WITH(draw(small_heatmap(), folder / "heat.jpg"),
                    ContainsSubstring("heat.jpg: a picture's file name must end in .svg or .png"));
  CHECK_FALSE(fs::exists(folder));
  if (!gnuplot_found()) return;
  CHECK_THROWS_AS(draw({"plot nonsense(\n", 300, 200}, folder / "bad.svg"), InputError);
  CHECK_FALSE(fs::exists(folder / "bad.svg"));
  draw(small_heatmap(), folder / "heat.svg");
  CHECK_THAT(read_file(folder / "heat.svg"), ContainsSubstring("</svg>"));
  fs::remove_all(folder);
}

TEST_CASE("Script text: quotes, numbers, colours") {
  CHECK(unbroken_words("done at 12.4 ms, by ring ms") ==
        std::vector<std::string>{"done", "at", "12.4 ms,", "by", "ring", "ms"});
  CHECK(gnuplot_quoted("it's\ntwo") == "\"it's two\"");
  CHECK(three_digits(1595.4) == "1595");
  CHECK(three_digits(50.84) == "50.8");
  CHECK(three_digits(9.1) == "9.10");
  CHECK(three_digits(0.1234) == "0.123");
  CHECK(three_digits(0.99949) == "0.999");
  for (const double value : {0.9996, 1.0, 1.0004}) CHECK(three_digits(value) == "1.00");
  CHECK(three_digits(9.997) == "10.0");
  CHECK(three_digits(99.96) == "100");
  CHECK(time_unit(2e13).name == "s");
  CHECK(time_unit(9.9e12).name == "ms"); // 9,900 ms rather than 9.9 s beside 0.01 s
  CHECK(time_unit(9e7).name == "us");
  CHECK(time_unit(0).name == "ns");
  CHECK(series_colour(0) == series_colour(palette_size));
  CHECK(series_colour(0) != series_colour(1));
}

} // namespace gnuplot_test
