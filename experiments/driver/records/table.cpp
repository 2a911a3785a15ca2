// Widths are those that a terminal shows: a text is decoded as UTF-8, and each code point fills no,
// one or two cells. The ranges are a short list of the common ones, not Unicode's tables: a wrong
// guess costs alignment only.
#include "experiments/driver/records/table.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace tutti {

namespace {

struct CodePoint {
  char32_t value;
  std::size_t length; ///< in bytes
};

/// The first code point of a text that isn't empty; a byte that isn't UTF-8 stands for itself.
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0xc2   ? 1
                             : byte(0) < 0xe0 ? 2
                             : byte(0) < 0xf0 ? 3
                             : byte(0) < 0xf5 ? 4
                                              : 1;
  if (length == 1 || text.size() < length) return {byte(0), 1};
  char32_t value = static_cast<char32_t>(byte(0) & (0x7fU >> length));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {byte(0), 1};
    value = (value << 6) | (byte(i) & 0x3fU);
  }
  return {value, length};
}

std::size_t cells_of(char32_t c) {
  using Range = std::pair<char32_t, char32_t>;
  constexpr std::array<Range, 5> combining{Range{0x0300, 0x036f},
                                           {0x200b, 0x200f},
                                           {0x20d0, 0x20ff},
                                           {0xfe00, 0xfe0f},
                                           {0xfe20, 0xfe2f}};
  constexpr std::array<Range, 7> wide{Range{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},
                                      {0xf900, 0xfaff},      {0xfe30, 0xfe6f}, {0xff00, 0xff60},
                                      {0x1f300, 0x3fffd}};
  const auto holds = [c](const Range& range) { return range.first <= c && c <= range.second; };
  if (std::any_of(combining.begin(), combining.end(), holds)) return 0;
  return std::any_of(wide.begin(), wide.end(), holds) ? 2 : 1;
}

/// What a table's lines are drawn with: left, between columns and right, for each kind of line.
struct Glyphs {
  struct Line {
    std::string_view left, fill, middle, right;
  };
  Line top, rule, bottom; ///< a line without `fill` isn't drawn
  Line row;               ///< `fill` unused
};

const Glyphs& glyphs(TableLines lines) {
  static constexpr Glyphs plain{
      .top = {}, .rule = {"", "-", "  ", ""}, .bottom = {}, .row = {"", "", "  ", ""}};
  static constexpr Glyphs ascii{.top = {"+-", "-", "-+-", "-+"},
                                .rule = {"+-", "-", "-+-", "-+"},
                                .bottom = {"+-", "-", "-+-", "-+"},
                                .row = {"| ", "", " | ", " |"}};
  static constexpr Glyphs box{.top = {"┌─", "─", "─┬─", "─┐"},
                              .rule = {"├─", "─", "─┼─", "─┤"},
                              .bottom = {"└─", "─", "─┴─", "─┘"},
                              .row = {"│ ", "", " │ ", " │"}};
  switch (lines) {
  case TableLines::ascii: return ascii;
  case TableLines::box: return box;
  case TableLines::plain: break;
  }
  return plain;
}

void append_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
}

void append_rule(std::string& text, const Glyphs::Line& glyph,
                 const std::vector<std::size_t>& widths) {
  if (glyph.fill.empty()) return;
  std::string line(glyph.left);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line += glyph.middle;
    for (std::size_t k = 0; k < widths[i]; ++k) line += glyph.fill;
  }
  append_line(text, line.append(glyph.right));
}

std::string printable(std::string cell) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(cell.begin(), cell.end(), is_control, ' ');
  return cell;
}

void append_row(std::string& text, const Glyphs::Line& glyph, const std::vector<Column>& columns,
                const std::vector<std::size_t>& widths, const std::vector<std::string>& cells) {
  std::string line(glyph.left);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += glyph.middle;
    const std::string padding(widths[i] - display_width(cells[i]), ' ');
    line += columns[i].align == Align::left ? cells[i] + padding : padding + cells[i];
  }
  append_line(text, line.append(glyph.right));
}

} // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    width += cells_of(c.value);
    text.remove_prefix(c.length);
  }
  return width;
}

std::string to_text(const Table& table, TableLines lines) {
  std::vector<std::vector<std::string>> cells(1); // titles first
  for (const Column& column : table.columns) cells.front().push_back(column.title);
  cells.insert(cells.end(), table.rows.begin(), table.rows.end());
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (std::vector<std::string>& row : cells) {
    assert(row.size() == table.columns.size() && "one cell per column");
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(std::move(row[i]));
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }

  const Glyphs& glyph = glyphs(lines);
  std::string text;
  append_rule(text, glyph.top, widths);
  append_row(text, glyph.row, table.columns, widths, cells.front());
  append_rule(text, glyph.rule, widths);
  for (std::size_t r = 1; r < cells.size(); ++r)
    append_row(text, glyph.row, table.columns, widths, cells[r]);
  append_rule(text, glyph.bottom, widths);
  return text;
}

} // namespace tutti
