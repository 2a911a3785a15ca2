// A program in the form that MSCCL's XML can carry, and what its runtimes are able to count.
#pragma once

#include "runtime/formats/msccl/xml.hpp"
#include "runtime/program.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tutti::runtime {

/// Messages that a connection of MSCCL's runtimes holds at least: with the Simple protocol half of
/// its buffer is one (more with LL and LL128). A ring whose steps receive and send on needs two.
inline constexpr std::uint32_t msccl_slots = 2;

/// What MSCCL's runtimes take a collective for, and the word that files have for it.
struct MscclCollectiveRow {
  CollectiveKind kind;
  std::string_view word; ///< as the executor for NCCL wants it; custom is known to msccl-tools only
};
[[nodiscard]] std::span<const MscclCollectiveRow> msccl_collectives();

/// The word for the program's collective. Errors: InputError where it is several, or over a group
/// that isn't all ranks in their order.
[[nodiscard]] std::string_view msccl_collective_word(const Program& program);

/// `nchunksperloop`: how many units a runtime divides the bytes of a call into. That is what a call
/// counts: the whole buffer, but one rank's shard for gather and scatter, whose calls aren't
/// multiplied by the number of ranks.
[[nodiscard]] std::uint32_t msccl_chunks_per_loop(const Program& program);

/// The same program with waits only where the runtimes see them (each one has a dependency, and a
/// step with a dependency of its own follows it), no dependency on a wait (which no runtime
/// announces; instead on what it waits for), and no step that moves more units than `most_count`.
[[nodiscard]] Program msccl_form(const Program& program, std::uint32_t most_count);

/// Errors: InputError naming the rank, block and limit, and what would help.
void require_msccl_limits(const Program& program, const MscclLimits& limits);

} // namespace tutti::runtime
