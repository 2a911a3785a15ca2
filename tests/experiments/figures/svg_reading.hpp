// Pictures read as a viewer reads them: whether they are XML at all, where which text stands, and
// which lines, areas and discs there are.
#pragma once

#include "experiments/driver/figures/layout/layout.hpp"
#include "experiments/driver/figures/picture.hpp"
#include "tests/catch.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::svg_reading {

/// A text of a picture, and the box that it takes, in the picture's own units.
struct SvgText {
  std::string text;
  double font = 0;
  int degrees = 0; ///< turned to the left by so many
  double left = 0, top = 0, right = 0, bottom = 0;

  [[nodiscard]] bool meets(const SvgText& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// All lines, or outlines, of one style.
struct SvgPath {
  std::string fill, stroke, dash; ///< "#265fa3", "none", ""
  double width = 0;
  bool is_round = false; ///< of no length: discs
  std::vector<std::vector<Position>> lines;
};

struct SvgCircle {
  std::string fill;
  Position at;
  double radius = 0;
};

struct Svg {
  double width = 0, height = 0;
  std::vector<SvgText> texts;
  std::vector<SvgPath> paths;
  std::vector<SvgCircle> circles;

  [[nodiscard]] bool shows(std::string_view text) const {
    return std::ranges::any_of(
        texts, [&](const SvgText& each) { return each.text.find(text) != std::string::npos; });
  }
  [[nodiscard]] std::size_t count_of_text(std::string_view text) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        texts, [&](const SvgText& each) { return each.text.find(text) != std::string::npos; }));
  }
  /// Texts that are this one.
  [[nodiscard]] bool has(std::string_view text) const {
    return std::ranges::find(texts, text, &SvgText::text) != texts.end();
  }
  [[nodiscard]] const SvgText& text(std::string_view text) const {
    const auto found = std::ranges::find(texts, text, &SvgText::text);
    REQUIRE(found != texts.end());
    return *found;
  }
  /// Lines of this colour, or outlines of areas filled with it, but for those of a width.
  [[nodiscard]] std::vector<std::vector<Position>> lines_of(std::string_view colour,
                                                            double but_for_width = -1) const {
    std::vector<std::vector<Position>> lines;
    for (const SvgPath& path : paths)
      if ((path.stroke == colour || path.fill == colour) && path.width != but_for_width)
        lines.insert(lines.end(), path.lines.begin(), path.lines.end());
    return lines;
  }
  [[nodiscard]] std::size_t circles_of(std::string_view fill) const {
    return static_cast<std::size_t>(std::ranges::count(circles, fill, &SvgCircle::fill));
  }
};

/// What pugixml lets pass: characters that XML forbids, and ampersands that begin no entity.
inline std::string forbidden_in(std::string_view xml) {
  for (std::size_t i = 0; i < xml.size(); ++i) {
    const auto c = static_cast<unsigned char>(xml[i]);
    if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') return "control character";
    if (c != '&') continue;
    std::size_t end = i + 1;
    while (end < xml.size() &&
           (std::isalnum(static_cast<unsigned char>(xml[end])) != 0 || xml[end] == '#'))
      ++end;
    if (end == i + 1 || end == xml.size() || xml[end] != ';') return "& without an entity";
  }
  return "";
}

inline std::size_t letters_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// The moves of a path: M, l, h, v and z. Fails the test at anything else.
inline std::vector<std::vector<Position>> lines_in(const std::string& path) {
  std::vector<std::vector<Position>> lines;
  const char* at = path.c_str();
  const auto number = [&at] {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    REQUIRE(end != at);
    at = end;
    return value;
  };
  Position place;
  for (char kind = 0; *at != '\0';) {
    if (std::isalpha(static_cast<unsigned char>(*at)) != 0) kind = *at++;
    if (kind == 'z') {
      lines.back().push_back(lines.back().front());
      continue;
    }
    if (kind == 'H') { // of the paper behind all
      place.x = number();
    } else if (kind == 'M') {
      place.x = number();
      place.y = number();
      lines.emplace_back();
    } else if (kind == 'l') {
      place.x += number();
      place.y += number();
    } else if (kind == 'h') {
      place.x += number();
    } else if (kind == 'v') {
      place.y += number();
    } else {
      FAIL("a path has " << kind);
    }
    lines.back().push_back(place);
  }
  return lines;
}

