// Whatever a text holds, every figure shows that text: gnuplot has formats, escapes and markup of
// its own for each of the places where a text can stand.
#include "experiments/driver/figures/bars.hpp"
#include "experiments/driver/figures/bound_drawing.hpp"
#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/records/printable.hpp"
#include "sim/random.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace figure_text_test {

using namespace tutti;

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// What a viewer shows: the content of all text elements, without tags and entities.
std::vector<std::string> texts_in(const std::string& svg) {
  std::vector<std::string> texts;
  for (std::size_t at = svg.find("<text"); at != std::string::npos;
       at = svg.find("<text", at + 1)) {
    const std::size_t end = svg.find("</text>", at);
    std::string text;
    bool in_tag = false;
    for (std::size_t i = at; i < end; ++i) {
      if (svg[i] == '<') in_tag = true;
      if (!in_tag) text += svg[i];
      if (svg[i] == '>') in_tag = false;
    }
    for (const auto& [entity, letter] :
         {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}})
      text = replaced(text, entity, letter);
    texts.push_back(text);
  }
  return texts;
}

bool shows(const std::string& svg, const std::string& text) {
  for (const std::string& each : texts_in(svg))
    if (each.find(text) != std::string::npos) return true;
  return false;
}

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
  if (!gnuplot_found()) {
    WARN("gnuplot isn't installed: pictures are not tested");
    return;
  }
  const int seed = GENERATE(1, 2, 3, 4, 5);
  Random random(static_cast<std::uint64_t>(seed));
  const std::string text = seed == 1 ? "5 % failed" : hostile_text(random);
  CAPTURE(seed, text);
  for (const Figure& figure : figures_with(text)) {
    const std::string svg = rendered(figure, PictureFormat::svg);
    std::size_t shown = 0;
    for (const std::string& each : texts_in(svg)) shown += each.find(text) != std::string::npos;
    CHECK(shown >= 4); // heading, note and what else it has
  }
}

TEST_CASE("each hostile text is kept among tics and labels and data") {
  if (!gnuplot_found()) return;
  std::vector<AxisTic> tics;
  std::string data, labels;
  for (const char* text : hostile) {
    const double at = static_cast<double>(tics.size());
    const std::string marked = "[" + std::string(text) + "]";
    tics.push_back({at, "t" + marked});
    data += std::to_string(at) + " 1 " + data_text("d" + marked) + "\n";
    labels +=
        "set label " + tutti::gnuplot_quoted("l" + marked) + " at " + std::to_string(at) + ",1\n";
  }
  const Figure figure{"set xrange [-1:" + std::to_string(tics.size()) + "]\nset yrange [0:2]\n" +
                          "set xtics (" + tics_text(tics) + ")\n" + labels + "$d << END\n" + data +
                          "END\nplot $d using 1:2:3 with labels\n",
                      4000, 400};
  const std::string svg = rendered(figure, PictureFormat::svg);
  for (const char* text : hostile)
    for (const char* place : {"t[", "d[", "l["}) {
      CAPTURE(place, text);
      CHECK(shows(svg, place + std::string(text) + "]"));
    }
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
