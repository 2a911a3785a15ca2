// Why: several formats are lines of words, and each of their readers has to say where a wrong one
// stands.
#include "topologies/import/text_lines.hpp"

#include "sim/text.hpp"
#include "topologies/import/quantity_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace tutti::topologies {

namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20;

std::vector<Word> words_of(std::string_view line, std::size_t number) {
  constexpr std::string_view spaces = " \t";
  std::vector<Word> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(spaces, at)) < line.size();) {
    const std::size_t end = std::min(line.find_first_of(spaces, at), line.size());
    words.push_back({line.substr(at, end - at), number, at + 1});
    at = end;
  }
  return words;
}

} // namespace

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string short_quote(std::string_view text) {
  constexpr std::size_t most = 64;
  if (text.size() <= most) return fmt::format("\"{}\"", text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("\"{}...\"", text.substr(0, end));
}

std::string TextPlaces::place(std::size_t at) const {
  const std::string_view before = content_.substr(0, std::min(at, content_.size()));
  return fmt::format("{}:{}", source_, std::ranges::count(before, '\n') + 1);
}

InputError TextPlaces::error(std::size_t at, std::string_view message) const {
  const std::string_view before = content_.substr(0, std::min(at, content_.size()));
  return InputError(fmt::format("{}:{}: {}", place(at),
                                before.size() - (before.rfind('\n') + 1) + 1, // npos + 1 is 0
                                message));
}

char first_character(std::string_view content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? '\0' : content[first];
}

std::size_t first_no_text(std::string_view content) {
  for (std::size_t at = 0; at < content.size();) {
    const CodePoint point = first_code_point(content.substr(at));
    const bool is_blank = point.value == '\t' || point.value == '\n' || point.value == '\r';
    const bool is_escape = point.value == 0x1B;
    const bool is_control = point.value < 0x20 || point.value == 0x7F;
    if (point.length == 0 || (is_control && !is_blank && !is_escape)) return at;
    at += point.length;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> first_lines(std::string_view content, std::size_t most) {
  std::vector<std::string_view> lines;
  while (!content.empty() && lines.size() < most) {
    const std::string_view line = content.substr(0, content.find('\n'));
    content.remove_prefix(std::min(content.size(), line.size() + 1));
    const std::string_view text = trimmed(line);
    if (!text.empty() && text.front() != '#') lines.push_back(line);
  }
  return lines;
}

TextLines::TextLines(std::string_view content, std::string source) : source_(std::move(source)) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < content.size();) {
    ++number;
    const std::size_t end = std::min(content.find('\n', at), content.size());
    std::string_view line = content.substr(at, end - at);
    at = end + 1;
    if (line.size() > longest_line)
      throw InputError(
          fmt::format("{}:{}:1: a line of {} bytes (at most 1 MiB)", source_, number, line.size()));
    line = line.substr(0, line.find('#'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::vector<Word> words = words_of(line, number);
    if (!words.empty()) lines_.push_back(std::move(words));
  }
}

TextLines::TextLines(std::string_view content, std::string source, char separator)
    : source_(std::move(source)), rows_(csv_rows(content, source_, separator)) {
  for (const CsvRow& row : rows_) {
    Line& line = lines_.emplace_back();
    for (const CsvField& field : row.fields) line.push_back({field.text, row.line, field.column});
  }
}

InputError TextLines::error(const Word& word, const std::string& message) const {
  return InputError(fmt::format("{}:{}:{}: {}", source_, word.line, word.column, message));
}

InputError TextLines::error(const std::string& message) const {
  return InputError(fmt::format("{}: {}", source_, message));
}

std::int64_t TextLines::integer(const Word& word, std::int64_t low, std::int64_t high) const {
  std::int64_t value = 0;
  const auto [end, fault] =
      std::from_chars(word.text.data(), word.text.data() + word.text.size(), value);
  if (fault != std::errc() || end != word.text.data() + word.text.size())
    throw error(word, fmt::format("\"{}\" is not a whole number", word.text));
  if (value < low || value > high)
    throw error(word, fmt::format("{} is out of range ({} .. {})", value, low, high));
  return value;
}

Bandwidth TextLines::rate(const Word& word, std::string_view unit) const {
  const std::string plain = plain_rate(std::string(word.text) + std::string(unit));
  try {
    return parse_bandwidth(plain);
  } catch (const InputError& e) {
    throw error(word, quoting(e.what(), plain, word.text));
  }
}

Time TextLines::time(const Word& word, std::string_view unit) const {
  const std::string plain = plain_time(std::string(word.text) + std::string(unit));
  try {
    return parse_time(plain);
  } catch (const InputError& e) {
    throw error(word, quoting(e.what(), plain, word.text));
  }
}

double TextLines::number(const Word& word, double low, double high) const {
  double value = 0;
  const auto [end, fault] =
      std::from_chars(word.text.data(), word.text.data() + word.text.size(), value);
  if (fault != std::errc() || end != word.text.data() + word.text.size() || !std::isfinite(value))
    throw error(word, fmt::format("\"{}\" is not a number", word.text));
  if (value < low || value > high)
    throw error(word, fmt::format("{} is out of range ({} .. {})", value, low, high));
  return value;
}

} // namespace tutti::topologies
