// Refusals as data: what a reader is given, and the words with which it refuses.
#pragma once

#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct RefusalRow {
  std::string given;
  std::string words; ///< " ... " within them and " ..." at their end stand for any text
};
using RefusalRows = std::vector<RefusalRow>;

/// What `reader` says of `given`: an InputError's message, or the text that it returns itself.
template <typename Reader> std::string refusal_by(const Reader& reader, const std::string& given) {
  if constexpr (std::convertible_to<decltype(reader(given)), std::string>)
    return reader(given);
  else
    return message_of([&] { (void)reader(given); });
}

/// Where `words` begin in `message`; npos where they aren't in it.
inline std::size_t find_words(const std::string& message, std::string words) {
  constexpr std::string_view gap = " ... ";
  std::size_t from = 0, first = std::string::npos;
  while (true) {
    const std::size_t end = words.find(gap);
    const std::size_t at = message.find(words.substr(0, end), from);
    if (at == std::string::npos || end == std::string::npos)
      return at == std::string::npos || first == std::string::npos ? at : first;
    if (first == std::string::npos) first = at;
    from = at + end;
    words.erase(0, end + gap.size());
  }
}

/// Each row's message has `place` and its words somewhere.
template <typename Reader>
void check_refusals(const Reader& reader, const RefusalRows& rows, const std::string& place = "") {
  for (const auto& [given, words] : rows) {
    const std::string message = refusal_by(reader, given);
    INFO(given << "\nis refused with\n" << message << "\nand not with\n" << place + words);
    CHECK(find_words(message, place + words) != std::string::npos);
  }
}

/// Whether the message is `place` and the words; no more, unless they end in " ...".
inline bool is_refused_with(const std::string& message, const std::string& place,
                            const std::string& words) {
  if (words.ends_with(" ..."))
    return find_words(message, place + words.substr(0, words.size() - 4)) == 0;
  return message == place + words;
}

/// Each row's message is `place` and its words; no more, unless they end in " ...".
template <typename Reader>
void check_whole_refusals(const Reader& reader, const RefusalRows& rows,
                          const std::string& place = "") {
  for (const auto& [given, words] : rows) {
    const std::string message = refusal_by(reader, given);
    INFO(given << "\nis refused with\n" << message << "\nand not with\n" << place + words);
    CHECK(is_refused_with(message, place, words));
  }
}

/// A slip in a text that is valid without it, and the words as in a row of whole refusals.
struct SlipRow {
  std::string before, after, words;
};

template <typename Reader>
void check_slips(const Reader& reader, const std::string& valid, const std::vector<SlipRow>& rows,
                 const std::string& place = "") {
  for (const auto& [before, after, words] : rows) {
    INFO(before << " is " << after);
    std::string text = valid;
    const std::size_t at = text.find(before);
    REQUIRE(at != std::string::npos);
    const std::string message = refusal_by(reader, text.replace(at, before.size(), after));
    INFO("is refused with\n" << message << "\nand not with\n" << place + words);
    CHECK(is_refused_with(message, place, words));
  }
}

} // namespace tutti
