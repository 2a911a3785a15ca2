// From a schedule to a program: which block does what, where data lies, what waits for what.
//
// Sources: Cai et al. 2021 (SCCL, PPoPP), section 4 (push model, one kernel or a copy per step);
// Shah et al. 2023 (TACCL, NSDI), section 6 (lowering to TACCL-EF: buffers, instances, thread
// blocks with one send and one receive peer, dependencies); Cowan et al. 2023 (MSCCLang).
#pragma once

#include "runtime/program.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <string>

namespace tutti::runtime {

struct LoweringOptions {
  std::string name;
  /// Each chunk is cut into as many parts; part i of it takes channel * instances + i. More blocks
  /// on each link.
  std::uint32_t instances = 1;
  /// Connections between two ranks: as many as parallel links (or paths) that the schedule uses
  /// between them, at most this many.
  std::uint32_t most_channels = 32;
  bool in_place = false; ///< only where can_be_in_place()
  /// Receive and send on in one step where a chunk is passed on at once; only in shared blocks.
  bool fuse = true;
  /// Send and receive of a rank share a block where one can take both, as in a ring: fewer blocks,
  /// but each does one thing at a time.
  bool share_blocks = false;
  /// Adjacent chunks that the schedule treats alike are moved together, at most as many in a step;
  /// 0: all of them. Fewer steps, but a chunk goes on only when all that move with it are there.
  std::uint32_t rolled_chunks = 1;
};

/// The most chunks that LoweringOptions::rolled_chunks could move together. Cost: O(transfers).
[[nodiscard]] std::uint32_t longest_roll(const Collective& collective, const Schedule& schedule);

/// Lowers a schedule that passes `verify`. Transfers become messages between NPUs, in list order on
/// each connection: what a switch or a host memory passes on comes from the NPU that it has it
/// from. Reduction happens where the schedule reduces; a chunk that is combined but not wanted at a
/// rank lies in scratch, whose units are used again when what they held has been read for the last
/// time: at once where scratch would else need more units than the larger of input and output, and
/// before that by whoever needn't wait for it. The caller's input is never written unless in place.
/// A block performs its steps in the order in which they could be at the earliest, were each an
/// event of the same length: the list may name ranks in turn that act at once. The program can't
/// hang with one slot for each connection or more: whatever a step waits for is earlier in that
/// order. So of a ring, where all could send on at once what they receive, at each step one rank
/// receives first.
/// Transfers that share a send become one step that sends and one that receives, where their chunks
/// lie side by side at both ranks and there is one instance; then no step both receives and sends.
/// Elsewhere each has steps of its own.
/// Steps wait for what the schedule's dependencies name; apart from that their dependencies are the
/// least that order reads and writes of one rank (RAW, WAR, WAW) which program order and other
/// dependencies don't.
/// Errors: InputError where a node other than an NPU reduces, holds or wants a chunk or waits for
/// another transfer, where a transfer waits for one of which its NPU knows nothing, where what a
/// node passes on has changed at the NPU that it came from, for instances == 0, or in_place where
/// it can't be.
/// Cost: O(transfers * (log + blocks of a rank)); 64 NPUs with 64 chunks a shard of All-Reduce
/// (516,096 transfers) a second.
[[nodiscard]] Program lower(const Topology& topology, const Collective& collective,
                            const Schedule& schedule, const LoweringOptions& options = {});

} // namespace tutti::runtime
