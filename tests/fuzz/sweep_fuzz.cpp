// Sweeps: any bytes give a Sweep or an InputError. Its points aren't made.
#include "experiments/driver/sweep/space/sweep.hpp"
#include "sim/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)tutti::sweep::parse_sweep({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  } catch (const tutti::InputError&) {
  }
  return 0;
}
