// [[fits]] from its tables to what came of them. Rows are read with the experiment, so that a table
// that isn't there, or is of another machine, shows before anything runs, and so that expectations
// are of rows that there will be.
#include "experiments/driver/studies/fits/study.hpp"

#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/fits/columns.hpp"
#include "experiments/driver/studies/measurements/comparison.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// Takes rows of sizes beyond `most` or below `least` aside. Errors: InputError as
/// read_measurements(), for a row of another number of NPUs than the topology has, with its line.
std::vector<FitStudyRow> rows_of(std::span<const std::string> files,
                                 const MeasurementRequest& request, const Topology& topology,
                                 Bytes least, Bytes most) {
  std::vector<FitStudyRow> rows;
  for (const std::string& file : files) {
    Measurements read = read_measurements(file, request);
    if (!read.left_out.empty()) throw InputError(read.left_out.front()); // a fit takes all or none
    for (MeasuredRow& measured : read.rows) {
      require_npus(measured, topology.npu_count(), topology.name());
      std::string aside;
      if (measured.size < least) aside = "below " + to_text(least);
      if (measured.size > most) aside = "beyond " + to_text(most);
      rows.push_back({std::move(measured), std::move(aside)});
    }
  }
  std::ranges::stable_sort(rows, {}, [](const FitStudyRow& row) {
    return std::tuple(row.measured.kind, row.measured.size.count);
  });
  return rows;
}

std::pair<Bytes, Bytes> fitted_sizes(ConfigTable& table) {
  const std::vector<Bytes> sizes = sizes_at(table, "sizes", "1B..1GiB");
  return {std::ranges::min(sizes), std::ranges::max(sizes)};
}

MeasurementRequest request_of(ConfigTable& table) {
  MeasurementRequest request;
  if (const auto kind = table.find("collective"))
    request.kind = parsed(*kind, parse_collective_kind);
  if (const auto only = table.find("only")) {
    ConfigTable columns = only->table();
    for (const std::string& column : columns.keys())
      request.only.emplace_back(column, columns.at(column).string());
    columns.finish();
  }
  return request;
}

void exclude(ConfigTable table, std::vector<FitStudyRow>& rows) {
  std::pair<Bytes, Bytes> sizes{Bytes{0}, Bytes{INT64_MAX}};
  if (table.find("sizes")) sizes = fitted_sizes(table);
  const std::vector<CollectiveKind> kinds =
      list_at(table, "collectives", std::vector<CollectiveKind>{},
              [](const ConfigValue& value) { return parsed(value, parse_collective_kind); });
  const ConfigValue why = table.at("reason");
  const std::string reason = plain_label(why);
  if (reason.empty()) throw why.error("what isn't fitted has a reason");
  bool has_any = false;
  for (FitStudyRow& row : rows) {
    const MeasuredRow& of = row.measured;
    if (of.size < sizes.first || of.size > sizes.second) continue;
    if (!kinds.empty() && std::ranges::find(kinds, of.kind) == kinds.end()) continue;
    row.left_aside = reason;
    has_any = true;
  }
  if (!has_any) throw table.error("no row is of these sizes and collectives");
  table.finish();
}

FitSystem read_system(ConfigTable& table, const Experiment& experiment,
                      const std::string& source_name, std::span<const std::string> files,
                      const std::pair<Bytes, Bytes>& sizes) {
  FitSystem system;
  system.topology = topology_at(table, experiment.topologies);
  const LabelledTopology& of = experiment.topologies[system.topology];
  const auto group = table.find("group");
  system.group = group ? plain_label(*group) : of.label;
  const auto algorithm = table.find("algorithm");
  system.algorithm = algorithm ? algorithm_of(*algorithm) : find_algorithm(nccl_of(of.topology));
  system.options = options_of(table, experiment.seed, source_name);
  if (const auto settings = table.find("settings"))
    settings->located([&] { require_known_settings({&system.algorithm, 1}, system.options); });
  if (system.options.model.link_busy != LinkBusy::serialization)
    throw table.at("link_busy").error("under a transport links are busy for serialization only");
  const MeasurementRequest request = request_of(table);
  try {
    system.rows = rows_of(files, request, of.topology, sizes.first, sizes.second);
  } catch (const InputError& error) {
    throw table.error(error.what());
  }
  for (const ConfigTable& each : table.tables("exclude")) exclude(each, system.rows);
  return system;
}

} // namespace

