// `tutti import`: foreign programs in MSCCL XML as schedules: checked, bounded, replayed.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/requests/connection_paths.hpp"
#include "experiments/driver/studies/runs/busy_links.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/verify.hpp"
#include "sim/work_limit.hpp"
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

Evaluation evaluation_of(const Topology& topology, const std::string& algorithm,
                         const runtime::ForeignSchedule& foreign, const Verdict& verdict) {
  Evaluation e;
  e.topology = topology.name();
  e.collective = collective_text(topology, foreign.collective);
  e.algorithm = algorithm;
  e.size = foreign.collective.size();
  e.npus = topology.npu_count();
  e.chunks_per_shard = foreign.collective.parts.front().chunks_per_shard;
  e.chunks = foreign.collective.chunks.size();
  e.transfers = foreign.schedule.size();
  e.redundant = verdict.redundant;
  e.status = Status::feasible;
  e.verified = true;
  return e;
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

/// Verified, replayed by each discipline and written where asked for; nothing for a fault, which
/// is printed.
std::optional<Evaluation> imported(const ImportArguments& arguments, const Topology& topology,
                                   const runtime::MscclFile& file) {
  std::optional<Routing> routing;
  if (arguments.routing)
    routing = of_option("--routing", [&] { return parse_routing(*arguments.routing); });
  runtime::ForeignSchedule foreign = runtime::schedule_of(topology, file.program, routing);
  const double start = cpu_seconds();
  const Verdict verdict = verify(topology, foreign.collective, foreign.schedule);
  const double verify_seconds = cpu_seconds() - start;
  if (!verdict.correct()) {
    print_message(
        fmt::format("{}: {}: fault: {}", arguments.file, file.program.name, verdict.fault->text));
    return std::nullopt;
  }
  TimeModel model = time_model(arguments.model);
  Evaluation e = evaluation_of(topology, file.program.name, foreign, verdict);
  e.verify_seconds = verify_seconds;
  for (const Discipline discipline : disciplines_of(arguments)) {
    model.discipline = discipline;
    e.replays.push_back(
        replay(topology, foreign.collective, foreign.schedule, model,
               find_engine(discipline == Discipline::fluid ? "simgrid" : "native")));
    e.replay_seconds += e.replays.back().replay_seconds;
    e.bound_seconds += e.replays.back().bound_seconds;
    if (e.problem.empty()) e.problem = replay_problem(e.replays.back());
  }
  e.hottest_link = hottest_link(topology, e.replays.front().report);
  e.bottleneck = bottleneck(topology, e.replays.front().report);
  e.peak_rss_bytes = peak_rss_bytes();
  model.discipline = e.replays.front().report.model.discipline;
  if (!arguments.output.empty())
    write_schedule(arguments.output, topology,
                   {topology.name(), file.program.name, model, foreign.collective,
                    std::move(foreign.schedule)});
  return e;
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
