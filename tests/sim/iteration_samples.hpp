// Small workloads written out by hand, and plans for them.
#pragma once

#include "sim/iteration.hpp"
#include "sim/workload.hpp"
#include "tests/baselines.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::testing {

constexpr std::int64_t us = 1'000'000; // ps

/// Every NPU has a program of its own.
class Sketch {
public:
  explicit Sketch(std::uint32_t npus) {
    workload.programs.resize(npus);
    workload.places.resize(npus);
    for (std::uint32_t n = 0; n < npus; ++n) workload.places[n].program = n;
  }

  std::uint32_t group(std::initializer_list<std::uint32_t> members) {
    std::vector<NodeId>& group = workload.groups.emplace_back();
    for (const std::uint32_t member : members) {
      group.emplace_back(member);
      workload.places[member].groups.push_back(
          static_cast<std::uint32_t>(workload.groups.size() - 1));
    }
    return static_cast<std::uint32_t>(workload.groups.size() - 1);
  }

  using After = std::initializer_list<std::uint32_t>;
  std::uint32_t compute(std::uint32_t npu, std::int64_t picoseconds, After after = {}) {
    Operation operation;
    operation.amount = picoseconds;
    return add(npu, operation, "compute", after);
  }
  std::uint32_t collective(std::uint32_t npu, std::uint32_t group, std::uint32_t tag, Bytes size,
                           After after = {}, Purpose purpose = Purpose::data,
                           CollectiveKind kind = CollectiveKind::all_reduce) {
    Operation operation;
    operation.kind = Operation::Kind::collective;
    operation.collective = kind;
    return communicate(npu, operation, group, tag, size, purpose, "gradients", after);
  }
  std::uint32_t send(std::uint32_t npu, std::uint32_t group, std::uint32_t tag, Bytes size,
                     After after = {}) {
    Operation operation;
    operation.kind = Operation::Kind::send;
    return communicate(npu, operation, group, tag, size, Purpose::pipeline, "sent", after);
  }
  std::uint32_t receive(std::uint32_t npu, std::uint32_t group, std::uint32_t tag, Bytes size,
                        After after = {}) {
    Operation operation;
    operation.kind = Operation::Kind::receive;
    return communicate(npu, operation, group, tag, size, Purpose::pipeline, "received", after);
  }

  Workload workload;
  std::uint8_t priority = 0; ///< of communication that is added

private:
  std::uint32_t communicate(std::uint32_t npu, Operation operation, std::uint32_t group,
                            std::uint32_t tag, Bytes size, Purpose purpose, const char* name,
                            After after) {
    const std::vector<std::uint32_t>& groups = workload.places[npu].groups;
    operation.role =
        static_cast<std::uint32_t>(std::find(groups.begin(), groups.end(), group) - groups.begin());
    operation.tag = tag;
    operation.amount = size.count;
    operation.purpose = purpose;
    operation.priority = priority;
    return add(npu, operation, name, after);
  }
  std::uint32_t add(std::uint32_t npu, Operation operation, const char* name, After after) {
    operation.name = static_cast<std::uint32_t>(workload.names.size());
    workload.names.emplace_back(name);
    return workload.programs[npu].add(operation, std::span(after.begin(), after.size()));
  }
};

/// Every request by one baseline, on the whole network.
inline WorkloadPlans plans_by(std::string_view algorithm, const Topology& topology,
                              const Workload& workload) {
  WorkloadPlans plans;
  plans.requests = requests_of(workload);
  for (const CommunicationRequest& request : plans.requests) {
    CollectiveSpec spec;
    spec.kind = request.kind;
    spec.size = request.size;
    spec.group = workload.groups[request.group];
    spec.root = request.root;
    Collective collective = make_collective(topology, spec);
    Schedule schedule = samples::schedule_of(algorithm, topology, collective);
    PlacedPlan placed;
    placed.plan = std::make_shared<CommunicationPlan>(
        CommunicationPlan{std::move(collective), std::move(schedule), std::string(algorithm)});
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) placed.links.emplace_back(l);
    for (std::uint32_t n = 0; n < topology.node_count(); ++n) placed.nodes.emplace_back(n);
    plans.plans.push_back(std::move(placed));
  }
  return plans;
}

} // namespace tutti::testing
