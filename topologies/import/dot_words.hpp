// A graph in Graphviz's language in the words that Boost gets of it.
#pragma once

#include "topologies/import/dot_lexer.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::topologies {

struct DotWords {
  std::vector<DotToken> tokens;                           ///< an end at the end
  std::vector<std::pair<std::string, std::size_t>> words; ///< for Boost, with their tokens
  std::set<std::string> unknown; ///< attributes that nobody asks for, in quotes
  bool is_digraph = false, is_strict = false;
};

/// Names and values become the numbers of their tokens; a name is the same number everywhere.
/// Attributes that nobody asks for are left out. Errors: InputError with the place for what would
/// be too large, and for what Boost reads in another way than Graphviz.
[[nodiscard]] DotWords dot_words(std::string_view content, const TextPlaces& places);

} // namespace tutti::topologies
