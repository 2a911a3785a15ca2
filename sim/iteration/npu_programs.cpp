// An operation becomes ready when a count of what it still depends on reaches zero; ready ones wait
// in a heap by their turn.
#include "sim/iteration/npu_programs.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tutti {

Successors::Successors(const TrainingProgram& program) : begin_(program.size() + 1) {
  for (std::size_t i = 0; i < program.size(); ++i)
    for (const std::uint32_t before : program.dependencies(i)) ++begin_[before + std::size_t{1}];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  successors_.resize(begin_.back());
  for (std::size_t i = 0; i < program.size(); ++i)
    for (const std::uint32_t before : program.dependencies(i))
      successors_[next[before]++] = static_cast<std::uint32_t>(i);
}

NpuPrograms::NpuPrograms(const Workload& workload, std::span<const Time> starts,
                         bool one_at_a_time) {
  for (const TrainingProgram& program : workload.programs) successors_.emplace_back(program);
  for (const ProgramPlace& place : workload.places) {
    Npu npu;
    npu.program = &workload.programs[place.program];
    npu.successors = &successors_[place.program];
    npu.times.resize(npu.program->size());
    if (one_at_a_time) npu.kept_waiting_by.resize(npu.program->size(), none);
    npu.missing.reserve(npu.program->size());
    for (std::size_t i = 0; i < npu.program->size(); ++i)
      npu.missing.push_back(static_cast<std::uint32_t>(npu.program->dependencies(i).size()));
    left_ += npu.program->size();
    if (!starts.empty()) npu.start = starts[npus_.size()].ps;
    last_start_ = std::max(last_start_, npu.start);
    npus_.push_back(std::move(npu));
  }
}

std::uint32_t NpuPrograms::gate(std::uint32_t npu, std::uint32_t operation) const {
  const Npu& here = npus_[npu];
  std::uint32_t gate = none;
  const auto consider = [&](std::uint32_t before) {
    if (gate == none || here.times[before].end > here.times[gate].end) gate = before;
  };
  for (const std::uint32_t before : here.program->dependencies(operation)) consider(before);
  if (!here.kept_waiting_by.empty() && here.kept_waiting_by[operation] != none)
    consider(here.kept_waiting_by[operation]);
  return gate;
}

std::int64_t NpuPrograms::reached(std::uint32_t npu, std::uint32_t operation) const {
  const std::uint32_t last = gate(npu, operation);
  return last == none ? npus_[npu].start : npus_[npu].times[last].end;
}

void NpuPrograms::make_ready(std::uint32_t npu, std::uint32_t operation) {
  push(npus_[npu], npus_[npu].ready, operation);
}

std::uint32_t NpuPrograms::start_computing(std::uint32_t npu) {
  npus_[npu].computing = pop(npus_[npu], npus_[npu].ready);
  return npus_[npu].computing;
}

std::uint32_t NpuPrograms::end_computing(std::uint32_t npu) {
  return std::exchange(npus_[npu].computing, none);
}

void NpuPrograms::make_communication_ready(std::uint32_t npu, std::uint32_t operation) {
  push(npus_[npu], npus_[npu].to_communicate, operation);
}

std::uint32_t NpuPrograms::start_communication(std::uint32_t npu) {
  Npu& here = npus_[npu];
  if (here.communicating != none || here.to_communicate.empty()) return none;
  here.communicating = pop(here, here.to_communicate);
  here.kept_waiting_by[here.communicating] = here.communicated;
  return here.communicating;
}

void NpuPrograms::end_communication(std::uint32_t npu, std::uint32_t operation) {
  Npu& here = npus_[npu];
  assert(here.communicating == operation);
  here.communicating = none;
  here.communicated = operation;
}

/// The lowest turn on top.
void NpuPrograms::push(const Npu& npu, std::vector<std::uint32_t>& heap, std::uint32_t operation) {
  heap.push_back(operation);
  std::push_heap(heap.begin(), heap.end(), [&](std::uint32_t a, std::uint32_t b) {
    return npu.program->turn(a) > npu.program->turn(b);
  });
}

std::uint32_t NpuPrograms::pop(const Npu& npu, std::vector<std::uint32_t>& heap) {
  std::pop_heap(heap.begin(), heap.end(), [&](std::uint32_t a, std::uint32_t b) {
    return npu.program->turn(a) > npu.program->turn(b);
  });
  const std::uint32_t operation = heap.back();
  heap.pop_back();
  return operation;
}

} // namespace tutti
