// Values are immutable sorted lists of contributors that nodes share; a copy hands one on, a
// reduction makes a new one.

#include "sim/repair/history_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

namespace tutti {

namespace {

using Contributors = std::vector<NodeId>;
using Value = std::shared_ptr<const Contributors>; // null: nothing

Contributors without(const Contributors& all, const Contributors& some) {
  Contributors rest;
  std::ranges::set_difference(all, some, std::back_inserter(rest));
  return rest;
}

/// Delivered transfers of each chunk of the whole collective, as (segment, transfer), in order.
std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>
deliveries_by_chunk(std::size_t chunks, std::span<const Segment> segments) {
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> found(chunks);
  for (std::uint32_t s = 0; s < segments.size(); ++s)
    for (std::uint32_t i = 0; i < segments[s].schedule.size(); ++i)
      if (segments[s].delivered[i])
        found[segments[s].chunk[segments[s].schedule[i].chunk.value].value].emplace_back(s, i);
  return found;
}

class HistoryChecker {
public:
  HistoryChecker(const Topology& topology, const Collective& collective,
                 std::span<const Segment> segments, std::span<const ChunkAt> lost,
                 const std::vector<std::optional<Time>>& died)
      : topology_(topology), collective_(collective), segments_(segments), died_(died) {
    for (const ChunkAt& one : lost) lost_[one.chunk].push_back(one.npu);
    for (auto& [chunk, npus] : lost_) std::ranges::sort(npus);
  }

  HistoryVerdict run() {
    check_shape();
    if (verdict_.fault) return std::move(verdict_);
    const auto deliveries = deliveries_by_chunk(collective_.chunks.size(), segments_);
    for (std::uint32_t c = 0; c < collective_.chunks.size() && !verdict_.fault; ++c)
      check_chunk(ChunkId{c}, deliveries[c]);
    return std::move(verdict_);
  }

private:
  void fault(std::string text) {
    if (!verdict_.fault) verdict_.fault = std::move(text);
  }
  [[nodiscard]] const std::string& name(NodeId node) const { return topology_.node(node).name; }
  [[nodiscard]] bool alive(NodeId node) const {
    return node.value < topology_.npu_count() && !died_[node.value];
  }
  [[nodiscard]] bool dead_by(NodeId node, Time at) const {
    return node.value < topology_.npu_count() && died_[node.value] && *died_[node.value] <= at;
  }

  void check_shape() {
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const Segment& segment = segments_[s];
      std::vector<bool> seen(collective_.chunks.size());
      for (const ChunkId chunk : segment.chunk) {
        if (chunk.value >= seen.size() || seen[chunk.value])
          return fault(
              fmt::format("segment {} names chunk {} twice, or there is none", s, chunk.value));
        seen[chunk.value] = true;
      }
      if (s > 0 && segment.begin < segments_[s - 1].end)
        return fault(fmt::format("segment {} begins before segment {} ends", s, s - 1));
    }
  }

  void check_chunk(ChunkId chunk,
                   std::span<const std::pair<std::uint32_t, std::uint32_t>> deliveries) {
    values_.assign(topology_.node_count(), nullptr);
    reduces_ = collective_.chunks[chunk.value].reduces;
    const std::span<const NodeId> holders = collective_.held_by(chunk);
    all_ = reduces_ ? Contributors(holders.begin(), holders.end()) : Contributors{NodeId{0}};
    const auto found = lost_.find(chunk);
    gone_ = found == lost_.end() ? Contributors{} : found->second;
    if (!reduces_ && !gone_.empty()) gone_ = all_;
    back_to_inputs_ = false;

    std::size_t next = 0;
    for (std::uint32_t s = 0; s < segments_.size() && !verdict_.fault; ++s) {
      begin_segment(s, chunk);
      while (next < deliveries.size() && deliveries[next].first == s && !verdict_.fault)
        next = perform_block(s, deliveries, next);
    }
    if (!verdict_.fault) check_end(chunk);
  }

  [[nodiscard]] Value input(NodeId npu) const {
    return std::make_shared<const Contributors>(reduces_ ? Contributors{npu} : all_);
  }

