#include "sim/chunk_choice.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace tutti;

namespace {

constexpr Time us(std::int64_t n) { return {n * 1'000'000}; }

/// A message from one end of a line to the other, hop by hop.
struct Line {
  Topology topology;
  Collective whole;
  std::uint32_t hops;

  Line(std::uint32_t nodes, Bytes size) : topology(samples::line(nodes)), hops(nodes - 1) {
    whole = collective(size, 1);
  }
  [[nodiscard]] Collective collective(Bytes size, std::uint32_t chunks) const {
    return make_collective(topology, {.kind = CollectiveKind::broadcast, .size = size,
                                      .group = {}, .root = 0, .pieces = chunks});
  }
};

} // namespace
