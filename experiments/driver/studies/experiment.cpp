// Reads an experiment's file as a whole before anything runs, topologies first: all other tables
// refer to them by label. Each kind of study has a reader of its own in its folder; what is common
// to them stands in experiment_values. Whoever adds a kind adds it here and in its folder.
#include "experiments/driver/studies/experiment.hpp"

#include "experiments/driver/studies/executions/reader.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/failures/reader.hpp"
#include "experiments/driver/studies/frontiers/reader.hpp"
#include "experiments/driver/studies/jobs/reader.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/training/reader.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace tutti {

namespace {

constexpr std::size_t most_cases = 100'000; // a product of lists grows fast; more is a slip

std::vector<LabelledTopology> read_topologies(ConfigTable& root, const std::string& source_name) {
  std::vector<LabelledTopology> topologies;
  ConfigTable table = root.at("topologies").table();
  for (const std::string& label : table.keys()) {
    const ConfigValue value = table.at(label);
    value.located([&] { require_one_line(label); });
    const std::string text = value.string();
    const std::string found = topology_beside(text, source_name);
    topologies.push_back({label, text, value.located([&] { return make_topology(found); })});
  }
  if (topologies.empty()) throw table.error("no topology is named");
  return topologies;
}

// Fills in sizes and chunks, which may depend on each other.
void read_sizes(ConfigTable& table, RunMatrix& run) {
  run.chunks = list_at(table, "chunks", std::vector<std::optional<std::uint32_t>>{}, chunks_of);
  const auto per_chunk = table.find("sizes_per_chunk");
  run.sizes_are_per_chunk = per_chunk.has_value();
  run.sizes = sizes_at(table, per_chunk ? "sizes_per_chunk" : "sizes", "1GiB");
  if (!per_chunk) return;
  if (run.chunks.empty()) run.chunks = {1};
  if (std::find(run.chunks.begin(), run.chunks.end(), std::nullopt) != run.chunks.end())
    throw per_chunk->error("\"sizes_per_chunk\" needs numbers of chunks, not \"auto\"");
  for (const Bytes size : run.sizes)
    for (const auto& chunks : run.chunks)
      if (size.count > std::numeric_limits<std::int64_t>::max() / *chunks)
        throw per_chunk->error("the size of so many chunks overflows");
}

RunMatrix read_run(ConfigTable table, const Experiment& experiment) {
  RunMatrix run;
  if (const auto label = table.find("label")) run.label = plain_label(*label);
  std::vector<std::size_t> all(experiment.topologies.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  run.topologies = list_at(table, "topologies", all, [&](const ConfigValue& value) {
    return topology_index(value, experiment.topologies);
  });
  for (const ConfigValue& item : list_of(table.at("collectives")))
    run.collectives.push_back(texts_of(item));
  read_sizes(table, run);
  run.algorithms = algorithms_at(table);
  run.options = options_of(table, experiment.seed);
  run.options.routing = parsed_at(table, "routing", "auto", parse_routing);
  if (const auto threads = table.find("threads"))
    run.options.threads = static_cast<unsigned>(threads->integer(1, 1024));
  if (const auto settings = table.find("settings"))
    settings->located([&] { require_known_settings(run.algorithms, run.options); });
  run.engine = parsed_at(table, "engine", "simgrid",
                         [](const std::string& name) { return &find_engine(name); });
  run.disciplines = list_at(table, "disciplines", std::vector{Discipline::fifo},
                            [&run](const ConfigValue& value) {
                              const Discipline discipline = parsed(value, parse_discipline);
                              value.located([&] { require_discipline(*run.engine, discipline); });
                              return discipline;
                            });
  run.bound = parsed_at(table, "bound", "quick", parse_bound_effort);
  if (run.collectives.empty()) throw table.error("no collective is named");
  table.finish();
  return run;
}

// Before the cases are made: a product of a few ranges may be more than memory holds.
double case_count(const RunMatrix& run) { // of sizes of lists in memory: a double can't overflow
  double cases = 1;
  for (const std::size_t count :
       {run.topologies.size(), run.collectives.size(), run.sizes.size(),
        std::max(run.chunks.size(), std::size_t{1}), run.algorithms.size()})
    cases *= static_cast<double>(count);
  return cases;
}

// The texts stand in the order of FigureKind.
FigureKind parse_figure_kind(const std::string& text) {
  const std::vector<std::string> known{"heatmap", "utilisation", "bars",    "sizes",
                                       "chunks",  "scaling",     "schedule"};
  const auto found = std::find(known.begin(), known.end(), text);
  if (found == known.end()) throw InputError(unknown_name("kind of figure", text, known));
  return static_cast<FigureKind>(found - known.begin());
}

LinkQuantity parse_link_quantity(const std::string& text) {
  const std::vector<std::string> known{"utilisation", "bytes"};
  if (text == known[0]) return LinkQuantity::utilisation;
  if (text == known[1]) return LinkQuantity::bytes;
  throw InputError(unknown_name("quantity", text, known));
}

// What the figure shows of its evaluations; a key that its kind doesn't know stays unread.
void read_axes(ConfigTable& table, FigureRequest& figure) {
  const FigureKind kind = figure.kind;
  if (kind == FigureKind::schedule) return;
  if (kind == FigureKind::heatmap || kind == FigureKind::utilisation) {
    figure.quantity = parsed_at(table, "quantity", "utilisation", parse_link_quantity);
    return;
  }
  figure.metric = parsed_at(table, "metric", "algbw", parse_metric);
  if (kind == FigureKind::scaling) {
    figure.over = parsed_at(table, "over", "npus", parse_problem_size);
    return;
  }
  if (const auto normalized = table.find("normalized")) {
    if (normalized->is_string())
      figure.reference = parsed(*normalized, find_algorithm).name;
    else if (kind == FigureKind::bars)
      figure.normalized = normalized->boolean();
    else
      throw normalized->error("\"normalized\" of curves is the name of an algorithm");
  }
  if (kind != FigureKind::bars) return;
  if (const auto logarithmic = table.find("logarithmic"))
    figure.logarithmic = logarithmic->boolean();
}

FigureRequest read_figure(ConfigTable table, const Experiment& experiment) {
  FigureRequest figure;
  const ConfigValue kind = table.at("kind");
  figure.kind = parsed(kind, parse_figure_kind);
  figure.file = plain_name(table.at("file"));
  figure.title = string_at(table, "title");
  if (figure.title.empty()) figure.title = experiment.title;
  figure.topologies =
      list_at(table, "topologies", std::vector<std::string>{}, [&](const ConfigValue& value) {
        return experiment.topologies[topology_index(value, experiment.topologies)].label;
      });
  figure.algorithms =
      list_at(table, "algorithms", std::vector<std::string>{}, [](const ConfigValue& value) {
        return std::string(parsed(value, find_algorithm).name);
      });
  read_axes(table, figure);
  table.finish();
  return figure;
}

// All but the head, figures and expectations.
void read_parts(ConfigTable& root, const std::string& source_name, Experiment& experiment) {
  constexpr std::array parts{"runs", "frontiers", "failures", "jobs", "training", "executions"};
  const bool only_includes =
      root.has("include") && !root.has("topologies") &&
      std::ranges::none_of(parts, [&](const char* part) { return root.has(part); });
  if (only_includes) return;
  experiment.topologies = read_topologies(root, source_name);
  double cases_so_far = 0;
  for (ConfigTable& table : root.tables("runs")) {
    experiment.runs.push_back(read_run(table, experiment));
    cases_so_far += case_count(experiment.runs.back());
    if (cases_so_far > most_cases)
      throw table.error(fmt::format("{:.0f} cases, more than {}", cases_so_far, most_cases));
  }
  for (ConfigTable& table : root.tables("frontiers"))
    experiment.frontiers.push_back(read_frontier(table, experiment));
  for (ConfigTable& table : root.tables("failures"))
    experiment.failures.push_back(read_failures(table, experiment, source_name));
  for (ConfigTable& table : root.tables("jobs"))
    experiment.jobs.push_back(read_jobs(table, experiment));
  for (ConfigTable& table : root.tables("training"))
    experiment.trainings.push_back(read_training(table, experiment, source_name));
  for (ConfigTable& table : root.tables("executions"))
    experiment.executions.push_back(read_execution(table, experiment));
  if (experiment.runs.empty() && experiment.frontiers.empty() && experiment.failures.empty() &&
      experiment.jobs.empty() && experiment.trainings.empty() && experiment.executions.empty())
    throw root.error("needs at least one [[runs]], [[frontiers]], [[failures]], [[jobs]], "
                     "[[training]] or [[executions]]");
}

Experiment read(ConfigTable root, const std::string& source_name, bool may_include = true);

// Another file's executions and their topologies.
void include_executions(const ConfigValue& value, const std::string& source_name,
                        Experiment& experiment) {
  const std::string name = plain_name(value), file = beside(name + ".toml", source_name);
  const Experiment other = value.located([&] { return read(read_config(file), file, false); });
  if (!other.runs.empty() || !other.frontiers.empty() || !other.failures.empty() ||
      !other.jobs.empty() || !other.trainings.empty())
    throw value.error("\"" + name + "\" has more than executions");
  const std::size_t first_topology = experiment.topologies.size();
  for (const LabelledTopology& each : other.topologies) experiment.topologies.push_back(each);
  for (ExecutionStudy study : other.executions) {
    study.label = study.execution.label = name + ": " + study.label;
    require_own_files(value, study.label, experiment.executions);
    study.topology += first_topology;
    experiment.executions.push_back(std::move(study));
  }
}

Experiment read(ConfigTable root, const std::string& source_name, bool may_include) {
  Experiment experiment;
  root.allow_only({"name", "title", "seed", "topologies", "runs", "frontiers", "failures", "jobs",
                   "training", "executions", "include", "figures", "expect"});
  experiment.name = plain_name(root.at("name"));
  experiment.title = string_at(root, "title");
  if (experiment.title.empty()) experiment.title = experiment.name;
  if (const auto seed = root.find("seed"))
    experiment.seed = static_cast<std::uint64_t>(seed->integer(0));
  read_parts(root, source_name, experiment);
  if (const auto names = root.find("include")) {
    if (!may_include) throw names->error("what another experiment includes includes no others");
    if (names->array().empty()) throw names->error("\"include\" is empty");
    std::vector<std::string> included;
    for (const ConfigValue& value : names->array()) {
      if (std::ranges::find(included, value.string()) != included.end())
        throw value.error("\"" + value.string() + "\" is included twice");
      included.push_back(value.string());
      include_executions(value, source_name, experiment);
    }
  }
  for (ConfigTable& table : root.tables("figures"))
    experiment.figures.push_back(read_figure(table, experiment));
  const std::vector<Case> cases = experiment.cases();
  for (ConfigTable& table : root.tables("expect"))
    experiment.expectations.push_back(read_expectation(table, experiment, cases));
  root.finish();
  return experiment;
}

} // namespace

Bytes RunMatrix::case_size(Bytes size, const std::optional<std::uint32_t>& case_chunks) const {
  return sizes_are_per_chunk ? Bytes{size.count * *case_chunks} : size;
}

// The order is that of tables, and expectations hold indices into it: it must not change between
// reading and running.
std::vector<Case> Experiment::cases() const {
  std::vector<Case> all;
  const std::vector<std::optional<std::uint32_t>> unsaid(1);
  for (const RunMatrix& run : runs)
    for (const std::size_t t : run.topologies)
      for (const auto& collective : run.collectives)
        for (const Bytes size : run.sizes)
          for (const auto& chunks : run.chunks.empty() ? unsaid : run.chunks)
            for (const AlgorithmRow& algorithm : run.algorithms) {
              const CollectiveRequest request{collective, run.case_size(size, chunks)};
              all.push_back({.run = run.label,
                             .topology_label = topologies[t].label,
                             .topology = &topologies[t].topology,
                             .collective = request,
                             .algorithm = algorithm,
                             .chunks = chunks,
                             .options = options_for(algorithm, run.options),
                             .engine = run.engine,
                             .disciplines = run.disciplines,
                             .bound = run.bound,
                             .schedule_file = {}});
            }
  return all;
}

FrontierCase Experiment::frontier_case(const FrontierStudy& study) const {
  const LabelledTopology& topology = topologies[study.topology];
  return {.label = study.label,
          .topology_label = topology.label,
          .topology = &topology.topology,
          .collective = study.collective,
          .sizes = study.sizes,
          .options = study.options,
          .engines = all_engines()};
}

ExecutionCase Experiment::execution_case(const ExecutionStudy& study) const {
  ExecutionCase c = study.execution;
  c.topology_label = topologies[study.topology].label;
  c.topology = &topologies[study.topology].topology;
  return c;
}

std::vector<FailureCase> Experiment::failure_cases(const FailureStudy& study) const {
  std::vector<FailureCase> all;
  for (const AlgorithmRow& algorithm : study.algorithms) {
    FailureCase c = study.common;
    c.label = study.label;
    c.topology_label = topologies[study.topology].label;
    c.topology = &topologies[study.topology].topology;
    c.algorithm = algorithm;
    c.planner = study.planner.value_or(default_planner(algorithm));
    all.push_back(std::move(c));
  }
  return all;
}

std::vector<TrainingNetwork> Experiment::networks_of(const TrainingStudy& study) const {
  std::vector<TrainingNetwork> networks;
  for (const std::size_t t : study.topologies)
    networks.push_back({topologies[t].label, &topologies[t].topology});
  return networks;
}

Experiment parse_experiment(std::string_view toml, const std::string& source_name) {
  return read(parse_config(toml, source_name), source_name);
}

Experiment unnamed_experiment(ConfigTable table, const std::string& source_name,
                              std::uint64_t seed) {
  Experiment experiment;
  experiment.seed = seed;
  read_parts(table, source_name, experiment);
  table.finish();
  return experiment;
}

Experiment read_experiment(const std::string& file) {
  return parse_experiment(read_file(file), file);
}

} // namespace tutti
