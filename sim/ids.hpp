// Strong index types: a NodeId never silently becomes a LinkId, nor an integer an id.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace tutti {

inline constexpr std::uint32_t no_index = UINT32_MAX; ///< where there might be an index

/// A dense 0-based index of one kind of thing. `Tag` only keeps the kinds apart.
template <typename Tag> struct Id {
  std::uint32_t value = none;
  static constexpr std::uint32_t none = no_index;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t index) : value(index) {}
  [[nodiscard]] constexpr bool valid() const { return value != none; }
  constexpr auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag>;   ///< NPUs are 0 .. npu_count-1, switches and memories follow
using LinkId = Id<struct LinkTag>;   ///< directed link of a Topology
using ChunkId = Id<struct ChunkTag>; ///< chunk of a Collective
using PathId = Id<struct PathTag>;   ///< link sequence in a Schedule's path table

} // namespace tutti

template <typename Tag> struct std::hash<tutti::Id<Tag>> {
  std::size_t operator()(tutti::Id<Tag> id) const noexcept {
    return std::hash<std::uint32_t>{}(id.value);
  }
};
