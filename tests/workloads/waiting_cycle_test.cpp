// Workloads that can't end, against a recursion over what each operation waits for.
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/workloads/simple_run.hpp"
#include "workloads/waiting_cycle.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace waiting_cycle_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

/// NPUs that go through their communications in a chain, mostly in the same order.
Workload random_chains(Random& random) {
  const auto npus = static_cast<std::uint32_t>(2 + random.below(4));
  Workload workload;
  workload.names = {"operation"};
  std::vector<std::vector<Operation>> chains(npus);
  workload.places.resize(npus);
  for (std::uint64_t left = 1 + random.below(8); left > 0; --left) {
    const bool is_send = random.below(3) == 0;
    std::vector<std::uint32_t> members(npus);
    std::iota(members.begin(), members.end(), 0U);
    random.shuffle(members);
    members.resize(is_send ? 2 : 1 + random.below(npus));
    std::vector<NodeId>& group = workload.groups.emplace_back();
    for (const std::uint32_t member : members) {
      group.emplace_back(member);
      ProgramPlace& place = workload.places[member];
      Operation operation;
      operation.kind = !is_send                    ? Operation::Kind::collective
                       : member == members.front() ? Operation::Kind::send
                                                   : Operation::Kind::receive;
      operation.role = static_cast<std::uint32_t>(place.groups.size());
      operation.amount = 64;
      place.groups.push_back(static_cast<std::uint32_t>(workload.groups.size() - 1));
      std::vector<Operation>& chain = chains[member];
      chain.push_back(operation);
      if (random.below(4) == 0) std::swap(chain.back(), chain[random.below(chain.size())]);
    }
  }
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    TrainingProgram& program = workload.programs.emplace_back();
    for (const Operation& operation : chains[npu]) {
      std::vector<std::uint32_t> after;
      if (program.size() > 0 && random.below(5) > 0)
        after.push_back(static_cast<std::uint32_t>(program.size() - 1));
      program.add(operation, after);
    }
    workload.places[npu].program = npu;
  }
  return workload;
}

bool ends(const Workload& workload) {
  try {
    (void)SimpleRun(workload).duration();
    return true;
  } catch (const std::logic_error&) {
    return false;
  }
}

/// Whether the one can't be over before the other is reached or over.
bool waits_for(const Workload& workload, const NpuOperation& one, const NpuOperation& other) {
  const auto program = [&](const NpuOperation& at) -> const TrainingProgram& {
    return workload.programs[workload.places[at.npu].program];
  };
  if (one.npu == other.npu) {
    const auto before = program(one).dependencies(one.operation);
    return std::ranges::find(before, other.operation) != before.end();
  }
  const Operation &a = program(one)[one.operation], &b = program(other)[other.operation];
  return a.kind != Operation::Kind::send && b.kind != Operation::Kind::receive && a.tag == b.tag &&
         workload.places[one.npu].groups[a.role] == workload.places[other.npu].groups[b.role];
}

} // namespace

TEST_CASE("a cycle of waiting is found where a workload never ends, and only there") {
  Random random(1);
  int cycles = 0;
  for (int round = 0; round < 3000; ++round) {
    const Workload workload = random_chains(random);
    check_workload(workload, static_cast<std::uint32_t>(workload.places.size()));
    const std::vector<NpuOperation> cycle = waiting_cycle(workload);
    REQUIRE(cycle.empty() == ends(workload));
    for (std::size_t i = 0; i < cycle.size(); ++i)
      REQUIRE(waits_for(workload, cycle[i], cycle[(i + 1) % cycle.size()]));
    cycles += cycle.empty() ? 0 : 1;
  }
  CHECK(cycles > 300);
  CHECK(cycles < 2700);
}

} // namespace waiting_cycle_test
