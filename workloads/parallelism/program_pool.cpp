// Equal programs are found by a hash of their operations and dependencies, then compared in full.
#include "workloads/parallelism/program_pool.hpp"

#include "sim/hash.hpp"

namespace tutti {

namespace {

std::uint64_t hash_of(const TrainingProgram& program) {
  Fingerprint hash;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Operation& operation = program[i];
    hash.add(static_cast<std::uint32_t>(operation.kind));
    hash.add(operation.role);
    hash.add(operation.tag);
    hash.add(operation.name);
    hash.add(operation.amount);
    for (const std::uint32_t before : program.dependencies(i)) hash.add(before);
  }
  return hash.value();
}

} // namespace

std::uint32_t ProgramPool::add(TrainingProgram program) {
  const std::uint64_t hash = hash_of(program);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto same = first; same != last; ++same)
    if (programs_[same->second] == program) return same->second;
  const auto index = static_cast<std::uint32_t>(programs_.size());
  by_hash_.emplace(hash, index);
  programs_.push_back(std::move(program));
  return index;
}

} // namespace tutti
