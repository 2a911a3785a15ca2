// Communicator instances: one communication of one process group, made of the operations of its
// members that have the same tag.
#pragma once

#include "sim/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tutti {

/// A communication that some member has reached and that isn't over for all.
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

/// Named by a slot, which is used again.
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

} // namespace tutti
