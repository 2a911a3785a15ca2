// A picture that is as wide as its network has no room for a long title on one line: title and note
// take as many lines as they need, and the picture stands between them.
#include "experiments/driver/figures/figure_frame.hpp"

#include "experiments/driver/figures/layout/layout.hpp"

#include <algorithm>
#include <string_view>

namespace tutti {

namespace {

/// The beginning of a word that fits, of whole UTF-8 letters; one at least.
std::string_view fitting(std::string_view word, double font, double width) {
  std::size_t end = 0;
  for (std::size_t next = 1; next <= word.size(); ++next) {
    const bool is_border =
        next == word.size() || (static_cast<unsigned char>(word[next]) & 0xc0) != 0x80;
    if (!is_border) continue;
    if (end > 0 && label_width(word.substr(0, next), font) > width) break;
    end = next;
  }
  return word.substr(0, end);
}

/// Words on lines of at most so many points; a word that is longer is cut.
std::vector<std::string> wrapped(const std::string& text, double font, double width) {
  std::vector<std::string> lines;
  if (text.empty()) return lines;
  for (const std::string& unbroken : unbroken_words(text)) {
    std::string_view word = unbroken;
    if (!lines.empty()) {
      const std::string longer = lines.back() + " " + std::string(word);
      if (label_width(longer, font) <= width) {
        lines.back() = longer;
        continue;
      }
    }
    do {
      lines.emplace_back(fitting(word, font, width));
      word.remove_prefix(lines.back().size());
    } while (!word.empty());
  }
  return lines;
}

} // namespace

FigureFrame::FigureFrame(const Heading& heading, double width, const Fonts& fonts)
    : title_(wrapped(one_line(heading.title), fonts.scale * fonts.title, width - 2 * margin)),
      note_(wrapped(one_line(heading.note), fonts.scale * fonts.note, width - 2 * margin)),
      fonts_(fonts) {}

double FigureFrame::width_for(const Heading& heading, double layout_width) {
  constexpr double least = 300, most_for_title = 520; // points of the figure
  const double title = label_width(heading.title, Fonts().title) + 4 + 2 * margin;
  return std::max(layout_width + 2 * margin, std::clamp(title, least, most_for_title));
}

double FigureFrame::top() const {
  return 20 + line_height(fonts_.title) * static_cast<double>(title_.size());
}

double FigureFrame::height(double picture) const {
  return top() + picture + line_height(fonts_.note) * static_cast<double>(note_.size()) + 16;
}

void FigureFrame::paint(Canvas& canvas, double picture_height) const {
  const auto lines = [&](const std::vector<std::string>& texts, double y, double font, int colour) {
    for (const std::string& text : texts) {
      canvas.text(layer, {margin, y + line_height(font) / 2}, text, font, colour, Anchor::left);
      y += line_height(font);
    }
  };
  lines(title_, 12, fonts_.title, 0x111111);
  lines(note_, top() + picture_height + 6, fonts_.note, pale_ink);
}

double FigureFrame::line_height(double font) const { return 1.3 * fonts_.scale * font; }

} // namespace tutti
