// A log beside a prediction: each row is what an algorithm takes for that collective and size on
// the network that the machine is said to be. What no schedule on that network can reach tells that
// it is another network, or that the row means something else.
#include "experiments/driver/studies/measurements/comparison.hpp"

#include "sim/error.hpp"
#include "sim/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace tutti {

double ComparedRow::ratio() const {
  return predicted ? predicted->seconds() / measured.seconds : 0;
}

bool ComparedRow::is_impossible() const {
  constexpr double rounding = 0.005;
  return measured.seconds < bound.seconds() * (1 - rounding);
}

MeasurementComparison compare_measurements(const Case& of, std::span<const MeasuredRow> rows) {
  MeasurementComparison made{
      of.topology_label, std::string(of.algorithm.name), of.topology->npu_count(), {}, {}};
  for (const MeasuredRow& row : rows)
    if (row.npus != 0 && row.npus != made.npus)
      throw InputError(fmt::format("{}: measured on {} ranks, {} has {} NPUs", row.place(),
                                   row.npus, made.topology, made.npus));
  std::map<std::pair<CollectiveKind, std::int64_t>, ComparedRow> known;
  for (const MeasuredRow& row : rows) {
    const auto [found, is_new] = known.try_emplace({row.kind, row.size.count});
    if (is_new) {
      Case c = of;
      c.collective = {{std::string(to_text(row.kind))}, row.size};
      const Evaluation evaluation = evaluate(c);
      if (!evaluation.problem.empty())
        made.problems.push_back(fmt::format("{}: {}", row.place(), evaluation.problem));
      ComparedRow& predicted = found->second;
      predicted.picked = evaluation.planned_on.empty() ? evaluation.note : evaluation.planned_on;
      if (!evaluation.replays.empty()) {
        const Replay& replay = evaluation.replays.front();
        predicted.predicted = replay.report.completion;
        predicted.bound = replay.bound.time;
        predicted.bound_words = replay.bound.certificate;
      }
    }
    ComparedRow compared = found->second;
    compared.measured = row;
    compared.factor = bus_factor(row.kind, made.npus);
    made.rows.push_back(std::move(compared));
  }
  std::ranges::stable_sort(made.rows, {}, [](const ComparedRow& row) {
    return std::tuple(row.measured.kind, row.measured.is_in_place, row.measured.size.count);
  });
  return made;
}

ComparisonError error_of(std::span<const ComparedRow> rows) {
  std::vector<double> off;
  for (const ComparedRow& row : rows)
    if (row.predicted) off.push_back(std::abs(std::log(row.ratio())));
  if (off.empty()) return {};
  std::ranges::sort(off);
  double sum = 0;
  for (const double each : off) sum += each;
  const auto at = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(off.size()))) - 1;
  return {off.size(), std::expm1(sum / static_cast<double>(off.size())), std::expm1(off[at])};
}

} // namespace tutti
