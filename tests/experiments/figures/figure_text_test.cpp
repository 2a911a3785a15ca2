// Whatever a text holds, every figure shows that text.
#include "experiments/driver/figures/bars.hpp"
#include "experiments/driver/figures/bound_drawing.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/records/printable.hpp"
#include "sim/random.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/svg_reading.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace figure_text_test {

using namespace tutti;

namespace {

constexpr std::array hostile{"%",  "%%", "%s",  "%g", "5 % failed", "\\", "\\n",   "\\\\", "'",
                             "''", "\"", "_",   "^",  "{",          "}",  "@x",    "~",    "$d",
                             "`",  "#",  ";",   ",",  "<b>",        "&",  "&amp;", "END",  "ü",
                             "µ",  "😀",  "NaN", "(",  "]",          "|",  "\\042", "%h",   "a b"};

std::string hostile_text(Random& random) {
  std::string text = "x";
  for (std::size_t i = 1 + random.below(4); i > 0; --i)
    text += hostile[random.below(hostile.size())];
  return text + "y"; // viewers drop blanks at the ends
}

std::vector<Figure> figures_with(const std::string& text) {
  const BarChart bars{
      .heading = {text, text}, .y_label = text, .series = {text}, .groups = {{text, {1}}}};
  const CurveChart curves{.heading = {text, text},
                          .axis = CurveAxis::linear,
                          .x_label = text,
                          .y_label = text,
                          .curves = {{text, {{1, 1}, {2, 2}}}},
                          .growth_in = ""};
  TopologyParts parts;
  parts.name = "net";
  for (const char* end : {"a", "b"})
    parts.add_node({.name = text + end, .kind = NodeKind::npu, .can = {}, .reduce_rate = {}});
  parts.add_duplex({NodeId{0}, NodeId{1}, Time{0}, Bandwidth{1'000'000'000}, -1});
  const Topology topology(std::move(parts));
  Bound cut;
  cut.inside = {NodeId{0}};
  return {bar_figure(bars), curve_figure(curves), bound_figure({text, text}, topology, cut)};
}

} // namespace

TEST_CASE("every figure shows the text that it was given") {
  const int seed = GENERATE(1, 2, 3, 4, 5);
  Random random(static_cast<std::uint64_t>(seed));
  const std::string text = seed == 1 ? "5 % failed" : hostile_text(random);
  CAPTURE(seed, text);
  for (const Figure& figure : figures_with(text))
    CHECK(svg_reading::read(figure).count_of_text(text) >= 4); // heading, note and what else it has
}

TEST_CASE("what can't be seen is written out, once") {
  using namespace std::string_literals;
  CHECK(printable("a\x1b[31mb\x7f") == "a\\u001b[31mb\\u007f");
  CHECK(printable("a\0b"s) == "a\\u0000b");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\u009b31m");
  CHECK(printable("\xe2\x80\xae") == "\\u202e");
  CHECK(printable("\xff\xc0\x80\xed\xa0\x80") == "\\xff\\xc0\\x80\\xed\\xa0\\x80");
  CHECK(printable("µ 😀 \n\t", "\n\t") == "µ 😀 \n\t");
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (std::size_t n = random.below(12); n > 0; --n) text += static_cast<char>(random.below(256));
    const std::string shown = printable(text);
    CHECK(std::none_of(shown.begin(), shown.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
    CHECK(printable(shown) == shown);
  }
}

} // namespace figure_text_test
