#include "sim/iteration/npu_programs.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace tutti {

Successors::Successors(const Program& program) : begin_(program.size() + 1) {
  for (std::size_t i = 0; i < program.size(); ++i)
    for (const std::uint32_t before : program.dependencies(i)) ++begin_[before + std::size_t{1}];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  successors_.resize(begin_.back());
  for (std::size_t i = 0; i < program.size(); ++i)
    for (const std::uint32_t before : program.dependencies(i))
      successors_[next[before]++] = static_cast<std::uint32_t>(i);
}

NpuPrograms::NpuPrograms(const Workload& workload) {
  for (const Program& program : workload.programs) successors_.emplace_back(program);
  for (const ProgramPlace& place : workload.places) {
    Npu npu;
    npu.program = &workload.programs[place.program];
    npu.successors = &successors_[place.program];
    npu.times.resize(npu.program->size());
    npu.missing.reserve(npu.program->size());
    for (std::size_t i = 0; i < npu.program->size(); ++i)
      npu.missing.push_back(static_cast<std::uint32_t>(npu.program->dependencies(i).size()));
    left_ += npu.program->size();
    npus_.push_back(std::move(npu));
  }
}

std::uint32_t NpuPrograms::gate(std::uint32_t npu, std::uint32_t operation) const {
  const Npu& here = npus_[npu];
  std::uint32_t gate = none;
  for (const std::uint32_t before : here.program->dependencies(operation))
    if (gate == none || here.times[before].end > here.times[gate].end) gate = before;
  return gate;
}

std::int64_t NpuPrograms::reached(std::uint32_t npu, std::uint32_t operation) const {
  const std::uint32_t last = gate(npu, operation);
  return last == none ? 0 : npus_[npu].times[last].end;
}

void NpuPrograms::make_ready(std::uint32_t npu, std::uint32_t operation) {
  std::vector<std::uint32_t>& ready = npus_[npu].ready;
  ready.push_back(operation);
  std::push_heap(ready.begin(), ready.end(), std::greater<>{});
}

std::uint32_t NpuPrograms::start_computing(std::uint32_t npu) {
  std::vector<std::uint32_t>& ready = npus_[npu].ready;
  std::pop_heap(ready.begin(), ready.end(), std::greater<>{});
  npus_[npu].computing = ready.back();
  ready.pop_back();
  return npus_[npu].computing;
}

std::uint32_t NpuPrograms::end_computing(std::uint32_t npu) {
  return std::exchange(npus_[npu].computing, none);
}

} // namespace tutti
