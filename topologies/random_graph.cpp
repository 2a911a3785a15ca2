// `random:N,degree=D,seed=S`: a random connected graph for tests and studies of what has no
// symmetry. A Hamiltonian cycle in random order makes it strongly connected; D - 2 random matchings
// are added to it. Every cable is a link each way, and draws one of the given bandwidths for both.
// No NPU has more than D neighbours; some have fewer where what a matching leaves over are
// neighbours already, or where N is odd. Links: by cable (lower NPU, then higher), both directions
// together. No coordinates.
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "sim/text.hpp"
#include "topologies/families.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <utility>

namespace tutti::topologies {

namespace {

using Cable = std::pair<std::uint32_t, std::uint32_t>; // lower NPU first
using Cables = std::set<Cable>;

Cable cable(std::uint32_t a, std::uint32_t b) { return {std::min(a, b), std::max(a, b)}; }

std::int64_t option_number(const TopologySpec& spec, const std::string& key, std::int64_t otherwise,
                           std::int64_t low, std::int64_t high) {
  const std::string* text = find_option(spec, key);
  return text == nullptr ? otherwise : parse_integer(*text, key, low, high);
}

void add_cycle(Cables& cables, const std::vector<std::uint32_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    cables.insert(cable(order[i], order[(i + 1) % order.size()]));
}

/// Joins NPUs in the given order, each to the next one that is free and not yet its neighbour.
void add_matching(Cables& cables, std::vector<std::uint32_t> free) {
  while (free.size() > 1) {
    const std::uint32_t npu = free.back();
    free.pop_back();
    for (std::size_t i = free.size(); i-- > 0;) {
      if (!cables.insert(cable(npu, free[i])).second) continue;
      free.erase(free.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
}

} // namespace

Topology random_graph(const TopologySpec& spec) {
  require_numbers(spec, 1);
  refuse_unidirectional(spec);
  const std::int64_t npus = spec.shape[0];
  require_npus(npus);
  const std::int64_t least = npus == 2 ? 1 : 2; // the cycle
  const std::int64_t degree =
      option_number(spec, "degree", std::min<std::int64_t>(4, npus - 1), least, npus - 1);
  require_links(npus * degree);
  Random random(static_cast<std::uint64_t>(option_number(spec, "seed", 1, 0, INT64_MAX)));

  TopologySpec drawn = spec; // of several bandwidths
  drawn.bandwidth.clear();
  Link values = link_values(drawn, 1).front();
  values.dimension = -1;
  std::vector<std::uint32_t> order(static_cast<std::size_t>(npus));
  std::iota(order.begin(), order.end(), 0U);
  Cables cables;
  random.shuffle(order);
  add_cycle(cables, order);
  for (std::int64_t round = 2; round < degree; ++round) {
    random.shuffle(order);
    add_matching(cables, order);
  }

  TopologyParts parts = npus_only(spec, npus);
  for (const auto& [low, high] : cables) {
    if (!spec.bandwidth.empty())
      values.bandwidth = spec.bandwidth[random.below(spec.bandwidth.size())];
    parts.add_duplex(between(NodeId{low}, NodeId{high}, values));
  }
  return Topology(std::move(parts));
}

} // namespace tutti::topologies
