// Short ways to run a baseline in a test.
#pragma once

#include "algorithms/list.hpp"
#include "tests/catch.hpp"

#include <string_view>
#include <utility>

namespace tutti::samples {

inline const AlgorithmRow& baseline(std::string_view name) {
  for (const AlgorithmRow& row : baseline_algorithms())
    if (row.name == name) return row;
  FAIL("no baseline " << name);
  return baseline_algorithms().front();
}

inline Outcome run_baseline(std::string_view name, const Topology& topology,
                            const Collective& collective) {
  return synthesize(baseline(name), topology, collective, {});
}

/// The schedule of a baseline that must have one.
inline Schedule schedule_of(std::string_view name, const Topology& topology,
                            const Collective& collective) {
  Outcome outcome = run_baseline(name, topology, collective);
  INFO(name << ": " << outcome.note);
  REQUIRE(outcome.schedule);
  return *std::move(outcome.schedule);
}

} // namespace tutti::samples
