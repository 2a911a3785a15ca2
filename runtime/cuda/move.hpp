// Moves and combines the bytes of one step, shared out among a block's threads.
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

/// The elements of a word.
template <typename T, typename Word> struct Lanes { T values[sizeof(Word) / sizeof(T)]; };

/// Element by element.
template <typename T, Combine combine, typename Word>
TUTTI_DEVICE Word combined_word(Word a, Word b) {
  auto left = std::bit_cast<Lanes<T, Word>>(a);
  const auto right = std::bit_cast<Lanes<T, Word>>(b);
  for (std::size_t lane = 0; lane < sizeof(Word) / sizeof(T); ++lane)
    left.values[lane] = combined<T, combine>(left.values[lane], right.values[lane]);
  return std::bit_cast<Word>(left);
}

/// Words `begin` .. `end`-1. Each thread has four on their way at once: one load waits for memory
/// longer than a block's other threads can hide.
template <typename T, Combine combine, typename Word>
TUTTI_DEVICE void move_words(const Operands& data, std::uint64_t begin, std::uint64_t end,
                             std::uint32_t thread, std::uint32_t threads) {
  constexpr std::uint32_t unrolled = 4;
  const auto* first = reinterpret_cast<const Word*>(data.first);
  const auto* second = reinterpret_cast<const Word*>(data.second);
  auto* target = reinterpret_cast<Word*>(data.target);
  auto* out = reinterpret_cast<Word*>(data.out);
  const auto store = [&](std::uint64_t at, Word word) {
    if (target != nullptr) target[at] = word;
    if (out != nullptr) out[at] = word;
  };
  std::uint64_t at = begin + thread;
  for (; at + (unrolled - 1) * std::uint64_t{threads} < end;
       at += unrolled * std::uint64_t{threads}) {
    Word words[unrolled];
    for (std::uint32_t i = 0; i < unrolled; ++i) words[i] = first[at + i * std::uint64_t{threads}];
    if (second != nullptr)
      for (std::uint32_t i = 0; i < unrolled; ++i)
        words[i] = combined_word<T, combine>(words[i], second[at + i * std::uint64_t{threads}]);
    for (std::uint32_t i = 0; i < unrolled; ++i) store(at + i * std::uint64_t{threads}, words[i]);
  }
  for (; at < end; at += threads)
    store(at, second == nullptr ? first[at] : combined_word<T, combine>(first[at], second[at]));
}

/// By words, and what remains by elements.
template <typename T, Combine combine, typename Word>
TUTTI_DEVICE void move_all(const Operands& data, std::uint32_t thread, std::uint32_t threads) {
  const std::uint64_t words = data.bytes / sizeof(Word);
  move_words<T, combine, Word>(data, 0, words, thread, threads);
  if constexpr (sizeof(T) < sizeof(Word))
    move_words<T, combine, T>(data, words * (sizeof(Word) / sizeof(T)), data.bytes / sizeof(T),
                              thread, threads);
}

/// By 16 bytes where all addresses allow it.
template <typename T, Combine combine>
TUTTI_DEVICE void move(const Operands& data, std::uint32_t thread, std::uint32_t threads) {
  if (data.target == nullptr && data.out == nullptr) return;
  const auto address = [](const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); };
  const std::uintptr_t together =
      address(data.first) | address(data.second) | address(data.target) | address(data.out);
  if (together % sizeof(Vector) == 0) return move_all<T, combine, Vector>(data, thread, threads);
  if constexpr (sizeof(T) < sizeof(std::uint32_t))
    if (together % sizeof(std::uint32_t) == 0)
      return move_all<T, combine, std::uint32_t>(data, thread, threads);
  move_all<T, combine, T>(data, thread, threads);
}

} // namespace tutti::runtime
