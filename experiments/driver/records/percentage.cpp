// A percentage carries its sign in files and on the command line: 2 for 2 % and 0.02 are both
// easily meant, and easily mistaken.
#include "experiments/driver/records/percentage.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <charconv>

namespace tutti {

namespace {

double parse_percentage(std::string_view text, double most) {
  double percent = -1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, percent);
  const bool whole = error == std::errc() && std::string_view(end, last) == "%";
  if (!whole || !(percent >= 0 && percent <= most))
    throw InputError(fmt::format("\"{}\" is no percentage from 0% to {}%", text, most));
  return percent / 100;
}

} // namespace

double parse_percentage(std::string_view text) { return parse_percentage(text, 100); }
double parse_large_percentage(std::string_view text) { return parse_percentage(text, 1e6); }

std::string percent_text(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

} // namespace tutti
