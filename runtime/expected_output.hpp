// What a rank's output must hold, as plain arrays that a kernel compares with.
#pragma once

#include "runtime/data.hpp"
#include "runtime/program.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

/// One chunk of an output buffer.
struct ExpectedChunk {
  std::uint32_t chunk = 0;
  std::uint32_t first_contributor = 0, contributors = 0; ///< into Expected::contributors
  std::uint64_t first_byte = 0, elements = 0;
};

struct Expected {
  std::vector<ExpectedChunk> chunks;
  std::vector<std::uint32_t> contributors; ///< NPUs whose values are combined
};

/// A chunk that isn't reduced has one contributor: the first NPU that holds it.
[[nodiscard]] Expected expected_output(const Program& program, std::uint32_t npu, ElementType type,
                                       std::size_t unit_bytes);

} // namespace tutti::runtime
