// The numbers that executors move, and what they must become.
#pragma once

#include "runtime/program.hpp"
#include "sim/words.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::runtime {

enum class ElementType : std::uint8_t { float32, float64, int32, uint8 };
enum class Combine : std::uint8_t { sum, max };
inline constexpr Words<ElementType, 4> element_type_words{"element type",
                                                          {"float32", "float64", "int32", "uint8"}};
inline constexpr Words<Combine, 2> combine_words{"combination", {"sum", "max"}};
[[nodiscard]] constexpr std::string_view to_text(ElementType type) {
  return element_type_words.text(type);
}
[[nodiscard]] constexpr std::string_view to_text(Combine combine) {
  return combine_words.text(combine);
}
[[nodiscard]] std::size_t element_size(ElementType type); ///< bytes

/// One value of the reference, 0 .. 255: element `element` of chunk `chunk` at contributor `npu`.
/// Neighbours in any of the three differ; sums of up to 2^16 contributors are exact in float32, so
/// that any order of summation gives the same; uint8 sums wrap, as the reference's. A chunk that
/// doesn't reduce has the values of the first of its sources everywhere.
[[nodiscard]] constexpr std::uint32_t input_value(ChunkId chunk, std::uint32_t npu,
                                                  std::uint64_t element) {
  const auto low = static_cast<std::uint32_t>(element);
  const auto high = static_cast<std::uint32_t>(element >> 32U);
  std::uint32_t mixed = low * 0x9e3779b1U + high * 0xc2b2ae3dU + chunk.value * 0x85ebca77U +
                        npu * 0x27d4eb2fU + 0x165667b1U;
  mixed = (mixed ^ (mixed >> 15U)) * 0x2c1b3c6dU;
  return (mixed >> 25U) * 2 + ((low + chunk.value + npu) & 1U);
}

/// One chunk of an input buffer: the reference's values of this contributor.
struct InputChunk {
  std::uint32_t chunk = 0, contributor = 0;
  std::uint64_t first_byte = 0, elements = 0;
};

/// One chunk of an output buffer.
struct ExpectedChunk {
  std::uint32_t chunk = 0;
  std::uint32_t first_contributor = 0, contributors = 0; ///< into Expected::contributors
  std::uint64_t first_byte = 0, elements = 0;
};

/// What a rank's output must hold, as plain arrays that a kernel compares with, too.
struct Expected {
  std::vector<ExpectedChunk> chunks;
  std::vector<std::uint32_t> contributors; ///< NPUs whose values are combined
};

/// Fills a rank's input buffer with the reference's values.
void fill_input(std::span<const InputChunk> chunks, ElementType type, std::span<std::byte> input);

struct WrongElement {
  std::uint32_t npu = 0;
  ChunkId chunk;
  std::uint64_t element = 0; ///< of the chunk
  double expected = 0, found = 0;
};
struct DataCheck {
  std::uint64_t checked = 0, wrong = 0; ///< elements
  std::optional<WrongElement> first;
};

/// Compares a rank's output element by element with what is computed from input_value() alone.
[[nodiscard]] DataCheck check_output(const Expected& expected, std::uint32_t npu, ElementType type,
                                     Combine combine, std::span<const std::byte> output);

} // namespace tutti::runtime
