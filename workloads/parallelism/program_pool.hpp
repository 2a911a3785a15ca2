// Programs, equal ones only once.
#pragma once

#include "sim/workload.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tutti {

class ProgramPool {
public:
  /// Its index, that of an equal one where there is one.
  std::uint32_t add(TrainingProgram program);
  [[nodiscard]] std::vector<TrainingProgram> programs() && { return std::move(programs_); }

private:
  std::vector<TrainingProgram> programs_;
  std::multimap<std::uint64_t, std::uint32_t> by_hash_;
};

} // namespace tutti
