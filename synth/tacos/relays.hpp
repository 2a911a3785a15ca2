// NPUs that take a chunk which they don't want, to pass it on, where those who want it can't be
// reached through each other.
#pragma once

#include "sim/collective.hpp"
#include "sim/ids.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// Per chunk, ascending; empty for most.
using Relays = std::vector<std::vector<NodeId>>;

/// Those of the participants that have to relay: grown from the sources, each time to the one who
/// wants the chunk and is fewest relays away, links being one-way (Takahashi, Matsuyama 1980, "An
/// approximate solution for the Steiner problem in graphs"). Nothing where someone who wants a
/// chunk can't be reached through participants. Pre: sources and those who want are participants;
/// no chunk reduces.
/// Cost: O(links + what the sets hold); O(links) more for each chunk that not every participant
/// holds or wants, somewhat more for one that needs relays.
[[nodiscard]] std::optional<Relays> find_relays(const Topology& network,
                                                const Collective& collective,
                                                std::span<const NodeId> participants);

/// The relays want their chunks too.
[[nodiscard]] Collective with_relays(const Collective& collective, const Relays& relays);

/// Leaves out what reaches only relays of which nobody needed it. Pre: copies only, none together
/// or contiguous with another, each NPU gets a chunk once at most. Cost: O(transfers + NPUs *
/// chunks / 64).
[[nodiscard]] Schedule without_idle_relays(const Topology& topology, const Collective& collective,
                                           const Schedule& schedule);

/// Whether every participant reaches every other over links among them. Cost: O(links).
[[nodiscard]] bool strongly_connected(const Topology& network,
                                      std::span<const NodeId> participants);

} // namespace tutti
