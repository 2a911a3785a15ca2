// NCCL and RCCL choose a NIC for a GPU when they connect it: of the nearest ones, the one with the
// GPU's number modulo how many there are (ncclTopoGetLocalNet). MSCCL's programs say peers and
// channels only.

#include "runtime/formats/msccl/runtime_paths.hpp"

#include "runtime/formats/msccl/runtimes.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::runtime {

namespace {

constexpr std::uint32_t unreached = UINT32_MAX;

} // namespace

std::vector<LinkId> RuntimePaths::links(NodeId from, NodeId to, std::uint32_t channel) {
  std::vector<LinkId> choices;
  for (const LinkId link : topology_.out_links(from))
    if (topology_.link(link).to == to) choices.push_back(link);
  if (!choices.empty()) return {choices[channel % choices.size()]};
  const auto [known, is_new] = left_.try_emplace(to);
  if (is_new) known->second = distances_to(to);
  const std::vector<Distance>& left = known->second;
  std::vector<LinkId> made;
  for (NodeId at = from; at != to; at = topology_.link(made.back()).to) {
    choices.clear();
    for (const LinkId link : topology_.out_links(at)) // ascending
      if (left[at.value].first != unreached && beyond(left, link) == left[at.value])
        choices.push_back(link);
    if (choices.empty())
      throw InputError(
          fmt::format("no way from {} to {}", topology_.node(from).name, topology_.node(to).name));
    made.push_back(choices[place_at(from, at) % choices.size()]);
  }
  return made;
}

/// How many NPUs of lower id have a link to the node; 0 where this one has none.
std::size_t RuntimePaths::place_at(NodeId npu, NodeId node) const {
  std::vector<NodeId> attached;
  for (const LinkId link : topology_.in_links(node))
    if (const NodeId before = topology_.link(link).from; before.value < topology_.npu_count())
      attached.push_back(before);
  std::ranges::sort(attached);
  attached.erase(std::unique(attached.begin(), attached.end()), attached.end());
  const auto at = std::ranges::lower_bound(attached, npu);
  return at != attached.end() && *at == npu ? static_cast<std::size_t>(at - attached.begin()) : 0;
}

/// What is left to go from the beginning of a link by it.
RuntimePaths::Distance RuntimePaths::beyond(const std::vector<Distance>& left, LinkId link) const {
  const Distance& end = left[topology_.link(link).to.value];
  if (end.first == unreached) return end;
  return {end.first + 1, end.second + topology_.link(link).latency.ps};
}

/// Breadth first from the destination; of a layer's paths the least latency.
std::vector<RuntimePaths::Distance> RuntimePaths::distances_to(NodeId to) const {
  std::vector<Distance> left(topology_.node_count(), {unreached, 0});
  left[to.value] = {0, 0};
  for (std::vector<NodeId> layer{to}, next; !layer.empty(); layer = std::exchange(next, {})) {
    for (const NodeId node : layer)
      for (const LinkId link : topology_.in_links(node)) {
        const NodeId before = topology_.link(link).from;
        if (left[before.value].first == unreached) next.push_back(before);
        left[before.value] = std::min(left[before.value], beyond(left, link));
      }
  }
  return left;
}

std::vector<ConnectionPath> paths_not_taken(const Topology& topology, const Program& program) {
  RuntimePaths paths(topology);
  std::vector<ConnectionPath> others;
  for (const ConnectionPath& path : program.paths)
    if (paths.links(NodeId{path.from}, NodeId{path.to}, path.channel) != path.links)
      others.push_back(path);
  return others;
}

std::vector<LinkId> runtime_path(const Topology& topology, const ConnectionPath& path) {
  return RuntimePaths(topology).links(NodeId{path.from}, NodeId{path.to}, path.channel);
}

} // namespace tutti::runtime
