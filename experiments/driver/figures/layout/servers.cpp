// The partitions that bounds cut networks into (synth/bounds/cuts.hpp) hold the servers too. One is
// right if all its parts have as many NPUs and no NPU has a faster link to the outside than inside:
// else two GPUs of one PCIe switch would be a server, though an NVSwitch joins them with six more.
#include "experiments/driver/figures/layout/servers.hpp"

#include "sim/graphs/servers.hpp"
#include "synth/bounds/cuts.hpp"
#include "synth/bounds/partition.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace tutti::layouts {

namespace {

/// The parts with NPUs, numbered, and with them what is linked to one of them more than to all
/// others; none where they aren't of one size.
Servers numbered(const Topology& topology, bounds::Partition partition) {
  std::vector<bool> has_npu(partition.parts);
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) has_npu[partition.part_of[n]] = true;
  for (std::uint32_t& part : partition.part_of)
    if (!has_npu[part]) part = bounds::no_part;
  partition = bounds::completed(topology, std::move(partition.part_of));
  std::vector<std::uint32_t> npus(partition.parts);
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) ++npus[partition.part_of[n]];
  const std::uint32_t each = npus[partition.part_of[0]];
  if (each < 2 || each == topology.npu_count() ||
      std::ranges::any_of(npus, [&](std::uint32_t count) { return count != 0 && count != each; }))
    return {};
  std::vector<std::uint32_t> number(partition.parts, no_server);
  Servers servers;
  for (std::uint32_t part = 0; part < partition.parts; ++part)
    if (npus[part] > 0) number[part] = servers.count++;
  for (const std::uint32_t part : partition.part_of) servers.of.push_back(number[part]);
  // What has only NPUs may be a server, or a part of one.
  const bool has_others = std::any_of(servers.of.begin() + topology.npu_count(), servers.of.end(),
                                      [](std::uint32_t server) { return server != no_server; });
  if (!has_others) servers.kind = "island";
  return servers;
}

/// Parts of equal coordinates in the last dimension of more than one place.
Servers by_coordinates(const Topology& topology) {
  const auto shape = topology.shape();
  if (topology.node_count() == topology.npu_count() ||
      std::ranges::count_if(shape, [](int extent) { return extent > 1; }) < 2)
    return {};
  std::size_t last = shape.size() - 1;
  while (shape[last] == 1) --last;
  std::vector<std::uint32_t> part_of(topology.node_count(), bounds::no_part);
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    part_of[n] = static_cast<std::uint32_t>(topology.coordinate(NodeId{n})[last]);
  Servers servers = numbered(topology, bounds::completed(topology, std::move(part_of)));
  if (last == 2) servers.kind = "z ="; // of a network with a third dimension
  return servers;
}

bool are_faster_inside(const Topology& topology, const Servers& servers) {
  std::vector<std::int64_t> inside(topology.npu_count()), outside(topology.npu_count());
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    for (const LinkId link : topology.out_links(NodeId{n})) {
      const bool stays = servers.of[topology.link(link).to.value] == servers.of[n];
      std::int64_t& fastest = (stays ? inside : outside)[n];
      fastest = std::max(fastest, topology.effective_bandwidth(link).bytes_per_second);
    }
  return std::ranges::equal(inside, outside, std::greater<>());
}

} // namespace

Servers servers_of(const Topology& topology) {
  if (Servers servers = by_coordinates(topology); servers.count > 0) return servers;
  if (!topology.shape().empty()) return {};
  if (auto sets = sets_joined_by_speed(topology); !sets.empty())
    if (Servers servers = numbered(topology, bounds::completed(topology, std::move(sets)));
        servers.count > 0)
      return servers;
  for (const bounds::Partition& partition : bounds::clusters(topology))
    if (Servers servers = numbered(topology, partition);
        servers.count > 0 && are_faster_inside(topology, servers))
      return servers;
  return {};
}

} // namespace tutti::layouts
