// What an experiment asks of training ([[training]]): iterations of one or several workloads, on
// one or several networks, with the collectives by one or several algorithms, undisturbed and with
// stragglers, events and failed links.
// Format: docs/formats/training.md.
#pragma once

#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/study.hpp"
#include "experiments/driver/studies/training/disturbances.hpp"
#include "experiments/driver/studies/training/work.hpp"
#include "sim/engines/engine.hpp"
#include "sim/network_event.hpp"
#include "sim/repair/recovery.hpp"
#include "sim/topology.hpp"
#include "sim/transport/transport.hpp"
#include "workloads/planning/planning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct StudyOption;
template <typename Target> struct Key;

struct TrainingVariant {
  std::string name; ///< unique in its study; empty where there is only one
  WorkSource work;
  std::vector<std::size_t> topologies = {}; ///< into the networks; empty: all of the study's

  [[nodiscard]] bool is_for(std::size_t network) const {
    return topologies.empty() || std::ranges::find(topologies, network) != topologies.end();
  }
};

/// How collectives get their schedules, and their transport.
struct TrainingPlan {
  std::string name; ///< "ring"; "auto" where the best of several is taken
  std::vector<AlgorithmRow> algorithms;
  std::shared_ptr<const Transport> transport = {}; ///< null: ideal links

  [[nodiscard]] std::string transport_name() const { return transport ? transport->name : "ideal"; }
};

class ConfigTable;
struct Experiment;

struct TrainingStudy {
  static constexpr std::string_view kind = "training";

  std::string label;                   ///< unique in its experiment; empty on the command line
  std::vector<std::size_t> topologies; ///< into the networks
  std::vector<TrainingVariant> variants;
  std::vector<TrainingPlan> plans;       ///< by transport, then algorithm
  PlanningOptions planning;              ///< its `algorithms`, `transport` are those of each plan
  std::string cache;                     ///< folder of remembered schedules; empty: none
  std::vector<const EngineRow*> engines; ///< at least one; all must say the same
  bool fold = true;                      ///< as IterationOptions::fold
  NoiseRequest noise;                    ///< of every run; starts are those of NPUs
  unsigned draw_threads = 1;             ///< over which draws are spread, with the same result
  Disturbances disturbances;
  std::string reference; ///< plan that figures are relative to; empty: the fastest
  std::vector<Expectation> expectations;

  /// Its topologies; they point into the networks.
  [[nodiscard]] std::vector<TrainingNetwork> own(Networks networks) const;

  /// Those of its table that need no others to be read.
  [[nodiscard]] static std::span<const Key<TrainingStudy>> keys();
  /// Keys that `tutti train` takes.
  [[nodiscard]] static std::vector<StudyOption> options_of_command();

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// Files are looked for beside `source_name`. Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static TrainingStudy read(ConfigTable table, const Experiment& experiment,
                                          const std::string& source_name,
                                          std::span<const TrainingStudy> others);
};

/// Errors: InputError.
void require_sound(const TrainingStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const TrainingStudy& study, const StudyRun& how);

} // namespace tutti
