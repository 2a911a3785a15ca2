// What stands behind every figure, beside engines that agree: the account of each NPU adds up to
// the duration, and no run is faster than its bound.

#include "experiments/driver/studies/training/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tutti {

namespace {

Time compute_time(const TrainingProgram& program) {
  Time time;
  for (const Operation& operation : program.operations())
    if (operation.kind == Operation::Kind::compute) time += Time{operation.amount};
  return time;
}

} // namespace

// Every picosecond of an NPU is in exactly one account.
std::string account_problem(const IterationReport& report) {
  for (std::size_t npu = 0; npu < report.accounts.size(); ++npu) {
    const Time total = report.accounts[npu].total();
    if (total != report.duration)
      return fmt::format("engine {}: the times of npu{} add up to {}, not to {}", report.engine,
                         npu, to_text(total), to_text(report.duration));
    for (std::size_t p = 0; p < purpose_count; ++p)
      if (report.accounts[npu].exposed[p] > report.communication[npu][p])
        return fmt::format("engine {}: npu{} waits longer for {} communication than there is",
                           report.engine, npu, to_text(static_cast<Purpose>(p)));
  }
  return {};
}

// Whatever overlaps: no NPU can compute less than its program says, and no planned communication
// takes less than its own bound.
IterationBound::IterationBound(const Workload& workload,
                               std::span<const PlannedCommunication> communications) {
  std::vector<Time> of_programs;
  for (const TrainingProgram& program : workload.programs)
    of_programs.push_back(compute_time(program));
  for (const ProgramPlace& place : workload.places)
    computing_.push_back(of_programs[place.program]);
  for (const PlannedCommunication& communication : communications)
    communicating_ = std::max(communicating_, communication.bound);
}

Time IterationBound::time(std::span<const Time> starts) const {
  Time bound = communicating_;
  for (std::size_t npu = 0; npu < computing_.size(); ++npu)
    bound = std::max(bound, (starts.empty() ? Time{} : starts[npu]) + computing_[npu]);
  return bound;
}

} // namespace tutti
