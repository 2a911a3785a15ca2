// Why: with symmetric trees (eq. 12 to 14) a routing of 1,024 chunks is one of 32. Idea: the group
// that the rotations generate acts on chunks by where their sources and destinations go. It has to
// act freely, as rotations do on single sources: a chunk that an element keeps would need a tree
// that it keeps.
#include "synth/taccl/routing.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t most_elements = 4096;

class ChunkImages {
public:
  explicit ChunkImages(const Collective& collective) : collective_(collective) {
    place_.resize(collective.chunks.size());
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
      std::vector<ChunkId>& alike = by_ends_[ends(ChunkId{c}, nullptr)];
      place_[c] = alike.size();
      alike.push_back(ChunkId{c});
    }
  }

  /// The image of a chunk: of several with the same ends, the one at the same place among them;
  /// invalid where there is none.
  [[nodiscard]] ChunkId image(ChunkId chunk, const Permutation& permutation) const {
    const auto found = by_ends_.find(ends(chunk, &permutation));
    return found == by_ends_.end() || place_[chunk.value] >= found->second.size()
               ? ChunkId{}
               : found->second[place_[chunk.value]];
  }

private:
  using Ends = std::pair<std::vector<NodeId>, std::vector<NodeId>>;

  [[nodiscard]] Ends ends(ChunkId chunk, const Permutation* permutation) const {
    const auto moved = [&](std::span<const NodeId> nodes) {
      std::vector<NodeId> images(nodes.begin(), nodes.end());
      if (permutation == nullptr) return images;
      for (NodeId& node : images) node = NodeId{(*permutation)[node.value]};
      std::ranges::sort(images);
      return images;
    };
    return {moved(collective_.sources(chunk)), moved(collective_.destinations(chunk))};
  }

  const Collective& collective_;
  std::map<Ends, std::vector<ChunkId>> by_ends_;
  std::vector<std::size_t> place_;
};

/// Orbits of chunks; the fault in words where there is one.
std::string find_orbits(const Topology& topology, const Collective& collective,
                        const ChunkImages& images, const std::vector<Permutation>& group,
                        RoutingSymmetry& made) {
  made.chosen.clear();
  made.images.clear();
  std::vector<bool> is_placed(collective.chunks.size());
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    if (is_placed[c]) continue;
    made.chosen.push_back(ChunkId{c});
    std::vector<ChunkId>& orbit = made.images.emplace_back();
    for (const Permutation& element : group) {
      const ChunkId image = images.image(ChunkId{c}, element);
      if (!image.valid())
        return fmt::format("chunk {} from {} has no image", c,
                           topology.node(collective.sources(ChunkId{c}).front()).name);
      if (is_placed[image.value])
        return fmt::format("chunk {} stays where it is under some of it", image.value);
      is_placed[image.value] = true;
      orbit.push_back(image);
    }
  }
  return {};
}

} // namespace

RoutingSymmetry routing_symmetry(const LogicalTopology& logical, const Collective& collective,
                                 std::string_view name) {
  const std::size_t npus = logical.topology.npu_count();
  const ChunkImages images(collective);
  RoutingSymmetry made;
  std::vector<Permutation> generators, group = elements({}, npus, 1);
  std::string fault = find_orbits(logical.topology, collective, images, group, made);
  for (std::size_t i = 0; i < logical.symmetry.size(); ++i) {
    generators.push_back(logical.symmetry[i]);
    std::vector<Permutation> larger = elements(generators, npus, most_elements);
    RoutingSymmetry tried;
    fault = larger.empty() ? fmt::format("it has more than {} elements", most_elements)
                           : find_orbits(logical.topology, collective, images, larger, tried);
    if (fault.empty()) {
      made = std::move(tried);
      group = std::move(larger);
    } else if (logical.symmetry_is_found) {
      generators.pop_back();
    } else {
      const Sketch::Rotation& rotation = logical.rotations[i];
      throw InputError(fmt::format("{}{} isn't symmetric by {} in groups of {}: {}", rotation.place,
                                   name, rotation.offset, rotation.size, fault));
    }
  }
  for (const Permutation& element : group)
    made.links.push_back(link_images(logical, element).links);
  return made;
}

} // namespace tutti
