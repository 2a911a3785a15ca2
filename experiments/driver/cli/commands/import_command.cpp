// `tutti import`: foreign programs in MSCCL XML as schedules: checked, bounded, replayed, and under
// a transport held against NCCL. Which program is best for which size is a row for each of both.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/replay_files.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/requests/connection_paths.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
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
void add_paths(const ImportArguments& arguments, const std::string& source,
               const Topology& topology, const std::string& xml,
               std::vector<runtime::MscclFile>& programs) {
  const bool asked = !arguments.paths.empty();
  const std::string name = asked ? arguments.paths : paths_file_of(source);
  if (arguments.paths == "none" || (!asked && !std::filesystem::exists(name))) return;
  if (programs.size() != 1)
    throw InputError(
        fmt::format("{}: paths are of one program, but {} has {}", name, source, programs.size()));
  runtime::Program& program = programs.front().program;
  try {
    program.paths = parse_connection_paths(topology, read_input_file(name), name, xml);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (--paths none leaves the file out)", error.what()));
  }
  if (const std::size_t lacking = connections_without_path(program); lacking > 0)
    print_message(fmt::format("{}: {} connections of {} aren't there, and take what runtimes take",
                              name, lacking, source));
}

bool is_for(const runtime::MscclFile& file, Bytes size) {
  return size.count >= file.min_bytes.value_or(0) &&
         size.count <= file.max_bytes.value_or(INT64_MAX);
}

/// What a runtime wouldn't take it for.
std::string out_of_range(const runtime::MscclFile& file) {
  return fmt::format("outside its range of {} to {}: runtimes don't take it",
                     to_text(Bytes{file.min_bytes.value_or(0)}),
                     to_text(Bytes{file.max_bytes.value_or(INT64_MAX)}));
}

/// Those of a file that are asked for, with their warnings on stderr.
std::vector<runtime::MscclFile> programs_of(const ImportArguments& arguments,
                                            const std::string& source, const Topology& topology,
                                            Bytes size, bool is_first) {
  const std::optional<Collective> custom = custom_of(arguments, topology, size);
  const std::string xml = read_input_file(source);
  std::vector<runtime::MscclFile> programs =
      runtime::read_msccl_files(xml, source, size, custom ? &*custom : nullptr);
  add_paths(arguments, source, topology, xml, programs);
  if (arguments.program) {
    const std::uint32_t wanted = parse_count("--program", *arguments.program, 1, 1 << 20);
    if (wanted > programs.size())
      throw InputError(fmt::format("--program {}: {} has {}", wanted, source, programs.size()));
    programs = {programs[wanted - 1]};
  }
  if (programs.size() > 1 && !arguments.output.empty())
    throw InputError(fmt::format("{} has {} programs: say with --program which of them {} is to "
                                 "be",
                                 source, programs.size(), arguments.output));
  for (const runtime::MscclFile& file : programs) {
    if (!is_first) break; // of other sizes they are the same
    for (const std::string& warning : file.warnings)
      print_message(warning.starts_with(source + ":") ? warning
                                                      : fmt::format("{}: {}", source, warning));
  }
  return programs;
}

/// SimGrid is asked for what the native engine doesn't know.
Report run_either(const Topology& topology, const Collective& collective, const Schedule& schedule,
                  const TimeModel& model, const RunOptions& options) {
  const EngineFunction run = model.discipline == Discipline::fluid ? run_simgrid : run_native;
  return run(topology, collective, schedule, model, options);
}
constexpr EngineRow native_or_simgrid{"native", run_either, true, ""};

/// What is evaluated: programs that are made already, and what they are held against.
struct Imported {
  Case c;
  std::optional<Attempt> made;       ///< none: NCCL's
  std::shared_ptr<std::string> name; ///< which the case points to
  std::string note;
};

/// Nothing for a fault, which is printed. `name`: in rows.
std::optional<Imported> imported(const ImportArguments& arguments, const std::string& source,
                                 const std::string& name, const Topology& topology,
                                 const runtime::MscclFile& file, Bytes size) {
  std::optional<Routing> routing;
  if (arguments.routing)
    routing = of_option("--routing", [&] { return parse_routing(*arguments.routing); });
  runtime::ForeignSchedule foreign = runtime::schedule_of(topology, file.program, routing);
  LibraryChoice library = runtime::library_of(foreign, file.protocol);
  ScheduleFile given{topology.name(), name, time_model(arguments.model),
                     std::move(foreign.collective), std::move(foreign.schedule)};
  Imported one{given_case(topology, given), {}, std::make_shared<std::string>(name), {}};
  one.c.algorithm.name = *one.name;
  if (!is_for(file, size)) one.note = out_of_range(file);
  one.c.disciplines = disciplines_of(arguments);
  one.c.engine = &native_or_simgrid;
  one.c.schedule_file = arguments.output;
  one.c.transport = of_option("--transport", [&] { return parse_transport(arguments.transport); });
  one.c.over_nccl = one.c.transport != nullptr;
  one.made = given_attempt(topology, given);
  one.made->outcome.library = std::move(library);
  if (one.made->usable()) return one;
  print_message(
      fmt::format("{}: {}: fault: {}", source, file.program.name, one.made->verdict.fault->text));
  return std::nullopt;
}

