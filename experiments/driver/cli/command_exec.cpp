// `tutti exec`: schedules run with real data, every element checked, beside what the engines
// predict.
#include "experiments/driver/cli/backend_request.hpp"
#include "experiments/driver/cli/collective_request.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/cli/work_limits.hpp"
#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/studies/executions/display.hpp"
#include "experiments/driver/studies/executions/study.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/verify.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace tutti {

namespace {

SynthesisOptions options_of(const ExecArguments& arguments) {
  SynthesisOptions options;
  options.model = time_model(arguments.model);
  options.seed = parse_seed(arguments.seed);
  if (arguments.limit) set_limits(options, *arguments.limit);
  allow_memory(options);
  options.settings = parse_settings(arguments.settings);
  return options;
}

GivenExecution given_program(const ExecArguments& arguments, const Topology& topology) {
  if (!arguments.size) throw InputError("--size: a program doesn't say it: give one");
  const Bytes size = of_option("--size", [&] { return parse_bytes(*arguments.size); });
  std::optional<Collective> custom;
  if (!arguments.collectives.empty())
    custom = make_collective(topology, {arguments.collectives, size}, 1);
  runtime::MscclFile file = runtime::load_msccl(arguments.file, size, custom ? &*custom : nullptr);
  for (const std::string& warning : file.warnings)
    print_message(warning.starts_with(arguments.file + ":")
                      ? warning
                      : fmt::format("{}: {}", arguments.file, warning));
  runtime::ForeignSchedule foreign = runtime::schedule_of(topology, file.program);
  return {file.program.name, std::move(foreign.collective), std::move(foreign.schedule),
          std::move(file.program)};
}

GivenExecution given_schedule(const ExecArguments& arguments, const Topology& topology) {
  if (arguments.size) throw InputError("--size: a schedule says its own");
  ScheduleFile file = read_schedule(arguments.file, topology);
  if (file.compact)
    throw InputError(fmt::format("{}: {} transfers are too many", arguments.file, file.size()));
  const Verdict verdict = verify(topology, file.collective, file.schedule);
  if (!verdict.correct())
    throw InputError(fmt::format("{}: fault: {}", arguments.file, verdict.fault->text));
  return {file.algorithm, std::move(file.collective), std::move(file.schedule), std::nullopt};
}

void read_work(const ExecArguments& arguments, const Topology& topology, ExecutionCase& c) {
  const bool program = arguments.file.ends_with(".xml"); // -c says what a custom one is for
  const bool named = !arguments.algorithms.empty() || (!program && !arguments.collectives.empty());
  if (arguments.file.empty() == !named)
    throw InputError("what runs? give a schedule or MSCCL XML, or -c and -a");
  if (!named) {
    if (arguments.chunks || arguments.limit || !arguments.settings.empty())
      throw InputError("--chunks, --limit and --set are for algorithms, not for a file");
    if (program && (c.lowering.in_place || c.lowering.instances > 1))
      throw InputError("--in-place and --instances are for what is lowered, not for a program");
    c.given = program ? given_program(arguments, topology) : given_schedule(arguments, topology);
    if (program) c.lowering.in_place = c.given->program->in_place;
    c.collective = collective_text(topology, c.given->collective);
    return;
  }
  if (arguments.collectives.size() != 1) throw InputError("-c: name one collective");
  c.collective = arguments.collectives.front();
  c.sizes =
      of_option("--size", [&] { return parse_sizes(arguments.size.value_or("1MiB..16MiB")); });
  c.algorithms = find_algorithms(arguments.algorithms);
  if (arguments.chunks)
    c.chunks = of_option("--chunks", [&] { return parse_chunks(*arguments.chunks); });
}

ExecutionCase case_of(const ExecArguments& arguments, const Topology& topology) {
  ExecutionCase c;
  c.topology = &topology;
  c.topology_label = topology.name();
  read_backend(arguments.backend, c);
  c.predicted_by =
      of_option("--predicted-by", [&] { return parse_predicted_by(arguments.predicted_by); });
  c.request.type = of_option("--type", [&] { return runtime::parse_element_type(arguments.type); });
  c.request.combine = of_option("--op", [&] { return runtime::parse_combine(arguments.combine); });
  c.request.warmups = parse_count("--warmups", arguments.warmups, 0, 10'000);
  c.request.copy_per_step = arguments.copy_per_step;
  c.lowering.instances = parse_count("--instances", arguments.instances, 1, 64);
  c.lowering.in_place = arguments.in_place;
  c.options = options_of(arguments);
  read_work(arguments, topology, c);
  require_sound(c);
  return c;
}

} // namespace

int exec_command(const ExecArguments& arguments) {
  const Topology topology = make_topology(arguments.topology);
  ExecutionCase c = case_of(arguments, topology);
  require_writable(arguments.out, "executions.csv");
  Interrupts interrupts;
  InterruptibleWork work(interrupts, topology.name(), arguments.progress);
  work.watch(c.options);
  Refusals refusals;
  ExecutionEvaluation made =
      evaluate_execution(c, work.beside(execution_announcer("", arguments.progress)), refusals);
  work.finish();
  about_topology(arguments.topology, topology.name(), [&] {
    if (interrupts.count() == 0) refusals.require_some();
  });
  StudyResult result = result_of(std::move(made));
  if (arguments.nccl_tests)
    result.story = [text = result.texts.front().text](const TableForm&) { return text; };
  return conclude(result, {.command = "exec",
                           .tables = arguments.tables,
                           .json = arguments.json,
                           .folder = arguments.out,
                           .interrupted = interrupts.count() > 0});
}

} // namespace tutti
