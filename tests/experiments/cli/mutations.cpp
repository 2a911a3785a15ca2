// mutated(): a slip is a cut of the text at some place, and something else there.
#include "tests/experiments/cli/mutations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

namespace tutti {

namespace {

using namespace std::string_view_literals;

constexpr std::array stumbling_blocks{
    ""sv,
    "0"sv,
    "-1"sv,
    "1"sv,
    "2"sv,
    "7"sv,
    "255"sv,
    "65536"sv,
    "4294967295"sv,
    "4294967296"sv,
    "1e9"sv,
    "1e308"sv,
    "1e-400"sv,
    "nan"sv,
    "inf"sv,
    "-0"sv,
    "0x10"sv,
    "00012"sv,
    "1_000"sv,
    "9223372036854775807"sv,
    "0.5"sv,
    "50%"sv,
    "-50%"sv,
    "101%"sv,
    "18446744073709551616"sv,
    "1us"sv,
    "0s"sv,
    "1ps"sv,
    "99999999s"sv,
    "1GB/s"sv,
    "1B/s"sv,
    "0GB/s"sv,
    "1B"sv,
    "3B"sv,
    "8EiB"sv,
    "1KiB"sv,
    "npu0"sv,
    "npu99"sv,
    "npu0>npu1"sv,
    "npu0-npu0"sv,
    "true"sv,
    "false"sv,
    "null"sv,
    "{}"sv,
    "[]"sv,
    "[[]]"sv,
    "\"\""sv,
    "'"sv,
    "\""sv,
    "\\"sv,
    "%s%n"sv,
    "${x}"sv,
    "$(id)"sv,
    "<!--"sv,
    "&amp;"sv,
    "\x1b[31m"sv,
    "\xff\xfe"sv,
    "\xc3\xa9"sv,
    "\r\n"sv,
    "\t"sv,
    " "sv,
    ","sv,
    "="sv,
    "#"sv,
    ".."sv,
    "."sv,
    "/dev/null"sv,
    "--"sv,
    "auto"sv,
    "all"sv,
    "none"sv,
    "0-3"sv,
    "3-0"sv,
    "0+0"sv,
    "1..0"sv,
    "1KiB..9B"sv,
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"sv};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

std::string any_of(const std::vector<std::string>& words, Random& random) {
  if (words.empty() || random.below(2) == 0)
    return std::string(stumbling_blocks[random.below(stumbling_blocks.size())]);
  return words[random.below(words.size())];
}

/// Where a part of a text stands.
struct Range {
  std::size_t begin = 0, size = 0;
};

/// A run of letters and digits, or one sign.
Range any_token(const std::string& text, Random& random) {
  std::size_t begin = random.below(text.size()), end = begin + 1;
  if (!is_word(text[begin])) return {begin, 1};
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {begin, end - begin};
}

/// With its end.
Range any_line(const std::string& text, Random& random) {
  const std::size_t at = random.below(text.size());
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::size_t end = text.find('\n', at);
  return {begin, (end == std::string::npos ? text.size() : end + 1) - begin};
}

Range any_bytes(const std::string& text, Random& random) {
  const std::size_t begin = random.below(text.size());
  return {begin, 1 + random.below(std::min<std::size_t>(text.size() - begin, 16))};
}

/// Left out, repeated, replaced, or put where another stands.
void change(std::string& text, const Range& range, const Range& other, std::string instead,
            Random& random) {
  const std::string there = text.substr(range.begin, range.size);
  switch (random.below(5)) {
  case 0: text.erase(range.begin, range.size); break;
  case 1: text.insert(range.begin, there); break;
  case 2: text.insert(range.begin, instead); break;
  case 3: text.replace(range.begin, range.size, instead); break;
  default: text.replace(range.begin, range.size, text.substr(other.begin, other.size));
  }
}

/// A number as binary formats have it, near what breaks sums and sizes.
std::string any_number(Random& random) {
  constexpr std::array<std::uint64_t, 8> numbers{
      0, 1, 0x7f, 0xff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff};
  const std::uint64_t number = numbers[random.below(numbers.size())];
  std::string bytes;
  for (std::size_t i = 0, size = std::size_t{1} << random.below(4); i < size; ++i)
    bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

void slip_in_bytes(std::string& text, Random& random) {
  const Range range = any_bytes(text, random);
  switch (random.below(4)) {
  case 0:
    text[range.begin] =
        static_cast<char>(static_cast<unsigned char>(text[range.begin]) ^ (1U << random.below(8)));
    break;
  case 1: text.resize(range.begin); break;
  case 2: {
    const std::string number = any_number(random);
    text.replace(range.begin, number.size(), number);
    break;
  }
  default: change(text, range, any_bytes(text, random), any_number(random), random);
  }
}

/// Another number of about its size: what stays good input goes deeper into a program.
std::string near(const std::string& token, Random& random) {
  const std::uint64_t digit = random.below(10);
  switch (random.below(4)) {
  case 0: return std::to_string(digit);
  case 1: return token + std::to_string(digit);
  case 2: return token.substr(0, token.size() - 1) + std::to_string(digit);
  default: return std::to_string(1 + digit) + token.substr(1);
  }
}

void slip_in_text(std::string& text, const std::vector<std::string>& words, Random& random) {
  switch (random.below(8)) {
  case 0: slip_in_bytes(text, random); return;
  case 1:
    change(text, any_line(text, random), any_line(text, random), any_of(words, random) + "\n",
           random);
    return;
  case 3:
  case 4:
  case 5: {
    const Range token = any_token(text, random);
    if (std::isdigit(static_cast<unsigned char>(text[token.begin + token.size - 1])) == 0) break;
    text.replace(token.begin, token.size, near(text.substr(token.begin, token.size), random));
    return;
  }
  default: break;
  }
  change(text, any_token(text, random), any_token(text, random), any_of(words, random), random);
}

/// Mostly one: what is good but for one thing goes deepest.
std::uint64_t any_count(Random& random) { return random.below(3) != 0 ? 1 : 2 + random.below(3); }

/// Another value where the line has this option, else the option at its end.
void give(std::vector<std::string>& line, const KnownOption& option) {
  const auto known = std::ranges::find(line, option.name);
  if (known != line.end() && known + 1 != line.end()) {
    *(known + 1) = option.value;
    return;
  }
  line.push_back(option.name);
  line.push_back(option.value);
}

} // namespace

std::string mutated(std::string text, bool is_text, const std::vector<std::string>& words,
                    Random& random) {
  for (std::uint64_t slips = any_count(random); slips > 0; --slips) {
    if (text.empty())
      text = any_of(words, random);
    else if (is_text)
      slip_in_text(text, words, random);
    else
      slip_in_bytes(text, random);
  }
  return text;
}

std::vector<std::string> mutated(std::vector<std::string> line,
                                 const std::vector<std::string>& words,
                                 const std::vector<KnownOption>& options, Random& random) {
  for (std::uint64_t slips = any_count(random); slips > 0; --slips) {
    if (line.empty()) return {any_of(words, random)};
    if (random.below(2) == 0) {
      give(line, options[random.below(options.size())]);
      continue;
    }
    const auto at = static_cast<std::ptrdiff_t>(random.below(line.size()));
    const std::size_t other = random.below(line.size());
    switch (random.below(8)) {
    case 0: line.erase(line.begin() + at); break;
    case 1: line.insert(line.begin() + at, line[other]); break;
    case 2: line.insert(line.begin() + at, any_of(words, random)); break;
    case 3: line[other] = any_of(words, random); break;
    case 4: std::swap(line[other], line[random.below(line.size())]); break;
    default: line[other] = mutated(line[other], true, words, random);
    }
  }
  // A word ends at its first NUL.
  for (std::string& word : line) word.resize(std::min(word.size(), word.find('\0')));
  return line;
}

} // namespace tutti
