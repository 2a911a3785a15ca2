// Data is computed, not stored: any element of any chunk follows from a formula, so that machines
// which have only the executor can fill inputs and check results.

#include "runtime/data.hpp"

#include "runtime/with_type.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tutti::runtime {

namespace {

constexpr std::size_t block_elements = 2048; ///< that are computed at once: stay in the cache

/// What elements first .. first + expected.size() of the chunk must be in the end.
void expect_block(std::span<const std::uint32_t> from, ChunkId chunk, Combine combine,
                  std::uint64_t first, std::span<std::uint32_t> expected) {
  std::ranges::fill(expected, 0U);
  for (const std::uint32_t npu : from) {
    if (combine == Combine::sum)
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] += input_value(chunk, npu, first + i);
    else
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = std::max(expected[i], input_value(chunk, npu, first + i));
  }
}

/// Compares the chunk at `found` and adds to the check. `from`: whose values are combined.
template <typename T>
void check_chunk(std::span<const std::uint32_t> from, std::uint32_t npu, ChunkId chunk,
                 Combine combine, std::span<const std::byte> found, DataCheck& check) {
  const std::uint64_t elements = found.size() / sizeof(T);
  std::array<std::uint32_t, block_elements> expected{};
  std::array<T, block_elements> values{};
  for (std::uint64_t first = 0; first < elements; first += block_elements) {
    const std::size_t count = std::min<std::uint64_t>(block_elements, elements - first);
    expect_block(from, chunk, combine, first, std::span(expected).first(count));
    std::memcpy(values.data(), found.data() + first * sizeof(T), count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
      const T right = static_cast<T>(expected[i]);
      if (values[i] == right) continue;
      ++check.wrong;
      if (!check.first)
        check.first = {npu, chunk, first + i, static_cast<double>(right),
                       static_cast<double>(values[i])};
    }
  }
  check.checked += elements;
}

} // namespace

std::size_t element_size(ElementType type) {
  constexpr std::array<std::size_t, element_type_words.all.size()> bytes{4, 8, 4, 1};
  return bytes[static_cast<std::size_t>(type)];
}

void fill_input(std::span<const InputChunk> chunks, ElementType type, std::span<std::byte> input) {
  for (const InputChunk& at : chunks)
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      for (std::uint64_t i = 0; i < at.elements; ++i) {
        const T value = static_cast<T>(input_value(ChunkId{at.chunk}, at.contributor, i));
        std::memcpy(input.data() + at.first_byte + i * sizeof(T), &value, sizeof(T));
      }
    });
}

DataCheck check_output(const Expected& expected, std::uint32_t npu, ElementType type,
                       Combine combine, std::span<const std::byte> output) {
  DataCheck check;
  for (const ExpectedChunk& at : expected.chunks) {
    const std::span<const std::byte> found =
        output.subspan(at.first_byte, at.elements * element_size(type));
    const auto from =
        std::span(expected.contributors).subspan(at.first_contributor, at.contributors);
    with_type(type, [&](auto zero) {
      check_chunk<decltype(zero)>(from, npu, ChunkId{at.chunk}, combine, found, check);
    });
  }
  return check;
}

} // namespace tutti::runtime
