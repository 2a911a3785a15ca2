#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "topologies/list.hpp"

#include <iostream>

using namespace tutti;

int main() {
  const Topology topology = make_topology("mesh2d:4x4,bandwidth=50GB/s,latency=0.5us");
  const Collective collective =
      make_collective(topology, {.kind = CollectiveKind::all_gather, .size = parse_bytes("1MiB")});
  const SynthesisOptions options;
  const Outcome outcome = tacos(topology, collective, options);
  if (!verify(topology, collective, *outcome.schedule).correct()) return 1;
  const Report report = run_native(topology, collective, *outcome.schedule, options.model);
  const Bound bound = lower_bound(topology, collective, options.model);
  std::cout << short_text(report.completion) << ", at best " << short_text(bound.time) << '\n';
}
