// A workload whose communications all take the same time, by the definition at the head of
// sim/workload.hpp: the end of each operation from those that it waits for.
#pragma once

#include "sim/workload.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tutti::samples {

/// When everything is over if each communication takes `each`. Pre: each NPU's computing is ordered
/// by dependencies. Errors: std::logic_error where operations wait for each other in a cycle.
class SimpleRun {
public:
  explicit SimpleRun(const Workload& workload, std::int64_t each = 0)
      : workload_(workload), each_(each) {
    for (std::uint32_t n = 0; n < workload.places.size(); ++n)
      for (std::uint32_t i = 0; i < program_of(n).size(); ++i) {
        const Operation& operation = program_of(n)[i];
        if (operation.kind == Operation::Kind::compute) continue;
        const std::uint32_t group = workload.places[n].groups[operation.role];
        meetings_[{group, operation.tag}].push_back({n, i});
      }
    for (std::uint32_t n = 0; n < workload.places.size(); ++n)
      ends_.emplace_back(program_of(n).size(), unknown);
  }

  std::int64_t duration() {
    std::int64_t latest = 0;
    for (std::uint32_t n = 0; n < workload_.places.size(); ++n)
      for (std::uint32_t i = 0; i < program_of(n).size(); ++i) latest = std::max(latest, end(n, i));
    return latest;
  }

private:
  static constexpr std::int64_t unknown = -1, asked_for = -2;

  const TrainingProgram& program_of(std::uint32_t npu) const {
    return workload_.programs[workload_.places[npu].program];
  }
  std::int64_t reached(std::uint32_t npu, std::uint32_t i) {
    std::int64_t latest = 0;
    for (const std::uint32_t before : program_of(npu).dependencies(i))
      latest = std::max(latest, end(npu, before));
    return latest;
  }
  std::int64_t end(std::uint32_t npu, std::uint32_t i) {
    if (ends_[npu][i] == asked_for) throw std::logic_error("operations wait for each other");
    if (ends_[npu][i] != unknown) return ends_[npu][i];
    ends_[npu][i] = asked_for;
    const Operation& operation = program_of(npu)[i];
    std::int64_t latest = reached(npu, i);
    if (operation.kind == Operation::Kind::compute)
      return ends_[npu][i] = latest + operation.amount;
    // A send doesn't wait for who receives it; who receives has it when it is there.
    std::int64_t begin = operation.kind == Operation::Kind::receive ? 0 : latest;
    if (operation.kind != Operation::Kind::send)
      for (const auto& [other, j] :
           meetings_[{workload_.places[npu].groups[operation.role], operation.tag}])
        if (program_of(other)[j].kind != Operation::Kind::receive)
          begin = std::max(begin, reached(other, j));
    return ends_[npu][i] = std::max(latest, begin + each_);
  }

  const Workload& workload_;
  std::int64_t each_;
  std::map<std::pair<std::uint32_t, std::uint32_t>,
           std::vector<std::pair<std::uint32_t, std::uint32_t>>>
      meetings_;
  std::vector<std::vector<std::int64_t>> ends_;
};

} // namespace tutti::samples
