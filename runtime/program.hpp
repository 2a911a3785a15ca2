// What every rank executes: a schedule lowered to thread blocks, in the form of MSCCL's runtime, so
// that one program runs on CPU threads, on GPUs and in MSCCL.
//
// A rank is an NPU. It has three buffers: `input` (the caller's, read only), `output` (the
// caller's) and `scratch` (the program's own), all counted in units: equal parts of the data, one
// or more for each chunk. Its thread blocks run at once; each performs its steps one after another,
// sends to at most one peer and receives from at most one. What a block sends to a peer on a
// channel is received there, in order, by the one block that receives from this rank on the channel
// (a connection).
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::runtime {

enum class Buffer : std::uint8_t { input, output, scratch };

/// A run of units in one of a rank's buffers; how many is the step's.
struct Place {
  Buffer buffer = Buffer::input;
  std::uint32_t unit = 0; ///< index of the first
  bool operator==(const Place&) const = default;
};

/// What a step does. `got` is what it receives; "+" combines element by element.
enum class StepKind : std::uint8_t {
  send,                     ///< sends source                                     MSCCL: s
  receive,                  ///< target = got                                     r
  receive_copy_send,        ///< target = got, sends it                           rcs
  receive_reduce_copy,      ///< target = got + source                            rrc
  receive_reduce_send,      ///< sends got + source, keeps nothing                rrs
  receive_reduce_copy_send, ///< target = got + source, sends it                  rrcs
  copy,                     ///< target = source                                  cpy
  reduce,                   ///< target = target + source                         re
  wait,                     ///< nothing but its dependency                       nop
};
inline constexpr std::size_t step_kind_count = 9;
[[nodiscard]] std::string_view to_text(StepKind kind); ///< MSCCL's word
[[nodiscard]] bool sends(StepKind kind);
[[nodiscard]] bool receives(StepKind kind);
[[nodiscard]] bool reads_source(StepKind kind);  ///< in its own buffers
[[nodiscard]] bool writes_target(StepKind kind); ///< in its own buffers

/// A step of another block of the same rank: over, as all before it in that block.
struct StepAt {
  std::uint32_t block = 0, step = 0;
  bool operator==(const StepAt&) const = default;
};

struct Step {
  StepKind kind = StepKind::wait;
  Place source, target;        ///< where the kind reads or writes none: as default
  std::uint32_t count = 0;     ///< units; 0 for wait
  std::optional<StepAt> after; ///< starts when this is over. More: `wait` steps before it.
  bool operator==(const Step&) const = default;
};

struct Block {
  std::optional<std::uint32_t> sends_to, receives_from; ///< ranks
  std::uint32_t channel = 0;
  std::vector<Step> steps;
  bool operator==(const Block&) const = default;
};

struct RankProgram {
  std::uint32_t input = 0, output = 0, scratch = 0; ///< units
  std::vector<Block> blocks;
  bool operator==(const RankProgram&) const = default;
};

/// Where a chunk is in a rank's buffer. A chunk has Program::chunk_units units.
struct ChunkPlace {
  ChunkId chunk;
  std::uint32_t unit = 0; ///< the first
  bool operator==(const ChunkPlace&) const = default;
};

/// What the messages of a connection cross in the network that they were planned for.
struct ConnectionPath {
  std::uint32_t from = 0, to = 0, channel = 0; ///< ranks
  std::vector<LinkId> links;                   ///< from one to the other
};

/// The programs of all ranks, and what they start from and end with. Copies of a chunk's units in
/// several instances stand one after another.
struct Program {
  std::string name; ///< of the algorithm
  Collective collective;
  bool in_place = false;                  ///< input and output are one memory, see alias()
  std::vector<std::uint32_t> chunk_units; ///< [chunk]: >= 1
  std::vector<RankProgram> ranks;         ///< [npu]
  /// [npu]: where its chunks are at the start (holds, contributes), and where the caller finds what
  /// it wants in the end. By unit; the n-th chunk that it holds (wants), by id, is the n-th of its
  /// input (output) buffer, as in NCCL's layouts of named collectives.
  std::vector<std::vector<ChunkPlace>> inputs, outputs;
  std::vector<ConnectionPath> paths; ///< by from, to, channel; empty where a file doesn't know them

  [[nodiscard]] std::uint32_t unit_count() const; ///< sum of chunk_units
  [[nodiscard]] std::size_t step_count() const;
  [[nodiscard]] std::uint32_t channel_count() const; ///< 1 + the highest
};

/// Where the caller puts and finds chunks, by the rule above; `inputs`, `outputs` and the buffers'
/// sizes of each rank, without blocks.
/// `instances` cuts each chunk into as many units as it has (times those that unequal chunks need).
/// Errors: InputError where chunks' sizes have no common part that leaves at most 2^20 units (sizes
/// that differ by at most a byte count as equal).
[[nodiscard]] Program empty_program(const Collective& collective, std::uint32_t npus,
                                    std::uint32_t instances, bool in_place);

/// Whether the collective is one that can be in place: a single all_reduce (output is the input),
/// all_gather (a rank's input is its part of the output), reduce_scatter (a rank's output is its
/// part of the input), broadcast or reduce.
[[nodiscard]] bool can_be_in_place(const Collective& collective);

/// In place, the one name of each unit of memory: input units as the output units that they are, or
/// where there are more inputs (reduce_scatter), outputs as inputs. Elsewhere the place itself.
[[nodiscard]] Place alias(const Program& program, std::uint32_t rank, Place place);

} // namespace tutti::runtime
