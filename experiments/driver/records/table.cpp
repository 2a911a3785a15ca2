// Widths are those that a terminal shows: a text is decoded as UTF-8, and each code point fills no,
// one or two cells. The ranges are a short list of the common ones, not Unicode's tables: a wrong
// guess costs alignment only. A table that is too wide is laid out greedily: long texts give up
// space first, as they lose nothing by it, then columns that a reader needs least.
#include "experiments/driver/records/table.hpp"

#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/records/renames.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace tutti {

namespace {

/// The first code point; a byte that isn't UTF-8 stands for itself.
CodePoint first_shown(std::string_view text) {
  const CodePoint point = first_code_point(text);
  return point.length > 0 ? point : CodePoint{static_cast<unsigned char>(text.front()), 1};
}

std::size_t cells_of(std::uint32_t c) {
  using Range = std::pair<std::uint32_t, std::uint32_t>;
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

constexpr std::size_t gap = 2;             // cells between columns
constexpr std::size_t narrowest_text = 16; // what a column that wraps keeps

/// As it will be printed, since widths are counted of that: in one line.
std::string shown_text(std::string text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return printable(text);
}

/// The longest beginning of a text that isn't empty that fits, in bytes: up to a blank where there
/// is one, else at least one code point.
std::size_t first_line(std::string_view text, std::size_t width) {
  std::size_t filled = 0, at = 0, last_blank = std::string_view::npos;
  while (at < text.size()) {
    const CodePoint c = first_shown(text.substr(at));
    filled += cells_of(c.value);
    if (c.value == ' ') last_blank = at;
    if (filled > width && at > 0) return last_blank == std::string_view::npos ? at : last_blank;
    at += c.length;
  }
  return at;
}

std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t length = first_line(text, width);
    lines.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

/// Which columns are shown, how wide each is, and which didn't fit.
class TableLayout {
public:
  TableLayout(const Table& table, const TableForm& form) : table_(table) {
    choose(form);
    for (const std::size_t c : columns_) widths_.push_back(natural_width(c));
    if (form.width) fit(*form.width, form.columns.empty());
  }

  [[nodiscard]] const std::vector<std::size_t>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::size_t>& widths() const { return widths_; }
  [[nodiscard]] const std::vector<std::string>& hidden() const { return hidden_; }

private:
  void choose(const TableForm& form) {
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      if (form.titles) know(*form.titles, table_.columns[c]);
      if (form.columns.empty()) columns_.push_back(c);
    }
    std::size_t found = 0;
    for (const std::string& name : form.columns) {
      const std::vector<std::size_t> called = called_so(column_name(name));
      for (const std::size_t c : called)
        if (std::ranges::find(columns_, c) == columns_.end()) columns_.push_back(c);
      found += called.empty() ? 0 : 1;
    }
    const bool only_labels =
        std::ranges::all_of(columns_, [this](std::size_t c) { return table_.columns[c].is_label; });
    if (only_labels && found < form.columns.size()) columns_.clear();
  }

  static void know(std::set<std::string>& known, const Column& column) {
    known.insert(column_name(column.title));
    for (const std::string& name : column.names)
      if (without_unit(name) == name) known.insert(column_name(name));
  }

  /// By their titles; if there are none, by other names; if there are none, without the unit.
  [[nodiscard]] std::vector<std::size_t> called_so(const std::string& name) const {
    std::vector<std::size_t> by_title, by_name, without;
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      const Column& column = table_.columns[c];
      const auto is_called = [&](std::string_view so) {
        return std::ranges::any_of(
            column.names, [&](const std::string& each) { return column_name(each) == so; });
      };
      if (column_name(column.title) == name) by_title.push_back(c);
      if (is_called(name)) by_name.push_back(c);
      const std::string_view short_name = without_unit(name);
      if (column_name(column.title) == short_name || is_called(short_name)) without.push_back(c);
    }
    return !by_title.empty() ? by_title : !by_name.empty() ? by_name : without;
  }

  [[nodiscard]] std::size_t natural_width(std::size_t c) const {
    std::size_t width = display_width(table_.columns[c].title);
    for (const auto& row : table_.rows) width = std::max(width, display_width(row[c]));
    return width;
  }
  [[nodiscard]] std::size_t least_width(std::size_t i) const {
    const Column& column = table_.columns[columns_[i]];
    if (!column.wraps) return widths_[i];
    return std::min(widths_[i], std::max(narrowest_text, display_width(column.title)));
  }
  /// With each column as wide as `width_of` says.
  template <typename WidthOf> [[nodiscard]] std::size_t total(WidthOf width_of) const {
    std::size_t sum = columns_.empty() ? 0 : gap * (columns_.size() - 1);
    for (std::size_t i = 0; i < columns_.size(); ++i) sum += width_of(i);
    return sum;
  }

