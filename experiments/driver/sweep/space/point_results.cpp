// A sweep has no evaluation of its own: a point is an experiment with exactly one case, evaluated
// as `tutti run` would, and its numbers are those of that case's record. What goes wrong is a
// status of this point with words, for the others are to be simulated all the same.
#include "experiments/driver/sweep/space/point_results.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "sim/error.hpp"
#include "sim/work_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <new>
#include <set>
#include <utility>

namespace tutti::sweep {

namespace {

// Status of a case whose schedule isn't there, or can't be replayed.
PointStatus without_answer(Status status) {
  switch (status) {
  case Status::infeasible: return PointStatus::infeasible;
  case Status::out_of_memory: return PointStatus::out_of_memory;
  case Status::timed_out: return PointStatus::timed_out;
  case Status::optimal: // a schedule that can't be replayed
  case Status::feasible:
  case Status::unsupported: break;
  }
  return PointStatus::unsupported;
}

// A schedule that doesn't verify has no time, however good its numbers look.
PointResults of_problem(const std::string& problem) {
  PointResults results;
  results.status = PointStatus::defect;
  results.message = problem;
  return results;
}

constexpr std::string_view picoseconds = "_ps", seconds = "_s";

/// A column as sweeps have it, in SI units.
std::string name_of(const RecordColumn& column) {
  if (!column.name.ends_with(picoseconds)) return column.name;
  return column.name.substr(0, column.name.size() - picoseconds.size()) + std::string(seconds);
}

bool is_result(const RecordColumn& column) {
  return column.role == ColumnRole::metric && column.quantity != Quantity::text;
}

Unit unit_of(Quantity quantity) {
  switch (quantity) {
  case Quantity::time:
  case Quantity::seconds: return Unit::seconds;
  case Quantity::bytes: return Unit::bytes;
  case Quantity::rate: return Unit::bytes_per_second;
  case Quantity::text:
  case Quantity::texts:
  case Quantity::numeral:
  case Quantity::truth:
  case Quantity::count:
  case Quantity::ratio:
  case Quantity::part:
  case Quantity::amount:
  case Quantity::number:
  case Quantity::fact:
  case Quantity::effort: break;
  }
  return Unit::none;
}

/// The numbers of a row in columns that every row of the kind has: facts come and go.
std::map<std::string, double> numbers_of(const Records& records, std::size_t row,
                                         const std::string& kind) {
  std::set<std::string> known;
  for (const ResultColumn& column : result_columns(kind)) known.insert(column.name);
  std::map<std::string, double> numbers;
  for (std::size_t c = 0; c < records.columns.size(); ++c) {
    const RecordColumn& column = records.columns[c];
    const Cell& cell = records.rows[row][c];
    if (!is_result(column) || !cell.is_known() || !known.contains(name_of(column))) continue;
    const double scale =
        column.quantity == Quantity::time ? 1 / static_cast<double>(ps_per_s) : 1.0;
    numbers[name_of(column)] = cell.number() * scale;
  }
  return numbers;
}

/// Value in a cost column; 0 where there is none.
double cost_in(const Records& records, std::size_t row, std::string_view name) {
  const auto found = std::ranges::find(records.columns, name, &RecordColumn::name);
  if (found == records.columns.end()) return 0;
  const Cell& cell = records.rows[row][static_cast<std::size_t>(found - records.columns.begin())];
  return cell.is_known() ? cell.number() : 0;
}

PointResults results_of(const AnyStudy& study, const Experiment& experiment,
                        const std::string& kind, const std::string& cache) {
  if (const std::size_t cases = case_count(study); cases != 1)
    throw InputError(fmt::format("a point is one case; this has {} cases", cases));
  require_sound(study, experiment.topologies);
  Interrupts interrupts;
  Refusals refusals;
  const StudyResult result = run_study(study, {.networks = experiment.topologies,
                                               .interrupts = interrupts,
                                               .refusals = refusals,
                                               .name = "a point",
                                               .jobs = 0,
                                               .cache = cache});
  refusals.require_some();
  if (!result.defects.empty()) return of_problem(result.defects.front());
  const Records& records = result.files.front().records;
  PointResults results;
  results.status = PointStatus::done; // also the best that a limit allowed; its note says so
  if (result.unanswered) {
    results.status = without_answer(result.unanswered->status);
    results.message = result.unanswered->note;
    return results;
  }
  if (records.rows.size() != 1 && !result.point)
    throw InputError(fmt::format("a point is one case; this has {} rows", records.rows.size()));
  const std::size_t row = result.point.value_or(0);
  results.numbers = numbers_of(records, row, kind);
  results.synthesis_seconds =
      cost_in(records, row, "synthesis_seconds") + cost_in(records, row, "planning_seconds");
  for (std::size_t c = 0; c < records.columns.size(); ++c)
    if (records.columns[c].name == "note" && records.rows[row][c].is_known())
      results.message = records.rows[row][c].text();
  return results;
}

PointResults results_of(const ExperimentTemplate& experiment, const ValueOf& value_of,
                        std::uint64_t seed, const std::string& cache) {
  try {
    const Experiment made = experiment.experiment(value_of, seed);
    return results_of(made.studies.front(), made, experiment.kind(), cache);
  } catch (const InputError& error) {
    PointResults results;
    results.status = PointStatus::refused;
    results.message = error.what();
    return results;
  } catch (const std::bad_alloc&) {
    throw; // whoever limits memory has more to say about it
  } catch (const std::exception& error) {
    return of_problem(error.what());
  }
}

} // namespace

std::vector<ResultColumn> result_columns(std::string_view kind) {
  std::vector<ResultColumn> columns;
  for (const RecordColumn& column : columns_of_kind(kind))
    if (is_result(column)) columns.push_back({name_of(column), unit_of(column.quantity)});
  return columns;
}

PointResults evaluate_point(const ExperimentTemplate& experiment, const ValueOf& value_of,
                            std::uint64_t seed, const std::string& cache) {
  const double start = cpu_seconds();
  PointResults results = results_of(experiment, value_of, seed, cache);
  results.cpu_seconds = cpu_seconds() - start;
  results.peak_bytes = peak_rss_bytes();
  return results;
}

} // namespace tutti::sweep
