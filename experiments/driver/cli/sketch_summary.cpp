// Why: `tutti sketch` and `tutti show --sketch` say the same of a sketch: what it leaves of a
// network, in numbers, and under which rotations that stays the same.
#include "experiments/driver/cli/sketch_summary.hpp"

#include "experiments/driver/cli/topology_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace tutti {

namespace {

constexpr std::size_t most_elements = 4096;

std::string connections_of(const Sketch& sketch) {
  switch (sketch.between) {
  case Sketch::Between::nothing: return "";
  case Sketch::Between::direct: return "direct";
  case Sketch::Between::full: return "full";
  case Sketch::Between::mapped: break;
  }
  std::set<LocalRank> all;
  for (const auto& [sender, receivers] : sketch.connections)
    all.insert(receivers.begin(), receivers.end());
  return fmt::format("{} to {}", counted(sketch.connections.size(), "sender", "senders"),
                     counted(all.size(), "receiver", "receivers"));
}

std::string policy_of(const Sketch& sketch) {
  std::set<std::string> policies;
  for (const Sketch::Hyperedge& edge : sketch.hyperedges) policies.emplace(to_text(edge.policy));
  return fmt::format("{}", fmt::join(policies, "+"));
}

/// Offset and size: rank 0 goes to the offset, and what goes to rank 0 is the size less the offset.
std::pair<std::uint32_t, std::uint32_t> rotation_of(const Permutation& permutation) {
  const auto last = std::ranges::find(permutation, 0U) - permutation.begin();
  return {permutation[0], static_cast<std::uint32_t>(last) + permutation[0]};
}

double split_of(const LogicalTopology& logical, std::uint32_t link) {
  std::int64_t narrowest = INT64_MAX;
  for (const std::uint32_t part : logical.parts_of[link])
    if (part < logical.network_parts)
      narrowest = std::min(narrowest, logical.parts[part].bandwidth.bytes_per_second);
  return static_cast<double>(narrowest) /
         static_cast<double>(logical.topology.link(LinkId{link}).bandwidth.bytes_per_second);
}

bool moves_every_npu(const Permutation& permutation) {
  for (std::uint32_t npu = 0; npu < permutation.size(); ++npu)
    if (permutation[npu] == npu) return false;
  return true;
}

/// Rotations chosen greedily from those that were found: each enlarges the group, and every element
/// of the group but the identity moves every NPU.
std::vector<Permutation> free_rotations(const LogicalTopology& logical) {
  const std::size_t npus = logical.topology.npu_count(); // as many elements at most
  std::vector<Permutation> taken;
  std::size_t order = 1;
  for (const Permutation& rotation : logical.symmetry) {
    taken.push_back(rotation);
    const std::vector<Permutation> group = elements(taken, npus, npus);
    if (group.size() > order && std::all_of(group.begin() + 1, group.end(), moves_every_npu))
      order = group.size();
    else
      taken.pop_back();
  }
  return taken;
}

} // namespace

SketchSummary summarize(const Sketch& sketch, const LogicalTopology& logical) {
  SketchSummary summary;
  const std::uint32_t npus = logical.topology.npu_count();
  summary.machines = logical.machines;
  summary.npus_of_machine = npus / logical.machines;
  for (std::uint32_t l = 0; l < logical.topology.link_count(); ++l) {
    const Connection& connection = logical.connections[l];
    if (!connection.between_machines) {
      ++summary.links_within;
      summary.switched_links += connection.switched ? 1 : 0;
      continue;
    }
    ++summary.links_between;
    const double split = split_of(logical, l);
    if (!summary.split) summary.split = SplitRange{split, split};
    summary.split->least = std::min(summary.split->least, split);
    summary.split->most = std::max(summary.split->most, split);
  }
  summary.connections = connections_of(sketch);
  summary.policy = policy_of(sketch);
  const std::vector<Permutation> rotations =
      logical.symmetry_is_found ? free_rotations(logical) : logical.symmetry;
  for (const Permutation& rotation : rotations) summary.rotations.push_back(rotation_of(rotation));
  const std::size_t order = elements(rotations, npus, most_elements).size();
  if (order > 0) summary.symmetry = order;
  return summary;
}

} // namespace tutti
