// NPUs of one pipeline stage run the same training program, which names its process groups by role;
// each NPU says which group plays which role for it. So there are as many programs as stages.
#include "workloads/parallelism/training.hpp"

#include "workloads/parallelism/memory_estimate.hpp"
#include "workloads/parallelism/stage_program.hpp"
#include "workloads/parallelism/training_layout.hpp"

#include <algorithm>

namespace tutti {

namespace {

/// The groups of all NPUs, and the role by which each NPU's program names them.
class PlacedGroups {
public:
  PlacedGroups(const Placement& placement, const TrainingSpec& spec) : spec_(spec) {
    members_.resize(placement.coordinates.size());
    for (auto& of_npu : members_) of_npu.fill(no_role);
    add(placement, TrainingGroup::tensor, {Parallelism::tensor});
    add(placement, TrainingGroup::expert, {Parallelism::expert});
    add(placement, TrainingGroup::replicas, {Parallelism::expert, Parallelism::data});
    add(placement, TrainingGroup::expert_replicas, {Parallelism::data});
    add_neighbours(placement);
  }

  /// The same for all NPUs of a pipeline stage.
  [[nodiscard]] TrainingRoles roles_of(NodeId npu) const {
    TrainingRoles roles;
    std::uint32_t count = 0;
    for (std::size_t g = 0; g < training_group_count; ++g)
      roles[g] = members_[npu.value][g] == no_role ? no_role : count++;
    return roles;
  }
  [[nodiscard]] std::vector<std::uint32_t> groups_of(NodeId npu) const {
    std::vector<std::uint32_t> groups;
    for (const std::uint32_t group : members_[npu.value])
      if (group != no_role) groups.push_back(group);
    return groups;
  }
  [[nodiscard]] std::vector<std::vector<NodeId>> take() { return std::move(groups_); }

private:
  void add(const Placement& placement, TrainingGroup kind, std::vector<Parallelism> dimensions) {
    // Ranks follow the placement, so that neighbours in a group are neighbours in the network.
    const auto position = [&](Parallelism p) {
      return std::find(spec_.order.begin(), spec_.order.end(), p);
    };
    std::sort(dimensions.begin(), dimensions.end(),
              [&](Parallelism a, Parallelism b) { return position(a) < position(b); });
    for (std::vector<NodeId>& group : placement.groups(dimensions)) {
      if (group.size() == 1) return;
      for (const NodeId member : group) role(member, kind) = next_group();
      groups_.push_back(std::move(group));
    }
  }

  /// Pairs of each stage and the next; with several model parts of the last stage and the first.
  void add_neighbours(const Placement& placement) {
    if (spec_.pipeline == 1) return;
    constexpr std::array along{Parallelism::pipeline};
    for (const std::vector<NodeId>& stages : placement.groups(along))
      for (std::size_t s = 0; s < stages.size(); ++s) {
        const bool is_last = s + 1 == stages.size();
        if (is_last && spec_.model_parts == 1) break;
        const NodeId next = stages[is_last ? 0 : s + 1];
        role(stages[s], TrainingGroup::next) = next_group();
        role(next, TrainingGroup::previous) = next_group();
        groups_.push_back({stages[s], next});
      }
  }

  std::uint32_t& role(NodeId npu, TrainingGroup kind) {
    return members_[npu.value][static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::uint32_t next_group() const {
    return static_cast<std::uint32_t>(groups_.size());
  }

  const TrainingSpec& spec_;
  std::vector<std::vector<NodeId>> groups_;
  std::vector<std::array<std::uint32_t, training_group_count>> members_; ///< [NPU]
};

std::vector<std::string> layer_names(const Model& model) {
  std::vector<std::string> names;
  for (const Layer& layer : model.layers) names.push_back(layer.name);
  return names;
}

double samples(const TrainingSpec& spec) {
  return static_cast<double>(spec.micro_batch) * spec.micro_batches * spec.data * spec.expert;
}

std::uint32_t stage_of(const Placement& placement, std::size_t npu) {
  return placement.coordinates[npu][static_cast<std::size_t>(Parallelism::pipeline)];
}

} // namespace

Workload make_training(const Topology& topology, const Model& model, const NpuProfile& npu,
                       const TrainingSpec& spec) {
  const Placement placement = place(topology, spec);
  const TrainingLayout layout = training_layout(model, npu, spec);
  PlacedGroups groups(placement, spec);

  Workload workload;
  workload.name = model.name;
  std::vector<NodeId> first_of(spec.pipeline); // of each stage
  for (std::uint32_t n = topology.npu_count(); n-- > 0;)
    first_of[stage_of(placement, n)] = NodeId{n};
  OperationNames names(layer_names(model));
  std::vector<MemoryEstimate> memory;
  for (std::uint32_t s = 0; s < spec.pipeline; ++s) {
    workload.programs.push_back(stage_program(layout, npu, s, groups.roles_of(first_of[s]), names));
    memory.push_back(memory_estimate(layout, s));
  }
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) {
    const std::uint32_t stage = stage_of(placement, n);
    workload.places.push_back({stage, groups.groups_of(NodeId{n})});
    workload.memory.push_back(memory[stage]);
  }
  workload.groups = groups.take();
  workload.names = names.take();
  workload.items = samples(spec) * model.items_per_sample;
  workload.item = model.item;
  workload.flops = samples(spec) * model.training_flops();
  return workload;
}

} // namespace tutti
