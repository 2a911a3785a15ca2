// Parts of networks are looked up by a fingerprint of their content, and compared in full where
// that is equal. Groups on the whole network are compared one by one, since translations have no
// fingerprint; there are few of them.
#include "workloads/planning/group_sites.hpp"

#include "workloads/planning/grid_shift.hpp"
#include "workloads/planning/group_network.hpp"

#include <optional>
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
  for (const std::size_t site : on_whole_) {
    if (sites_[site].members == group) return {site, {}, {}};
    if (std::optional<GridShift> shift = shift_between(whole_, sites_[site].members, group))
      return {site, std::move(shift->nodes), std::move(shift->links)};
  }
  on_whole_.push_back(sites_.size());
  sites_.push_back({nullptr, group});
  return {on_whole_.back(), {}, {}};
}

} // namespace tutti
