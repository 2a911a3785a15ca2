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

namespace {

using Problem = std::tuple<CollectiveKind, std::int64_t, std::uint32_t>;
Problem problem_of(const MeasuredRow& row) { return {row.kind, row.size.count, row.root}; }

/// What is the same for all rows of one problem.
ComparedRow predicted_by(const Evaluation& e) {
  ComparedRow row;
  row.picked = e.planned_on.empty() ? e.note : e.planned_on;
  if (e.replays.empty()) {
    row.why_not = e.note.empty() ? std::string(to_text(e.status)) : e.note;
    row.picked.clear();
    return row;
  }
  const Replay& replay = e.replays.front();
  row.predicted = replay.report.completion;
  row.interval = replay.interval;
  row.bound = replay.bound.time;
  row.bound_words = replay.bound.certificate;
  return row;
}

} // namespace

MeasurementComparison compare_measurements(
    const Case& of, std::span<const MeasuredRow> rows,
    const std::function<std::vector<Evaluation>(std::span<const Case>)>& evaluate) {
  MeasurementComparison made{of.topology_label,
                             std::string(of.algorithm.name),
                             of.transport ? of.transport->name : "ideal",
                             of.topology->npu_count(),
                             {},
                             {}};
  std::map<Problem, std::size_t> known;
  std::vector<Case> cases;
  std::vector<std::string> places; // of the first row of each case
  for (const MeasuredRow& row : rows) {
    require_npus(row, made.npus, made.topology);
    if (!known.try_emplace(problem_of(row), cases.size()).second) continue;
    cases.push_back(of);
    cases.back().collective = {{collective_text(row)}, row.size};
    places.push_back(row.place());
  }
  const std::vector<Evaluation> evaluations = evaluate(cases);
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (!evaluations[i].problem.empty())
      made.problems.push_back(fmt::format("{}: {}", places[i], evaluations[i].problem));
  for (const MeasuredRow& row : rows) {
    ComparedRow compared = predicted_by(evaluations[known.at(problem_of(row))]);
    compared.measured = row;
    compared.factor = bus_factor(row.kind, made.npus);
    made.rows.push_back(std::move(compared));
  }
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
    if (row.predicted) off.push_back(std::abs(std::log(row.ratio())));
  return error_of(std::move(off));
}

} // namespace tutti
