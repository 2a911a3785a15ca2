// The words of Graphviz's language.
#pragma once

#include "topologies/import/text_lines.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::topologies {

enum class DotKind : std::uint8_t {
  strict,
  graph,
  digraph,
  node,
  edge,
  subgraph,
  id,
  mark, ///< one of {}[];,=:
  link, ///< -- or ->
  end,
};

struct DotToken {
  DotKind kind = DotKind::end;
  std::string text;
  std::size_t at = 0;

  [[nodiscard]] bool is(char mark) const { return kind == DotKind::mark && text[0] == mark; }
};

class DotLexer {
public:
  /// Both must outlive this.
  DotLexer(std::string_view content, const TextPlaces& places);

  /// After the last one: ends. Errors: InputError with the place.
  DotToken next();

private:
  void skip(); ///< spaces and comments
  DotToken number();
  std::string strings(); ///< "a" + "b" is one
  std::string quoted();
  std::string html(); ///< between < and >, which may nest

  std::string_view content_;
  const TextPlaces& places_;
  std::size_t at_ = 0;
};

} // namespace tutti::topologies
