#include "runtime/expected_output.hpp"

namespace tutti::runtime {

Expected expected_output(const Program& program, std::uint32_t npu, ElementType type,
                         std::size_t unit_bytes) {
  Expected expected;
  const std::uint64_t unit_elements = unit_bytes / element_size(type);
  for (const ChunkPlace& at : program.outputs[npu]) {
    const auto holders = program.collective.held_by(at.chunk);
    const bool reduces = program.collective.chunks[at.chunk.value].reduces;
    const auto contributors = holders.first(reduces ? holders.size() : 1);
    expected.chunks.push_back(
        {at.chunk.value, static_cast<std::uint32_t>(expected.contributors.size()),
         static_cast<std::uint32_t>(contributors.size()), std::uint64_t{at.unit} * unit_bytes,
         program.chunk_units[at.chunk.value] * unit_elements});
    for (const NodeId holder : contributors) expected.contributors.push_back(holder.value);
  }
  return expected;
}

} // namespace tutti::runtime
