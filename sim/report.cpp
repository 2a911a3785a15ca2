// Algorithm and bus bandwidth by the definitions of nccl-tests (doc/PERFORMANCE.md).

#include "sim/report.hpp"

namespace tutti {

namespace {

/// How much of the data crosses each NPU's port, relative to algbw.
double bus_factor(CollectiveKind kind, double members) {
  switch (kind) {
  case CollectiveKind::all_reduce: return 2 * (members - 1) / members;
  case CollectiveKind::all_gather:
  case CollectiveKind::reduce_scatter:
  case CollectiveKind::all_to_all:
  case CollectiveKind::gather:
  case CollectiveKind::scatter: return (members - 1) / members;
  case CollectiveKind::broadcast:
  case CollectiveKind::reduce:
  case CollectiveKind::custom: break;
  }
  return 1;
}

} // namespace

double algbw(const Collective& collective, Time time) {
  return time.ps > 0 ? static_cast<double>(collective.size().count) / time.seconds() : 0;
}

double busbw(const Collective& collective, Time time) {
  const double rate = algbw(collective, time);
  if (collective.parts.size() != 1) return rate;
  const CollectivePart& part = collective.parts.front();
  return rate * bus_factor(part.kind, static_cast<double>(part.group.size()));
}

std::vector<double> utilisation(const Report& report) {
  std::vector<double> fractions;
  for (const LinkUse& link : report.links)
    fractions.push_back(report.completion.ps > 0 ? link.busy.seconds() / report.completion.seconds()
                                                 : 0);
  return fractions;
}

} // namespace tutti
