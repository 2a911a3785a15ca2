// How many elements of an output chunk aren't what they must be; by a kernel, and in tests by the
// host.
#pragma once

#include "runtime/cuda/device_code.hpp"
#include "runtime/cuda/move.hpp"
#include "runtime/data.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::runtime {

/// How many of the elements first, first + step, ... are wrong. `from`: the chunk's contributors.
template <typename T, Combine combine>
[[nodiscard]] TUTTI_DEVICE std::uint64_t
wrong_elements(const std::byte* output, const ExpectedChunk& chunk, const std::uint32_t* from,
               std::uint64_t first, std::uint64_t step) {
  const auto* found = reinterpret_cast<const T*>(output + chunk.first_byte);
  std::uint64_t wrong = 0;
  for (std::uint64_t e = first; e < chunk.elements; e += step) {
    T expected = static_cast<T>(input_value(ChunkId{chunk.chunk}, from[0], e));
    for (std::uint32_t i = 1; i < chunk.contributors; ++i)
      expected = combined<T, combine>(
          expected, static_cast<T>(input_value(ChunkId{chunk.chunk}, from[i], e)));
    if (found[e] != expected) ++wrong;
  }
  return wrong;
}

} // namespace tutti::runtime
