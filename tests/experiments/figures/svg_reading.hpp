// Pictures read as a viewer reads them: whether they are XML at all, and where which text stands.
#pragma once

#include "tests/catch.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::svg_reading {

/// A text of a picture, and the box that it takes, in the picture's own units.
struct SvgText {
  std::string text;
  double font = 0;
  bool upright = false; ///< turned by some angle
  double left = 0, top = 0, right = 0, bottom = 0;

  [[nodiscard]] bool meets(const SvgText& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

struct Svg {
  double width = 0, height = 0;
  std::vector<SvgText> texts;
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

/// Fails the test where it isn't well-formed. A letter is taken to be 0.54 of the font wide.
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
  for (const pugi::xpath_node& found : root.select_nodes("//text")) {
    const pugi::xml_node group = found.node().parent();
    SvgText text;
    for (const pugi::xpath_node& part : found.node().select_nodes(".//text()"))
      text.text += part.node().value();
    text.font = group.attribute("font-size").as_double();
    double x = 0, y = 0, angle = 0;
    std::sscanf(group.attribute("transform").value(), "translate(%lf,%lf) rotate(%lf)", &x, &y,
                &angle);
    text.upright = angle != 0;
    const double length = 0.54 * text.font * static_cast<double>(letters_in(text.text));
    const std::string_view anchor = group.attribute("text-anchor").value();
    const double before = anchor == "start" ? 0 : anchor == "end" ? length : length / 2;
    text.left = x - before;
    text.right = text.left + length;
    text.top = y - 0.75 * text.font;
    text.bottom = y + 0.05 * text.font;
    svg.texts.push_back(std::move(text));
  }
  return svg;
}

} // namespace tutti::svg_reading
