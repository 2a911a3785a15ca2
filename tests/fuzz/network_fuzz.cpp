// Networks in other programs' files: any bytes give a Topology or an InputError. The first byte
// chooses the reader, whatever the rest looks like, unless TUTTI_READER names one ("graphml"); the
// second whether it is of several servers.
#include "sim/error.hpp"
#include "topologies/import/list.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tutti::topologies::ForeignFormat;
  if (size < 2) return 0;
  const auto formats = tutti::topologies::foreign_formats();
  static const char* const name = std::getenv("TUTTI_READER");
  const auto named = name == nullptr
                         ? formats.end()
                         : std::ranges::find(formats, std::string_view(name), &ForeignFormat::name);
  if (name != nullptr && named == formats.end()) std::abort(); // there is none of this name
  const ForeignFormat& format = name == nullptr ? formats[data[0] % formats.size()] : *named;
  const std::string_view content(reinterpret_cast<const char*>(data) + 2, size - 2);
  const bool is_several = format.has_nodes && data[1] % 2 == 1;
  try {
    (void)format.recognises(content);
    (void)tutti::topologies::read_foreign(format, {content, "fuzz", is_several ? 2 : 1});
  } catch (const tutti::InputError&) {
  }
  return 0;
}