inline SvgText read_text(const pugi::xml_node& node) {
  const pugi::xml_node group = node.parent();
  SvgText text;
  text.text = node.child_value();
  text.font = group.attribute("font-size").as_double();
  double x = node.attribute("x").as_double(), y = node.attribute("y").as_double();
  int turned = 0;
  if (std::sscanf(node.attribute("transform").value(), "translate(%lf %lf)rotate(%d)", &x, &y,
                  &turned) != 3)
    y -= 0.36 * text.font;
  text.degrees = -turned;
  // A letter is taken to be 0.54 of the font wide.
  const double length = 0.54 * text.font * static_cast<double>(letters_in(text.text));
  const std::string_view anchor = group.attribute("text-anchor").value();
  const double before = anchor == "end" ? length : anchor == "middle" ? length / 2 : 0;
  const double half = 0.4 * text.font;
  if (text.degrees == 90) {
    text.left = x - half;
    text.right = x + half;
    text.bottom = y + before;
    text.top = text.bottom - length;
  } else {
    text.left = x - before;
    text.right = text.left + length;
    text.top = y - half;
    text.bottom = y + half;
  }
  return text;
}

/// Fails the test where it isn't well-formed.
inline Svg read_svg(const std::string& content) {
  CHECK(forbidden_in(content) == "");
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_string(content.c_str(), pugi::parse_default | pugi::parse_ws_pcdata);
  CAPTURE(parsed.description());
  REQUIRE(parsed);
  Svg svg;
  const pugi::xml_node root = document.child("svg");
  std::sscanf(root.attribute("viewBox").value(), "%*f %*f %lf %lf", &svg.width, &svg.height);
  for (const pugi::xpath_node& found : root.select_nodes("//text"))
    svg.texts.push_back(read_text(found.node()));
  for (const pugi::xpath_node& found : root.select_nodes("//path")) {
    const pugi::xml_node node = found.node();
    svg.paths.push_back({node.attribute("fill").value(), node.attribute("stroke").value(),
                         node.attribute("stroke-dasharray").value(),
                         node.attribute("stroke-width").as_double(),
                         std::string_view(node.attribute("stroke-linecap").value()) == "round",
                         lines_in(node.attribute("d").value())});
  }
  for (const pugi::xpath_node& found : root.select_nodes("//circle")) {
    const pugi::xml_node node = found.node();
    svg.circles.push_back({node.parent().attribute("fill").value(),
                           {node.attribute("cx").as_double(), node.attribute("cy").as_double()},
                           node.attribute("r").as_double()});
  }
  return svg;
}

inline Svg read(const Figure& figure) { return read_svg(svg_of(figure)); }

/// What a reader would stumble over: texts that run out of the picture, by more than this part of
/// their length, or into each other. Slanted ones aren't looked at.
inline std::vector<std::string> faults_of(const Svg& svg, double slack = 0) {
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < svg.texts.size(); ++i) {
    const SvgText& text = svg.texts[i];
    if (text.text.empty() || text.degrees % 90 != 0) continue;
    const double more = slack * (text.right - text.left);
    if (text.left < -more || text.top < 0 || text.right > svg.width + more ||
        text.bottom > svg.height)
      faults.push_back(text.text + " runs out of the picture");
    for (std::size_t j = 0; j < i; ++j)
      if (!svg.texts[j].text.empty() && svg.texts[j].degrees % 90 == 0 && text.meets(svg.texts[j]))
        faults.push_back(text.text + " meets " + svg.texts[j].text);
  }
  return faults;
}

} // namespace tutti::svg_reading
