// Automorphisms of a problem on a time-expanded network: permutations of nodes, lanes, limits and
// chunks under which the problem stays the same, and groups of them that act freely.
#pragma once

#include "synth/symmetry/automorphisms.hpp"
#include "synth/timed/lane_network.hpp"
#include "synth/timed/timed_chunk.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// What automorphisms keep. Kinds are numbered from 0; only what is of one kind can be exchanged.
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
  /// Ascending, closed under automorphisms: of a unicast problem, a group acts freely only if it
  /// fixes none of these either.
  std::vector<std::uint32_t> moving_nodes;
  std::vector<Lane> lanes;
  std::vector<Limit> limits; ///< a limit's uses tell which of its kind it is
  std::vector<TimedChunk> chunks;
};

/// The lanes, of one kind where their delays are equal, and the chunks; without nodes and limits.
[[nodiscard]] ChunkTraffic traffic_of(const LaneNetwork& network,
                                      std::span<const TimedChunk> chunks);

/// Where nodes, lanes, limits and chunks go; sources and destinations of a chunk go to those of its
/// image, the uses of a limit to those of its image.
struct ChunkAutomorphism {
  Permutation nodes, lanes, limits, chunks;
};

/// Generators of all of them.
[[nodiscard]] std::vector<ChunkAutomorphism> automorphisms(const ChunkTraffic& traffic);

/// A group of automorphisms that acts freely: but for the identity, which stands first, each fixes
/// no lane and no demanded chunk. A plan that it keeps is known from its sends of one chunk of each
/// orbit.
using ChunkSymmetry = std::vector<ChunkAutomorphism>;

/// Such groups, the largest first, of equal ones the abelian first, at most `most`; none of
/// only one element. Errors: LimitReached.
[[nodiscard]] std::vector<ChunkSymmetry>
free_symmetries(const ChunkTraffic& traffic, std::span<const ChunkAutomorphism> generators,
                std::size_t most, const WorkLimit& limit = {});

/// The identity alone: no restriction.
[[nodiscard]] ChunkSymmetry no_symmetry(std::size_t nodes, std::size_t lanes, std::size_t limits,
                                        std::size_t chunks);

/// A representative of each orbit of the demanded chunks, and what takes the others there.
class ChunkOrbits {
public:
  struct Role {
    std::uint32_t chosen = 0;              ///< index into chosen()
    const ChunkAutomorphism* by = nullptr; ///< takes the chunk there; null: no destination
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
