// The baselines by the library alone, each in the chunks that the rule takes, replayed on SimGrid:
// the second program of docs/guide/library.md, built against an installation so that it stays true.
#include "algorithms/list.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "synth/chunk_choice.hpp"
#include "synth/list.hpp"
#include "topologies/list.hpp"

#include <iostream>

using namespace tutti;

int main() try {
  const Topology topology = make_topology("dgx1");
  const CollectiveMaker cut = [&](std::uint32_t chunks) {
    return make_collective(topology, {.kind = CollectiveKind::all_reduce,
                                      .size = parse_bytes("64MiB"),
                                      .chunks_per_shard = chunks});
  };
  for (const AlgorithmRow& row : baseline_algorithms()) {
    const ChunkedOutcome made = synthesize_in_chunks(row, topology, cut, {});
    std::cout << row.name << ": ";
    if (!made.outcome.schedule) {
      std::cout << made.outcome.note << '\n';
      continue;
    }
    const Report report = run_simgrid(topology, made.collective, *made.outcome.schedule, {});
    std::cout << short_text(report.completion) << '\n';
  }
} catch (const InputError& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
