// Moves and combines the bytes of one step, shared out among a block's threads.
//
// By the widest words that all addresses allow: of 16, 8 or 4 bytes where they are equally far from
// a multiple of it, else by elements. What is before the first whole word and after the last goes
// by elements, too: less than a word each.
#pragma once

#include "runtime/cuda/device_code.hpp"
#include "runtime/cuda/step_operands.hpp"
#include "runtime/data.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tutti::runtime {

/// What one instruction loads or stores at most.
struct alignas(16) Vector {
  std::uint32_t words[4];
};

/// Integers wrap around.
template <typename T, Combine combine> TUTTI_DEVICE T combined(T a, T b) {
  if constexpr (combine == Combine::max)
    return a < b ? b : a;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                          static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}

/// As combined(), of four uint8 at once. Each byte's high bit is kept out of sums and differences,
/// so that nothing carries into the next.
template <Combine combine>
TUTTI_DEVICE std::uint32_t combined_bytes(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t high = 0x80808080;
  if constexpr (combine == Combine::sum) return ((a & ~high) + (b & ~high)) ^ ((a ^ b) & high);
  const std::uint32_t low_bits = (a | high) - (b & ~high); // high: a's others are >= b's
  const std::uint32_t not_less = ((a & ~b) | (~(a ^ b) & low_bits)) & high; // high: a >= b
  const std::uint32_t from_a = not_less | (not_less - (not_less >> 7U));    // all bits: a >= b
  return (a & from_a) | (b & ~from_a);
}

/// A word's parts.
template <typename Part, typename Word> struct PackedWord {
  Part values[sizeof(Word) / sizeof(Part)];
};

/// Element by element.
template <typename T, Combine combine, typename Word>
TUTTI_DEVICE Word combined_word(Word a, Word b) {
  constexpr bool four = sizeof(T) == 1 && sizeof(Word) >= sizeof(std::uint32_t);
  using Part = std::conditional_t<four, std::uint32_t, T>;
  auto left = std::bit_cast<PackedWord<Part, Word>>(a);
  const auto right = std::bit_cast<PackedWord<Part, Word>>(b);
  for (std::size_t i = 0; i < sizeof(Word) / sizeof(Part); ++i)
    if constexpr (four)
      left.values[i] = combined_bytes<combine>(left.values[i], right.values[i]);
    else
      left.values[i] = combined<T, combine>(left.values[i], right.values[i]);
  return std::bit_cast<Word>(left);
}

/// Memory as it is. Tests put one in its place that counts.
struct PlainMemory {
  template <typename Word> TUTTI_DEVICE Word load(const std::byte* at) const {
    return *reinterpret_cast<const Word*>(global(at));
  }
  template <typename Word> TUTTI_DEVICE void store(std::byte* at, Word word) const {
    *reinterpret_cast<Word*>(global(at)) = word;
  }

private:
  /// An arena is never a block's own memory: knowing so, the compiler takes the faster
  /// instructions.
  template <typename Byte> TUTTI_DEVICE static Byte* global(Byte* at) {
#ifdef __CUDA_ARCH__
    __builtin_assume(__isGlobal(at));
#endif
    return at;
  }
};
/// Bytes of a step's data.
struct Part {
  std::uint64_t begin = 0, end = 0;
};

/// The widest word from whose multiples all addresses are equally far; 0 where only elements are.
template <typename T> TUTTI_DEVICE std::uint64_t common_word(const Operands& data) {
  const auto apart = [&](const std::byte* at) {
    return at == nullptr ? 0
                         : reinterpret_cast<std::uintptr_t>(at) -
                               reinterpret_cast<std::uintptr_t>(data.first);
  };
  const std::uintptr_t all = apart(data.second) | apart(data.target) | apart(data.out);
  for (std::uint64_t word = sizeof(Vector); word > sizeof(T) && word >= sizeof(std::uint32_t);
       word /= 2)
    if (all % word == 0) return word;
  return 0;
}