/// For each size its programs, and NCCL where there is a transport.
std::optional<std::vector<Imported>> all_imported(const ImportArguments& arguments,
                                                  const Topology& topology,
                                                  std::span<const Bytes> sizes) {
  std::vector<Imported> all;
  for (const Bytes size : sizes) {
    const std::size_t first = all.size();
    for (const std::string& source : arguments.files) {
      const std::vector<runtime::MscclFile> programs =
          programs_of(arguments, source, topology, size, size == sizes.front());
      for (std::size_t p = 0; p < programs.size(); ++p) {
        std::string name = programs[p].program.name;
        if (arguments.files.size() > 1) // names are often alike
          name = std::filesystem::path(source).stem().string() +
                 (programs.size() > 1 ? fmt::format("#{}", p + 1) : "");
        std::optional<Imported> one =
            imported(arguments, source, name, topology, programs[p], size);
        if (!one) return std::nullopt;
        all.push_back(std::move(*one));
      }
    }
    if (!all[first].c.transport || !arguments.collective.empty()) continue;
    Case theirs = all[first].c;
    theirs.algorithm = find_algorithm(nccl_of(topology));
    theirs.chunks = std::nullopt;
    theirs.schedule_file.clear();
    all.push_back({std::move(theirs), {}, {}, {}});
  }
  return all;
}

/// One line for each program, of all its sizes.
void tell_ranges(std::span<const Imported> all) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> sizes;
  for (const Imported& one : all)
    if (!one.note.empty()) sizes[{*one.name, one.note}].push_back(to_text(one.c.collective.size));
  for (const auto& [program, of] : sizes)
    print_message(fmt::format("{}: {} {}", program.first, few_of(of), program.second));
}

/// "ag_ll up to 512KiB, nccl beyond": who takes least, of the programs that a runtime takes.
std::string best_by_size(std::span<const Evaluation> evaluations, std::span<const Imported> all,
                         bool with_nccl) {
  std::map<std::int64_t, std::pair<Time, std::string>> best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Evaluation& e = evaluations[i];
    if (e.replays.empty() || !all[i].note.empty() || (!all[i].made && !with_nccl)) continue;
    const std::pair time(e.replays.front().report.completion, e.algorithm);
    const auto [place, is_new] = best.try_emplace(e.size.count, time);
    if (time < place->second) place->second = time;
  }
  if (best.empty()) return "none is for these sizes";
  std::int64_t largest = 0;
  for (const Evaluation& e : evaluations) largest = std::max(largest, e.size.count);
  std::string text;
  for (auto at = best.begin(); at != best.end(); ++at) {
    const auto next = std::next(at);
    if (next != best.end() && next->second.second == at->second.second) continue;
    const bool is_last =
        next == best.end() && at->first == largest; // nobody is known beyond others
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", at->second.second,
                        is_last ? (text.empty() ? "" : " beyond")
                                : " up to " + to_text(Bytes{at->first}));
  }
  return text;
}

} // namespace

int import_command(const ImportArguments& arguments) {
  LabelledTopology network{"", arguments.topology, make_topology_and_report(arguments.topology)};
  const Topology& topology = network.topology;
  network.label = topology.name();
  const std::vector<Bytes> sizes =
      of_option("--size", [&] { return parse_sizes(arguments.sizes); });
  static_cast<void>(disciplines_of(arguments));
  if (!arguments.output.empty() && (arguments.files.size() > 1 || sizes.size() > 1))
    throw InputError("-o takes one schedule: name one file and one size");
  std::vector<std::string> inputs = arguments.files;
  inputs.push_back(arguments.paths);
  require_outputs(inputs, {arguments.output, arguments.explore});
  ReplayFiles files;
  files.explore = arguments.explore;
  std::optional<std::vector<Imported>> all = all_imported(arguments, topology, sizes);
  if (!all) return 1;
  tell_ranges(*all);
  std::vector<Case> cases;
  for (const Imported& one : *all) cases.push_back(one.c);
  require_drawable(files, cases.front());
  const std::unique_ptr<ScratchFolder> records = record_for(files, cases);
  const std::vector<Evaluation> evaluations =
      evaluated_over_nccl(cases, [&](std::span<const Case> asked) {
        std::vector<Evaluation> made;
        for (std::size_t i = 0; i < asked.size(); ++i) {
          const bool is_given = i < all->size() && (*all)[i].made;
          made.push_back(is_given ? evaluate_given(asked[i], std::move(*(*all)[i].made))
                                  : evaluate(asked[i]));
          if (is_given && !(*all)[i].note.empty()) made.back().note = (*all)[i].note;
        }
        return made;
      });
  if (arguments.json)
    print_text(answer_json("import", run_rows_json(evaluations, LinkDetail::all)));
  else
    print_tables(report_text(evaluations, table_form(arguments.tables)));
  if (!arguments.json && sizes.size() > 1 && arguments.files.size() > 1)
    print_text(fmt::format("best program: {}\n", best_by_size(evaluations, *all, false)));
  if (!arguments.json && sizes.size() > 1 && evaluations.back().algorithm == nccl_of(topology))
    print_text(
        fmt::format("beside {}: {}\n", nccl_of(topology), best_by_size(evaluations, *all, true)));
  const bool is_written = write_replay_files(files, network, cases, evaluations);
  return std::max(report_problems(problems_of(evaluations)), is_written ? 0 : 1);
}

} // namespace tutti
