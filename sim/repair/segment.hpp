// A collective that is repaired while it runs is a sequence of segments: each follows one schedule
// until that is given up, and the next starts from what the NPUs have by then. Ending says how such
// a collective can end.
//
// An NPU has two values of a chunk: its own input, which it keeps until it dies, and a working
// value, which transfers send, overwrite and add to. It may also have arrivals: values that have
// come to it and wait until its earlier sends have left. A new plan makes the working value of each
// source from any of these. The working values of other NPUs stay in memory until the plan's first
// delivery overwrites them; arrivals that the plan doesn't take in are dropped.
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

/// What a source's working value is set to at the begin of a segment, before what it takes in
/// (Segment::takes_in) is added. `both` is its working value and its input added up: the former is
/// of others only.
enum class Start : std::uint8_t {
  nothing = 0, ///< it takes in all that it begins with
  present = 1, ///< what earlier segments made of it
  input = 2,   ///< its own input again
  both = present | input,
};
[[nodiscard]] constexpr Start operator|(Start a, Start b) {
  return static_cast<Start>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool has_present(Start start) {
  return start == Start::present || start == Start::both;
}
[[nodiscard]] constexpr bool has_input(Start start) {
  return start == Start::input || start == Start::both;
}

/// A transfer that has come to its receiver and waits there, beside the working value.
struct Arrival {
  std::uint32_t segment = 0, transfer = 0;
  auto operator<=>(const Arrival&) const = default;
};

/// [chunk of a segment][source, in the order of its set]: a byte for a chunk whose sources all
/// begin alike.
class Starts {
public:
  void add(Start of_all) { of_all_.push_back(of_all); }
  void add(std::vector<Start> of_each) {
    mixed_.emplace(of_all_.size(), std::move(of_each));
    of_all_.push_back(Start::present);
  }
  [[nodiscard]] Start of(ChunkId chunk, std::size_t source) const {
    const auto found = mixed_.find(chunk.value);
    return found == mixed_.end() ? of_all_[chunk.value] : found->second[source];
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
  /// reducing chunk `sources` are the NPUs whose values count from here on.
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
  /// What its sources add to what they begin with, of what waits at them. Ascending.
  std::vector<Arrival> takes_in = {};
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
