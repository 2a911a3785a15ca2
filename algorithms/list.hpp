// The written list of baseline algorithms. To add one: a file with its function, a declaration
// here, a row in list.cpp. Driver, `tutti list`, help and tests walk the list.
#pragma once

#include "sim/synthesizer.hpp"

#include <span>

namespace tutti {

[[nodiscard]] std::span<const AlgorithmRow> baseline_algorithms();

Outcome ring(const Topology&, const Collective&, const SynthesisOptions&);
Outcome ring_unidirectional(const Topology&, const Collective&, const SynthesisOptions&);
Outcome ring_hamiltonian(const Topology&, const Collective&, const SynthesisOptions&);
Outcome direct(const Topology&, const Collective&, const SynthesisOptions&);
Outcome recursive_halving_doubling(const Topology&, const Collective&, const SynthesisOptions&);
Outcome double_binary_tree(const Topology&, const Collective&, const SynthesisOptions&);
Outcome hierarchical(const Topology&, const Collective&, const SynthesisOptions&);
Outcome themis(const Topology&, const Collective&, const SynthesisOptions&);
Outcome astra_system(const Topology&, const Collective&, const SynthesisOptions&);
Outcome multitree(const Topology&, const Collective&, const SynthesisOptions&);
Outcome ccube(const Topology&, const Collective&, const SynthesisOptions&);
Outcome nccl_algorithm(const Topology&, const Collective&, const SynthesisOptions&);
Outcome rccl_algorithm(const Topology&, const Collective&, const SynthesisOptions&);
Outcome blink(const Topology&, const Collective&, const SynthesisOptions&);
Outcome two_level(const Topology&, const Collective&, const SynthesisOptions&);
Outcome fast(const Topology&, const Collective&, const SynthesisOptions&);

} // namespace tutti
