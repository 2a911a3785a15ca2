// Experiment files: any bytes give an Experiment or an InputError.
#include "experiments/driver/studies/experiment.hpp"
#include "sim/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)tutti::parse_experiment({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  } catch (const tutti::InputError&) {
  }
  return 0;
}
