// What the GPU day consists of: one row a step.
#pragma once

#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tutti::gpu {

/// A process of a step, of this program or over it, and what a row has to tell of it. Where it ends
/// without having written that, whoever started it does.
struct Task {
  std::vector<std::string> words;
  std::string test;               ///< whose TestRow there must be; empty: none
  std::vector<std::string> files; ///< of the pack, in the order in which they are run
};

struct Scene;

struct Tasks {
  std::vector<Task> list;
  std::string left_out; ///< why there is nothing to do here; empty where there is
};

/// What a figure should be. An unexpected one fails no step: the machine may well be so.
struct FigureRange {
  std::string_view name; ///< with which the figure's begins
  double least = 0, most = 0;
};

struct DayStep {
  std::string_view name;
  std::string_view does;
  std::string_view expected;
  std::string_view otherwise; ///< what it means if not
  int limit_seconds = 0;      ///< of all its tasks, at most 300; 1,800 of all steps
  Tasks (*tasks)(const Scene&) = nullptr;
  std::vector<FigureRange> figures = {};
  std::string_view cases = {}; ///< of the pack: how their labels begin; empty: none
};

/// What a step finds when it is its turn.
struct Scene {
  const DayStep& step;
  std::string program, pack_file, rows_file; ///< this one; the pack; where the step's rows go
  const runtime::Pack& pack;
  const runtime::Rows& before; ///< of all steps that have ended
};

/// In their order. Without the first one's success the others aren't tried.
[[nodiscard]] const std::vector<DayStep>& day_steps();

} // namespace tutti::gpu
