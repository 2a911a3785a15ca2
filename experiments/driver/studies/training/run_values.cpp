// What the report of a run comes to, for tables and files: sums over NPUs, rates, parts of the
// time. Everything is derived here and nothing kept, so that it can't contradict the report.
#include "experiments/driver/studies/training/evaluation.hpp"

#include <algorithm>
#include <numeric>

namespace tutti {

Time TrainingRun::iteration_time() const {
  return Time{report->duration.ps / static_cast<std::int64_t>(workload.iterations)};
}

double TrainingRun::items_per_second() const {
  const double seconds = report->duration.seconds();
  return seconds > 0 ? workload.items * workload.iterations / seconds : 0;
}

double TrainingRun::flops_utilisation() const {
  const double most = workload.peak_flops * npus * report->duration.seconds();
  return most > 0 ? workload.flops * workload.iterations / most : 0;
}

TimeAccount summed_accounts(const IterationReport& report) {
  TimeAccount sum;
  for (const TimeAccount& account : report.accounts) {
    sum.compute += account.compute;
    sum.bubble += account.bubble;
    sum.waiting += account.waiting;
    for (std::size_t p = 0; p < purpose_count; ++p) sum.exposed[p] += account.exposed[p];
  }
  return sum;
}

NodeId busiest_npu(const IterationReport& report) {
  const auto most = std::ranges::max_element(report.accounts, {}, &TimeAccount::compute);
  return NodeId{static_cast<std::uint32_t>(most - report.accounts.begin())};
}

Time exposed_time(const TimeAccount& account) {
  return std::accumulate(account.exposed.begin(), account.exposed.end(), Time{});
}

double hidden_part(const IterationReport& report) {
  Time under_way;
  for (const auto& communication : report.communication)
    for (const Time time : communication) under_way += time;
  if (under_way == Time{}) return 1;
  return 1 - static_cast<double>(exposed_time(summed_accounts(report)).ps) /
                 static_cast<double>(under_way.ps);
}

Report link_report(const IterationReport& report) {
  Report links;
  links.engine = report.engine;
  links.model = report.model;
  links.completion = report.duration;
  links.links = report.links;
  return links;
}

} // namespace tutti
