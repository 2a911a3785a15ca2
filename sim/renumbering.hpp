// Plans that don't depend on how a network was listed, and aren't worse for links that don't help.
#pragma once

#include "sim/collective.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

namespace tutti {

/// What `run` answers on the network in its canonical order (sim/graphs/canonical_order.hpp), in
/// the ids of `topology`. Where they differ from the whole, it also plans for the network
/// - without links that no shortest path between members takes (of latency and serialization of the
///   largest chunk), and
/// - without switches that no NPU is next to ("spines"), if members still reach each other,
/// - without a few links that break a symmetry (odd_links()),
/// and what the native engine's replay on the whole finds fastest is the answer; its note says what
/// was left out. A limit is for all of them together.
/// Only one named collective is renumbered; of anything else the answer is `run`'s. `tries_on`:
/// whether parts of the network are worth what the whole took; all are without it. `is_alike`:
/// whether a part's answer is one to the same question as the whole's; all are without it.
/// Errors: those of `run` on the whole network.
/// Cost: at most four times that of `run` and a replay each; canonical_order() for each.
[[nodiscard]] Outcome
planned_by_structure(SynthesisFunction run, const Topology& topology, const Collective& collective,
                     const SynthesisOptions& options,
                     bool (*tries_on)(const Outcome& whole) = nullptr,
                     bool (*is_alike)(const Outcome& whole, const Outcome& part) = nullptr);

} // namespace tutti
