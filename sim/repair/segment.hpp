// A collective that is repaired on the way is a sequence of segments: one schedule until it is
// given up, the next one from what was there then. And the words for what comes of it.
//
// An NPU has two values of a chunk: its own input, which it keeps until it dies, and a working
// value, which transfers send, overwrite and add to. A new plan sets the working values of its
// holders; those of others stay in memory until the plan's first delivery overwrites them.
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"
#include "sim/schedule.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// A chunk and an NPU: a contribution that is lost, a value that is missing.
struct ChunkAt {
  ChunkId chunk;
  NodeId npu;
  auto operator<=>(const ChunkAt&) const = default;
};

/// Those of the chunk. Pre: `sorted` ascends.
[[nodiscard]] inline std::span<const ChunkAt> of_chunk(std::span<const ChunkAt> sorted,
                                                       ChunkId chunk) {
  // not equal_range: the ranges that it makes are beyond clang 14 with libstdc++
  const auto first = std::ranges::lower_bound(sorted, chunk, {}, &ChunkAt::chunk);
  const auto last = std::ranges::upper_bound(sorted, chunk, {}, &ChunkAt::chunk);
  return {first, last};
}

/// What a holder's working value is set to at the begin of a segment.
enum class Start : std::uint8_t {
  present, ///< what earlier segments made of it
  input,   ///< its own input again
  both,    ///< the two added up: what it holds is of others only
};

/// [chunk of a segment][holder, in the order of its set]: a byte for a chunk whose holders all
/// begin alike.
class Starts {
public:
  void add(Start of_all) { of_all_.push_back(of_all); }
  void add(std::vector<Start> of_each) {
    mixed_.emplace(of_all_.size(), std::move(of_each));
    of_all_.push_back(Start::present);
  }
  [[nodiscard]] Start of(ChunkId chunk, std::size_t holder) const {
    const auto found = mixed_.find(chunk.value);
    return found == mixed_.end() ? of_all_[chunk.value] : found->second[holder];
  }
  [[nodiscard]] std::size_t size() const { return of_all_.size(); }

private:
  std::vector<Start> of_all_;
  std::map<std::size_t, std::vector<Start>> mixed_; // by chunk
};

struct Segment {
  Time begin; ///< its first transfers may enter
  Time end;   ///< nothing of it moves any more
  /// What it set out to do: the whole collective at first, then what was left (residual()). For a
  /// reducing chunk `held_by` are the NPUs whose values count from here on.
  Collective collective;
  /// [chunk of `collective`]: the same in the whole collective; ascending.
  std::vector<ChunkId> chunk;
  Starts starts;
  Schedule schedule;           ///< over links of the whole network
  std::vector<bool> delivered; ///< per transfer
  /// Everyone has begun anew: of chunks that aren't in `collective`, too, NPUs hold their inputs
  /// only.
  bool anew = false;
  /// Transfers that had come to their receivers when it ended, but were not delivered: what the
  /// receiver was to send before had not left. Ascending.
  std::vector<std::uint32_t> waiting = {};
};

/// What has come of a collective.
enum class Ending : std::uint8_t {
  complete,       ///< everyone alive has all it wants, as far as it survives
  incomplete,     ///< someone alive lacks something that survives
  no_destination, ///< everyone who was to receive something is dead
  nothing_left,   ///< of what those alive were to receive nothing survives
};
[[nodiscard]] std::string_view to_text(Ending ending); ///< "complete", "no destination lives", ...

} // namespace tutti
