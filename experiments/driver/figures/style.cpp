// One place for fonts, colours and quoting. Names in figures are the users' own and may hold
// quotes, percent signs or control characters, each of which means something to gnuplot somewhere:
// a text gets into a script only by gnuplot_quoted(), data_text() and tics_text().
#include "experiments/driver/figures/style.hpp"

#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/records/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti {

namespace {

constexpr int title_font = 14, default_font = 11;

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

// "2000", "5 M", where "{:g}" would have written 5e+06.
std::string plain_number(double value) {
  if (value >= 1e12) return fmt::format("{:g}", value);
  if (value >= 0.999e9) return fmt::format("{:g} G", value / 1e9);
  if (value >= 0.999e6) return fmt::format("{:g} M", value / 1e6);
  return fmt::format("{:g}", value);
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

// gnuplot reads strings among data in another way than those of commands: backslashes as C does,
// but a quote behind one may end the string all the same.
std::string data_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : printable(text)) {
    if (letter == '"')
      quoted += "\\042";
    else if (letter == '\\')
      quoted += "\\\\";
    else
      quoted += letter;
  }
  return quoted + '"';
}

// By the advance widths of DejaVu Sans, the widest of the fonts that stand for sans-serif, rounded
// up to six classes; what isn't ASCII by its columns in a terminal.
double text_width(std::string_view text, double font) {
  constexpr std::string_view narrow = "ijl|.,:;'! ", slim = "frtIJ()[]/\\-\"`",
                             slender = "csxyzkv_?*^", broad = "DGHNOQUw+=<>#~", broadest = "mMW%@&";
  const auto is_one_of = [](std::string_view letters, char letter) {
    return letters.find(letter) != std::string_view::npos;
  };
  double width = 0.72 * static_cast<double>(display_width(text));
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 || code > 0x7e) continue;
    const double own = is_one_of(narrow, letter)        ? 0.34
                       : is_one_of(slim, letter)        ? 0.42
                       : is_one_of(slender, letter)     ? 0.6
                       : is_one_of(broad, letter)       ? 0.84
                       : is_one_of(broadest, letter)    ? 1.0
                       : letter >= 'A' && letter <= 'Z' ? 0.7
                                                        : 0.64;
    width += own - 0.72;
  }
  return width * font;
}

// width = besides + texts * width / page. What would take most of a page is cut off at the edge.
int figure_width(double besides, double texts) {
  const double share = std::min(texts / page_width, 0.7);
  return std::max(page_width, static_cast<int>(std::ceil(besides / (1 - share))));
}

double text_scale(int width) { return std::max(1.0, width / static_cast<double>(page_width)); }

std::vector<std::string> unbroken_words(std::string_view text) {
  constexpr std::array<std::string_view, 18> units{"ps",  "ns",  "us",   "ms",   "s",   "B",
                                                   "kB",  "MB",  "GB",   "TB",   "KiB", "MiB",
                                                   "GiB", "TiB", "GB/s", "TB/s", "%",   "x"};
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    const std::string_view unit = word.substr(0, word.find_first_of(",;:.)"));
    const bool is_unit = std::ranges::find(units, unit) != units.end();
    if (is_unit && !words.empty() && !words.back().empty() && words.back().front() >= '0' &&
        words.back().front() <= '9')
      words.back() += ' ' + std::string(word);
    else
      words.emplace_back(word);
  }
  return words;
}

