// One place for fonts, colours and quoting. Names in figures are the users' own and may hold
// quotes, percent signs or control characters, each of which means something to gnuplot somewhere:
// a text gets into a script only by gnuplot_quoted(), data_text() and tics_text().
#include "experiments/driver/figures/style.hpp"

#include "experiments/driver/cli/printable.hpp"
#include "experiments/driver/records/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti {

namespace {

/// On one line; nothing that isn't to be seen.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\r', ' ');
  return printable(line);
}

std::string replaced(std::string text, std::string_view letter, std::string_view by) {
  for (std::size_t at = text.find(letter); at != std::string::npos;
       at = text.find(letter, at + by.size()))
    text.replace(at, letter.size(), by);
  return text;
}

} // namespace

// Within single quotes everything stands for itself, but of two quotes side by side gnuplot 5.4
// loses count. Within double quotes four letters mean something.
std::string gnuplot_quoted(std::string_view text) {
  const std::string line = one_line(text);
  if (line.find('\'') == std::string::npos) return "'" + line + "'";
  std::string escaped;
  for (const char letter : line)
    escaped += std::string_view("\\\"`@").find(letter) == std::string_view::npos
                   ? std::string(1, letter)
                   : fmt::format("\\{:03o}", static_cast<unsigned char>(letter));
  return '"' + escaped + '"';
}

// gnuplot reads strings among data in another way than those of commands: backslashes as C does.
std::string data_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : printable(text)) {
    if (letter == '\\' || letter == '"') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

std::string figure_style(const Heading& heading) {
  return fmt::format("set border linecolor rgb '#555555' linewidth 0.8\n"
                     "set tics nomirror out scale 0.5 textcolor rgb '#333333'\n"
                     "set format '%g'\nset xtics offset 0, 0.3\n"
                     "set label 1 {} at screen 0, screen 1 offset character 1.5, character -1.4 "
                     "left font 'sans-serif,15' textcolor rgb '#111111' front\n"
                     "set label 5 {} at screen 0, screen 0 offset character 1.5, character 0.9 "
                     "left font 'sans-serif,9' textcolor rgb '#777777' front\n",
                     gnuplot_quoted(heading.title), gnuplot_quoted(heading.note));
}

int heading_width(const Heading& heading) {
  const auto width = [](const std::string& text) { return static_cast<int>(display_width(text)); };
  return 36 + std::max(21 * width(heading.title) / 2, 25 * width(heading.note) / 4);
}

Figure framed_chart(const Heading& heading, int plot_width, std::span<const std::string> legend,
                    const std::string& body, int left) {
  std::size_t longest = 0;
  for (const std::string& entry : legend) longest = std::max(longest, display_width(entry));
  const int width =
      std::max(left + plot_width + 84 + 9 * static_cast<int>(longest), heading_width(heading));
  const int height = std::max(424, 134 + 26 * static_cast<int>(legend.size()));
  const std::string style = fmt::format(
      "set border 3\nset tmargin 3.4\nset bmargin 5.3\n"
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
      "set key at screen {:.6f}, screen {:.6f} left top Left reverse vertical maxcols 1 samplen 2 "
      "spacing 1.3\n"
      "set grid ytics back linetype 1 linecolor rgb '#dddddd' linewidth 0.8\n",
      static_cast<double>(left) / width, static_cast<double>(left + plot_width) / width,
      static_cast<double>(left + plot_width + 16) / width, 1 - 48.0 / height);
  return {figure_style(heading) + style + body, width, height};
}

std::string tics_text(std::span<const AxisTic> tics) {
  std::string text;
  for (const AxisTic& tic : tics)
    text += fmt::format("{}{} {:.10g}", text.empty() ? "" : ", ",
                        gnuplot_quoted(replaced(tic.text, "%", "%%")), tic.at);
  return text;
}

std::string_view series_colour(std::size_t i) {
  // Tableau's ten, in an order in which neighbours differ in hue and brightness.
  constexpr std::array<std::string_view, 10> colours{"#4e79a7", "#f28e2b", "#59a14f", "#e15759",
                                                     "#b07aa1", "#9c755f", "#76b7b2", "#edc948",
                                                     "#ff9da7", "#79706e"};
  return colours[i % colours.size()];
}

std::string three_digits(double value) {
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

} // namespace tutti
