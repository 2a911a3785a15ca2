#include "runtime/data.hpp"

#include "runtime/with_type.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tutti::runtime {

namespace {

struct TypeRow {
  std::string_view text;
  std::size_t bytes;
};
constexpr std::array<TypeRow, 4> type_rows{
    {{"float32", 4}, {"float64", 8}, {"int32", 4}, {"uint8", 1}}};
constexpr std::array<std::string_view, 2> combine_words{"sum", "max"};

/// The index of a word of the list.
template <typename Words>
std::size_t index_of_word(std::string_view what, std::string_view text, const Words& words) {
  std::vector<std::string> known;
  for (const std::string_view word : words) {
    if (word == text) return known.size();
    known.emplace_back(word);
  }
  throw InputError(unknown_name(what, text, known));
}

constexpr std::size_t block_elements = 2048; ///< that are computed at once: stay in the cache

/// Who the chunk's value comes from.
std::span<const NodeId> contributors(const Collective& collective, ChunkId chunk) {
  const std::span<const NodeId> holders = collective.held_by(chunk);
  return collective.chunks[chunk.value].reduces ? holders : holders.first(1);
}

/// What elements first .. first + expected.size() of the chunk must be in the end.
void expect_block(std::span<const NodeId> from, ChunkId chunk, Combine combine, std::uint64_t first,
                  std::span<std::uint32_t> expected) {
  std::ranges::fill(expected, 0U);
  for (const NodeId npu : from) {
    if (combine == Combine::sum)
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] += input_value(chunk, npu.value, first + i);
    else
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = std::max(expected[i], input_value(chunk, npu.value, first + i));
  }
}

/// Compares the chunk at `found` and adds to the check.
template <typename T>
void check_chunk(const Collective& collective, std::uint32_t npu, ChunkId chunk, Combine combine,
                 std::span<const std::byte> found, DataCheck& check) {
  const std::span<const NodeId> from = contributors(collective, chunk);
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

std::string_view to_text(ElementType type) {
  return type_rows[static_cast<std::size_t>(type)].text;
}
std::string_view to_text(Combine combine) {
  return combine_words[static_cast<std::size_t>(combine)];
}
std::size_t element_size(ElementType type) {
  return type_rows[static_cast<std::size_t>(type)].bytes;
}

ElementType parse_element_type(std::string_view text) {
  std::array<std::string_view, type_rows.size()> words;
  std::ranges::transform(type_rows, words.begin(), &TypeRow::text);
  return static_cast<ElementType>(index_of_word("element type", text, words));
}

Combine parse_combine(std::string_view text) {
  return static_cast<Combine>(index_of_word("combination", text, combine_words));
}

void fill_input(const Program& program, std::uint32_t npu, ElementType type, std::size_t unit_bytes,
                std::span<std::byte> input) {
  for (const ChunkPlace& at : program.inputs[npu]) {
    const std::uint32_t from = program.collective.chunks[at.chunk.value].reduces
                                   ? npu
                                   : program.collective.held_by(at.chunk).front().value;
    const std::size_t bytes = program.chunk_units[at.chunk.value] * unit_bytes;
    const std::span<std::byte> chunk = input.subspan(at.unit * unit_bytes, bytes);
    with_type(type, [&](auto zero) {
      using T = decltype(zero);
      for (std::uint64_t i = 0; i < bytes / sizeof(T); ++i) {
        const T value = static_cast<T>(input_value(at.chunk, from, i));
        std::memcpy(chunk.data() + i * sizeof(T), &value, sizeof(T));
      }
    });
  }
}

DataCheck check_output(const Program& program, std::uint32_t npu, ElementType type, Combine combine,
                       std::size_t unit_bytes, std::span<const std::byte> output) {
  DataCheck check;
  for (const ChunkPlace& at : program.outputs[npu]) {
    const std::span<const std::byte> chunk =
        output.subspan(at.unit * unit_bytes, program.chunk_units[at.chunk.value] * unit_bytes);
    with_type(type, [&](auto zero) {
      check_chunk<decltype(zero)>(program.collective, npu, at.chunk, combine, chunk, check);
    });
  }
  return check;
}

} // namespace tutti::runtime
