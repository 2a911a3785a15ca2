#include "experiments/group_sites.hpp"

#include "experiments/group_network.hpp"

#include <utility>

namespace tutti {

GroupPlace GroupSites::on_part(GroupNetwork part, std::size_t members) {
  const std::uint64_t hash = content_fingerprint(part.topology, with_names_);
  const auto [first, last] = by_content_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const GroupSite& site = sites_[it->second];
    if (site.members.size() == members && look_alike(*site.network, part.topology, with_names_))
      return {it->second, std::move(part.nodes), std::move(part.links)};
  }
  GroupSite site{std::make_shared<const Topology>(std::move(part.topology)), {}};
  for (std::uint32_t rank = 0; rank < members; ++rank) site.members.emplace_back(rank);
  sites_.push_back(std::move(site));
  by_content_.emplace(hash, sites_.size() - 1);
  return {sites_.size() - 1, std::move(part.nodes), std::move(part.links)};
}

GroupPlace GroupSites::on_whole(const std::vector<NodeId>& group) {
  const auto [found, is_new] = by_members_.try_emplace(group, sites_.size());
  if (is_new) sites_.push_back({nullptr, group});
  return {found->second, {}, {}};
}

} // namespace tutti
