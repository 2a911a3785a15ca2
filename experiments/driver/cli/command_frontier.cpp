// `tutti frontier`: Pareto-optimal algorithms between latency and bandwidth, each verified, bounded
// and replayed, and the sizes from which on another one is best.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/cli/work_limits.hpp"
#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/studies/frontiers/display.hpp"
#include "sim/error.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <utility>

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

} // namespace

int frontier_command(const FrontierArguments& arguments) {
  const Topology topology = make_topology(arguments.topology);
  FrontierCase c = case_of(arguments, topology);
  FrontierRequest request = request_of(c);
  require_writable(arguments.out, "frontier.csv");
  const std::string what = fmt::format("{} on {}", c.collective, topology.name());
  Interrupts interrupts;
  InterruptibleWork work(interrupts, what, arguments.progress);
  work.watch(c.options);
  request.found = work.beside(point_announcer(what, arguments.progress));
  FrontierEvaluation evaluation = evaluate_frontier(c, request);
  return conclude(result_of(FrontierStudyEvaluation{std::move(evaluation), {}}),
                  {.command = "frontier",
                   .tables = arguments.tables,
                   .json = arguments.json,
                   .folder = arguments.out,
                   .interrupted = interrupts.count() > 0});
}

} // namespace tutti
