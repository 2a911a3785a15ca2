// One step of the day: its processes, one after another, and what they leave.
#pragma once

#include "gpu/benchmark_run/process.hpp"
#include "gpu/benchmark_run/step_record.hpp"
#include "gpu/benchmark_run/steps.hpp"

#include <chrono>
#include <string>

namespace tutti::gpu {

class StepRun {
public:
  /// Clears away what an earlier run has left unfinished. Pre: all outlive this.
  /// Errors: InputError where files can't be removed or written.
  StepRun(const DayStep& step, const runtime::Pack& pack, const std::string& folder,
          std::chrono::milliseconds limit, EndingSignals& signals);

  /// Where processes write rows.
  [[nodiscard]] const std::string& rows_file() const { return part_; }

  /// Every process gets what is left of the step's time. One that ends without the rows that it
  /// owes has them written for it. Rows and words get their names when all is over, in place of an
  /// earlier result: not where a signal has come, of whose step nothing counts.
  /// Errors: InputError where files can't be written or no process can be had; an earlier result
  /// then stays.
  StepRecord perform(const Tasks& tasks);

private:
  using Clock = std::chrono::steady_clock;
  void run(const Task& task);
  void complete(const Task& task, const ProcessEnd& end, const std::string& told);
  void begin_part() const;
  [[nodiscard]] runtime::Rows read_part();
  void note_problem(const std::string& problem);
  StepRecord conclude(const std::string& left_out);
  [[nodiscard]] std::chrono::milliseconds time_left() const;
  [[nodiscard]] double seconds() const;

  const DayStep& step_;
  const runtime::Pack& pack_;
  const std::chrono::milliseconds limit_;
  EndingSignals& signals_;
  std::string path_;         ///< of the step's files, less their endings
  std::string part_, words_; ///< rows, and what is said, until all is over
  Clock::time_point begin_ = Clock::now();
  std::string problem_; ///< the first that rows don't tell
};

} // namespace tutti::gpu
