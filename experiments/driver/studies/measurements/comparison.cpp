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

std::string_view to_text(Normality normality) {
  switch (normality) {
  case Normality::unknown: return "";
  case Normality::expected: return "as expected";
  case Normality::slower: return "slower";
  case Normality::faster: return "faster";
  case Normality::impossible: return "impossible";
  }
  return "";
}

double ComparedRow::ratio() const {
  return predicted.time ? predicted.time->seconds() / measured.seconds : 0;
}

Normality ComparedRow::normality() const {
  constexpr double rounding = 0.005;
  if (measured.seconds < predicted.bound.seconds() * (1 - rounding)) return Normality::impossible;
  if (!predicted.interval) return Normality::unknown;
  if (measured.seconds > predicted.interval->high.seconds()) return Normality::slower;
  if (measured.seconds < predicted.interval->low.seconds()) return Normality::faster;
  return Normality::expected;
}

void require_npus(const MeasuredRow& row, std::uint32_t npus, const std::string& topology) {
  if (row.npus != 0 && row.npus != npus)
    throw InputError(fmt::format("{}: measured on {} ranks, {} has {} NPUs", row.place(), row.npus,
                                 topology, npus));
  if (const std::string problem = bus_factor_problem(row, npus); !problem.empty())
    throw InputError(fmt::format("{}: {}; {} has {} NPUs", row.place(), problem, topology, npus));
  if (row.root >= npus)
    throw InputError(
        fmt::format("{}: root {}, {} has {} NPUs", row.place(), row.root, topology, npus));
}

MeasuredProblem problem_of(const MeasuredRow& row) { return {row.kind, row.size.count, row.root}; }

Case case_of(const MeasuredRow& row, const Case& of, const std::string& in) {
  Case made = of;
  made.collective = {{collective_text(row) + (in.empty() ? "" : "," + in)}, row.size};
  return made;
}

MeasurementComparison compare_measurements(const Case& of, const std::string& in,
                                           std::span<const MeasuredRow> rows,
                                           const Evaluator& evaluate) {
  MeasurementComparison made{of.topology_label,
                             std::string(of.algorithm.name),
                             of.transport ? of.transport->name : "ideal",
                             of.topology->npu_count(),
                             {},
                             {},
                             {}};
  if (!in.empty() && !rows.empty()) {
    const Case first = case_of(rows.front(), of, in);
    made.npus = static_cast<std::uint32_t>(
        make_collective(*of.topology, first.collective, 1).parts.front().group.size());
  }
  std::map<MeasuredProblem, std::size_t> known;
  std::vector<Case> cases;
  std::vector<std::string> places; // of the first row of each case
  // Where all say so, it is another machine.
  const auto contradicts = [&](const MeasuredRow& row) {
    return !bus_factor_problem(row, made.npus).empty();
  };
  const bool is_other = std::ranges::all_of(rows, contradicts);
  std::vector<MeasuredRow> taken;
  for (const MeasuredRow& row : rows) {
    if (!is_other && contradicts(row)) {
      made.left_out.push_back(
          fmt::format("{}: left out: {}", row.place(), bus_factor_problem(row, made.npus)));
      continue;
    }
    require_npus(row, made.npus, made.topology);
    taken.push_back(row);
    if (!known.try_emplace(problem_of(row), cases.size()).second) continue;
    cases.push_back(case_of(row, of, in));
    places.push_back(row.place());
  }
  const std::vector<Forecast> predictions = predict(cases, evaluate);
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (!predictions[i].problem.empty())
      made.problems.push_back(fmt::format("{}: {}", places[i], predictions[i].problem));
  for (const MeasuredRow& row : taken)
    made.rows.push_back(
        {row, predictions[known.at(problem_of(row))], bus_factor(row.kind, made.npus)});
  std::ranges::stable_sort(made.rows, {}, [](const ComparedRow& row) {
    return std::tuple(row.measured.kind, row.measured.is_in_place, row.measured.size.count);
  });
  return made;
}

ComparisonError error_of(std::vector<double> off) {
  if (off.empty()) return {};
  std::ranges::sort(off);
  double sum = 0;
  for (const double each : off) sum += each;
  const auto at = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(off.size()))) - 1;
  return {off.size(), std::expm1(sum / static_cast<double>(off.size())), std::expm1(off[at])};
}

ComparisonError error_of(std::span<const ComparedRow> rows) {
  std::vector<double> off;
  for (const ComparedRow& row : rows)
    if (row.predicted.time) off.push_back(std::abs(std::log(row.ratio())));
  return error_of(std::move(off));
}

} // namespace tutti
