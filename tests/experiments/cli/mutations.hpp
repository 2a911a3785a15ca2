// Texts and bytes with slips: what a tired user, a broken disk or an enemy makes of good input.
#pragma once

#include "sim/random.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// `original` with one to four slips. Of `is_text`, mostly in its tokens (names, numbers, signs)
/// and lines; else in its bytes. What is put in comes from `words`, from elsewhere in the text, or
/// is one of the values that programs stumble over. Cost: O(size).
[[nodiscard]] std::string mutated(std::string original, bool is_text,
                                  const std::vector<std::string>& words, Random& random);

/// An option and the word that follows it in some good line.
struct KnownOption {
  std::string name, value;
};

/// A list of words with one to four slips: some left out, repeated, exchanged, put in, or mutated.
/// Half of them give an option another value that is good elsewhere, or add one with its value.
[[nodiscard]] std::vector<std::string> mutated(std::vector<std::string> line,
                                               const std::vector<std::string>& words,
                                               const std::vector<KnownOption>& options,
                                               Random& random);

} // namespace tutti
