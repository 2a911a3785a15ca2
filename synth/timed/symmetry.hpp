// Automorphisms of chunk routing problems on a network of lanes: permutations of nodes, lanes,
// limits and chunks that keep the problem.
#pragma once

#include "synth/symmetry/automorphisms.hpp"
#include "synth/timed/timed_chunk.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// What automorphisms keep. Kinds are numbered from 0; an orbit has one kind only.
struct ChunkTraffic {
  struct Lane {
    std::uint32_t from = 0, to = 0, kind = 0;
  };
  struct Use {
    std::uint32_t lane = 0, kind = 0;
    auto operator<=>(const Use&) const = default;
  };
  struct Limit {
    std::uint32_t kind = 0;
    std::vector<Use> uses; ///< ascending; a lane can stand several times
    auto operator<=>(const Limit&) const = default;
  };

  std::vector<std::uint32_t> node_kinds; ///< [node]
  /// Ascending, a union of orbits: a free symmetry of a unicast problem fixes none of them.
  std::vector<std::uint32_t> moving_nodes;
  std::vector<Lane> lanes;
  std::vector<Limit> limits; ///< a limit's uses tell which of its kind it is
  std::vector<TimedChunk> chunks;
};

/// The images of nodes, lanes, limits and chunks. Sources and destinations of a chunk are mapped to
/// those of its image, the uses of a limit to those of its image.
struct ChunkAutomorphism {
  Permutation nodes, lanes, limits, chunks;
};

/// Generators of the automorphism group.
[[nodiscard]] std::vector<ChunkAutomorphism> automorphisms(const ChunkTraffic& traffic);

/// A group of automorphisms, as the list of its elements, the identity first. It acts freely: no
/// other element fixes a lane or a demanded chunk. A plan that is invariant under it is determined
/// by its sends of one chunk of each orbit.
using ChunkSymmetry = std::vector<ChunkAutomorphism>;

/// Such groups, the largest first, of equal ones those that commute first, at most `most`; none of
/// only one element. Errors: LimitReached.
[[nodiscard]] std::vector<ChunkSymmetry>
free_symmetries(const ChunkTraffic& traffic, std::span<const ChunkAutomorphism> generators,
                std::size_t most, const WorkLimit& limit = {});

/// The trivial group: no restriction.
[[nodiscard]] ChunkSymmetry no_symmetry(std::size_t nodes, std::size_t lanes, std::size_t limits,
                                        std::size_t chunks);

/// Representatives of the orbits of demanded chunks, and by which element each chunk is mapped to
/// its own.
class ChunkOrbits {
public:
  struct Role {
    std::uint32_t chosen = 0;              ///< index into chosen()
    const ChunkAutomorphism* by = nullptr; ///< takes the chunk there; null: nobody wants it
  };

  /// `wanted[chunk]`. `symmetry` must outlive this.
  ChunkOrbits(const ChunkSymmetry& symmetry, const std::vector<bool>& wanted);

  /// One chunk of each orbit of those that are wanted, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& chosen() const { return chosen_; }
  [[nodiscard]] const std::vector<Role>& roles() const { return roles_; } ///< [chunk]

private:
  std::vector<std::uint32_t> chosen_;
  std::vector<Role> roles_;
};

} // namespace tutti
