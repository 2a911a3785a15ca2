// Idle time is accounted for when it ends: only then is it known which operation was waited for.
#include "sim/iteration/accounts.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tutti {

Time TimeAccount::total() const {
  Time sum = compute + bubble + waiting;
  for (const Time time : exposed) sum += time;
  return sum;
}

Accounts::Accounts(const NpuPrograms& programs) : programs_(programs), npus_(programs.npu_count()) {
  for (std::uint32_t npu = 0; npu < npus_.size(); ++npu) {
    npus_[npu].idle = programs.start_of(npu);
    npus_[npu].account.waiting = Time{npus_[npu].idle};
  }
}

void Accounts::begin_computing(std::uint32_t npu, std::uint32_t operation, std::int64_t now) {
  if (now > npus_[npu].idle) explain(npu, programs_.gate(npu, operation), now);
  npus_[npu].idle = now;
}

void Accounts::end_computing(std::uint32_t npu, std::int64_t now) {
  npus_[npu].account.compute += Time{now - npus_[npu].idle};
  npus_[npu].idle = now;
}

/// Accounts for the time from `idle` to `until`, when `gate` is over.
void Accounts::explain(std::uint32_t npu, std::uint32_t gate, std::int64_t until) {
  Npu& here = npus_[npu];
  while (until > here.idle && gate != NpuPrograms::none) {
    const Operation& operation = programs_.operation(npu, gate);
    assert(operation.kind != Operation::Kind::compute); // or nothing was idle
    const std::int64_t reached = std::max(here.idle, programs_.reached(npu, gate));
    const std::int64_t begin = std::clamp(programs_.times(npu, gate).begin, reached, until);
    here.account.exposed[static_cast<std::size_t>(operation.purpose)] += Time{until - begin};
    Time& before =
        operation.purpose == Purpose::pipeline ? here.account.bubble : here.account.waiting;
    before += Time{begin - reached};
    until = reached;
    gate = programs_.gate(npu, gate);
  }
}

void Accounts::begin_communicating(std::uint32_t npu, Purpose purpose, std::int64_t now) {
  UnderWay& under_way = npus_[npu].under_way[static_cast<std::size_t>(purpose)];
  if (under_way.count++ == 0) under_way.since = now;
}

void Accounts::end_communicating(std::uint32_t npu, Purpose purpose, std::int64_t now) {
  UnderWay& under_way = npus_[npu].under_way[static_cast<std::size_t>(purpose)];
  if (--under_way.count == 0) under_way.total += Time{now - under_way.since};
}

void Accounts::close(Time duration, IterationReport& report) {
  for (std::uint32_t npu = 0; npu < npus_.size(); ++npu) {
    Npu& here = npus_[npu];
    const TrainingProgram& program = programs_.program(npu);
    std::uint32_t last = NpuPrograms::none;
    bool is_stage = false; // of a pipeline
    for (std::uint32_t i = 0; i < program.size(); ++i) {
      is_stage = is_stage || (program[i].kind != Operation::Kind::compute &&
                              program[i].purpose == Purpose::pipeline);
      if (last == NpuPrograms::none || programs_.times(npu, i).end > programs_.times(npu, last).end)
        last = i;
    }
    std::int64_t end = here.idle;
    if (last != NpuPrograms::none) end = std::max(end, programs_.times(npu, last).end);
    if (end > here.idle) explain(npu, last, end);
    (is_stage ? here.account.bubble : here.account.waiting) += duration - Time{end};
    assert(here.account.total() == duration);
    report.accounts.push_back(here.account);
    std::array<Time, purpose_count>& communication = report.communication.emplace_back();
    for (std::size_t p = 0; p < purpose_count; ++p) communication[p] = here.under_way[p].total;
  }
}

} // namespace tutti
