// `tutti frontier`: Pareto-optimal algorithms between latency and bandwidth, each verified, bounded
// and replayed, and the sizes from which on another one is best.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/cli/work_limits.hpp"
#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/records/csv.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/frontiers/display.hpp"
#include "experiments/driver/studies/frontiers/figure.hpp"
#include "experiments/driver/studies/frontiers/json.hpp"
#include "experiments/driver/studies/frontiers/records.hpp"
#include "experiments/driver/studies/frontiers/table.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace tutti {

namespace {

// A file says its own size.
std::vector<Bytes> sizes_of(const FrontierArguments& arguments, const Topology& topology) {
  if (!is_collective_file(arguments.collective))
    return parse_sizes(arguments.size.value_or("1KiB..1GiB"));
  if (arguments.size)
    throw InputError("--size: the size of a collective from a file is in the file");
  return {make_collective(topology, {{arguments.collective}, {}}, 1).size()};
}

FrontierCase case_of(const FrontierArguments& arguments, const Topology& topology) {
  FrontierCase c{.label = "",
                 .topology_label = topology.name(),
                 .topology = &topology,
                 .collective = arguments.collective,
                 .sizes = sizes_of(arguments, topology),
                 .options = {},
                 .engines = parse_engines(arguments.engine)};
  c.options.model = time_model(arguments.model);
  c.options.settings = parse_settings(arguments.settings);
  if (arguments.limit) set_limits(c.options, *arguments.limit);
  allow_memory(c.options);
  return c;
}

std::vector<std::string> write_files(const std::string& folder,
                                     const FrontierEvaluation& evaluation) {
  std::vector<std::string> files{folder + "/frontier.csv"};
  const FrontierStudyEvaluation study{evaluation, {}};
  write_file(files.front(), csv_text(csv_rows(frontier_records({&study, 1}))));
  if (evaluation.points.empty()) return files;
  if (!gnuplot_found()) {
    print_message("no figure: gnuplot isn't installed");
    return files;
  }
  files.push_back(fmt::format("{}/{}.svg", folder, file_stem("frontier", evaluation.label)));
  draw(frontier_figure(evaluation), files.back());
  return files;
}

/// Also that nothing was found.
std::vector<std::string> all_problems(const FrontierStudyEvaluation& study) {
  std::vector<std::string> problems = problems_of(study);
  for (std::string& problem : nothing_made(study)) problems.push_back(std::move(problem));
  return problems;
}

} // namespace

int frontier_command(const FrontierArguments& arguments) {
  const Topology topology = make_topology(arguments.topology);
  FrontierCase c = case_of(arguments, topology);
  FrontierRequest request = request_of(c);
  if (arguments.out) require_writable(*arguments.out + "/frontier.csv");
  const std::string what = fmt::format("{} on {}", c.collective, topology.name());
  Interrupts interrupts;
  InterruptibleWork work(interrupts, what, arguments.progress);
  work.watch(c.options);
  request.found = work.beside(point_announcer(what, arguments.progress));
  const FrontierStudyEvaluation study{evaluate_frontier(c, request), {}};
  const FrontierEvaluation& evaluation = study.frontier;
  if (arguments.json)
    print_text(json_text(frontier_json(evaluation)));
  else
    print_tables(frontier_text(evaluation, table_form(arguments.tables)));
  return conclude(
      {.interrupted = interrupts.count() > 0,
       .json = arguments.json,
       .folder = arguments.out,
       .write_files = [&](const std::string& folder) { return write_files(folder, evaluation); },
       .problems = all_problems(study)});
}

} // namespace tutti
