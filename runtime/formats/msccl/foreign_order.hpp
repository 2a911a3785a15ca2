// In which order moves make a list of transfers that means what the program does.
#pragma once

#include "runtime/formats/msccl/foreign_moves.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::runtime {

struct ForeignOrder {
  std::vector<std::uint32_t> moves;
  std::vector<bool> together; ///< with the one before: both read the state from before
};

/// In a list of transfers an NPU has one state of each chunk, to which arrivals add; a program may
/// keep an arrival aside. So a move comes after those that its value is made from, and before
/// those to its sender that would add something else to it; partial values arrive before what
/// includes them. Moves that must all come before each other, as in an exchange of partial sums,
/// are together. What the program has wait comes after what it waits for, as far as all this
/// allows. What is free follows the moves' own order.
/// Errors: InputError where no list does that.
/// Cost: O(moves * log + sends * arrivals of each unit at each rank).
[[nodiscard]] ForeignOrder foreign_order(std::span<const ForeignMove> moves);

} // namespace tutti::runtime
