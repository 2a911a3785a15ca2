// The written list of synthesizers; see algorithms/list.hpp for how to add one.
#pragma once

#include "sim/synthesizer.hpp"

#include <span>

namespace tutti {

[[nodiscard]] std::span<const AlgorithmRow> synthesizers();

Outcome tacos(const Topology&, const Collective&, const SynthesisOptions&);
Outcome tacos_paper(const Topology&, const Collective&, const SynthesisOptions&);
Outcome sccl(const Topology&, const Collective&, const SynthesisOptions&);
Outcome flows(const Topology&, const Collective&, const SynthesisOptions&);
Outcome teccl(const Topology&, const Collective&, const SynthesisOptions&);
Outcome teccl_paper(const Topology&, const Collective&, const SynthesisOptions&);
Outcome taccl(const Topology&, const Collective&, const SynthesisOptions&);
Outcome taccl_paper(const Topology&, const Collective&, const SynthesisOptions&);
Outcome tree_packing(const Topology&, const Collective&, const SynthesisOptions&);

} // namespace tutti
