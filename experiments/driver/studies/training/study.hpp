// What an experiment asks of training ([[training]]): iterations of one or several workloads, on
// one or several networks, with the collectives by one or several algorithms, undisturbed and with
// stragglers, events and failed links.
#pragma once

#include "experiments/driver/studies/event_plan.hpp"
#include "experiments/driver/studies/training/expectation.hpp"
#include "experiments/driver/studies/training/work_source.hpp"
#include "sim/engines/engine.hpp"
#include "sim/network_event.hpp"
#include "sim/repair/recovery.hpp"
#include "workloads/planning/planning.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct TrainingVariant {
  std::string name; ///< unique in its study; empty where there is only one
  WorkSource work;
};

/// How collectives get their schedules.
struct TrainingPlan {
  std::string name; ///< "ring"; "auto" where the best of several is taken
  std::vector<AlgorithmRow> algorithms;
};

/// An NPU that computes at a share of its speed, by its name.
struct Straggler {
  std::string npu;
  Share share;
};

/// What befalls the iterations, each time against those that nothing disturbs.
struct Disturbances {
  std::vector<Straggler> stragglers;
  /// Per topology of the study; empty: none. Events that are drawn: random cables that are out of
  /// order from the beginning.
  std::vector<EventPlan> events;
  std::vector<Policy> policies{Policy::reroute, Policy::resynthesize}; ///< for failed cables
};

struct TrainingStudy {
  std::string label;                   ///< unique in its experiment; empty on the command line
  std::vector<std::size_t> topologies; ///< into Experiment::topologies
  std::vector<TrainingVariant> variants;
  std::vector<TrainingPlan> plans;
  PlanningOptions planning;              ///< its `algorithms` are those of each plan
  std::string cache;                     ///< folder of remembered schedules; empty: none
  std::vector<const EngineRow*> engines; ///< at least one; all must say the same
  bool fold = true;                      ///< as IterationOptions::fold
  Disturbances disturbances;
  std::string reference; ///< plan that figures are relative to; empty: the fastest
  std::vector<TrainingExpectation> expectations;
};

} // namespace tutti
