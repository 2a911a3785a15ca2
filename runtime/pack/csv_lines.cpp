// Numbers are written as the shortest text that reads back as the same value, so that writing and
// reading lose nothing.

#include "runtime/pack/csv_lines.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace tutti::runtime {

namespace {

template <typename Value> std::string hex_digits(Value value) {
  std::string text(2 * sizeof value, '0');
  for (std::size_t i = text.size(); i-- > 0; value >>= 4U)
    text[i] = "0123456789abcdef"[value & 15U];
  return text;
}

/// The whole text as a value; nothing where it isn't one.
template <typename Value, typename... Format>
std::optional<Value> whole_value(const std::string& text, Format... format) {
  Value value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, format...);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

} // namespace

std::string csv_line(std::span<const std::string> fields) {
  std::vector<std::string> row(fields.begin(), fields.end());
  for (std::string& field : row)
    std::ranges::replace_if(
        field, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  std::string line = csv_text({&row, 1});
  line.pop_back();
  return line;
}

std::string hex_text(std::uint64_t value) { return hex_digits(value); }
std::string hex_text(std::uint32_t value) { return hex_digits(value); }

std::string exact_text(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

CsvLine::CsvLine(std::string_view text, std::string place)
    : place_(std::move(place)), fields_(csv_fields(text, place_)), end_column_(text.size() + 1) {}

void CsvLine::fail_at(std::size_t column, const std::string& why) const {
  throw InputError(place_ + ":" + std::to_string(column) + ": " + why);
}

void CsvLine::fail(const std::string& why) const {
  fail_at(taken_ == 0 ? 1 : fields_[taken_ - 1].column, why);
}

const std::string& CsvLine::take(const char* what) {
  if (taken_ == fields_.size()) fail_at(end_column_, std::string(what) + " is missing");
  return fields_[taken_++].text;
}

std::string CsvLine::text(const char* what) { return take(what); }

std::uint64_t CsvLine::number(const char* what, std::uint64_t most) {
  const auto value = whole_value<std::uint64_t>(take(what));
  if (!value || *value > most)
    fail(std::string(what) + " is a whole number, " + std::to_string(most) + " at most");
  return *value;
}

double CsvLine::real(const char* what) {
  const auto value = whole_value<double>(take(what));
  if (!value || !std::isfinite(*value) || *value < 0)
    fail(std::string(what) + " is a number, 0 or more");
  return *value;
}

std::uint64_t CsvLine::hex(const char* what) {
  const std::string& text = take(what);
  const auto value = whole_value<std::uint64_t>(text, 16);
  if (!value || text.size() != 16) fail(std::string(what) + " has 16 hexadecimal digits");
  return *value;
}

std::size_t CsvLine::choice(const char* what, std::span<const std::string_view> words) {
  const std::string& found = take(what);
  const auto at = std::ranges::find(words, found);
  if (at == words.end())
    fail(unknown_name(what, found, std::vector<std::string>(words.begin(), words.end())));
  return static_cast<std::size_t>(at - words.begin());
}

bool CsvLine::has_value() const { return taken_ < fields_.size() && !fields_[taken_].text.empty(); }

void CsvLine::finish() const {
  if (taken_ < fields_.size()) fail_at(fields_[taken_].column, "nothing more belongs here");
}

std::optional<std::string_view> CsvText::next() {
  if (rest_.empty()) return std::nullopt;
  ++line_;
  const std::size_t end = rest_.find('\n');
  if (end == std::string_view::npos)
    throw InputError(place() + ":" + std::to_string(rest_.size() + 1) +
                     ": the last line has no end: the file was cut off");
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return line;
}

} // namespace tutti::runtime
