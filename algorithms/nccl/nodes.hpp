// Which NPUs are what NCCL calls a node.
#pragma once

#include "algorithms/nccl/hardware.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::nccl {

/// By what a network shows. Where it says that its NPUs are GPUs or its links network cards, these
/// are NPUs of equal coordinates in the last dimension, or else those that links between them or
/// fast switches join; of other networks what sets_joined_by_speed() finds, if all have as many,
/// or else all.
class NodesOfNpus {
public:
  /// `model`, where given, overrules what the topology says of its NPUs, which are taken for
  /// `assumed` where nobody says what they are. Errors: InputError for an unknown model.
  NodesOfNpus(const Topology& topology, std::string_view model, std::string_view assumed);

  /// Whether the network shows nodes that all have so many NPUs.
  [[nodiscard]] bool are_of(std::uint32_t size) const {
    return least_ == size && most_ == size && doubt_.empty();
  }
  /// Nodes of so many NPUs, by number where the network shows others.
  void cut_by_number(std::uint32_t size);

  /// A number that only NPUs of one node have in common.
  [[nodiscard]] std::uint32_t operator()(NodeId npu) const {
    return nodes_.empty() ? 0 : nodes_[npu.value];
  }
  /// The dimension of links that lead from node to node; -2: the network doesn't say.
  [[nodiscard]] int dimension_between() const { return dimension_between_; }
  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  [[nodiscard]] bool gpu_is_known() const { return gpu_is_known_; }
  /// Why NCCL has no such nodes; else empty.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Why they are a mere guess; else empty.
  [[nodiscard]] const std::string& doubt() const { return doubt_; }

private:
  std::uint32_t npus_;
  bool gpu_is_known_;
  const Gpu& gpu_;
  std::vector<std::uint32_t> nodes_;            ///< [node of the topology]; empty: all are one
  std::uint32_t least_ = UINT32_MAX, most_ = 0; ///< NPUs of a node that is shown
  int dimension_between_ = -2;
  std::string problem_, doubt_;
};

} // namespace tutti::nccl
