// Sums of a plan's bytes, to tell what a measured time means: several ranks may share a source
// through a cache, so that bytes sent alone could exceed what the memory copies.
#include "runtime/plans/traffic.hpp"

#include "runtime/cuda/step_operands.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tutti::runtime {

namespace {

/// Bytes of memory, some of them more than once.
class Places {
public:
  void add(const std::byte* at, std::uint64_t bytes) {
    if (at == nullptr || bytes == 0) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    parts_.push_back({begin, begin + bytes});
  }
  [[nodiscard]] std::uint64_t distinct() && {
    std::ranges::sort(parts_, {}, &Part::begin);
    std::uint64_t bytes = 0, counted_to = 0;
    for (const Part& part : parts_) {
      const std::uint64_t begin = std::max(part.begin, counted_to);
      bytes += std::max(part.end, begin) - begin;
      counted_to = std::max(counted_to, part.end);
    }
    return bytes;
  }

private:
  struct Part {
    std::uint64_t begin = 0, end = 0;
  };
  std::vector<Part> parts_;
};

/// Where arenas would be, one after another. Nobody looks there.
std::vector<std::byte*> imagined_arenas(const Plan& plan) {
  std::vector<std::byte*> arenas;
  std::uintptr_t next = 1; // none at 0
  for (const Arena& arena : plan.arenas) {
    arenas.push_back(reinterpret_cast<std::byte*>(next));
    next += arena.size;
  }
  return arenas;
}

} // namespace

PlanTraffic traffic_of(const Plan& plan) {
  const std::vector<std::byte*> arenas = imagined_arenas(plan);
  PlanTraffic traffic;
  Places read, written;
  for (const PlannedBlock& block : plan.blocks)
    for (std::uint32_t i = 0; i < block.steps; ++i) {
      const PlannedStep& step = plan.steps[block.first_step + i];
      const bool sends = sends_on(step.kind);
      if (sends) traffic.sent += step.bytes;
      std::byte* const there = sends ? arenas[plan.connections[block.sends].to] : nullptr;
      const Operands data = step_operands(step, arenas[block.rank], there);
      if (data.target == nullptr && data.out == nullptr) continue;
      read.add(data.first, data.bytes);
      read.add(data.second, data.bytes);
      written.add(data.target, data.bytes);
      written.add(data.out, data.bytes);
    }
  traffic.memory = std::move(read).distinct() + std::move(written).distinct();
  return traffic;
}

} // namespace tutti::runtime
