// People paste logs from terminals, schedulers, clusters and issue trackers, each of which adds
// something of its own to a line. Here is one place that takes all of it off, by kinds of prefix
// and not by programs: what stands in brackets, a word with a colon, a date. A row that some other
// prefix precedes is found by its form anyway (log_rows.cpp).
#include "experiments/driver/studies/measurements/log_text.hpp"

#include "sim/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace tutti {

namespace {

constexpr std::string_view blanks = " \t\r";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& text, std::uint32_t point) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point >= 0x10000) {
    add(0xf0 | point >> 18);
    add(0x80 | (point >> 12 & 0x3f));
  } else if (point >= 0x800) {
    add(0xe0 | point >> 12);
  } else {
    return add(0xc0 | point >> 6), add(0x80 | (point & 0x3f));
  }
  add(0x80 | (point >> 6 & 0x3f));
  add(0x80 | (point & 0x3f));
}

/// Whether it is UTF-16 with a byte order mark, or whose first letter is of ASCII.
std::string from_utf16(std::string_view bytes, bool is_little) {
  const auto unit = [&](std::size_t at) {
    const auto low = static_cast<unsigned char>(bytes[at + (is_little ? 0 : 1)]),
               high = static_cast<unsigned char>(bytes[at + (is_little ? 1 : 0)]);
    return std::uint32_t{low} | std::uint32_t{high} << 8;
  };
  std::string text;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    std::uint32_t point = unit(at);
    if (point >= 0xd800 && point < 0xdc00 && at + 3 < bytes.size()) {
      point = 0x10000 + ((point - 0xd800) << 10) + ((unit(at + 2) - 0xdc00) & 0x3ff);
      at += 2;
    }
    if (point != 0xfeff) append_utf8(text, point);
  }
  return text;
}

/// Length of an escape sequence at the beginning of a text; 0: none.
std::size_t escape_length(std::string_view text) {
  std::size_t at = 0;
  for (const std::string_view begin : {"\x1b", "^[", "\\x1b", "\\033", "\\e", "\\u001b", "\u241b"})
    if (text.starts_with(begin)) at = begin.size();
  if (at == 0) return 0;
  const bool is_real = text.front() == '\x1b';
  if (at >= text.size()) return is_real ? at : 0;
  if (text[at] == ']' && is_real) { // a title, up to BEL
    const std::size_t end = text.find('\a', at);
    return end == std::string_view::npos ? at : end + 1;
  }
  if (text[at] != '[') return is_real ? at : 0;
  const std::size_t end = text.find_first_not_of("0123456789;:?", at + 1);
  if (end == std::string_view::npos) return is_real ? text.size() : 0;
  return std::isalpha(static_cast<unsigned char>(text[end])) != 0 ? end + 1 : is_real ? at : 0;
}

/// Length of a tag of HTML at the beginning of a text; 0: none. Open MPI's <stdout> is none.
std::size_t tag_length(std::string_view text) {
  constexpr std::array<std::string_view, 10> names{"span", "pre", "code", "div", "br",
                                                   "p",    "td",  "tr",   "b",   "font"};
  if (text.size() < 3 || text.front() != '<') return 0;
  const std::size_t begin = text[1] == '/' ? 2 : 1, end = text.find_first_of(">\n");
  if (end == std::string_view::npos || text[end] != '>') return 0;
  const std::string_view name = text.substr(begin, text.find_first_of(" />", begin) - begin);
  return std::ranges::find(names, name) == names.end() ? 0 : end + 1;
}

/// Length of a date, a time or both at the beginning of a text; 0: none.
std::size_t stamp_length(std::string_view text) {
  // 9: a digit, _: a digit or a blank, a: a letter
  constexpr std::array<std::string_view, 8> forms{"9999-99-99T99:99:99",
                                                  "9999-99-99 99:99:99",
                                                  "9999/99/99 99:99:99",
                                                  "aaa aaa _9 99:99:99 9999",
                                                  "aaa _9 99:99:99",
                                                  "aaa _9 9999 99:99:99",
                                                  "99:99:99",
                                                  "9999-99-99_99:99:99"};
  const auto fits = [&](std::string_view form) {
    if (text.size() < form.size()) return false;
    for (std::size_t i = 0; i < form.size(); ++i) {
      const char c = text[i];
      const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
      if (form[i] == '9'   ? !is_digit(c)
          : form[i] == '_' ? !is_digit(c) && c != ' ' && c != '_'
          : form[i] == 'a' ? !is_letter
                           : c != form[i])
        return false;
    }
    return true;
  };
  const auto form = std::ranges::find_if(forms, fits);
  if (form == forms.end()) return 0;
  std::size_t end = form->size();
  const auto skip = [&](auto is) {
    while (end < text.size() && is(text[end])) ++end;
  };
  if (end < text.size() && (text[end] == '.' || text[end] == ',')) ++end, skip(is_digit);
  if (end < text.size() && text[end] == 'Z')
    ++end;
  else if (end < text.size() && (text[end] == '+' || text[end] == '-'))
    ++end, skip([](char c) { return is_digit(c) || c == ':'; });
  return end;
}

