// What an experiment asks of training ([[training]]): iterations of one or several workloads, on
// one or several networks, with the collectives by one or several algorithms, undisturbed and with
// stragglers, events and failed links.
//
//   label = "ResNet-50"                    # names its figures; unique; none where it is alone
//   topologies = ["RFS"]                   # labels; default all
//   algorithms = ["ring", "tacos", "auto"] # each: all collectives by it; auto: for each
//                                          # collective, group and size the best of `candidates`
//   candidates = ["ring", "direct"]        # of auto; default direct, ring, rhd, dbt, tacos
//   by_collective = {all_to_all = "direct"} # whatever the others are made by
//   chunks = 1                             # per shard, or a list, of which the fastest counts;
//                                          # default "auto"
//   engine = "native"                      # default; or simgrid, both
//   one_at_a_time = false                  # default; true: communication as in ASTRA-sim, of
//                                          # an NPU one at a time
//   local_mem_bw = "1600GB/s"              # rate of local reductions, two operands and the sum;
//                                          # default: they take no time
//   fold = true                            # default: what meets nothing else is simulated once
//   transport = "ideal"                    # default; nccl, rccl or a file: what links become; or
//                                          # a list, each with all algorithms
//   cache = "folder"                       # of remembered schedules, or "none"; default the user's
//   settings = {key = "value"}             # and link_busy, forwarding, limit as in [[runs]]
//
//   # what is trained, one of three:
//   model = "resnet50"                     # `tutti list models`, or a TOML file
//   npu = "v100"                           # `tutti list npus`, or a TOML file
//   parallel = {tensor = 8, pipeline = 16} # and expert, data; default 1, data: all that is left
//   order = ["tensor", "expert", "data", "pipeline"]  # default: the fastest first
//   dimensions = [0, 1]                    # of the topology, in which NPUs are numbered
//   precision = "bf16"                     # default, or fp16 where the NPU has no bf16
//   gradient_bytes = 2                     # per parameter; default: those of the precision
//   micro_batch = 1                        # samples; default 1
//   micro_batches = 1                      # per replica; default 1. Or global_batch = 256: samples
//   sequence = false, zero = 0, schedule = "1f1b", model_parts = 1, recompute = "none"
//   bucket = "25MB"                        # default: layer by layer
//   overlap = true, in_order = false       # of gradients, default
//   priorities = {data = 0, tensor = 7}    # of communication by purpose, 0 .. 7; default 0
//
//   workload = "file.txt"                  # a text of ASTRA-sim or SimAI
//   unit = "ns"                            # of its times: 1 of ps, ns, us, ms, s, or "10ns"
//   passes = 1                             # iterations; default 1
//   model_group = 8                        # NPUs of a model-parallel group, where it isn't said
//
//   trace = "prefix"                       # Chakra: prefix.0.et, prefix.1.et, ...
//   groups = "groups.json"                 # process groups; default prefix.groups.json and those
//                                          # of the trace
//
//   [[training.variants]]                  # each: what is trained, with some keys of its own;
//   name = "TP first"                      # unique
//   topologies = ["RFS"]                   # that it is for; default those of the study
//   order = ["tensor", "data", "pipeline"] # any key of what is trained
//
//   starts, skews, jitter, ... = ...       # who starts late, what is drawn: noise/request.hpp
//
//   # each run is done undisturbed, and also with
//   stragglers = {npu3 = 0.5}              # NPUs that compute at a share of their speed
//   events = [{at = "1ms", link_rate = "npu0>npu1", share = 0.5}]   # or a file: event_reader.hpp
//   failed_links = [1, 2]                  # so many random cables are out of order
//   seeds = [1, 2, 3]                      # one run each; default the experiment's seed
//   policies = ["reroute", "resynthesize"] # for failed links; default both
//
//   reference = "tacos"                    # an algorithm: figures are relative to it; default the
//                                          # fastest
//   [[training.expect]]                    # see expectation.hpp
//   of = {algorithm = "tacos"}             # and topology, variant, condition (default undisturbed;
//                                          # disturbed, reroute, resynthesize), failed_links, seed
//   metric = "iterations_per_s"            # default; iteration_time, items_per_s,
//                                          # flops_utilisation, memory, exposed; fractions of time:
//                                          # exposed_fraction, exposed_data_fraction, ...,
//                                          # bubble_fraction, waiting_fraction, compute_fraction;
//                                          # of communication: hidden_fraction
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

  /// Keys that `tutti train` takes.
  [[nodiscard]] static std::span<const StudyOption> options_of_command();

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// Files are looked for beside `source_name`. Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static std::vector<TrainingStudy>
  read_all(ConfigTable& root, const Experiment& experiment, const std::string& source_name);
};

/// Errors: InputError.
void require_sound(const TrainingStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const TrainingStudy& study, const StudyRun& how);

} // namespace tutti
