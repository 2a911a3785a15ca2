// Algorithm and bus bandwidth by the definitions of nccl-tests (doc/PERFORMANCE.md).

#include "sim/report.hpp"

namespace tutti {

double bus_factor(CollectiveKind kind, std::size_t npus) {
  const auto n = static_cast<double>(npus);
  switch (kind) {
  case CollectiveKind::all_reduce: return 2 * (n - 1) / n;
  case CollectiveKind::all_gather:
  case CollectiveKind::reduce_scatter:
  case CollectiveKind::all_to_all:
  case CollectiveKind::alltoallv:
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

double algbw(const Collective& collective, Time time) {
  return time.ps > 0 ? static_cast<double>(collective.size().count) / time.seconds() : 0;
}

double busbw(const Collective& collective, Time time) {
  const double rate = algbw(collective, time);
  if (collective.parts.size() != 1) return rate;
  const CollectivePart& part = collective.parts.front();
  return rate * bus_factor(part.kind, part.group.size());
}

std::vector<double> utilisation(const Report& report) {
  std::vector<double> fractions;
  for (const LinkUse& link : report.links)
    fractions.push_back(report.completion.ps > 0 ? link.busy.seconds() / report.completion.seconds()
                                                 : 0);
  return fractions;
}

} // namespace tutti
