// Training by hand: two NPUs, one link each way (0.5 us, 50 GB/s), two layers, data parallel. An
// All-Reduce of 1 MB by direct exchange takes 2 (0.5 us + 10 us) = 21 us. One iteration:
//
//   0 .. 10 us forward a, .. 30 forward b, .. 60 gradients of b, whose All-Reduce is done at 81 us,
//   .. 100 gradients of a, whose All-Reduce is done at 121 us: 100 us of computing, 21 us exposed.
#pragma once

#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "sim/files/files.hpp"
#include "tests/experiments/studies/frontier_samples.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tutti::samples {

constexpr std::int64_t us = 1'000'000; // ps

inline const std::string two_layers = "DATA\n2\n"
                                      "a -1 10 NONE 0 0 NONE 0 40 ALLREDUCE 1000000 0\n"
                                      "b -1 20 NONE 0 0 NONE 0 30 ALLREDUCE 1000000 0\n";

inline Topology two_npus() { return wired("pair", 2, {{0, 1}}); }

inline TextWork text_work(const TemporaryFolder& folder, std::uint32_t passes = 1) {
  const std::string file = folder.file("two_layers.txt");
  write_file(file, two_layers);
  return {file, {Time{us}, passes, {}}};
}

inline TrainingStudy study_of(WorkSource work, const std::vector<std::string>& algorithms,
                              const std::vector<const EngineRow*>& engines) {
  TrainingStudy study;
  study.planning.chunks = {1};
  study.topologies = {0};
  study.variants.push_back({"", std::move(work)});
  for (const std::string& name : algorithms) study.plans.push_back({name, {find_algorithm(name)}});
  study.engines = engines;
  return study;
}

/// A run with accounts that a test chooses, of equal duration.
inline TrainingRun run_of(std::string topology, std::string plan,
                          std::vector<TimeAccount> accounts) {
  TrainingRun run;
  run.topology = std::move(topology);
  run.plan = std::move(plan);
  run.npus = static_cast<std::uint32_t>(accounts.size());
  run.workload.name = "two layers";
  IterationReport report;
  report.engine = "native";
  report.duration = accounts.front().total();
  report.communication.resize(accounts.size());
  for (std::size_t npu = 0; npu < accounts.size(); ++npu)
    report.communication[npu] = accounts[npu].exposed;
  report.accounts = std::move(accounts);
  run.report = std::move(report);
  return run;
}

inline TimeAccount account_of(Time compute, Time data, Time tensor = {}, Time bubble = {},
                              Time waiting = {}) {
  TimeAccount account;
  account.compute = compute;
  account.exposed[static_cast<std::size_t>(Purpose::data)] = data;
  account.exposed[static_cast<std::size_t>(Purpose::tensor)] = tensor;
  account.bubble = bubble;
  account.waiting = waiting;
  return account;
}

} // namespace tutti::samples
