// A terminal knows how wide it is; a file or a pipe takes tables whole, since whoever reads them
// there searches or cuts them. NO_COLOR is the convention of no-color.org: any text but none.
#include "experiments/driver/records/table_form.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace tutti {

namespace {

constexpr std::size_t usual_width = 80; // of a terminal that doesn't say

std::string_view environment(const char* name) {
  const char* value = std::getenv(name); // NOLINT: nobody sets it meanwhile
  return value == nullptr ? "" : value;
}

/// None where the descriptor is no terminal.
std::optional<std::size_t> width_of(int descriptor) {
  if (::isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual_width;
  return size.ws_col;
}

/// Width given by COLUMNS; the variable isn't ours, so what is no number is ignored.
std::optional<std::size_t> asked_width() {
  const std::string_view text = environment("COLUMNS");
  if (text.empty() || text.size() > 4 ||
      !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  const std::size_t width = std::stoul(std::string(text));
  return width == 0 ? std::nullopt : std::optional(width);
}

std::vector<std::string> names_in(const std::string& columns) {
  std::vector<std::string> names;
  for (const std::string_view part : split(columns, ',')) {
    names.push_back(column_name(trimmed(part)));
    if (names.back().empty())
      throw InputError(fmt::format("--columns: a name is missing in \"{}\"", columns));
    if (std::ranges::count(names, names.back()) > 1)
      throw InputError(fmt::format("--columns: \"{}\" stands twice", names.back()));
  }
  return names;
}

} // namespace

TableForm table_form(const TableArguments& arguments) {
  TableForm form;
  const std::optional<std::size_t> terminal = width_of(STDOUT_FILENO);
  form.colour =
      terminal.has_value() && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  if (!arguments.wide) form.width = terminal ? terminal : asked_width();
  form.titles = arguments.titles;
  if (arguments.columns) form.columns = names_in(*arguments.columns);
  return form;
}

std::optional<std::size_t> stderr_width() { return width_of(STDERR_FILENO); }

} // namespace tutti
