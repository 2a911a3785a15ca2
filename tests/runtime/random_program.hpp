// Correct programs at random, made step by step with the dependencies that their memory needs.
#pragma once

#include "runtime/program.hpp"
#include "sim/collective.hpp"

#include <cstdint>

namespace tutti {

/// For all_gather, all_to_all, broadcast (values along random trees), all_reduce and
/// reduce_scatter (random trees towards a rank, and away from it). The collective is over all of
/// `npus` NPUs.
[[nodiscard]] runtime::Program random_program(const Collective& collective, std::uint32_t npus,
                                              std::uint32_t instances, std::uint64_t seed);

} // namespace tutti