/// Length of a group in brackets, and of the stream that Open MPI names behind it.
std::size_t bracket_length(std::string_view text) {
  constexpr std::size_t longest = 200;
  std::size_t end = 0;
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos || end > longest ||
        text.substr(0, end).find_first_of("{\"") != std::string_view::npos)
      return 0;
    ++end;
  }
  for (const std::string_view stream : {"<stdout>", "<stderr>", "<stddiag>"})
    if (text.substr(end).starts_with(stream)) end += stream.size();
  if (end > 0 && text.substr(end).starts_with(':')) ++end;
  return end;
}

/// Length of "3:", "host:", "prog[12]:", "name |"; 0: none. What nccl-tests itself says with a
/// colon stays.
std::size_t label_length(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(blanks), text.size());
  const std::string_view word = text.substr(0, end);
  if (word.empty() || word.front() == '#' || word.front() == '{') return 0;
  if (word.size() > 1 && word.ends_with(':') && word != "nThread:" && word != "rccl-tests:" &&
      word.find_first_of("/\"") == std::string_view::npos)
    return end;
  const std::size_t next = text.find_first_not_of(blanks, end);
  if (next != std::string_view::npos && text[next] == '|' && word.front() != '|' &&
      std::isalpha(static_cast<unsigned char>(word.front())) != 0)
    return next + 1;
  return 0;
}

/// Behind a date: the host and program of syslog, or the stream of a container runtime.
std::size_t source_length(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  for (const std::string_view stream : {"stdout F ", "stderr F ", "stdout P ", "stderr P "})
    if (text.substr(begin).starts_with(stream)) return begin + stream.size();
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() > 1 && words[1].ends_with(':') && words[0].find('#') == std::string_view::npos &&
      std::isalpha(static_cast<unsigned char>(words[1].front())) != 0)
    return static_cast<std::size_t>(words[1].data() + words[1].size() - text.data());
  return 0;
}

std::size_t prefix_length(std::string_view text) {
  if (text.starts_with("> ") || text == ">" || text.starts_with(">>")) return 1;
  if (text.starts_with("&gt;")) return 4;
  if (const std::size_t stamp = stamp_length(text); stamp > 0)
    return stamp + source_length(text.substr(stamp));
  if (const std::size_t bracket = bracket_length(text); bracket > 0) return bracket;
  return label_length(text);
}

} // namespace

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t begin = line.find_first_not_of(blanks, at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

std::string plain_text(std::string_view bytes) {
  std::string decoded;
  if (bytes.size() > 1) {
    const bool is_little = bytes.starts_with("\xff\xfe") || (bytes[0] != 0 && bytes[1] == 0);
    if (is_little || bytes.starts_with("\xfe\xff") || (bytes[0] == 0 && bytes[1] != 0))
      bytes = decoded = from_utf16(bytes, is_little);
  }
  constexpr std::string_view mark = "\xef\xbb\xbf", no_break = "\xc2\xa0";
  if (bytes.starts_with(mark)) bytes.remove_prefix(mark.size());
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    if (const std::size_t skipped = std::max(escape_length(rest), tag_length(rest)); skipped > 0) {
      at += skipped;
    } else if (rest.starts_with(no_break)) {
      text += ' ';
      at += no_break.size();
    } else if (rest.front() == '\r') {
      text += '\n'; // alone it ends a line, too
      at += rest.starts_with("\r\n") ? 2 : 1;
    } else if (rest.front() == '\\' && rest.size() > 1 &&
               std::string_view("_#*|<>").find(rest[1]) != std::string_view::npos) {
      ++at; // Markdown's escapes
    } else {
      text += rest.front();
      ++at;
    }
  }
  return text;
}

std::string without_prefix(std::string_view line) {
  while (true) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    const std::size_t length = prefix_length(line.substr(begin));
    if (length == 0) break;
    line.remove_prefix(begin + length); // what is behind keeps its blanks: a row may be split there
  }
  std::string text(line);
  if (trimmed(line).starts_with('|')) std::ranges::replace(text, '|', ' ');
  return text;
}

std::optional<std::size_t> device_in(const LogWords& words) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i)
    if (words[i].ends_with("Rank") && is_digits(words[i + 1]) &&
        (words[i + 2] == "Pid" || words[i + 2] == "Group" || words[i + 2] == "on"))
      return i;
  return std::nullopt;
}

std::size_t message_in(std::string_view text, const std::vector<std::string>& hosts) {
  std::size_t at = std::string_view::npos;
  for (const std::string_view level : {"NCCL INFO", "NCCL WARN", "NCCL TRACE", "NCCL ERROR"})
    at = std::min(at, text.find(level));
  if (at == std::string_view::npos) return at;
  // Backwards: "[0] ", then "host:pid:tid ".
  std::size_t end = text.find_last_not_of(blanks, at == 0 ? 0 : at - 1);
  if (at == 0 || end == std::string_view::npos || text[end] != ']') return at;
  const std::size_t open = text.rfind('[', end);
  if (open == std::string_view::npos || open == 0) return open == 0 ? 0 : at;
  end = text.find_last_not_of(blanks, open - 1);
  if (end == std::string_view::npos) return 0;
  const std::size_t blank = text.find_last_of(blanks, end);
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  const std::string_view word = text.substr(begin, end + 1 - begin);
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return open;
  const std::string_view name = word.substr(0, colon);
  for (const std::string& host : hosts)
    if (name.size() > host.size() && name.ends_with(host)) return begin + name.size() - host.size();
  return begin;
}

} // namespace tutti
