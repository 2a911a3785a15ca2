// The networks that groups of a workload plan on, each content once: groups whose parts of the
// network look alike plan together.
#pragma once

#include "sim/ids.hpp"
#include "sim/topology.hpp"
#include "workloads/planning/group_network.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tutti {

/// What algorithms see of a group.
struct GroupSite {
  std::shared_ptr<const Topology> network; ///< null: the whole
  std::vector<NodeId> members;             ///< in it, in rank order
};

/// A group's place in the network.
struct GroupPlace {
  std::size_t site = 0; ///< index of its GroupSite
  /// [node, link of the site's network]: the same in the whole one; empty where all are themselves.
  std::vector<NodeId> nodes;
  std::vector<LinkId> links;
};

class GroupSites {
public:
  /// `with_names`: parts whose nodes have other names don't look alike.
  GroupSites(const Topology& whole, bool with_names) : whole_(whole), with_names_(with_names) {}

  /// The place of a group that plans on a part whose first nodes are its members.
  GroupPlace on_part(GroupNetwork part, std::size_t members);
  /// The place of a group that plans on the whole network. Where a grid looks the same from another
  /// such group, as from those that lie elsewhere on a torus, both share a site.
  GroupPlace on_whole(const std::vector<NodeId>& group);

  [[nodiscard]] const Topology& network(std::size_t site) const {
    return sites_[site].network ? *sites_[site].network : whole_;
  }
  [[nodiscard]] bool is_whole(std::size_t site) const { return !sites_[site].network; }
  [[nodiscard]] const std::vector<NodeId>& members(std::size_t site) const {
    return sites_[site].members;
  }

private:
  const Topology& whole_;
  bool with_names_;
  std::vector<GroupSite> sites_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_content_; // never iterated as a whole
  std::vector<std::size_t> on_whole_;
};

} // namespace tutti
