// A drawing as a file: the same bytes each time, text as text in every format, every way of failing
// in words.
#include "experiments/driver/figures/picture.hpp"

#include "experiments/driver/figures/canvas.hpp"
#include "experiments/driver/figures/style.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"
#include "tests/temporary_folder.hpp"

#include <array>
#include <filesystem>

namespace picture_test {

using namespace tutti;
using svg_reading::read;
using svg_reading::Svg;

namespace {

Figure small_picture() {
  Canvas canvas;
  canvas.line(1, std::array{Position{1, 2}, Position{4, 2}, Position{4, 0.5}, Position{-1, -2}},
              0x112233, 1.25);
  canvas.line(1, {0, 0}, {0, 3}, 0x112233, 1.25);
  canvas.area(0, std::array{Position{0, 0}, Position{0, 2}, Position{2, 0}}, 0xabcdef, 0.5);
  canvas.disc(2, {5, 5}, 2, 0xff0000);
  canvas.disc(2, {6, 6}, 2, 0xff0000, 0x000000);
  canvas.text(3, {10, 10}, "µ & <ring>\n100 %", 10, 0x222222, Anchor::right);
  canvas.text(3, {10, 10}, "up", 10, 0x222222, Anchor::left, 90);
  return canvas.figure(99.5, 50);
}

} // namespace

TEST_CASE("a canvas is read as it was painted") {
  const Svg svg = read(small_picture());
  CHECK(svg.width == 100);
  CHECK(svg.height == 50);
  const auto lines = svg.lines_of("#123");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == std::vector<Position>{{1, 2}, {4, 2}, {4, 0.5}, {-1, -2}});
  CHECK(lines[1] == std::vector<Position>{{0, 0}, {0, 3}});
  CHECK(svg.lines_of("#abcdef").front().size() == 4); // closed
  CHECK(svg.lines_of("red").empty());
  CHECK(svg.lines_of("#f00").size() == 1); // a disc without an edge
  CHECK(svg.circles_of("#f00") == 1);
  CHECK(svg.has("µ & <ring> 100 %"));
  CHECK(svg.text("µ & <ring> 100 %").right == Approx(10));
  CHECK(svg.text("up").bottom == Approx(10));
}

TEST_CASE("files are small: lines of one style are one path") {
  const std::string svg = svg_of(small_picture());
  CHECK_THAT(svg, ContainsSubstring("d=\"M1 2h3v-1.5l-5-2.5M0 0v3\""));
  CHECK(svg.size() < 1000);
  CHECK(svg == svg_of(small_picture()));
}

TEST_CASE("areas that overlap are filled, whichever way round they were given") {
  Canvas canvas;
  const std::array one{Position{0, 0}, Position{4, 0}, Position{4, 4}, Position{0, 4}};
  const std::array other{Position{2, 2}, Position{2, 6}, Position{6, 6}, Position{6, 2}};
  canvas.area(0, one, 0x123456);
  canvas.area(0, other, 0x123456);
  const auto turn = [](const std::vector<Position>& line) { // twice the area, with its sign
    double sum = 0;
    for (std::size_t i = 1; i < line.size(); ++i)
      sum += line[i - 1].x * line[i].y - line[i].x * line[i - 1].y;
    return sum;
  };
  for (const auto& line : read(canvas.figure(9, 9)).lines_of("#123456")) CHECK(turn(line) == 32);
}

TEST_CASE("the file's ending decides the format; nothing is left where drawing fails") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(draw(small_picture(), folder.file("heat.jpg")),
                    ContainsSubstring("heat.jpg: a picture's file name must end in .svg, .pdf or "
                                      ".png"));
  draw(small_picture(), folder.file("heat.svg"));
  CHECK(read_file(folder.file("heat.svg")) == svg_of(small_picture()));
  for (const char* ending : {".pdf", ".png"}) {
    const std::string file = folder.file(std::string("heat") + ending);
    CHECK_THROWS_WITH(draw(small_picture(), file, "tutti-no-such-program"),
                      ContainsSubstring("isn't installed (package librsvg2-bin)"));
    CHECK_FALSE(fs::exists(file));
  }
  CHECK_FALSE(converter_found("tutti-no-such-program"));
}

TEST_CASE("PDF and PNG are made of the SVG, the same bytes each time") {
  if (!converter_found()) {
    WARN("librsvg2-bin isn't installed: PDF and PNG aren't tested");
    return;
  }
  const TemporaryFolder folder;
  for (const auto& [ending, head] : {std::pair(".pdf", "%PDF-"), {".png", "\x89PNG\r\n"}}) {
    const std::string file = folder.file(std::string("heat") + ending);
    draw(small_picture(), file);
    const std::string content = read_file(file);
    CHECK(content.starts_with(head));
    draw(small_picture(), file);
    CHECK(content == read_file(file));
  }
}

TEST_CASE("words, numbers and units of texts") {
  CHECK(unbroken_words("done at 12.4 ms, by ring ms") ==
        std::vector<std::string>{"done", "at", "12.4 ms,", "by", "ring", "ms"});
  CHECK(one_line("it's\ntwo") == "it's two");
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
}

TEST_CASE("marks of an axis are round, and no more than there is room for") {
  const auto texts = [](const std::vector<AxisTic>& tics) {
    std::string all;
    for (const AxisTic& tic : tics) all += tic.text + " ";
    return all;
  };
  CHECK(texts(even_tics(0, 21.2, 6)) == "0 5 10 15 20 ");
  CHECK(texts(even_tics(0, 1, 5)) == "0 0.2 0.4 0.6 0.8 1 ");
  CHECK(texts(even_tics(-3, 3.5, 4)) == "-2 0 2 ");
  CHECK(texts(even_tics(0, 3e6, 3)) == "0 1 M 2 M 3 M ");
  CHECK(texts(decade_tics(0.9, 1100)) == "1 10 100 1000 ");
  CHECK(texts(decade_tics(2, 30)) == "2 5 10 20 ");
}

} // namespace picture_test
