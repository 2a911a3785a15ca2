// Segments and events by hand, for the tests of sim/repair.
#pragma once

#include "sim/network_event.hpp"
#include "sim/repair/segment.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

namespace tutti::repair_samples {

inline std::vector<NodeId> npus(const std::vector<std::uint32_t>& numbers) {
  std::vector<NodeId> nodes;
  for (const std::uint32_t n : numbers) nodes.emplace_back(n);
  return nodes;
}

struct ChunkOf {
  std::vector<std::uint32_t> held, wanted;
  bool reduces = false;
};

/// Chunks of 1 MB; its group is everyone who holds or wants one.
inline Collective collective(const std::vector<ChunkOf>& chunks) {
  Collective made;
  CollectivePart part;
  std::set<NodeId> group;
  for (const ChunkOf& chunk : chunks) {
    made.sets.push_back(npus(chunk.held));
    made.sets.push_back(npus(chunk.wanted));
    for (const auto& nodes : {made.sets.end()[-2], made.sets.end()[-1]})
      group.insert(nodes.begin(), nodes.end());
    const auto set = static_cast<SetId>(made.sets.size());
    made.chunks.push_back({Bytes{1'000'000}, set - 2, set - 1, chunk.reduces});
    part.size += Bytes{1'000'000};
    ++part.chunk_count;
  }
  part.group.assign(group.begin(), group.end());
  made.parts.push_back(part);
  return made;
}

struct Step {
  std::uint32_t chunk;
  std::vector<std::uint32_t> path;
  Op op = Op::copy;
  bool together = false;
  bool delivered = true;
};

/// Of one chunk: its holders begin so.
inline Starts starts(const std::vector<Start>& of_each) {
  Starts made;
  made.add(of_each);
  return made;
}

/// The whole collective, performed so far.
inline Segment segment(const Topology& topology, Collective whole, const std::vector<Step>& steps) {
  Segment made{{}, {}, std::move(whole), {}, {}, Schedule(topology.link_count()), {}, false};
  for (std::uint32_t c = 0; c < made.collective.chunks.size(); ++c) {
    made.chunk.emplace_back(c);
    made.starts.add(Start::input);
  }
  for (const Step& step : steps) {
    std::vector<LinkId> path;
    for (const std::uint32_t l : step.path) path.emplace_back(l);
    made.schedule.push(
        {ChunkId{step.chunk}, made.schedule.paths().intern(path), step.op, step.together});
    made.delivered.push_back(step.delivered);
  }
  return made;
}

inline NetworkEvent link_down(std::int64_t ps, std::uint32_t link) {
  return {Time{ps}, NetworkEvent::Kind::link_down, LinkId{link}, {}, {}, {}};
}
inline NetworkEvent link_up(std::int64_t ps, std::uint32_t link) {
  return {Time{ps}, NetworkEvent::Kind::link_up, LinkId{link}, {}, {}, {}};
}
inline NetworkEvent npu_down(std::int64_t ps, std::uint32_t npu) {
  return {Time{ps}, NetworkEvent::Kind::npu_down, {}, NodeId{npu}, {}, {}};
}
inline NetworkEvent link_rate(std::int64_t ps, std::uint32_t link, std::uint32_t percent) {
  return {Time{ps}, NetworkEvent::Kind::link_rate, LinkId{link}, {}, Share{percent * 10'000}, {}};
}

inline NetworkState network(const Topology& topology,
                            std::initializer_list<NetworkEvent> events = {}) {
  NetworkState state(topology);
  for (const NetworkEvent& event : events) state.apply(event);
  return state;
}

/// Whether those alive reach one another.
inline bool strongly_connected(const Topology& topology, const NetworkState& state) {
  for (std::uint32_t start = 0; start < topology.npu_count(); ++start) {
    if (!state.is_up(NodeId{start})) continue;
    std::set<NodeId> seen{NodeId{start}};
    for (std::vector<NodeId> open{NodeId{start}}; !open.empty();) {
      const NodeId node = open.back();
      open.pop_back();
      for (const LinkId link : topology.out_links(node))
        if (state.is_up(link) && seen.insert(topology.link(link).to).second)
          open.push_back(topology.link(link).to);
    }
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
      if (state.is_up(NodeId{n}) && !seen.contains(NodeId{n})) return false;
  }
  return true;
}

} // namespace tutti::repair_samples