  void fit(std::size_t width, bool may_leave_out) {
    const auto least = [this](std::size_t i) { return least_width(i); };
    while (may_leave_out && total(least) > width && leave_one_out()) {
    }
    std::size_t used = total([this](std::size_t i) { return widths_[i]; });
    // The widest text gives up a cell at a time, so that all end up equally wide.
    while (used > width) {
      std::size_t widest = columns_.size();
      for (std::size_t i = 0; i < columns_.size(); ++i)
        if (widths_[i] > least_width(i) &&
            (widest == columns_.size() || widths_[i] > widths_[widest]))
          widest = i;
      if (widest == columns_.size()) return;
      --widths_[widest];
      --used;
    }
  }

  /// The column that can be spared most, the last of several. False where none can.
  bool leave_one_out() {
    std::size_t most = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (const std::uint8_t spare = table_.columns[columns_[i]].spare;
          spare > 0 && (most == columns_.size() || spare >= table_.columns[columns_[most]].spare))
        most = i;
    if (most == columns_.size()) return false;
    hidden_.push_back(table_.columns[columns_[most]].title);
    columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(most));
    widths_.erase(widths_.begin() + static_cast<std::ptrdiff_t>(most));
    return true;
  }

  const Table& table_;
  std::vector<std::size_t> columns_, widths_;
  std::vector<std::string> hidden_;
};

struct Mark {
  std::string_view character; ///< a noncharacter of Unicode
  std::string_view code;      ///< of a terminal
};
constexpr Mark bold{"\uFDD0", "\x1b[1m"}, green{"\uFDD1", "\x1b[32m"}, yellow{"\uFDD2", "\x1b[33m"},
    red{"\uFDD3", "\x1b[31m"}, plain{"\uFDD4", "\x1b[0m"};

/// Mark of the cell's colour; empty where it has none.
std::string_view mark_of(std::string_view cell) {
  constexpr std::array<std::pair<std::string_view, Mark>, 11> colours{{{"match", green},
                                                                       {"optimal", green},
                                                                       {"direction holds", yellow},
                                                                       {"left open", yellow},
                                                                       {"differs", yellow},
                                                                       {"not judged", yellow},
                                                                       {"timed_out", yellow},
                                                                       {"infeasible", yellow},
                                                                       {"unsupported", yellow},
                                                                       {"unexpected", red},
                                                                       {"DEFECT", red}}};
  const auto* found = std::ranges::find(colours, cell, [](const auto& row) { return row.first; });
  return found == colours.end() ? std::string_view() : found->second.character;
}

/// One line of a row: a cell, or a part of one, per column. `style`: of all cells; else by words.
void append_line(std::string& text, const Table& table, const TableLayout& layout,
                 const std::vector<std::string>& cells, bool colour, std::string_view style = {}) {
  std::string line, blanks; // blanks are written before the next text only
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) blanks.append(gap, ' ');
    const std::string padding(
        layout.widths()[i] - std::min(layout.widths()[i], display_width(cells[i])), ' ');
    const bool is_left = table.columns[layout.columns()[i]].align == Align::left;
    if (!is_left) blanks += padding;
    if (!cells[i].empty()) {
      const std::string_view mark = !colour ? "" : style.empty() ? mark_of(cells[i]) : style;
      line += std::exchange(blanks, "");
      line += mark.empty() ? cells[i] : fmt::format("{}{}{}", mark, cells[i], plain.character);
    }
    if (is_left) blanks += padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
}

void append_row(std::string& text, const Table& table, const TableLayout& layout,
                const std::vector<std::string>& row, bool colour) {
  std::vector<std::vector<std::string>> wrapped;
  std::size_t height = 0;
  for (std::size_t i = 0; i < layout.columns().size(); ++i) {
    const std::string& cell = row[layout.columns()[i]];
    wrapped.push_back(display_width(cell) <= layout.widths()[i]
                          ? std::vector{cell}
                          : lines_of(cell, layout.widths()[i]));
    height = std::max(height, wrapped.back().size());
  }
  for (std::size_t line = 0; line < height; ++line) {
    std::vector<std::string> cells;
    for (const std::vector<std::string>& lines : wrapped)
      cells.push_back(line < lines.size() ? lines[line] : "");
    append_line(text, table, layout, cells, colour);
  }
}

} // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint c = first_shown(text);
    width += cells_of(c.value);
    text.remove_prefix(c.length);
  }
  return width;
}