  void begin_segment(std::uint32_t s, ChunkId chunk) {
    const Segment& segment = segments_[s];
    const std::optional<std::uint32_t> local = number_in(s, chunk);
    if (!local) {
      if (segment.anew) all_back_to_inputs(chunk);
      return;
    }
    const std::span<const NodeId> holders = segment.collective.held_by(ChunkId{*local});
    const bool from_inputs = s == 0 || segment.from_inputs[*local];
    back_to_inputs_ = back_to_inputs_ || (s > 0 && from_inputs);
    Contributors before = held_by_the_living();
    std::vector<Value> chosen(values_.size());
    Contributors together;
    for (const NodeId npu : holders) {
      const std::span<const NodeId> owners = collective_.held_by(chunk);
      if (from_inputs && !std::ranges::binary_search(owners, npu))
        return fault(
            fmt::format("segment {}: {} has no input to chunk {}", s, name(npu), chunk.value));
      Value value = from_inputs ? input(npu) : values_[npu.value];
      if (!value)
        return fault(fmt::format("segment {}: {} doesn't hold chunk {}, which counts from there", s,
                                 name(npu), chunk.value));
      if (!reduces_ || !segment.collective.chunks[*local].reduces) {
        if (const Contributors short_of = without(without(all_, gone_), *value); !short_of.empty())
          return fault(fmt::format("segment {}: the chunk {} that {} copies lacks {}", s,
                                   chunk.value, name(npu), name(short_of.front())));
        together = *value;
      } else {
        Contributors sum;
        std::ranges::set_union(together, *value, std::back_inserter(sum));
        if (sum.size() != together.size() + value->size())
          return fault(fmt::format("segment {}: values of chunk {} overlap at {}", s, chunk.value,
                                   name(npu)));
        together = std::move(sum);
      }
      chosen[npu.value] = std::move(value);
    }
    if (const Contributors short_of = without(without(all_, gone_), together); !short_of.empty())
      return fault(fmt::format("segment {}: the contribution of {} to chunk {} is left behind", s,
                               name(short_of.front()), chunk.value));
    if (!from_inputs)
      if (const Contributors dropped = without(before, together); !dropped.empty())
        return fault(fmt::format("segment {}: the contribution of {} to chunk {} is dropped", s,
                                 name(dropped.front()), chunk.value));
    values_ = std::move(chosen);
  }

  void all_back_to_inputs(ChunkId chunk) {
    std::ranges::fill(values_, nullptr);
    for (const NodeId npu : collective_.held_by(chunk)) values_[npu.value] = input(npu);
  }

  /// What those who live to the end hold now, all together.
  [[nodiscard]] Contributors held_by_the_living() const {
    std::vector<bool> held(topology_.node_count());
    std::size_t count = 0;
    const Contributors* previous = nullptr;
    for (std::uint32_t n = 0; n < topology_.npu_count() && count < all_.size(); ++n) {
      const Contributors* value = values_[n].get();
      if (!value || value == previous || !alive(NodeId{n})) continue;
      previous = value;
      for (const NodeId contributor : *value)
        if (!held[contributor.value]) held[contributor.value] = true, ++count;
    }
    Contributors together;
    for (const NodeId contributor : all_)
      if (held[contributor.value]) together.push_back(contributor);
    return together;
  }

  [[nodiscard]] std::optional<std::uint32_t> number_in(std::uint32_t s, ChunkId chunk) {
    if (numbers_.size() <= s) numbers_.resize(segments_.size());
    std::vector<std::uint32_t>& numbers = numbers_[s];
    if (numbers.empty()) {
      numbers.assign(collective_.chunks.size(), UINT32_MAX);
      for (std::uint32_t c = 0; c < segments_[s].chunk.size(); ++c)
        numbers[segments_[s].chunk[c].value] = c;
    }
    if (numbers[chunk.value] == UINT32_MAX) return std::nullopt;
    return numbers[chunk.value];
  }

