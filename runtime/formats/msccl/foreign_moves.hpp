// What the messages of a program carry: its steps performed symbolically, unit by unit.
#pragma once

#include "runtime/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::runtime {

/// Ranks whose contributions a value is made from, a bit each; empty where nothing is combined.
using Contributions = std::vector<std::uint64_t>;

[[nodiscard]] bool is_within(const Contributions& a, const Contributions& b);
[[nodiscard]] bool have_in_common(const Contributions& a, const Contributions& b);
void unite(Contributions& a, const Contributions& b);

/// What a step waits for by its place in the program, not by its data: that a move has left its
/// sender, or has arrived there.
struct AwaitedMove {
  std::uint32_t move = 0;
  bool arrived = false;
};

/// A unit that crosses a connection.
struct ForeignMove {
  std::uint32_t unit = 0; ///< number in the collective: its chunks' units one after another
  std::uint32_t from = 0, to = 0, channel = 0;
  Contributions holds;
  std::vector<std::uint32_t> made_from; ///< earlier moves to the sender, ascending
  /// What it waits for by its place in the program: moves on other connections, except those of
  /// messages that brought this unit.
  std::vector<AwaitedMove> after;
};

/// In the order of their sends: by round (how many steps come before one at least), then rank,
/// block and step.
/// Errors: InputError where steps wait in a cycle, a send has no receive, a unit is read before
/// anything is written to it, or a value would be counted twice: all that verify_program finds.
/// Cost: O(units moved * (ranks / 64 + moves that a value is made from)) time and memory.
[[nodiscard]] std::vector<ForeignMove> foreign_moves(const Program& program);

} // namespace tutti::runtime
