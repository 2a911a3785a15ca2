// [[executions]] from its tables to what came of them. What can't be executed (a chunk that isn't
// whole elements, a device that isn't there) is found by require_sound() before the first run; what
// the file says is checked with its place. A run that executes for real takes as long as it takes,
// and what it measured is gone if the program is killed before its tables: each run says so at
// once.
#include "experiments/driver/studies/executions/study.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/requests/connection_paths.hpp"
#include "experiments/driver/studies/executions/columns.hpp"
#include "experiments/driver/studies/executions/pack_backend.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/verify.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace tutti {

namespace {

/// Errors: InputError for what isn't predicted by a profile, or has fewer than three sizes.
void require_fit(const ConfigTable& table, const ExecutionCase& c) {
  if (!c.fits_half) return;
  if (c.predicted_by != PredictedBy::profile)
    throw InputError(fmt::format("it is of the profiled network, which {} doesn't take",
                                 table.name_of("predicted_by")));
  if (c.given || c.sizes.size() < 3)
    throw InputError("half of the sizes, and the last: there have to be three or more");
}

/// As execution_records() has them.
PlannedRows planned_runs(const ExecutionCase& c) {
  struct Planned {
    Bytes size;
    std::string_view algorithm;
    bool fitted = false;
  };
  using namespace column_words;
  using P = Planned;
  const Fields<P> fields{{{"size_bytes", bytes}, [](const P& p) { return p.size; }},
                         {{"algorithm", text}, [](const P& p) { return p.algorithm; }},
                         {{"fitted", truth}, [](const P& p) { return p.fitted; }}};
  std::vector<Planned> rows;
  if (c.given) rows.push_back({c.given->collective.size(), c.given->name});
  for (std::size_t s = 0; s < c.sizes.size(); ++s)
    for (const AlgorithmRow& algorithm : c.algorithms)
      rows.push_back({c.sizes[s], algorithm.name, is_fitted(c, s)});
  return {records_of<Planned>(fields, rows),
          {},
          {},
          columns_of<ExecutionStudy>(),
          "measured_over_predicted"};
}

void read_algorithms(ConfigTable& table, const Topology& topology, ExecutionCase& c) {
  if (!table.find("collective") || !table.find("algorithms"))
    throw table.error(fmt::format("what runs? give a {}, or {} and {}", table.name_of("file"),
                                  table.name_of("collective"), table.name_of("algorithms")));
  const ConfigValue collective = table.at("collective");
  c.collective = collective.string();
  c.sizes = sizes_at(table, "sizes", "1MiB..16MiB");
  collective.located([&] {
    for (const Bytes size : c.sizes) (void)make_collective(topology, {{c.collective}, size}, 1);
  });
  c.algorithms = algorithms_at(table);
  if (const auto chunks = table.find("chunks")) c.chunks = chunks_of(*chunks);
}

/// Puts in those of the file beside the program, if it is there: what `lower` planned, and `import`
/// takes. Why not, where they are of another program or network; else empty.
std::string add_paths(runtime::Program& program, const std::string& path,
                      const Topology& topology) {
  const std::string name = paths_file_of(path);
  if (!std::filesystem::exists(name)) return "";
  try {
    program.paths =
        parse_connection_paths(topology, read_input_file(name), name, read_input_file(path));
  } catch (const InputError& error) {
    return fmt::format("{}: left out", error.what());
  }
  return "";
}

GivenExecution given_program(ConfigTable& table, const ConfigValue& file, const std::string& path,
                             const Topology& topology) {
  if (!table.find("sizes"))
    throw file.error("a program doesn't say its size: give " + table.name_of("sizes"));
  const std::vector<Bytes> sizes = sizes_at(table, "sizes", "1GiB");
  if (sizes.size() > 1) throw table.at("sizes").error("a program runs at one size");
  std::optional<Collective> custom;
  if (const auto collective = table.find("collective"))
    custom = parsed(*collective, [&](const std::string& text) {
      return make_collective(topology, {{text}, sizes.front()}, 1);
    });
  runtime::MscclFile read = runtime::load_msccl(path, sizes.front(), custom ? &*custom : nullptr);
  const std::string lacking = add_paths(read.program, path, topology);
  runtime::ForeignSchedule foreign = runtime::schedule_of(topology, read.program);
  std::vector<std::string> warnings;
  for (const std::string& warning : read.warnings)
    warnings.push_back(warning.starts_with(path + ":") ? warning
                                                       : fmt::format("{}: {}", path, warning));
  if (!lacking.empty()) warnings.push_back(lacking);
  return {read.program.name, std::move(foreign.collective), std::move(foreign.schedule),
          std::move(read.program), std::move(warnings)};
}

GivenExecution given_schedule(ConfigTable& table, const std::string& path,
                              const Topology& topology) {
  for (const char* key : {"sizes", "collective"})
    if (const auto value = table.find(key))
      throw value->error(fmt::format("the schedule file says its {}: leave {} out",
                                     key == std::string_view("sizes") ? "size" : key,
                                     table.name_of(key)));
  ScheduleFile read = read_schedule(path, topology);
  make_list(path, topology, read);
  const Verdict verdict = verify(topology, read.collective, read.schedule);
  if (!verdict.correct()) throw InputError(fmt::format("{}: fault: {}", path, verdict.fault->text));
  return {read.algorithm, std::move(read.collective), std::move(read.schedule), std::nullopt, {}};
}

/// What runs is in a file, and nothing is synthesized.
void read_given(ConfigTable& table, const ConfigValue& file, const std::string& source_name,
                const Topology& topology, ExecutionCase& c) {
  for (const char* key : {"algorithms", "chunks", "limit", "settings"})
    if (const auto value = table.find(key)) throw value->error("for algorithms, not for a file");
  if (file.string().empty()) throw file.error("the name of a file is empty");
  const std::string path = beside(file.string(), source_name);
  const bool is_program = unpacked_name(path).ends_with(".xml");
  for (const char* key : {"in_place", "instances"})
    if (const auto value = table.find(key); value && is_program)
      throw value->error("for what is lowered, not for a program");
  c.given = is_program ? given_program(table, file, path, topology)
                       : given_schedule(table, path, topology);
  c.collective = collective_text(topology, c.given->collective);
}

bool is_rate(const Expectation& expectation) {
  return expectation.metric.name.ends_with("_rate_fraction");
}

} // namespace