  /// The block that begins at deliveries[first]; returns the first after it.
  std::size_t perform_block(std::uint32_t s,
                            std::span<const std::pair<std::uint32_t, std::uint32_t>> deliveries,
                            std::size_t first) {
    const Schedule& schedule = segments_[s].schedule;
    std::size_t end = first + 1;
    while (end < deliveries.size() && deliveries[end].first == s &&
           one_block(schedule, deliveries[first].second, deliveries[end].second))
      ++end;
    std::vector<Value> sent;
    for (std::size_t k = first; k < end; ++k) {
      const auto [from, to] = ends(schedule, deliveries[k].second);
      if (!check_ends(s, deliveries[k].second, from, to)) return end;
      sent.push_back(values_[from.value]);
    }
    for (std::size_t k = first; k < end; ++k) {
      const NodeId from = ends(schedule, deliveries[k].second).first;
      if (!topology_.node(from).can.copy) values_[from.value] = nullptr;
    }
    for (std::size_t k = first; k < end; ++k) receive(s, deliveries[k].second, sent[k - first]);
    return end;
  }

  [[nodiscard]] static bool one_block(const Schedule& schedule, std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t i = a + 1; i <= b; ++i)
      if (!schedule[i].together) return false;
    return true;
  }
  [[nodiscard]] std::pair<NodeId, NodeId> ends(const Schedule& schedule, std::uint32_t i) const {
    return {topology_.link(schedule.paths().first(schedule.path_of(i))).from,
            topology_.link(schedule.paths().last(schedule.path_of(i))).to};
  }

  bool check_ends(std::uint32_t s, std::uint32_t i, NodeId from, NodeId to) {
    for (const NodeId node : {from, to})
      if (dead_by(node, segments_[s].begin))
        fault(fmt::format("segment {}, transfer {}: {} was dead", s, i, name(node)));
    if (!values_[from.value])
      fault(fmt::format("segment {}, transfer {}: {} doesn't hold what it sent", s, i, name(from)));
    return !verdict_.fault;
  }

  void receive(std::uint32_t s, std::uint32_t i, const Value& got) {
    const Schedule& schedule = segments_[s].schedule;
    Value& have = values_[ends(schedule, i).second.value];
    if (!have) {
      have = got;
      return;
    }
    const std::string& at = name(ends(schedule, i).second);
    if (schedule[i].op == Op::copy) {
      if (!std::ranges::includes(*got, *have))
        return fault(
            fmt::format("segment {}, transfer {}: the copy loses contributions at {}", s, i, at));
      have = got;
      return;
    }
    Contributors both;
    both.reserve(have->size() + got->size());
    std::ranges::set_union(*have, *got, std::back_inserter(both));
    if (both.size() != have->size() + got->size())
      return fault(
          fmt::format("segment {}, transfer {}: a contribution is counted twice at {}", s, i, at));
    have = std::make_shared<const Contributors>(std::move(both));
  }

  void check_end(ChunkId chunk) {
    const Contributors held = held_by_the_living();
    if (!back_to_inputs_) {
      for (const NodeId contributor : held)
        if (std::ranges::binary_search(gone_, contributor))
          return fault(fmt::format("chunk {}: the contribution of {} is said to be lost, but "
                                   "someone alive has it",
                                   chunk.value, name(contributor)));
    }
    const Contributors needed = without(all_, gone_);
    for (const NodeId npu : collective_.wanted_by(chunk)) {
      if (!alive(npu)) continue;
      const Value& value = values_[npu.value];
      const bool has = needed.empty() || (value && std::ranges::includes(*value, needed));
      if (!has) verdict_.missing.push_back({chunk, npu});
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  std::span<const Segment> segments_;
  const std::vector<std::optional<Time>>& died_;
  std::map<ChunkId, Contributors> lost_;
  std::vector<std::vector<std::uint32_t>> numbers_; // [segment][chunk], made when first needed
  HistoryVerdict verdict_;
  // Of the chunk that is checked:
  bool reduces_ = false, back_to_inputs_ = false;
  Contributors all_, gone_;
  std::vector<Value> values_;
};

} // namespace

HistoryVerdict check_history(const Topology& topology, const Collective& collective,
                             std::span<const Segment> segments, std::span<const ChunkAt> lost,
                             const std::vector<std::optional<Time>>& died) {
  return HistoryChecker(topology, collective, segments, lost, died).run();
}

} // namespace tutti
