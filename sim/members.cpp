// Chunks share their sets, so each set is looked at once.
#include "sim/members.hpp"

#include <algorithm>

namespace tutti {

std::vector<NodeId> members_of(const Collective& collective) {
  std::vector<bool> is_used(collective.sets.size());
  for (const Chunk& chunk : collective.chunks)
    is_used[chunk.sources] = is_used[chunk.destinations] = true;
  std::vector<NodeId> members;
  for (SetId set = 0; set < is_used.size(); ++set)
    if (is_used[set])
      members.insert(members.end(), collective.sets[set].begin(), collective.sets[set].end());
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

} // namespace tutti
