// Algorithm and bus bandwidth by the definitions of nccl-tests (doc/PERFORMANCE.md).

#include "sim/report.hpp"

#include <algorithm>

namespace tutti {

double bus_factor(CollectiveKind kind, std::size_t npus) {
  const auto n = static_cast<double>(npus);
  switch (kind) {
  case CollectiveKind::all_reduce: return 2 * (n - 1) / n;
  case CollectiveKind::all_gather:
  case CollectiveKind::reduce_scatter:
  case CollectiveKind::all_to_all:
  case CollectiveKind::all_to_all_v:
  case CollectiveKind::all_gather_v:
  case CollectiveKind::reduce_scatter_v:
  case CollectiveKind::hypercube:
  case CollectiveKind::gather:
  case CollectiveKind::scatter: return (n - 1) / n;
  case CollectiveKind::broadcast:
  case CollectiveKind::reduce:
  case CollectiveKind::sendrecv:
  case CollectiveKind::custom: break;
  }
  return 1;
}

namespace {

/// Bytes that leave the member that sends most, or arrive at the one that gets most: in unequal
/// shares what stays where it is counts in no bandwidth.
std::int64_t moved_most(const CollectivePart& part) {
  const std::size_t members = part.group.size();
  std::int64_t most = 0;
  for (std::size_t i = 0; i < members; ++i) {
    std::int64_t moved = is_by_pairs(part.kind) ? 0 : part.size.count - part.shares.bytes[i];
    if (is_by_pairs(part.kind))
      for (std::size_t j = 0; j < members; ++j)
        if (j != i) moved += part.shares.bytes[i * members + j];
    most = std::max(most, moved);
  }
  return most;
}

} // namespace

double algbw(const Collective& collective, Time time) {
  return time.ps > 0 ? static_cast<double>(collective.size().count) / time.seconds() : 0;
}

double busbw(const Collective& collective, Time time) {
  const double rate = algbw(collective, time);
  if (collective.parts.size() != 1) return rate;
  const CollectivePart& part = collective.parts.front();
  if (!part.shares.are_said()) return rate * bus_factor(part.kind, part.group.size());
  return rate * static_cast<double>(moved_most(part)) / static_cast<double>(part.size.count);
}

std::vector<double> utilisation(const Report& report) {
  std::vector<double> fractions;
  for (const LinkUse& link : report.links)
    fractions.push_back(report.completion.ps > 0 ? link.busy.seconds() / report.completion.seconds()
                                                 : 0);
  return fractions;
}

} // namespace tutti