ExecutionStudy ExecutionStudy::read(ConfigTable table, const Experiment& experiment,
                                    const std::string& source_name,
                                    std::span<const ExecutionStudy> others) {
  ExecutionStudy study;
  study.label = label_at(table, others);
  study.topology = topology_at(table, experiment.topologies);
  const Topology& topology = experiment.topologies[study.topology].topology;
  ExecutionCase& c = study.execution;
  c.label = study.label;
  if (const auto file = table.find("file"))
    read_given(table, *file, source_name, topology, c);
  else
    read_algorithms(table, topology, c);
  c.options = options_of(table, experiment.seed, source_name);
  if (const auto settings = table.find("settings"))
    settings->located([&] { require_known_settings(c.algorithms, c.options); });
  c.backend = &find_backend("cpu");
  read_keys(table, ExecutionStudy::keys(), c);
  if (const auto fit = table.find("fit")) fit->located([&] { require_fit(table, c); });
  if (c.given && c.given->program) c.lowering.in_place = c.given->program->in_place;
  const std::vector<ConfigTable> expectations = table.tables("expect");
  for (ConfigTable expectation : expectations)
    if (const auto within = expectation.find("repeats_within")) {
      if (c.passes < 2) throw within->error("whether ratios repeat takes 2 \"passes\" or more");
      if (c.predicted_by == PredictedBy::nothing)
        throw within->error("it is of ratios to predictions, and \"predicted_by\" is nothing");
    }
  study.expectations = read_expectations(expectations, planned_runs(c));
  c.measures_copy_rate = std::ranges::any_of(study.expectations, is_rate);
  table.finish();
  return study;
}

