// The logical topology of a sketch (Shah et al. 2023, TACCL, sec. 3.1): NPUs, and the connections
// that an algorithm may use between them. Each stands for a path of the network; what several of
// them cross bounds them together, so that a schedule on it is one of the network.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/symmetry/permutations.hpp"
#include "synth/taccl/sketch.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What a connection is for a sketch.
struct Connection {
  bool between_machines = false;
  bool switched = false; ///< it is of a hyperedge, whose policy counts
  ConnectionPolicy policy = ConnectionPolicy::freeconn;

  /// 1 where the policy wants the connection in use, -1 where it doesn't.
  [[nodiscard]] int preference() const {
    if (!switched || policy == ConnectionPolicy::freeconn) return 0;
    return policy == ConnectionPolicy::uc_max ? 1 : -1;
  }
};

/// A link or shared group of the network, or a connection with its share of a NIC: what several
/// chunks cross one after another.
struct NetworkPart {
  Time latency; ///< of a link; 0 of a group
  Bandwidth bandwidth;
};

struct LogicalTopology {
  /// NPUs of the network alone, under their names and ids. Link l has the latency of paths[l] and
  /// its bandwidth, divided by the sketch's split; a shared group for each link, and each shared
  /// group, of the network that several of them cross.
  Topology topology;
  std::vector<std::vector<LinkId>> paths = {}; ///< [link]: in the network
  std::vector<Connection> connections = {};    ///< [link]
  std::vector<NetworkPart> parts = {};
  std::uint32_t network_parts = 0; ///< so many of them are the network's own, the first ones
  std::vector<std::vector<std::uint32_t>> parts_of =
      {}; ///< [link]: what its path crosses, ascending
  std::uint32_t machines = 1;
  /// [NPU]: through which NPUs its chunks may leave its machine, ascending; empty: through any.
  std::vector<std::vector<NodeId>> leaves_through = {};
  bool own_chunks_first = false;
  LinkBalance balance = LinkBalance::none;
  /// Generators of the symmetry, as permutations of NPUs; automorphisms of the topology.
  std::vector<Permutation> symmetry = {};
  std::vector<Sketch::Rotation> rotations = {}; ///< what each generator is
  bool symmetry_is_found = false; ///< and not asked for: what a collective hasn't is left out

  [[nodiscard]] std::uint32_t machine_of(NodeId npu) const {
    return npu.value / (topology.npu_count() / machines);
  }
};

/// Pre: require_fitting(). A direct link is one of the network; another connection takes the paths
/// of least latency + 1 MiB / bandwidth through what isn't an NPU, at most eight equally good ones
/// as parallel links. Where the sketch has no split, a connection between machines is as many times
/// slower as others from its machine to the same one cross the narrowest part of its path, at least
/// once. With `Sketch::finds_symmetry`: all rotations of equal groups that are automorphisms.
/// Errors: InputError with the place in the sketch: a connection for which there is no path, a
/// rotation that isn't an automorphism (with a link that has no image).
/// Cost: O(NPUs * links log nodes) and 60 bytes a link of each path.
[[nodiscard]] LogicalTopology logical_topology(const Topology& network, const Sketch& sketch);

/// Where links go under a permutation of NPUs.
struct LinkImages {
  std::vector<LinkId> links; ///< [link]; parallel ones keep their order
  std::string missing;       ///< in words, what has no image; else empty
};

/// The permutation has to keep links with what they are, shared groups, and what leaves through
/// whom. Cost: O(links log links).
[[nodiscard]] LinkImages link_images(const LogicalTopology& logical,
                                     const Permutation& permutation);

/// The same with all links, and what leaves through whom, the other way round: for collectives that
/// reduce, whose inverted schedules then keep to the sketch.
[[nodiscard]] LogicalTopology reversed(const LogicalTopology& logical);

} // namespace tutti