std::vector<std::string> text_lines(std::string_view text, double width, double font) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string& word : unbroken_words(one_line(text))) {
    const std::string longer = line.empty() ? word : line + ' ' + word;
    if (!line.empty() && text_width(longer, font) > width) {
      lines.push_back(std::move(line));
      line = word;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string figure_style(const Heading& heading, int width) {
  const double room = width > 0 ? width - 30.0 : 1e9;
  std::string style = "set border linecolor rgb '#555555' linewidth 0.8\n"
                      "set tics nomirror out scale 0.5 textcolor rgb '#333333'\n"
                      "set format '%g'\nset xtics offset 0, 0.3\n";
  const std::vector<std::string> title = text_lines(heading.title, room, title_font);
  const std::vector<std::string> note = text_lines(heading.note, room, least_font);
  // The lines after the first are labels of their own, with the numbers of nobody.
  for (std::size_t i = 0; i < title.size(); ++i)
    style += fmt::format("set label {} {} at screen 0, screen 1 offset character 1.5, character "
                         "{:.2f} left font 'sans-serif,{}' textcolor rgb '#111111' front\n",
                         i == 0 ? 1 : 9000 + i, gnuplot_quoted(title[i]),
                         -1.4 - 1.35 * static_cast<double>(i), title_font);
  for (std::size_t i = 0; i < note.size(); ++i)
    style += fmt::format("set label {} {} at screen 0, screen 0 offset character 1.5, character "
                         "{:.2f} left font 'sans-serif,{}' textcolor rgb '#666666' front\n",
                         i == 0 ? 5 : 9100 + i, gnuplot_quoted(note[i]),
                         0.9 + 0.95 * static_cast<double>(note.size() - 1 - i), least_font);
  return style;
}

int heading_width(const Heading& heading) {
  return 30 + static_cast<int>(std::max(text_width(heading.title, title_font),
                                        text_width(heading.note, least_font)));
}

ChartFrame::ChartFrame(const Heading& heading, int width_of_figure, double left_of_plot,
                       double right_of_plot, double plot_height, double above, double below)
    : width(width_of_figure), left(left_of_plot), right(width_of_figure - right_of_plot) {
  const double room = width - 30.0;
  const auto lines = [room](const std::string& text, double font) {
    return std::max(1.0, static_cast<double>(text_lines(text, room, font).size()));
  };
  top = 22 + 20 * lines(heading.title, title_font) + above;
  bottom = top + plot_height;
  height = static_cast<int>(bottom + below + 52 + 14 * lines(heading.note, least_font));
}

std::string ChartFrame::screen(double x, double y) const {
  return fmt::format("screen {:.6f}, screen {:.6f}", x / width, 1 - y / height);
}

std::string ChartFrame::margins() const {
  return fmt::format("set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
                     "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\n",
                     left / width, right / width, 1 - top / height, 1 - bottom / height);
}

Figure framed_chart(const Heading& heading, int plot_width, std::span<const std::string> legend,
                    const std::string& body, int left, int plot_height) {
  double longest = 0;
  for (const std::string& entry : legend)
    longest = std::max(longest, text_width(entry, default_font));
  constexpr double beside_legend = 64;
  const int width = figure_width(plot_width + beside_legend, left + longest);
  const double scale = text_scale(width), right = beside_legend + scale * longest;
  const ChartFrame frame(heading, width, scale * left, right,
                         std::max(plot_height, 20 + 20 * static_cast<int>(legend.size())));
  const std::string style =
      fmt::format("set border 3\n{}"
                  "set key at {} left top Left reverse vertical maxcols 1 samplen 2 spacing 1.3\n"
                  "set grid ytics back linetype 1 linecolor rgb '#dddddd' linewidth 0.8\n",
                  frame.margins(), frame.screen(frame.right + 10, frame.top - 8));
  return {figure_style(heading, width) + style + body, frame.width, frame.height, scale};
}

std::string tics_text(std::span<const AxisTic> tics) {
  std::string text;
  for (const AxisTic& tic : tics)
    text += fmt::format("{}{} {:.10g}", text.empty() ? "" : ", ",
                        gnuplot_quoted(replaced(tic.text, "%", "%%")), tic.at);
  return text;
}

std::vector<AxisTic> decade_tics(double low, double high) {
  const double decades = std::log10(high / low);
  const int step = decades > 12 ? 3 : decades > 7 ? 2 : 1;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  std::vector<AxisTic> tics;
  for (const bool all : {false, true}) {
    tics.clear();
    for (int e = first; e <= last; e += step)
      for (const int digit : {1, 2, 5}) {
        const double value = digit * std::pow(10.0, e);
        if ((digit == 1 || all) && value >= 0.999 * low && value <= 1.001 * high)
          tics.push_back({value, plain_number(value)});
      }
    if (tics.size() >= 3) break;
  }
  return tics;
}

TimeUnit time_unit(double largest_ps) {
  if (largest_ps >= 1e13) return {1e12, "s"};
  if (largest_ps >= 1e8) return {1e9, "ms"};
  if (largest_ps >= 1e5) return {1e6, "us"};
  return {1e3, "ns"};
}

std::string three_digits(double value) {
  // 0.9996 is 1.00, not 1.000.
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

} // namespace tutti