FitStudy FitStudy::read(ConfigTable table, const Experiment& experiment,
                        const std::string& source_name, std::span<const FitStudy> others) {
  FitStudy study;
  study.label = label_at(table, others);
  if (const auto name = table.find("name")) study.name = plain_name(*name);
  for (const FitStudy& other : others)
    if (other.name == study.name)
      throw table.error("a second transport called \"" + study.name + "\" (its key is name)");
  if (study.name == experiment.name)
    throw table.error("the transport \"" + study.name +
                      "\" would have the file of the experiment, which is called so");
  study.note = string_at(table, "note");
  std::vector<std::string> files;
  for (const ConfigValue& each : list_of(table.at("measured")))
    if (const std::string file = beside(each.string(), source_name);
        std::ranges::find(files, file) == files.end())
      files.push_back(file);
    else
      throw each.error("a file twice: its rows would count double");
  const std::pair<Bytes, Bytes> sizes = fitted_sizes(table);
  study.free =
      list_at(table, "free", study.free, [](const ConfigValue& value) { return value.string(); });
  study.from =
      list_at(table, "from", study.from, [](const ConfigValue& value) { return value.bytes(); });
  std::ranges::sort(study.from);
  study.from.erase(std::unique(study.from.begin(), study.from.end()), study.from.end());
  for (ConfigTable& each : table.tables("systems")) {
    study.systems.push_back(read_system(each, experiment, source_name, files, sizes));
    each.finish();
    for (std::size_t s = 0; s + 1 < study.systems.size(); ++s)
      if (study.systems[s].topology == study.systems.back().topology)
        throw each.error("a second system of this topology");
  }
  if (study.systems.empty())
    study.systems.push_back(read_system(table, experiment, source_name, files, sizes));
  const auto transport = table.find("transport");
  study.start =
      transport
          ? transport->located(
                [&] { return read_transport(beside(transport->string(), source_name)); })
          : read_transport(nccl_of(experiment.topologies[study.systems.front().topology].topology));
  if (const auto free = table.find("free"))
    free->located([&] { require_constants(study.start, study.free); });
  study.expectations = read_expectations(
      table.tables("expect"),
      {fit_error_keys(study, experiment.topologies), {}, {}, columns_of<FitStudy>(), "error"});
  table.finish();
  return study;
}

namespace {

/// A fit that is interrupted says nothing.
StudyResult unfinished() {
  StudyResult result;
  result.files = {{"fits", {columns_of<FitStudy>(), {}}}};
  result.kind = FitStudy::kind;
  result.story = [](const TableForm&) { return std::string(); };
  result.unanswered = {Status::timed_out, "interrupted in its fit"};
  result.nothing_made = {"the fit was interrupted, and there is nothing to show"};
  return result;
}

} // namespace

void require_sound(const FitStudy& study, Networks networks) {
  for (const FitSystem& system : study.systems)
    if (std::ranges::none_of(system.rows,
                             [](const FitStudyRow& row) { return row.left_aside.empty(); }) &&
        study.systems.size() == 1)
      throw InputError(fmt::format("{}: no row is left to fit", networks[system.topology].label));
}

std::string transport_text(const FitStudy& study, const FitEvaluation& made) {
  return transport_toml(made.fit.transport, study.note);
}

StudyResult result_of(const FitStudy& study, Networks networks, FitEvaluation evaluation) {
  const auto made = std::make_shared<const FitEvaluation>(std::move(evaluation));
  StudyResult result;
  result.files = {{"fits", fit_errors(study, networks, *made)},
                  {"fit_rows", fit_rows(study, networks, *made)},
                  {"fit_constants", fit_constants(study, *made)}};
  result.texts = {{study.name + ".toml", transport_text(study, *made)}};
  result.kind = FitStudy::kind;
  result.story = [=, &study](const TableForm& form) {
    return fit_text(study, networks, *made, form);
  };
  result.figures = [=, &study] { return fit_figures(study, networks, *made); };
  result.about = [=, &study] { return about_fit(study, *made); };
  if (std::ranges::none_of(made->fit.constants, [](const FittedConstant& constant) {
        return constant.verdict == FitVerdict::fitted;
      }))
    result.nothing_made = {"no row determines a constant that is free"};
  result.comparisons = compare(study.expectations, result.files.front().records);
  return result;
}

StudyResult run_study(const FitStudy& study, const StudyRun& how) {
  SynthesisOptions options;
  InterruptibleWork work(how.interrupts, study.label.empty() ? how.name : study.label,
                         how.progress);
  work.watch(options);
  try {
    FitEvaluation made = evaluate_fit(study, how.networks, options,
                                      static_cast<unsigned>(std::max<std::size_t>(1, how.jobs)));
    how.refusals.accept();
    return result_of(study, how.networks, std::move(made));
  } catch (const Stopped&) {
    return unfinished();
  }
}

} // namespace tutti
