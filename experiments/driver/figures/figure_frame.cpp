// A picture that is as wide as its network has no room for a long title on one line: title and note
// take as many lines as they need, and the picture stands between them.
#include "experiments/driver/figures/figure_frame.hpp"

#include "experiments/driver/figures/layout/layout.hpp"

#include <algorithm>
#include <string_view>

namespace tutti {

namespace {

constexpr double heading_font = 13, note_font = 8.5;

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

/// The text on one line, as every figure shows its texts.
std::string on_a_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\r', ' ');
  return text;
}

double title_line() { return 1.3 * heading_font; }
double note_line() { return 1.3 * note_font; }

} // namespace

FigureFrame::FigureFrame(const Heading& heading, double width)
    : title_(wrapped(on_a_line(heading.title), heading_font, width - 2 * margin)),
      note_(wrapped(on_a_line(heading.note), note_font, width - 2 * margin)) {}

double FigureFrame::width_for(const Heading& heading, double layout_width) {
  constexpr double least = 300, most_for_title = 520; // points of the figure
  const double title = label_width(heading.title, heading_font) + 4 + 2 * margin;
  return std::max(layout_width + 2 * margin, std::clamp(title, least, most_for_title));
}

double FigureFrame::top() const {
  return 14 + title_line() * static_cast<double>(title_.size()) + 6;
}

double FigureFrame::height(double picture) const {
  return top() + picture + note_line() * static_cast<double>(note_.size()) + 16;
}

void FigureFrame::paint(Canvas& canvas, double picture_height) const {
  double y = 12 + title_line() / 2;
  for (const std::string& line : title_) {
    canvas.text(layer, {margin, y}, line, heading_font, 0x111111, Anchor::left);
    y += title_line();
  }
  y = top() + picture_height + 6 + note_line() / 2;
  for (const std::string& line : note_) {
    canvas.text(layer, {margin, y}, line, note_font, pale_ink, Anchor::left);
    y += note_line();
  }
}

} // namespace tutti
