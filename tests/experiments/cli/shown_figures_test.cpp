// Figures of README and the manual that no clock measures are what their commands give: every row
// of the table under "Where the figures come from" (docs/validation.md) names a command, a JSON
// pointer into what it prints with --json, and the value.
#include "sim/files/files.hpp"
#include "sim/text.hpp"
#include "sim/units.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/paths.hpp"

#include <nlohmann/json.hpp>

#include <cctype>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shown_figures_test {

using namespace tutti;

namespace {

struct Figure {
  std::string arguments, pointer, value;
};

std::string without_backticks(std::string_view cell) {
  std::string text(trimmed(cell));
  if (text.size() >= 2 && text.front() == '`' && text.back() == '`')
    text = text.substr(1, text.size() - 2);
  return text;
}

std::vector<Figure> figures_of(const std::string& page) {
  constexpr std::string_view prompt = "./tutti ";
  std::vector<Figure> figures;
  bool in_section = false;
  for (const std::string_view line : split(page, '\n')) {
    if (line.starts_with("## ")) in_section = line == "## Where the figures come from";
    if (!in_section || !line.starts_with("| `./tutti ")) continue;
    const std::vector<std::string_view> cells = split(line, '|');
    REQUIRE(cells.size() == 5); // nothing before the first bar, and after the last
    figures.push_back({without_backticks(cells[1]).substr(prompt.size()),
                       without_backticks(cells[2]), without_backticks(cells[3])});
  }
  return figures;
}

/// What is shown is the value, rounded to the digits that are shown. A time is in ps.
bool rounds_to(double value, const std::string& shown) {
  const std::size_t end = shown.find_first_not_of("0123456789.");
  const std::string digits = shown.substr(0, end);
  const std::size_t point = digits.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : digits.size() - point - 1;
  double unit = 1;
  if (end != std::string::npos)
    unit = static_cast<double>(parse_time("1" + std::string(trimmed(shown.substr(end)))).ps);
  const double last_digit = unit * std::pow(10, -static_cast<double>(decimals));
  return std::abs(value - std::stod(digits) * unit) <= last_digit / 2 * (1 + 1e-9);
}

} // namespace

TEST_CASE("a figure is its value rounded to the digits that are shown") {
  CHECK(rounds_to(1.3338, "1.33"));
  CHECK_FALSE(rounds_to(1.3338, "1.34"));
  CHECK(rounds_to(16'112'127'360, "16.11 ms"));
  CHECK_FALSE(rounds_to(16'112'127'360, "16.1"));
  CHECK(rounds_to(126, "126"));
}

TEST_CASE("figures of the documents are what their commands give", "[slow]") {
  const std::vector<Figure> figures = figures_of(read_file(TUTTI_SOURCE_DIR "/docs/validation.md"));
  REQUIRE(figures.size() >= 8);
  for (const Figure& figure : figures) {
    INFO(figure.arguments << " " << figure.pointer << " " << figure.value);
    const CommandResult result = run_tutti(figure.arguments + " --json");
    INFO(result.err);
    REQUIRE(result.code == 0);
    const nlohmann::json printed = nlohmann::json::parse(result.out);
    const nlohmann::json::json_pointer pointer(figure.pointer);
    REQUIRE(printed.contains(pointer));
    CHECK(rounds_to(printed.at(pointer).get<double>(), figure.value));
  }
}

} // namespace shown_figures_test
