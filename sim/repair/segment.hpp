// A collective that is repaired on the way is a sequence of segments: one schedule until it is
// given up, the next one from what was there then.
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"
#include "sim/schedule.hpp"
#include "sim/units.hpp"

#include <string>
#include <vector>

namespace tutti {

struct Segment {
  Time begin; ///< its first transfers may enter
  Time end;   ///< nothing of it moves any more
  /// What it set out to do: the whole collective at first, then what was left (residual()). For a
  /// reducing chunk `held_by` are the NPUs whose values count from here on; what others hold of it
  /// is dropped.
  Collective collective;
  /// [chunk of `collective`]: the same in the whole collective; ascending.
  std::vector<ChunkId> chunk;
  /// [chunk of `collective`]: whether its holders' values are their own inputs again, and not what
  /// earlier segments made of them.
  std::vector<bool> from_inputs;
  Schedule schedule;           ///< over links of the whole network
  std::vector<bool> delivered; ///< per transfer
  /// Everyone has begun anew: also of chunks that aren't in `collective` NPUs hold their inputs only.
  bool anew = false;
};

} // namespace tutti
