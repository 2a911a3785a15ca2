// What a benchmark run consists of: one row a step.
#pragma once

#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::gpu {

/// A process of a step, and the rows that it must leave. What is missing when it ends is added for
/// it.
struct Task {
  std::vector<std::string> command;
  std::string test = {};               ///< with a TestRow of this name; empty: none
  std::vector<std::string> files = {}; ///< of the pack, in the order in which they are run
};

struct Tasks {
  std::vector<Task> list;
  std::string left_out = {}; ///< why there is nothing to do here; empty where there is
};

/// What a figure should be. An unexpected one fails no step: the machine may well be so.
struct FigureRange {
  std::string_view name;
  double least = 0, most = 0;
};

struct Scene;
struct BenchmarkStep {
  std::string_view name;
  int limit_seconds = 0; ///< for all its tasks, at most 300; 1,800 for all steps
  Tasks (*tasks)(const Scene&) = nullptr;
  std::string_view cases; ///< how their labels begin in the pack; empty: none
  std::string_view does, expected;
  std::string_view otherwise; ///< what it means if that doesn't come
  std::vector<FigureRange> figures = {};
};

/// What a step finds when it is its turn.
struct Scene {
  const BenchmarkStep& step;
  const std::string &program, &pack_folder, &folder; ///< this one; the pack; of all results
  const runtime::Pack& pack;
  const runtime::Rows& before; ///< of all steps that have ended
  std::chrono::milliseconds limit{};

  /// FOLDER/03_tests: where the step's results go, less the ending.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::string rows_file() const { return path() + ".csv.part"; } ///< until it ends
};

/// All steps, in their order. Without the first one's success the others aren't tried.
[[nodiscard]] const std::vector<BenchmarkStep>& benchmark_steps();

} // namespace tutti::gpu