/// What of the data are whole words of this size, a power of two; nothing where it is 0.
TUTTI_DEVICE inline Part whole_words(const Operands& data, std::uint64_t word) {
  if (word == 0) return {};
  const std::uint64_t to_first = -reinterpret_cast<std::uintptr_t>(data.first) & (word - 1);
  const std::uint64_t begin = to_first < data.bytes ? to_first : data.bytes;
  return {begin, begin + ((data.bytes - begin) & ~(word - 1))};
}

/// Moves `count` words, `stride` bytes from one to the next. All are loaded before any is stored.
template <typename T, Combine combine, typename Word, bool combines, std::uint32_t count,
          typename Memory>
TUTTI_DEVICE void move_at(const Operands& data, std::uint64_t at, std::uint64_t stride,
                          Memory& memory) {
  Word words[count], others[combines ? count : 1];
  for (std::uint32_t i = 0; i < count; ++i)
    words[i] = memory.template load<Word>(data.first + at + i * stride);
  if constexpr (combines) {
    for (std::uint32_t i = 0; i < count; ++i)
      others[i] = memory.template load<Word>(data.second + at + i * stride);
    for (std::uint32_t i = 0; i < count; ++i)
      words[i] = combined_word<T, combine>(words[i], others[i]);
  }
  if (data.target != nullptr)
    for (std::uint32_t i = 0; i < count; ++i) memory.store(data.target + at + i * stride, words[i]);
  if (data.out != nullptr)
    for (std::uint32_t i = 0; i < count; ++i) memory.store(data.out + at + i * stride, words[i]);
}

/// A thread's share of a part that is whole words. It has four loads on their way at once: one
/// waits for memory longer than a block's other threads can hide.
template <typename T, Combine combine, typename Word, bool combines, typename Memory>
TUTTI_DEVICE void move_words(const Operands& data, Part part, std::uint32_t thread,
                             std::uint32_t threads, Memory& memory) {
  constexpr std::uint32_t unrolled = combines ? 2 : 4;
  const std::uint64_t stride = threads * std::uint64_t{sizeof(Word)};
  std::uint64_t at = part.begin + thread * std::uint64_t{sizeof(Word)};
  for (; at + (unrolled - 1) * stride < part.end; at += unrolled * stride)
    move_at<T, combine, Word, combines, unrolled>(data, at, stride, memory);
  for (; at < part.end; at += stride)
    move_at<T, combine, Word, combines, 1>(data, at, stride, memory);
}

template <typename T, Combine combine, bool combines, typename Memory>
TUTTI_DEVICE void move_all(const Operands& data, std::uint32_t thread, std::uint32_t threads,
                           Memory& memory) {
  const std::uint64_t word = common_word<T>(data);
  const Part body = whole_words(data, word);
  const auto move_by = [&](auto type, Part part) {
    move_words<T, combine, decltype(type), combines>(data, part, thread, threads, memory);
  };
  if (word == sizeof(Vector)) move_by(Vector{}, body);
  if constexpr (sizeof(T) < sizeof(std::uint64_t))
    if (word == sizeof(std::uint64_t)) move_by(std::uint64_t{}, body);
  if constexpr (sizeof(T) < sizeof(std::uint32_t))
    if (word == sizeof(std::uint32_t)) move_by(std::uint32_t{}, body);
  move_by(T{}, Part{0, body.begin});
  move_by(T{}, Part{body.end, data.bytes});
}

/// The share of one of `threads` threads. Addresses are multiples of the element.
template <typename T, Combine combine, typename Memory = PlainMemory>
TUTTI_DEVICE void move(const Operands& data, std::uint32_t thread, std::uint32_t threads,
                       Memory memory = {}) {
  if (data.target == nullptr && data.out == nullptr) return;
  if (data.second == nullptr)
    move_all<T, combine, false>(data, thread, threads, memory);
  else
    move_all<T, combine, true>(data, thread, threads, memory);
}

} // namespace tutti::runtime