namespace {

/// "DGX-1: "; a study that is alone has no label.
std::string label_prefix(const std::string& label) { return label.empty() ? "" : label + ": "; }

std::string what_came_of(const ExecutionRun& run) {
  if (!run.problem.empty()) return run.problem;
  if (!run.execution) return run.note;
  const Time measured = time_of_seconds(run.measured());
  return short_text(measured) +
         (run.predicted.empty() ? "" : ", predicted " + short_text(run.predicted.front()));
}

/// What those who wait see on stderr, where that is a terminal or lines are wanted: a line after
/// each run, with the label before it; else nothing.
///   tutti: DGX-1: ring, 1.000 MiB: 2.1 ms, predicted 2.0 ms
std::function<void(const ExecutionRun&)> execution_announcer(std::string label, bool lines_wanted) {
  if (!lines_wanted && isatty(STDERR_FILENO) == 0) return {};
  return [label = std::move(label)](const ExecutionRun& run) {
    std::cerr << fmt::format("tutti: {}{}, {}: {}\n", label_prefix(label), run.algorithm,
                             short_text(run.size), what_came_of(run))
              << std::flush;
  };
}

} // namespace

ExecutionCase ExecutionStudy::complete(Networks networks) const {
  ExecutionCase c = execution;
  c.topology_label = networks[topology].label;
  c.topology = &networks[topology].topology;
  return gpu_pack == nullptr ? c : gpu_pack->begin(std::move(c));
}

void require_sound(const ExecutionStudy& study, Networks networks) {
  require_sound(study.complete(networks));
}

ExecutionEvaluation evaluate_study(const ExecutionStudy& study, const StudyRun& how) {
  ExecutionCase c = study.complete(how.networks);
  if (c.given)
    for (const std::string& warning : c.given->warnings) print_message(warning);
  allow_memory(c.options);
  InterruptibleWork work(how.interrupts, study.label.empty() ? how.name : study.label,
                         how.progress);
  work.watch(c.options);
  const auto announce = work.beside(execution_announcer(study.label, how.progress));
  ExecutionEvaluation made = evaluate_execution(
      c,
      [&](const ExecutionRun& run) {
        if (study.gpu_pack != nullptr) study.gpu_pack->note(run);
        if (announce) announce(run);
      },
      how.refusals);
  if (study.gpu_pack != nullptr) made.left_out = study.gpu_pack->left_out();
  return made;
}

std::size_t ExecutionStudy::case_count() const {
  return execution.given ? 1 : execution.sizes.size() * execution.algorithms.size();
}

std::vector<std::string> problems_of(const ExecutionEvaluation& evaluation) {
  std::vector<std::string> problems;
  const auto& runs = evaluation.runs;
  if (evaluation.left_out.empty() && !runs.empty() &&
      std::ranges::none_of(
          runs, [](const ExecutionRun& run) { return run.execution || !run.problem.empty(); }))
    problems.push_back(fmt::format("{}nothing ran: {}, {}: {}", label_prefix(evaluation.label),
                                   runs.front().algorithm, to_text(runs.front().size),
                                   runs.front().note));
  for (const ExecutionRun& run : evaluation.runs)
    if (!run.problem.empty())
      problems.push_back(fmt::format("{}{}, {} {}: {}", label_prefix(evaluation.label),
                                     run.algorithm, evaluation.collective, to_text(run.size),
                                     run.problem));
  return problems;
}

StudyResult run_study(const ExecutionStudy& study, const StudyRun& how) {
  const auto made = std::make_shared<const ExecutionEvaluation>(evaluate_study(study, how));
  StudyResult result;
  result.files = {{"executions", execution_records(*made)}};
  result.texts = {{"nccl_tests.txt", nccl_tests_text(*made)}};
  result.kind = ExecutionStudy::kind;
  result.details = [made] { return execution_details(*made); };
  result.about = [made] { return about_executions(*made); };
  result.story = [made](const TableForm& form) { return execution_text(*made, form); };
  result.figures = [made] { return execution_figures(*made); };
  for (const ExecutionRun& one : made->runs)
    if (!one.execution && !result.unanswered) result.unanswered = {one.status, one.note};
  result.defects = problems_of(*made);
  result.comparisons = compare(study.expectations, result.files.front().records);
  for (std::size_t i = 0; i < study.expectations.size(); ++i)
    if (!made->copy_rate_note.empty() && is_rate(study.expectations[i]))
      result.comparisons[i].explanation = made->copy_rate_note;
  return result;
}

} // namespace tutti