std::string beginning(std::string_view text, std::size_t width) {
  std::size_t filled = 0, at = 0;
  while (at < text.size()) {
    const CodePoint c = first_shown(text.substr(at));
    filled += cells_of(c.value);
    if (filled > width) break;
    at += c.length;
  }
  return std::string(text.substr(0, at));
}

Table without_empty_columns(Table table) {
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    if (std::ranges::any_of(table.rows, [c](const auto& row) { return !row[c].empty(); })) continue;
    const auto at = static_cast<std::ptrdiff_t>(c);
    table.columns.erase(table.columns.begin() + at);
    for (std::vector<std::string>& row : table.rows) row.erase(row.begin() + at);
  }
  return table;
}

std::string_view without_unit(std::string_view name) {
  for (const std::string_view unit : {"_bytes_per_s", "_ps", "_bytes", "_seconds"})
    if (name.ends_with(unit) && name.size() > unit.size())
      return name.substr(0, name.size() - unit.size());
  return name;
}

std::string column_name(std::string_view title) {
  std::string name(title);
  for (char& c : name)
    if (c == ' ' || c == '-')
      c = '_';
    else if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return name;
}

std::string to_text(const Table& table, const TableForm& form) {
  Table shown = table;
  for (std::vector<std::string>& row : shown.rows) {
    assert(row.size() == table.columns.size() && "one cell per column");
    for (std::string& cell : row) cell = shown_text(std::move(cell));
  }
  for (Column& column : shown.columns) column.title = shown_text(std::move(column.title));
  const TableLayout layout(shown, form);
  if (layout.columns().empty()) return "";

  std::vector<std::string> titles, rules;
  for (std::size_t i = 0; i < layout.columns().size(); ++i) {
    titles.push_back(shown.columns[layout.columns()[i]].title);
    rules.emplace_back(layout.widths()[i], '-');
  }
  std::string text;
  append_line(text, shown, layout, titles, form.colour, bold.character);
  append_line(text, shown, layout, rules, false);
  for (const std::vector<std::string>& row : shown.rows)
    append_row(text, shown, layout, row, form.colour);
  if (!layout.hidden().empty())
    text += wrapped(fmt::format("(without {}: --wide shows all)\n", joined(layout.hidden(), ", ")),
                    form);
  return text;
}

std::string with_colours(std::string_view text,
                         const std::function<std::string(std::string_view)>& rest) {
  constexpr std::array marks{bold, green, yellow, red, plain};
  constexpr std::size_t length = bold.character.size(); // of every mark
  std::string coloured;
  std::size_t begin = 0, at = 0;
  while ((at = text.find(bold.character.substr(0, 2), at)) != std::string_view::npos) {
    const auto* mark = std::ranges::find(marks, text.substr(at, length), &Mark::character);
    if (mark == marks.end()) {
      ++at;
      continue;
    }
    coloured += rest(text.substr(begin, at - begin));
    coloured += mark->code;
    begin = at += length;
  }
  return coloured + rest(text.substr(begin));
}

std::string wrapped(std::string_view text, const TableForm& form) {
  if (!form.width || *form.width < narrowest_text) return std::string(text);
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (display_width(line) <= *form.width) {
      all += fmt::format("{}\n", line);
      continue;
    }
    const std::size_t first = first_line(line, *form.width);
    all += fmt::format("{}\n", line.substr(0, first));
    line.remove_prefix(first);
    while (line.starts_with(' ')) line.remove_prefix(1);
    for (const std::string& more : lines_of(line, *form.width - 2)) all += "  " + more + "\n";
  }
  return all;
}

void know_columns(const TableForm& form, std::span<const std::string> names) {
  if (form.titles) form.titles->insert(names.begin(), names.end());
}

void require_known_columns(const TableForm& form) {
  if (form.columns.empty() || !form.titles) return;
  std::vector<std::string> known, typed; // titles such as "= iteration" have a name for typing
  for (const std::string& each : *form.titles) {
    if (each.empty()) continue;
    known.push_back(each);
    if (each.find('=') == std::string::npos && each.find("/_") == std::string::npos)
      typed.push_back(each);
  }
  const auto begins = [](const std::string& name) {
    return [&name](const std::string& each) {
      return each.ends_with('*') && name.starts_with(each.substr(0, each.size() - 1));
    };
  };
  for (const std::string& name : form.columns)
    if (const std::string asked = column_name(name);
        !form.titles->contains(asked) && !form.titles->contains(std::string(without_unit(asked))) &&
        std::ranges::none_of(known, begins(name)))
      throw InputError("--columns: " + unknown_column("column", name, typed));
}

} // namespace tutti
