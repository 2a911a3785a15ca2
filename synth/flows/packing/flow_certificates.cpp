// Invariant: every certificate is a feasible flow of all supplies to its terminal. A split lowers
// two capacities; only flows that exceed these are rerouted, and if one can't be, what is missing
// is exactly how much the split was too large, so that it is undone and made smaller.

#include "synth/flows/packing/flow_certificates.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tutti {

FlowCertificates::FlowCertificates(ArcGraph& graph, std::vector<std::int64_t>& capacity,
                                   std::span<const std::int64_t> supply,
                                   std::span<const std::uint32_t> terminals)
    : graph_(graph), capacity_(capacity), flows_(graph), detoured_(graph.node_count()) {
  const std::int64_t total = std::reduce(supply.begin(), supply.end(), std::int64_t{0});
  std::vector<std::int64_t> left;
  for (const std::uint32_t terminal : terminals) {
    std::vector<std::int64_t>& flow = certificates_.emplace_back(capacity.size());
    left.assign(supply.begin(), supply.end());
    [[maybe_unused]] const std::int64_t sent = flows_.send(capacity, flow, left, terminal, total);
    assert(sent == total);
  }
}

std::int64_t FlowCertificates::split(std::uint32_t in, std::uint32_t out, std::int64_t most) {
  const std::size_t arcs = graph_.arcs.size();
  const Pair pair{in, out, around(in, out)};
  std::int64_t amount = std::min({most, capacity_[in], capacity_[out]});
  while (amount > 0) {
    move_capacity(pair, amount);
    // The largest flow falls by one with every unit that some cut loses, once it is tight: what is
    // missing was too much.
    const std::int64_t missing = reroute_all(pair);
    if (missing == 0) break;
    take_back();
    move_capacity(pair, -amount);
    amount -= missing;
  }
  changes_.clear();
  if (amount <= 0 && graph_.arcs.size() > arcs) {
    graph_.remove_last_arc();
    capacity_.pop_back();
    for (std::vector<std::int64_t>& flow : certificates_) flow.pop_back();
  }
  return std::max<std::int64_t>(amount, 0);
}

std::int64_t FlowCertificates::used(std::uint32_t in, std::uint32_t out) const {
  std::int64_t most = 0;
  for (const std::vector<std::int64_t>& flow : certificates_)
    most = std::max(most, std::min(flow[in], flow[out]));
  return most;
}

std::vector<std::int64_t> FlowCertificates::used_at(std::uint32_t node) const {
  const std::vector<std::uint32_t>&in = graph_.in[node], &out = graph_.out[node];
  std::vector<std::int64_t> most(in.size() * out.size());
  std::vector<std::size_t> taken; // of `out`
  for (const std::vector<std::int64_t>& flow : certificates_) {
    taken.clear();
    for (std::size_t j = 0; j < out.size(); ++j)
      if (flow[out[j]] > 0) taken.push_back(j);
    for (std::size_t i = 0; i < in.size(); ++i)
      for (const std::size_t j : taken) {
        std::int64_t& pair = most[i * out.size() + j];
        pair = std::max(pair, std::min(flow[in[i]], flow[out[j]]));
      }
  }
  return most;
}

bool FlowCertificates::use(std::uint32_t node) const {
  return std::ranges::any_of(certificates_, [&](const std::vector<std::int64_t>& flow) {
    return std::ranges::any_of(graph_.in[node], [&](std::uint32_t arc) { return flow[arc] > 0; });
  });
}

/// The arc that is there, or a new one without capacity; nothing for a loop.
std::optional<std::uint32_t> FlowCertificates::around(std::uint32_t in, std::uint32_t out) {
  const std::uint32_t from = graph_.arcs[in].from, to = graph_.arcs[out].to;
  if (from == to) return std::nullopt;
  for (const std::uint32_t arc : graph_.out[from])
    if (graph_.arcs[arc].to == to) return arc;
  capacity_.push_back(0);
  for (std::vector<std::int64_t>& flow : certificates_) flow.push_back(0);
  return graph_.add_arc(from, to);
}

void FlowCertificates::move_capacity(const Pair& pair, std::int64_t amount) {
  capacity_[pair.in] -= amount;
  capacity_[pair.out] -= amount;
  if (pair.around) capacity_[*pair.around] += amount;
}

/// What is missing at the first terminal that doesn't get everything any longer.
std::int64_t FlowCertificates::reroute_all(const Pair& pair) {
  for (std::size_t i = 0; i < certificates_.size(); ++i) {
    const std::vector<std::int64_t>& flow = certificates_[i];
    if (flow[pair.in] <= capacity_[pair.in] && flow[pair.out] <= capacity_[pair.out]) continue;
    if (const std::int64_t missing = reroute(pair, i); missing > 0) {
      take_back();
      const auto found = certificates_.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(certificates_.begin(), found, found + 1);
      return missing;
    }
  }
  return 0;
}

/// First what passes both arcs goes around; of what is still too much on one, the rest.
std::int64_t FlowCertificates::reroute(const Pair& pair, std::size_t certificate) {
  const std::vector<std::int64_t>& flow = certificates_[certificate];
  const std::int64_t excess =
      std::max(flow[pair.in] - capacity_[pair.in], flow[pair.out] - capacity_[pair.out]);
  const std::int64_t both = std::min({excess, flow[pair.in], flow[pair.out]});
  change(certificate, pair.in, -both);
  change(certificate, pair.out, -both);
  if (pair.around) change(certificate, *pair.around, both);
  return detour(certificate, pair.in) + detour(certificate, pair.out);
}

/// Takes what is too much off an arc and sends it from its beginning to its end by other paths.
/// Returns what finds none.
std::int64_t FlowCertificates::detour(std::size_t certificate, std::uint32_t arc) {
  std::vector<std::int64_t>& flow = certificates_[certificate];
  const std::int64_t excess = flow[arc] - capacity_[arc];
  if (excess <= 0) return 0;
  const auto [from, to] = graph_.arcs[arc];
  change(certificate, arc, -excess);
  detoured_[from] = excess;
  const std::int64_t sent = flows_.send(capacity_, flow, detoured_, to, excess);
  detoured_[from] = 0;
  for (const SupplyFlow::Change& one : flows_.changes())
    changes_.push_back({certificate, one.arc, one.amount});
  return excess - sent;
}

void FlowCertificates::change(std::size_t certificate, std::uint32_t arc, std::int64_t amount) {
  certificates_[certificate][arc] += amount;
  changes_.push_back({certificate, arc, amount});
}

void FlowCertificates::take_back() {
  for (const auto& [certificate, arc, amount] : changes_) certificates_[certificate][arc] -= amount;
  changes_.clear();
}

} // namespace tutti
