// The hops of transfers that are under way on a network that changes.
#pragma once

#include "sim/ids.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace tutti {

/// A hop of a transfer. In cut-through several of one transfer are under way at once.
struct Hop {
  enum class State : std::uint8_t { on_its_way, queued, crossing, sent, over, vacant };
  static constexpr std::uint32_t none = UINT32_MAX;

  PathId path = {};
  std::uint32_t transfer = 0, index = 0;
  std::uint32_t next = none; ///< the hop after it, where the head has gone ahead
  LinkId link = {};
  State state = State::on_its_way;
  bool is_last = false;
  bool is_taken_back = false;
  std::int64_t latency = 0; ///< of the link at the start, ps
  /// When the tail of what it follows is in, ps; INT64_MAX: not known yet.
  std::int64_t tail_at = 0;
};

/// Places are used again, except those of hops that were taken back: events may still name them.
class Hops {
public:
  [[nodiscard]] Hop& operator[](std::uint32_t id) { return hops_[id]; }
  [[nodiscard]] const Hop& operator[](std::uint32_t id) const { return hops_[id]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(hops_.size()); }

  /// A place for one more; references to others may dangle afterwards.
  std::uint32_t take() {
    if (free_.empty()) {
      hops_.emplace_back();
      return size() - 1;
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    return id;
  }
  void vacate(std::uint32_t id) {
    hops_[id].state = Hop::State::vacant;
    free_.push_back(id);
  }

  /// By transfer: the first of its hops (along the path) that `counts` is true of. O(all hops).
  template <typename Counts>
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> first_of_each(const Counts& counts) const {
    std::map<std::uint32_t, std::uint32_t> firsts;
    for (std::uint32_t id = 0; id < hops_.size(); ++id) {
      const Hop& hop = hops_[id];
      if (hop.is_taken_back || hop.state == Hop::State::vacant || !counts(hop)) continue;
      const auto [first, is_new] = firsts.try_emplace(hop.transfer, id);
      if (!is_new && hop.index < hops_[first->second].index) first->second = id;
    }
    return firsts;
  }

  /// When a hop began to cross its link; kept only where it is reported.
  void start(std::uint32_t id, std::int64_t now) {
    if (starts_.size() <= id) starts_.resize(id + 1);
    starts_[id] = now;
  }
  [[nodiscard]] std::int64_t start_of(std::uint32_t id) const { return starts_[id]; }

private:
  std::vector<Hop> hops_;
  std::vector<std::int64_t> starts_;
  std::vector<std::uint32_t> free_;
};

} // namespace tutti
