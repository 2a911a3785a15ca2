// One Dijkstra search whose hop cost is the latency, plus the serialization where the far end
// stores the data before it goes on. Against the links the same costs belong to the other end,
// which is why ends are near and far here, not from and to.

#include "synth/bounds/least_times.hpp"

#include "sim/graphs/shortest_paths.hpp"

#include <algorithm>

namespace tutti::bounds {

namespace {

__extension__ typedef __int128 int128;

} // namespace

std::int64_t least_serialization(Bytes size, Bandwidth rate, const TimeModel& model) {
  const std::int64_t rounded_up = serialization(size, rate).ps;
  if (model.discipline == Discipline::fifo) return rounded_up;
  const bool exact = static_cast<int128>(rounded_up) * rate.bytes_per_second ==
                     static_cast<int128>(size.count) * ps_per_s;
  return exact ? rounded_up : rounded_up - 1;
}

LeastTimes::LeastTimes(const Topology& topology, const TimeModel& model, Direction direction)
    : topology_(topology), model_(model), direction_(direction),
      serialization_(topology.link_count()), hop_(topology.link_count()),
      time_(topology.node_count()), is_source_(topology.node_count()) {}

NodeId LeastTimes::far_end(LinkId link) const {
  return direction_ == Direction::from_sources ? topology_.link(link).to
                                               : topology_.link(link).from;
}

NodeId LeastTimes::near_end(LinkId link) const {
  return direction_ == Direction::from_sources ? topology_.link(link).from
                                               : topology_.link(link).to;
}

bool LeastTimes::must_be_complete_at(NodeId node) const {
  return model_.discipline == Discipline::fifo && model_.forwarding != Forwarding::cut_through &&
         topology_.node(node).can.store;
}

void LeastTimes::set_size(Bytes size) {
  for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
    serialization_[l] = least_serialization(size, topology_.effective_bandwidth(LinkId{l}), model_);
    hop_[l] = topology_.link(LinkId{l}).latency.ps +
              (must_be_complete_at(far_end(LinkId{l})) ? serialization_[l] : 0);
  }
}

void LeastTimes::search(std::span<const NodeId> sources) {
  std::fill(time_.begin(), time_.end(), never);
  std::fill(is_source_.begin(), is_source_.end(), false);
  std::vector<std::uint32_t> starts;
  for (const NodeId source : sources) {
    is_source_[source.value] = true;
    starts.push_back(source.value);
  }
  const bool forwards = direction_ == Direction::from_sources;
  search_shortest_paths(time_, starts, [&](auto index, auto time, const auto& relax) {
    const NodeId node{index};
    for (const LinkId link : forwards ? topology_.out_links(node) : topology_.in_links(node))
      if (const NodeId next = far_end(link); inside_.empty() || inside_[next.value])
        relax(next.value, time + hop_[link.value]);
  });
}

std::int64_t LeastTimes::complete(NodeId node) const {
  if (is_source_[node.value] || must_be_complete_at(node)) return time_[node.value];
  std::int64_t best = never;
  const auto links =
      direction_ == Direction::from_sources ? topology_.in_links(node) : topology_.out_links(node);
  for (const LinkId link : links)
    best = std::min(best, time_[near_end(link).value] + topology_.link(link).latency.ps +
                              serialization_[link.value]);
  return std::min(best, never);
}

} // namespace tutti::bounds
