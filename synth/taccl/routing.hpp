// TACCL's first stage: the path of every chunk, without regard to when it goes (Shah et al. 2023,
// sec. 5.1 step 1 and appendix B.1).
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/work_limit.hpp"
#include "synth/taccl/logical_topology.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tutti {

/// What routing is asked for. What it points to must outlive it.
struct RoutingProblem {
  const LogicalTopology* logical = nullptr;
  const Collective* collective = nullptr; ///< one that copies
  TimeModel model;
  std::optional<Bytes> chunk; ///< size of all chunks for the costs; none: their own
  /// Chunks may pass the NPUs that are on a path from a source to a destination at most this part
  /// longer than the shortest (sec. 5.1).
  double slack = 0;
};

/// The symmetry as far as it is the collective's: a group that acts freely on chunks, so that a
/// tree for one chunk of each orbit says all (eq. 12 to 14).
struct RoutingSymmetry {
  std::vector<std::vector<LinkId>> links;   ///< [element][link]: where it goes; the identity first
  std::vector<ChunkId> chosen;              ///< one chunk of each orbit, ascending
  std::vector<std::vector<ChunkId>> images; ///< [index into chosen][element]
};

/// Chunks go to those with the images of their sources and destinations. Rotations that a sketch
/// asks for are all kept; of found ones as many as fit together. Errors: InputError with the place
/// in the sketch where the collective, which is called `name` there, isn't symmetric (a chunk
/// without an image, or one that stays where it is, named), or the group has more than 4096
/// elements.
[[nodiscard]] RoutingSymmetry routing_symmetry(const LogicalTopology& logical,
                                               const Collective& collective, std::string_view name);

/// How long things take (eq. 5 to 8), in ps.
class RoutingCosts {
public:
  explicit RoutingCosts(const RoutingProblem& problem);

  /// From the start of a chunk's way over the link to its arrival: lat in eq. 5.
  [[nodiscard]] std::int64_t transfer(LinkId link, Bytes size) const;
  /// For how long it occupies a part of the network: lat in eq. 6 to 8, but that the latency counts
  /// only where the time model says so.
  [[nodiscard]] std::int64_t busy(std::uint32_t part, Bytes size) const;
  [[nodiscard]] Bytes size(ChunkId chunk) const;

private:
  const RoutingProblem* problem_;
  bool latency_is_busy_;
};

struct Routes {
  /// [chunk]: the links of its tree, each after the one into its start. Empty where nothing is to
  /// be sent.
  std::vector<std::vector<LinkId>> trees;
  Time time;                     ///< of the relaxation: the longest path, or the most occupied part
  Time at_least;                 ///< no routing takes less, proven
  std::uint32_t connections = 0; ///< switched ones in use
  std::string method;
};

struct RoutingOutcome {
  std::optional<Routes> routes; ///< none: see why_not
  std::string why_not; ///< the NPUs that can't be reached; empty where the limit came first
};

/// Trees rerouted one orbit of chunks after another under prices of what is occupied, then what the
/// policies ask for; where the program is small, its optimum (improve_by_program()). Equal for
/// equal seeds. Cost: about 1 ms for 1,000 links of trees and pass; some 60 passes.
[[nodiscard]] RoutingOutcome route(const RoutingProblem& problem, const RoutingSymmetry& symmetry,
                                   std::uint64_t seed, const WorkLimit& limit);

/// Trees laid once, one chunk after another.
[[nodiscard]] RoutingOutcome route_hastily(const RoutingProblem& problem,
                                           const RoutingSymmetry& symmetry);

/// What `trees` take, and which switched connections they use. Pre: they are trees.
[[nodiscard]] Routes evaluated(const RoutingProblem& problem,
                               std::vector<std::vector<LinkId>> trees);

/// Which links chunks may use: those between NPUs on short enough paths, from NPUs that can relay,
/// and what the sketch says of machines' senders. Keeps what it has computed. Pre: sources store
/// and copy.
class UsableLinks {
public:
  explicit UsableLinks(const RoutingProblem& problem);

  /// [link]; empty where a destination is out of reach. Cost: O(links), and a shortest-path search
  /// where that is new.
  [[nodiscard]] std::vector<bool> of(ChunkId chunk);
  /// Those that the sketch's rules about senders leave, whatever the length of paths.
  [[nodiscard]] std::vector<bool> rules(ChunkId chunk);
  /// Destinations that no source reaches.
  [[nodiscard]] std::vector<NodeId> unreachable(ChunkId chunk);
  /// The length of the longest among the chunk's shortest paths, in ps. Pre: all are reachable.
  [[nodiscard]] std::int64_t longest_shortest_path(ChunkId chunk);

private:
  /// Whether a chunk that starts on one machine, and leaves it through these, may take the link.
  /// Trees branch at any NPU, so those that can't store and copy are no relays.
  [[nodiscard]] bool may_take(LinkId link, std::uint32_t rule) const;
  [[nodiscard]] std::uint32_t rule_of(ChunkId chunk);
  /// Distances to everyone, by (node, rule, size): from it, or towards it.
  const std::vector<std::int64_t>& distances(NodeId node, std::uint32_t rule, Bytes size,
                                             bool backwards);

  const RoutingProblem& problem_;
  RoutingCosts costs_;
  struct Rule { // where the chunk starts, and through whom it may leave; empty: anyone
    std::uint32_t machine = 0;
    std::vector<NodeId> senders;
    bool leaves = true;
    auto operator<=>(const Rule&) const = default;
  };
  std::map<Rule, std::uint32_t> rule_ids_;
  std::vector<Rule> rules_;
  std::map<std::tuple<NodeId, std::uint32_t, std::int64_t, bool>, std::vector<std::int64_t>>
      distances_;
};

/// No routing takes less: the longest shortest path, and what has to cross the ends of an NPU and
/// of a machine, in whole chunks. Cost: O(chunks * links log NPUs).
[[nodiscard]] Time routing_bound(const RoutingProblem& problem, UsableLinks& usable);

/// Replaces the routes by better ones where the integer program (eq. 1 to 14) has some, and raises
/// `at_least` by what it proves. Does nothing where the routes meet their bound already and no
/// policy counts connections, or the program is too large. Ends after a fixed number of nodes of
/// the search tree. Pre: `routes` are right, and symmetric.
void improve_by_program(const RoutingProblem& problem, const RoutingSymmetry& symmetry,
                        UsableLinks& usable, Routes& routes, const WorkLimit& limit);

} // namespace tutti
