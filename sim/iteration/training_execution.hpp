// Executes the training programs of all NPUs, apart from any network: each computes one operation
// at a time, and an operation of communication joins those of the other members of its group. The
// caller simulates the network and says when a communication is over for a member.
//
// What happens at one instant doesn't depend on the order in which it is reported: first everything
// that is over is reported, then advance() finds what follows, take_beginning() what communication
// begins, again until nothing begins; only then may NPUs compute.
#pragma once

#include "sim/iteration.hpp"
#include "sim/iteration/accounts.hpp"
#include "sim/iteration/npu_programs.hpp"
#include "sim/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

/// One communication of one process group, made of the operations of its members that have the same
/// tag: one that some member has reached and that isn't over for all.
struct CommunicatorInstance {
  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint32_t group = 0, tag = 0;
  std::uint32_t came = 0, left = 0;      ///< members that have reached it; for whom it isn't over
  std::uint32_t first = none;            ///< rank of who came first
  std::uint32_t sender = none;           ///< rank, of what one NPU sends to another
  std::int64_t begin = -1;               ///< ps; -1: it hasn't begun
  std::vector<std::uint32_t> operations; ///< per rank; `none`: not reached yet
  std::vector<bool> is_over;             ///< per rank: delivered
};

/// Those of a run. Each is named by a slot, which is used again.
class CommunicatorInstances {
public:
  explicit CommunicatorInstances(std::span<const std::vector<NodeId>> groups) : groups_(groups) {}

  [[nodiscard]] CommunicatorInstance& operator[](std::uint32_t slot) {
    return communicators_[slot];
  }
  [[nodiscard]] const CommunicatorInstance& operator[](std::uint32_t slot) const {
    return communicators_[slot];
  }

  /// The slot of the instance that a member comes to.
  std::uint32_t come(std::uint32_t group, std::uint32_t tag, std::uint32_t rank,
                     std::uint32_t operation);
  /// It is over for all.
  void remove(std::uint32_t slot);
  /// Slots of all that are there, by group, then tag.
  [[nodiscard]] std::vector<std::uint32_t> all() const;

private:
  std::span<const std::vector<NodeId>> groups_;
  std::vector<CommunicatorInstance> communicators_; // by slot
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint64_t, std::uint32_t> slots_; // by group and tag; never iterated
};

class TrainingExecution {
public:
  TrainingExecution(const Workload& workload, const IterationOptions& options);

  /// The NPU's program begins: what depends on nothing is reached. To be called for each NPU when
  /// start_of() says, before advance() at that instant.
  void start(std::uint32_t npu);
  [[nodiscard]] std::int64_t start_of(std::uint32_t npu) const { return programs_.start_of(npu); }

  /// The communication is over for the member of this rank.
  void over(std::uint32_t communicator, std::uint32_t rank, std::int64_t now);
  /// The NPU's present computation ends.
  void computed(std::uint32_t npu, std::int64_t now);
  /// Finds what can be reached now.
  void advance(std::int64_t now);

  /// Instances that begin now, in any order. For each of them begin() is to be called.
  [[nodiscard]] std::vector<std::uint32_t> take_beginning();
  void begin(std::uint32_t communicator, std::int64_t now);
  /// Whether each member begins when it comes: a collective, one at a time.
  [[nodiscard]] bool begins_one_by_one(std::uint32_t communicator) const;
  /// Members that come to such instances, in any order. For each of them join() is to be called,
  /// once the instance has begun.
  struct Joining {
    std::uint32_t communicator = 0, rank = 0;
  };
  [[nodiscard]] std::vector<Joining> take_joining();
  void join(std::uint32_t communicator, std::uint32_t rank, std::int64_t now);
  /// Whether the instance, which begins now, does so without this member: one at a time it hasn't
  /// come to it, or, of what one NPU sends to another, it hasn't started.
  [[nodiscard]] bool is_absent(std::uint32_t communicator, std::uint32_t rank,
                               std::int64_t now) const;
  [[nodiscard]] CommunicationRequest request(std::uint32_t communicator) const;
  [[nodiscard]] std::uint8_t priority(std::uint32_t communicator) const;

  struct Computation {
    std::uint32_t npu = 0;
    std::int64_t end = 0; ///< ps
    double work = 0;      ///< ps, at the speed that the NPU has without events
  };
  /// Lets each NPU that can begin one computation. What takes no time is over at once: advance() is
  /// to be called again where `is_more`.
  struct Computations {
    std::vector<Computation> begun;
    bool is_more = false;
  };
  [[nodiscard]] Computations compute(std::int64_t now);
  /// At what part of its speed the NPU computes from the next operation on, by events.
  void set_share(std::uint32_t npu, Share share) { shares_[npu] = share; }

  /// Operations that aren't over.
  [[nodiscard]] std::uint64_t left() const { return programs_.left(); }
  [[nodiscard]] bool is_over() const { return left() == 0; }
  [[nodiscard]] const CommunicatorInstances& communicators() const { return communicators_; }
  /// What keeps the NPUs from ending, in words.
  [[nodiscard]] std::string halt_text() const;
  /// Fills in all but what concerns the network. Pre: is_over().
  void finish(IterationReport& report);

private:
  struct Done {
    std::uint32_t npu = 0, operation = 0;
  };

  void reach(std::uint32_t npu, std::uint32_t operation);
  void communicate(std::uint32_t npu);
  void come(std::uint32_t npu, std::uint32_t operation);
  void end_member(std::uint32_t slot, std::uint32_t rank);
  void touch(std::uint32_t npu);
  [[nodiscard]] Purpose purpose(const CommunicatorInstance& communicator) const;
  void begin_for(CommunicatorInstance& communicator, std::uint32_t rank, std::int64_t now);
  [[nodiscard]] std::uint32_t speaker(const CommunicatorInstance& communicator) const;
  [[nodiscard]] bool is_complete(const CommunicatorInstance& communicator) const;
  [[nodiscard]] const Operation& operation_of(const CommunicatorInstance& communicator,
                                              std::uint32_t rank) const;
  [[nodiscard]] std::int64_t duration(std::uint32_t npu, std::int64_t work) const;
  void record_spans(IterationReport& report) const;
  [[nodiscard]] std::string text(const CommunicatorInstance& communicator) const;
  [[nodiscard]] std::string missing_text(const CommunicatorInstance& communicator) const;
  [[nodiscard]] std::string reason(std::uint32_t npu, std::uint32_t operation) const;

  const Workload& workload_;
  const IterationOptions& options_;
  NpuPrograms programs_;
  Accounts accounts_;
  CommunicatorInstances communicators_;
  std::vector<std::vector<std::uint32_t>> ranks_; // per NPU and role
  std::vector<Share> shares_;                     // per NPU, by events
  std::vector<Done> done_;
  std::vector<std::uint32_t> beginning_; // communicator instances
  std::vector<Joining> joining_;
  std::vector<std::uint32_t> communicating_; // NPUs that may be able to, one at a time
  std::vector<std::uint32_t> touched_;       // NPUs that may be able to compute
  std::vector<bool> is_touched_;
  std::uint64_t communications_ = 0;
  std::int64_t duration_; // ps: until the last start, and the last operation that is over
};

} // namespace tutti
