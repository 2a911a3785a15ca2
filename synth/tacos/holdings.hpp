// What a matching asks about an NPU and a chunk: is it there, and has it still to come?
#pragma once

#include "synth/tacos/arrivals.hpp"
#include "synth/tacos/matching_network.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti {

/// A chunk that an NPU doesn't want is closed to it, as one that it has; only the latter counts as
/// held. Where every NPU holds or wants every chunk the two are the same, and kept once.
/// NPUs can be added to by different threads. Cost: O(NPUs * chunks) where they aren't the same.
class Holdings {
public:
  Holdings(const MatchingProblem& problem, const MatchingNetwork& network)
      : partial_(!network.everyone_takes_all),
        closed_(network.size(), problem.collective.chunks.size()),
        held_(partial_ ? network.size() : 0, problem.collective.chunks.size()) {
    const Collective& collective = problem.collective;
    if (partial_) {
      closed_.set_all();
      for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
        for (const NodeId npu : collective.destinations(ChunkId{c}))
          closed_.clear(network.index[npu.value], c);
    }
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
      for (const NodeId npu : collective.sources(ChunkId{c})) add(network.index[npu.value], c);
  }

  void add(std::uint32_t v, std::uint32_t chunk) {
    closed_.set(v, chunk);
    if (partial_) held_.set(v, chunk);
  }
  [[nodiscard]] bool held(std::uint32_t v, std::uint32_t chunk) const {
    return (partial_ ? held_ : closed_).test(v, chunk);
  }
  /// Whether nothing is to come: the postcondition is satisfied, or there is none.
  [[nodiscard]] bool closed(std::uint32_t v, std::uint32_t chunk) const {
    return closed_.test(v, chunk);
  }
  /// For ChunkBits::test.
  [[nodiscard]] const std::uint64_t* closed_row(std::uint32_t v) const { return closed_.row(v); }

private:
  bool partial_;
  ChunkBits closed_, held_;
};

} // namespace tutti
