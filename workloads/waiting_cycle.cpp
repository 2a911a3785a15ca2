// Whether a workload ends doesn't depend on how long things take: nothing that is ready ever stops
// being so. So everything is done in any order, without a clock, until nothing more can be; from
// what is left, each operation leads to one that it waits for.
#include "workloads/waiting_cycle.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace tutti {

namespace {

/// What meets in a communication.
struct CommunicatorInstance {
  std::vector<NpuOperation> parts;
  std::uint32_t reached = 0;
  bool sent = false; ///< by the one that sends
};

class UntimedRun {
public:
  explicit UntimedRun(const Workload& workload) : workload_(workload) {
    for (std::uint32_t npu = 0; npu < workload.places.size(); ++npu) {
      const TrainingProgram& program = program_of(npu);
      Npu& here = npus_.emplace_back();
      here.missing.resize(program.size());
      here.is_reached.resize(program.size());
      here.is_over.resize(program.size());
      for (std::uint32_t i = 0; i < program.size(); ++i) {
        here.missing[i] = static_cast<std::uint32_t>(program.dependencies(i).size());
        if (program[i].kind != Operation::Kind::compute)
          communicator_of({npu, i}).parts.push_back({npu, i});
      }
    }
    for (const TrainingProgram& program : workload.programs)
      followers_.push_back(followers(program));
  }

  std::vector<NpuOperation> cycle() {
    run();
    for (std::uint32_t npu = 0; npu < npus_.size(); ++npu)
      for (std::uint32_t i = 0; i < npus_[npu].is_over.size(); ++i)
        if (!npus_[npu].is_over[i]) return cycle_from({npu, i});
    return {};
  }

private:
  struct Npu {
    std::vector<std::uint32_t> missing; ///< per operation: dependencies that aren't over
    std::vector<bool> is_reached, is_over;
  };

  static std::vector<std::vector<std::uint32_t>> followers(const TrainingProgram& program) {
    std::vector<std::vector<std::uint32_t>> found(program.size());
    for (std::uint32_t i = 0; i < program.size(); ++i)
      for (const std::uint32_t before : program.dependencies(i)) found[before].push_back(i);
    return found;
  }

  [[nodiscard]] const TrainingProgram& program_of(std::uint32_t npu) const {
    return workload_.programs[workload_.places[npu].program];
  }
  [[nodiscard]] const Operation& operation(const NpuOperation& at) const {
    return program_of(at.npu)[at.operation];
  }
  CommunicatorInstance& communicator_of(const NpuOperation& at) {
    const Operation& what = operation(at);
    return communicators_[{workload_.places[at.npu].groups[what.role], what.tag}];
  }

  void run() {
    for (std::uint32_t npu = 0; npu < npus_.size(); ++npu)
      for (std::uint32_t i = 0; i < npus_[npu].missing.size(); ++i)
        if (npus_[npu].missing[i] == 0) ready_.push_back({npu, i});
    while (!ready_.empty()) {
      const NpuOperation next = ready_.back();
      ready_.pop_back();
      reach(next);
    }
  }

  void reach(const NpuOperation& at) {
    npus_[at.npu].is_reached[at.operation] = true;
    const Operation::Kind kind = operation(at).kind;
    if (kind == Operation::Kind::compute) return end(at);
    CommunicatorInstance& here = communicator_of(at);
    ++here.reached;
    if (kind == Operation::Kind::collective) {
      if (here.reached == here.parts.size())
        for (const NpuOperation& part : here.parts) end(part);
      return;
    }
    here.sent = here.sent || kind == Operation::Kind::send;
    for (const NpuOperation& part : here.parts)
      if (here.sent && npus_[part.npu].is_reached[part.operation]) end(part);
  }

  void end(const NpuOperation& at) {
    Npu& here = npus_[at.npu];
    if (here.is_over[at.operation]) return;
    here.is_over[at.operation] = true;
    for (const std::uint32_t after : followers_[workload_.places[at.npu].program][at.operation])
      if (--here.missing[after] == 0) ready_.push_back({at.npu, after});
  }

  std::vector<NpuOperation> cycle_from(NpuOperation at) {
    std::vector<NpuOperation> visited;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> seen;
    while (seen.try_emplace({at.npu, at.operation}, visited.size()).second) {
      visited.push_back(at);
      at = awaited(at);
    }
    const auto begin = static_cast<std::ptrdiff_t>(seen.at({at.npu, at.operation}));
    return {visited.begin() + begin, visited.end()};
  }

  /// What an operation that isn't over waits for: one that isn't, either.
  NpuOperation awaited(const NpuOperation& at) {
    if (npus_[at.npu].is_reached[at.operation]) {
      const std::vector<NpuOperation>& parts = communicator_of(at).parts;
      return *std::ranges::find_if(parts, [&](const NpuOperation& part) {
        return !npus_[part.npu].is_reached[part.operation];
      });
    }
    const auto before = program_of(at.npu).dependencies(at.operation);
    return {at.npu, *std::ranges::find_if(
                        before, [&](std::uint32_t i) { return !npus_[at.npu].is_over[i]; })};
  }

  const Workload& workload_;
  std::vector<Npu> npus_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, CommunicatorInstance>
      communicators_;                                              // by group and tag
  std::vector<std::vector<std::vector<std::uint32_t>>> followers_; // [program][operation]
  std::vector<NpuOperation> ready_;
};

} // namespace

std::vector<NpuOperation> waiting_cycle(const Workload& workload) {
  return UntimedRun(workload).cycle();
}

} // namespace tutti
