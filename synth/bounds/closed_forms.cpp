// Appendix A assumes one bandwidth limit for all GPUs, b_up out of each and b_down into each. Here
// the largest demand of any member is divided by the largest bandwidth of any, so that the bounds
// hold on every topology. Averages over members are used only where nobody else reduces, as Lemma
// 14 and Theorem 18 need.

#include "synth/bounds/closed_forms.hpp"

#include "synth/bounds/capacity.hpp"
#include "synth/bounds/demand.hpp"
#include "synth/bounds/least_times.hpp"
#include "synth/bounds/link_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti::bounds {

namespace {

/// What must leave and enter some member, and how fast that can be at most.
struct Traffic {
  int128 up = 0, down = 0;     ///< bytes
  int128 b_up = 0, b_down = 0; ///< bytes/s
  bool on_average = false;     ///< `down` is what members receive on average
};

bool only_members_reduce(const Topology& topology, const CollectivePart& part) {
  const auto reducing = std::count_if(topology.nodes().begin(), topology.nodes().end(),
                                      [](const Node& node) { return node.can.reduce; });
  const auto members = std::count_if(part.group.begin(), part.group.end(), [&](NodeId member) {
    return topology.node(member).can.reduce;
  });
  return reducing == members && part.group.size() == topology.npu_count();
}

/// `collective` is the part alone.
Traffic traffic(const Topology& topology, const Collective& collective,
                std::span<const ChunkClass> classes) {
  const CollectivePart& part = collective.parts.front();
  const NodeDemands demands = node_demands(collective, classes, topology.node_count());
  Traffic most;
  for (const NodeId member : part.group) {
    most.up = std::max(most.up, demands.out[member.value].bytes);
    most.down = std::max(most.down, demands.in[member.value].bytes);
    most.b_up = std::max(most.b_up, joint_bandwidth(topology, topology.out_links(member)));
    most.b_down = std::max(most.b_down, joint_bandwidth(topology, topology.in_links(member)));
  }
  if (!is_reducing(part.kind) || !only_members_reduce(topology, part)) return most;
  const int128 average =
      deliveries(collective, classes).bytes / static_cast<std::int64_t>(part.group.size());
  most.on_average = average > most.down;
  most.down = std::max(most.down, average);
  return most;
}

/// Rounded down.
std::int64_t picoseconds(int128 bytes, int128 bandwidth) {
  if (bytes == 0) return 0;
  return bandwidth == 0
             ? never
             : static_cast<std::int64_t>(std::min<int128>(bytes * ps_per_s / bandwidth, never));
}

std::string_view theorem(CollectiveKind kind, bool on_average) {
  switch (kind) {
  case CollectiveKind::broadcast: return "Theorem 9";
  case CollectiveKind::scatter: return "as Theorem 9";
  case CollectiveKind::hypercube:
  case CollectiveKind::all_gather_v:
  case CollectiveKind::all_gather: return "Theorem 11";
  case CollectiveKind::sendrecv:
  case CollectiveKind::all_to_all_v:
  case CollectiveKind::all_to_all: return "as Theorem 11";
  case CollectiveKind::reduce: return "Theorem 13";
  case CollectiveKind::gather: return "as Theorem 13";
  case CollectiveKind::reduce_scatter_v:
  case CollectiveKind::reduce_scatter: return "Theorem 17";
  case CollectiveKind::all_reduce: return on_average ? "Theorem 19" : "as Theorems 9 and 13";
  case CollectiveKind::custom: break;
  }
  return "";
}

/// `1GiB`, `7/8 of 1GiB`; in bytes where shards differ.
std::string share(const CollectivePart& part, int128 bytes) {
  std::string whole = to_text(part.size);
  if (bytes == part.size.count) return whole;
  const auto n = static_cast<std::int64_t>(part.group.size());
  for (const std::int64_t parts : {n - 1, 2 * n - 2})
    if (bytes * n == static_cast<int128>(part.size.count) * parts)
      return fmt::format("{}/{} of {}", parts, n, whole);
  return fmt::format("{} of {}", to_text(Bytes{static_cast<std::int64_t>(bytes)}), whole);
}

Bound bound_of(const CollectivePart& part, const Traffic& most) {
  const std::int64_t up = picoseconds(most.up, most.b_up),
                     down = picoseconds(most.down, most.b_down);
  const bool leaves = up > down;
  const int128 bandwidth = std::min<int128>(leaves ? most.b_up : most.b_down, INT64_MAX);
  std::string certificate = fmt::format(
      "{}: {} through at most {} {} a member", theorem(part.kind, most.on_average && !leaves),
      share(part, leaves ? most.up : most.down),
      to_text(Bandwidth{static_cast<std::int64_t>(bandwidth)}), leaves ? "out of" : "into");
  return {Time{std::max(up, down)}, BoundKind::closed_form, std::move(certificate), {}};
}

} // namespace

std::optional<Bound> closed_form(const Problem& problem) {
  const Collective& all = problem.collective;
  std::optional<Bound> best;
  for (std::size_t i = 0; i < all.parts.size(); ++i) {
    if (all.parts[i].kind == CollectiveKind::custom) continue;
    Bound bound;
    if (all.parts.size() == 1) {
      bound = bound_of(all.parts.front(), traffic(problem.topology, all, problem.classes));
    } else {
      const Collective alone = part_alone(all, i);
      bound = bound_of(alone.parts.front(), traffic(problem.topology, alone, chunk_classes(alone)));
    }
    if (!best || bound.time > best->time) best = std::move(bound);
  }
  return best;
}

} // namespace tutti::bounds
