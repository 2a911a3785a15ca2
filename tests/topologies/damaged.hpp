// Files with slips in them: whatever their reader makes of one, it has to say so with its place.
#pragma once

#include "sim/error.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "topologies/import/list.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti {

/// `text` with its first `before`, which must be there, as `after`.
inline std::string replaced(std::string text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return text.replace(at, before.size(), after);
}

/// With one to three slips: bytes or a line are gone, a byte is another one of `letters`, a digit
/// another digit, or what stands elsewhere stands here, too.
inline std::string damaged(std::string_view text, std::string_view letters, Random& random) {
  std::string with_slips(text);
  for (std::uint64_t slips = 1 + random.below(3); slips > 0; --slips) {
    const std::size_t at = random.below(with_slips.size());
    switch (random.below(5)) {
    case 0: with_slips.erase(at, 1 + random.below(20)); break;
    case 1: with_slips[at] = letters[random.below(letters.size())]; break;
    case 2:
      if (const std::size_t digit = with_slips.find_first_of("0123456789", at);
          digit != std::string::npos)
        with_slips[digit] = static_cast<char>('0' + random.below(10));
      break;
    case 3: {
      const std::size_t begin = with_slips.rfind('\n', at) + 1; // npos + 1 is 0
      with_slips.erase(begin, with_slips.find('\n', begin) - begin);
      break;
    }
    default:
      with_slips.insert(at, with_slips.substr(random.below(with_slips.size()), random.below(40)));
    }
    if (with_slips.empty()) with_slips = letters.front();
  }
  return with_slips;
}

/// As the format that it looks like.
inline void read_if_known(const std::string& content) {
  if (const topologies::ForeignFormat* format = topologies::foreign_format(content))
    (void)topologies::read_foreign(*format, {content, "f"});
}

/// How many of so many damaged copies `read` refuses; each refusal has to begin with "f:", the name
/// of the file.
template <typename Read>
std::size_t refused_when_damaged(std::string_view text, std::string_view letters, int copies,
                                 Read read) {
  Random random(1);
  std::size_t refused = 0;
  for (int i = 0; i < copies; ++i) {
    const std::string copy = damaged(text, letters, random);
    try {
      (void)read(copy);
    } catch (const InputError& e) {
      INFO(copy);
      CHECK_THAT(e.what(), Catch::Matchers::StartsWith("f:"));
      ++refused;
    }
  }
  return refused;
}

} // namespace tutti
