// Why: `-t FILE` takes files of other programs as they are, told apart by their content, never by
// their names, and a new reader is a row here.
#include "topologies/import/list.hpp"

#include <algorithm>
#include <array>

namespace tutti::topologies {

std::span<const ForeignFormat> foreign_formats() {
  static constexpr std::array rows{
      ForeignFormat{"TACCL topology", is_taccl, read_taccl,
                    "microsoft/taccl, INPUT_GUIDE.md and taccl/topologies/generic.py"}};
  return rows;
}

const ForeignFormat* foreign_format(std::string_view content) {
  const auto found = std::ranges::find_if(
      foreign_formats(), [&](const ForeignFormat& format) { return format.recognises(content); });
  return found == foreign_formats().end() ? nullptr : &*found;
}

} // namespace tutti::topologies
