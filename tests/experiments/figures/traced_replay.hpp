// Replays of what algorithms make, and the timelines of several of them in one file.
#pragma once

#include "experiments/driver/figures/trace.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/figures/trace_reading.hpp"

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// A schedule that an algorithm makes, and its replay.
struct Replayed {
  Topology topology;
  Collective collective;
  Schedule schedule{0};
  Report report;

  Replayed(Topology network, std::string_view algorithm, CollectiveKind kind,
           std::string_view engine, Discipline discipline)
      : topology(std::move(network)) {
    const AlgorithmRow row = find_algorithm(algorithm);
    CollectiveSpec spec;
    spec.kind = kind;
    spec.size = Bytes{60'000};
    spec.chunks_per_shard = row.chunk_multiple;
    collective = make_collective(topology, spec);
    Outcome outcome = synthesize(row, topology, collective, {});
    schedule = outcome.schedule ? std::move(*outcome.schedule)
                                : expanded(topology, collective, *outcome.compact);
    TimeModel model;
    model.discipline = discipline;
    RunOptions options;
    options.record_hops = true;
    report = find_engine(engine).run(topology, collective, schedule, model, options);
  }

  [[nodiscard]] TracedRun run(std::string name) const {
    return {std::move(name), &topology, &collective, &schedule, &report};
  }
};

inline trace_reading::Trace trace_of(const std::vector<Replayed>& runs) {
  std::ostringstream out;
  write_trace(out, {}, [&](TraceEvents& events) {
    for (std::uint32_t i = 0; i < runs.size(); ++i)
      CHECK(write_run(events, i + 1, runs[i].run("run " + std::to_string(i))).empty());
  });
  return trace_reading::Trace(nlohmann::json::parse(out.str()));
}

} // namespace tutti
