// The least time of any schedule of a tiny collective, found by trying every one.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::testing {

/// Every order of useful transfers, depth first, on contribution sets as bit masks; chunks that are
/// alike set out in order.
class AllSchedules {
public:
  AllSchedules(const Topology& topology, const Collective& collective, const TimeModel& model)
      : topology_(topology), collective_(collective), model_(model),
        schedule_(topology.link_count()), masks_(collective.chunks.size()) {
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
      paths_.push_back({LinkId{l}});
      const NodeId middle = topology.link(LinkId{l}).to;
      if (topology.node(middle).kind != NodeKind::switching) continue;
      for (const LinkId second : topology.out_links(middle))
        if (topology.link(second).to != topology.link(LinkId{l}).from)
          paths_.push_back({LinkId{l}, second});
    }
    for (std::uint32_t c = 0; c < masks_.size(); ++c) {
      masks_[c].assign(topology.node_count(), 0U);
      for (const NodeId node : collective.sources(ChunkId{c}))
        masks_[c][node.value] = collective.chunks[c].reduces ? 1U << node.value : 1U;
      full_.push_back(0);
      for (const unsigned mask : masks_[c]) full_.back() |= mask;
    }
    first_masks_ = masks_;
  }

  /// The least time, and how many complete schedules were tried.
  std::pair<std::int64_t, int> best(std::size_t transfers) {
    search(transfers);
    return {best_, tried_};
  }

private:
  [[nodiscard]] bool complete() const {
    for (std::uint32_t c = 0; c < masks_.size(); ++c)
      for (const NodeId node : collective_.destinations(ChunkId{c}))
        if (masks_[c][node.value] != full_[c]) return false;
    return true;
  }

  void search(std::size_t left) {
    if (complete()) {
      const Time time = run_native(topology_, collective_, schedule_, model_).completion;
      best_ = std::min(best_, time.ps);
      ++tried_;
      return;
    }
    if (left == 0) return;
    for (std::uint32_t c = 0; c < masks_.size(); ++c) {
      if (c > 0 && waits(c - 1) && waits(c) && alike(c - 1, c)) continue;
      for (const std::vector<LinkId>& path : paths_) {
        const NodeId from = topology_.link(path.front()).from, to = topology_.link(path.back()).to;
        const bool exchange = !schedule_.empty() && reverse_of_last(ChunkId{c}, from, to);
        transfer(c, path, from, to, false, masks_[c][from.value], left);
        if (exchange) transfer(c, path, from, to, true, before_last_, left);
      }
    }
  }

  [[nodiscard]] bool waits(std::uint32_t c) const { return masks_[c] == first_masks_[c]; }
  [[nodiscard]] bool alike(std::uint32_t a, std::uint32_t b) const {
    const Chunk &one = collective_.chunks[a], &other = collective_.chunks[b];
    return one.size == other.size && one.reduces == other.reduces && one.sources == other.sources &&
           one.destinations == other.destinations;
  }

  /// Could this transfer and the last one be an exchange of partial sums?
  [[nodiscard]] bool reverse_of_last(ChunkId chunk, NodeId from, NodeId to) const {
    const Transfer last = schedule_[schedule_.size() - 1];
    const auto links = schedule_.paths().links(last.path);
    return !last.together && last.chunk == chunk && topology_.node(from).can.copy &&
           topology_.link(links.front()).from == to && topology_.link(links.back()).to == from;
  }

  void transfer(std::uint32_t c, const std::vector<LinkId>& path, NodeId from, NodeId to,
                bool together, unsigned sent, std::size_t left) {
    const std::vector<unsigned> saved = masks_[c];
    const unsigned have = saved[to.value];
    const bool superset = (sent & have) == have && sent != have;
    const bool disjoint = (sent & have) == 0 && topology_.node(to).can.reduce;
    if (sent == 0 || (!superset && !disjoint)) return;
    const Schedule before = schedule_;
    const unsigned before_last = before_last_;
    schedule_.push(
        {ChunkId{c}, schedule_.paths().intern(path), superset ? Op::copy : Op::reduce, together});
    before_last_ = have;
    if (!topology_.node(from).can.copy) masks_[c][from.value] = 0;
    masks_[c][to.value] = sent | have;
    search(left - 1);
    masks_[c] = saved;
    before_last_ = before_last;
    schedule_ = before;
  }

  const Topology& topology_;
  const Collective& collective_;
  TimeModel model_;
  Schedule schedule_;
  std::vector<std::vector<LinkId>> paths_;
  std::vector<std::vector<unsigned>> masks_; // [chunk][node]
  std::vector<std::vector<unsigned>> first_masks_;
  std::vector<unsigned> full_; // [chunk]
  unsigned before_last_ = 0;   // what the last transfer's receiver held before
  std::int64_t best_ = INT64_MAX;
  int tried_ = 0;
};

} // namespace tutti::testing
