// Topology files: any bytes give a Topology or an InputError.
#include "sim/error.hpp"
#include "topologies/list.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)tutti::parse_topology({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  } catch (const tutti::InputError&) {
  }
  return 0;
}
