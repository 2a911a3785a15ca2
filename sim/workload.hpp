// A training program for every NPU: what it does, when, and with whom. One training iteration, or
// any trace of computing and communicating.
//
// Each NPU runs a training program: a graph of operations. An operation is ready when all that it
// depends on is over. An NPU has one compute unit, which takes the ready compute operation whose
// turn is first, and finishes it before the next; communication needs no compute unit, and any
// number may be under way (IterationOptions: one at a time, by other rules). Operations of one
// group's members that have one tag are an instance of its communicator:
//
// - A collective begins when all members of its group have reached it, and is over for a member
//   when all that the member sends and receives has been delivered.
// - What one NPU sends to another begins when the sender has reached it, whether or not the
//   receiver has (buffers are unbounded), and is over for the sender when it is delivered; for the
//   receiver when it is delivered and the receiver has reached it.
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"
#include "sim/words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// What a communication is for; what reports count exposed communication by.
enum class Purpose : std::uint8_t {
  data,     ///< gradients among replicas
  sharding, ///< parameters that replicas hold in parts (ZeRO-3, FSDP)
  tensor,   ///< activations among those that share a layer (sequence parallelism too)
  pipeline, ///< activations and their gradients between stages
  expert,   ///< tokens to their experts and back
  other,    ///< unknown, as in most traces
};
inline constexpr std::size_t purpose_count = 6;
inline constexpr Words<Purpose, purpose_count> purpose_words{
    "purpose", {"data", "sharding", "tensor", "pipeline", "expert", "other"}};
[[nodiscard]] constexpr std::string_view to_text(Purpose purpose) {
  return purpose_words.text(purpose);
}

/// One thing that an NPU does. 32 bytes.
struct Operation {
  enum class Kind : std::uint8_t {
    compute,
    collective, ///< with all members of a group
    send,       ///< to the other member of a group of two
    receive,    ///< from the other member of a group of two
  };
  Kind kind = Kind::compute;
  Purpose purpose = Purpose::other;                       ///< of communication
  CollectiveKind collective = CollectiveKind::all_reduce; ///< of Kind::collective
  std::uint8_t priority = 0; ///< of communication, as JobTiming::priority
  std::uint32_t root = 0;    ///< of collectives that have one: index into the group
  std::uint32_t role = 0;    ///< of communication: index into ProgramPlace::groups
  std::uint32_t tag = 0;     ///< of communication: the same for all of a communicator instance
  std::uint32_t name = 0;    ///< index into Workload::names
  std::int64_t amount = 0;   ///< of computing: ps, 0 is fine; of communication: bytes, >= 1
  bool operator==(const Operation&) const = default;
};
static_assert(sizeof(Operation) == 32);

/// A graph of operations. Every operation depends on earlier ones only, so that there are no
/// cycles.
class TrainingProgram {
public:
  /// Appends an operation that begins after `after` (indices, each less than its own), which may
  /// hold repetitions. Returns its index.
  std::uint32_t add(const Operation& operation, std::span<const std::uint32_t> after);
  /// Another order than that of the operations. Pre: a permutation of their indices.
  void set_turns(std::vector<std::uint32_t> turns);

  [[nodiscard]] std::span<const Operation> operations() const { return operations_; }
  [[nodiscard]] std::size_t size() const { return operations_.size(); }
  [[nodiscard]] const Operation& operator[](std::size_t i) const { return operations_[i]; }
  /// Ascending, without repetitions.
  [[nodiscard]] std::span<const std::uint32_t> dependencies(std::size_t i) const {
    return std::span(dependencies_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }
  /// The turn of an operation: of those that are ready, the one with the lowest turn comes first.
  [[nodiscard]] std::uint32_t turn(std::uint32_t i) const { return turns_.empty() ? i : turns_[i]; }
  [[nodiscard]] bool operator==(const TrainingProgram&) const = default;

private:
  std::vector<Operation> operations_;
  std::vector<std::size_t> begin_{0};
  std::vector<std::uint32_t> dependencies_;
  std::vector<std::uint32_t> turns_; // empty: that of the operations
};

/// Which training program an NPU runs, and with whom. NPUs that do the same share one.
struct ProgramPlace {
  std::uint32_t program = 0;         ///< index into Workload::programs
  std::vector<std::uint32_t> groups; ///< [role]: index into Workload::groups
};

/// What an NPU's memory has to hold at most, by an estimate.
struct MemoryEstimate {
  Bytes parameters, gradients, optimizer, activations;
  [[nodiscard]] Bytes total() const { return parameters + gradients + optimizer + activations; }
};

struct Workload {
  std::string name;
  std::vector<std::vector<NodeId>> groups; ///< members in rank order; equal ones may repeat
  std::vector<TrainingProgram> programs;
  std::vector<ProgramPlace> places; ///< per NPU
  std::vector<std::string> names;   ///< of operations
  std::uint32_t iterations = 1;     ///< that the programs hold, one after another
  /// Per iteration, over all NPUs; 0: unknown.
  double items = 0, flops = 0;
  std::string item;                   ///< "sample", "token"; empty where unknown
  std::vector<MemoryEstimate> memory; ///< per NPU; empty: unknown
};

/// What a group communicates, for which there has to be a plan. Sending is a
/// `broadcast` among two from `root`.
struct CommunicationRequest {
  std::uint32_t group = 0; ///< index into Workload::groups
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t root = 0;
  Bytes size;
  auto operator<=>(const CommunicationRequest&) const = default;
};

/// The request that a communication of an NPU makes, for the group that its place names.
[[nodiscard]] CommunicationRequest request_of(const Workload& workload, std::size_t npu,
                                              const Operation& operation);

/// All that occur, ascending, without repetitions. Collectives of a single member need none.
/// O(operations of all programs + requests).
[[nodiscard]] std::vector<CommunicationRequest> requests_of(const Workload& workload);

/// Errors: InputError in words for: places that aren't one per NPU; a group that is empty, has a
/// member twice or one that is no NPU; a program, group or name that isn't there; communication
/// below 1 byte ("zero-byte"), a negative time, an unknown root or priority; a send or receive in a
/// group that isn't of two or that the NPU isn't in; a member that lacks an operation which others
/// of its group have (group, operation and missing NPUs are named), or has it twice, or of another
/// kind, size, root or priority; two sends, or two receives, that meet.
/// O(operations of all programs), times the different ways in which groups are made of them.
void check_workload(const Workload& workload, std::uint32_t npus);

} // namespace tutti
