// `tutti import`: foreign programs in MSCCL XML as schedules: checked, bounded, replayed.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/requests/connection_paths.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/schedule_file.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <tuple>

namespace tutti {

namespace {

// What a program with coll="custom" is for. A named collective has one chunk a shard.
std::optional<Collective> custom_of(const ImportArguments& arguments, const Topology& topology,
                                    Bytes size) {
  if (arguments.collective.empty()) return std::nullopt;
  return make_collective(topology, {{arguments.collective}, size}, 1);
}

std::vector<Discipline> disciplines_of(const ImportArguments& arguments) {
  return of_option("--discipline", [&] { return parse_disciplines(arguments.disciplines); });
}

// Runtimes choose a path themselves where none is said: the output says how many do.
std::size_t connections_without_path(const runtime::Program& program) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> known;
  for (const runtime::ConnectionPath& path : program.paths)
    known.insert({path.from, path.to, path.channel});
  std::size_t lacking = 0;
  for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank)
    for (const runtime::Block& block : program.ranks[rank].blocks)
      if (block.sends_to && !known.contains({rank, *block.sends_to, block.channel})) ++lacking;
  return lacking;
}

/// The paths that a file says, put into the only program.
void add_paths(const ImportArguments& arguments, const Topology& topology, const std::string& xml,
               std::vector<runtime::MscclFile>& programs) {
  const bool asked = !arguments.paths.empty();
  const std::string name = asked ? arguments.paths : paths_file_of(arguments.file);
  if (arguments.paths == "none" || (!asked && !std::filesystem::exists(name))) return;
  if (programs.size() != 1)
    throw InputError(fmt::format("{}: paths are of one program, but {} has {}", name,
                                 arguments.file, programs.size()));
  runtime::Program& program = programs.front().program;
  try {
    program.paths = parse_connection_paths(topology, read_input_file(name), name, xml);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (--paths none leaves the file out)", error.what()));
  }
  if (const std::size_t lacking = connections_without_path(program); lacking > 0)
    print_message(fmt::format("{}: {} connections of {} aren't there, and take what runtimes take",
                              name, lacking, arguments.file));
}

/// Those that are asked for, with their warnings on stderr.
std::vector<runtime::MscclFile> programs_of(const ImportArguments& arguments,
                                            const Topology& topology, Bytes size) {
  const std::optional<Collective> custom = custom_of(arguments, topology, size);
  const std::string xml = read_input_file(arguments.file);
  std::vector<runtime::MscclFile> programs =
      runtime::read_msccl_files(xml, arguments.file, size, custom ? &*custom : nullptr);
  add_paths(arguments, topology, xml, programs);
  if (arguments.program) {
    const std::uint32_t wanted = parse_count("--program", *arguments.program, 1, 1 << 20);
    if (wanted > programs.size())
      throw InputError(
          fmt::format("--program {}: {} has {}", wanted, arguments.file, programs.size()));
    programs = {programs[wanted - 1]};
  }
  if (programs.size() > 1 && !arguments.output.empty())
    throw InputError(fmt::format("{} has {} programs: say with --program which of them {} is to "
                                 "be",
                                 arguments.file, programs.size(), arguments.output));
  for (const runtime::MscclFile& file : programs)
    for (const std::string& warning : file.warnings)
      print_message(warning.starts_with(arguments.file + ":")
                        ? warning
                        : fmt::format("{}: {}", arguments.file, warning));
  return programs;
}

/// SimGrid is asked for what the native engine doesn't know.
Report run_either(const Topology& topology, const Collective& collective, const Schedule& schedule,
                  const TimeModel& model, const RunOptions& options) {
  const EngineFunction run = model.discipline == Discipline::fluid ? run_simgrid : run_native;
  return run(topology, collective, schedule, model, options);
}
constexpr EngineRow native_or_simgrid{"native", run_either, true, ""};

/// Verified, evaluated and written where asked for; nothing for a fault, which is printed.
std::optional<Evaluation> imported(const ImportArguments& arguments, const Topology& topology,
                                   const runtime::MscclFile& file) {
  std::optional<Routing> routing;
  if (arguments.routing)
    routing = of_option("--routing", [&] { return parse_routing(*arguments.routing); });
  runtime::ForeignSchedule foreign = runtime::schedule_of(topology, file.program, routing);
  ScheduleFile given{topology.name(), file.program.name, time_model(arguments.model),
                     std::move(foreign.collective), std::move(foreign.schedule)};
  Case c = given_case(topology, given);
  c.disciplines = disciplines_of(arguments);
  c.engine = &native_or_simgrid;
  c.schedule_file = arguments.output;
  Attempt made = given_attempt(topology, given);
  if (made.usable()) return evaluate_given(c, std::move(made));
  print_message(fmt::format("{}: {}: fault: {}", arguments.file, file.program.name,
                            made.verdict.fault->text));
  return std::nullopt;
}

} // namespace

int import_command(const ImportArguments& arguments) {
  const Topology topology = make_topology_and_report(arguments.topology);
  const Bytes size = of_option("--size", [&] { return parse_bytes(arguments.size); });
  static_cast<void>(disciplines_of(arguments));
  require_outputs({arguments.file, arguments.paths}, {arguments.output});
  std::vector<Evaluation> evaluations;
  for (const runtime::MscclFile& file : programs_of(arguments, topology, size)) {
    std::optional<Evaluation> evaluation = imported(arguments, topology, file);
    if (!evaluation) return 1;
    evaluations.push_back(std::move(*evaluation));
  }
  if (arguments.json)
    print_text(answer_json("import", run_rows_json(evaluations, LinkDetail::all)));
  else
    print_tables(report_text(evaluations, table_form(arguments.tables)));
  return report_problems(problems_of(evaluations));
}

} // namespace tutti
