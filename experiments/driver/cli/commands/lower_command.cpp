// `tutti lower`: a schedule as a program for each rank, checked, and as XML for MSCCL's runtime.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/requests/connection_paths.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "runtime/formats/msccl/fit.hpp"
#include "runtime/formats/msccl/runtimes.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "runtime/lowering/lowering.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/text.hpp"
#include "sim/verify.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace tutti {

namespace {

runtime::LoweringOptions lowering_of(const LowerArguments& arguments, const std::string& name) {
  runtime::LoweringOptions options;
  options.name = name;
  options.instances = parse_count("--instances", arguments.instances, 1, 64);
  options.most_channels = parse_count("--channels", arguments.channels, 1, 1024);
  options.in_place = arguments.in_place;
  options.share_blocks = arguments.share_blocks;
  return options;
}

// 0 may stand without a unit.
std::int64_t parse_limit(const std::string& option, const std::string& text) {
  return text == "0" ? 0 : of_option(option, [&] { return parse_bytes(text).count; });
}

runtime::MscclOptions msccl_of(const LowerArguments& arguments) {
  runtime::MscclOptions options;
  options.protocol = arguments.protocol;
  options.min_bytes = parse_limit("--min-bytes", arguments.min_bytes);
  if (!arguments.max_bytes.empty())
    options.max_bytes = parse_limit("--max-bytes", arguments.max_bytes);
  return options;
}

struct ProgramFigures {
  std::size_t blocks = 0, most_blocks = 0, steps = 0, longest = 0; ///< most, longest: of any rank
  std::uint32_t channels = 0, scratch = 0, units = 0;
  double seconds = 0; ///< CPU: lowering and check
};

ProgramFigures figures_of(const runtime::Program& program, double seconds) {
  ProgramFigures figures{.steps = program.step_count(),
                         .channels = program.channel_count(),
                         .units = program.unit_count(),
                         .seconds = seconds};
  for (const runtime::RankProgram& rank : program.ranks) {
    figures.blocks += rank.blocks.size();
    figures.most_blocks = std::max(figures.most_blocks, rank.blocks.size());
    figures.scratch = std::max(figures.scratch, rank.scratch);
    for (const runtime::Block& block : rank.blocks)
      figures.longest = std::max(figures.longest, block.steps.size());
  }
  return figures;
}

using Runtimes = std::vector<const runtime::MscclRuntime*>;

std::vector<std::string> names_of(const Runtimes& runtimes, std::string_view between) {
  std::vector<std::string> names;
  for (const runtime::MscclRuntime* one : runtimes)
    names.push_back(fmt::format("{}{}{}", one->name, between, one->version));
  return names;
}

/// A schedule and its program.
struct Lowered {
  std::string name; ///< of the file
  ScheduleFile file;
  std::string collective; ///< as asked for
  runtime::FittedProgram fitted;
  ProgramFigures figures;
  /// Collective time of the schedule, of the program on its own paths, and of the program on the
  /// paths that runtimes take.
  Time planned, kept, taken;
  std::vector<runtime::ConnectionPath> not_taken;
};

Fields<Lowered> lowered_fields() {
  using R = Lowered;
  using namespace column_words;
  const auto figure = [](auto member) {
    return [member](const R& r) { return r.figures.*member; };
  };
  return {{{"algorithm", text, key}, [](const R& r) { return r.fitted.program.name; }},
          {{"collective", text, key}, &R::collective},
          {{"ranks", count, key}, [](const R& r) { return r.fitted.program.ranks.size(); }},
          {{"in_place", truth, key}, [](const R& r) { return r.fitted.program.in_place; }},
          {{"units", count}, figure(&ProgramFigures::units)},
          {{"blocks", count}, figure(&ProgramFigures::blocks)},
          {{"most_blocks_of_a_rank", count}, figure(&ProgramFigures::most_blocks)},
          {{"steps", count}, figure(&ProgramFigures::steps)},
          {{"most_steps_of_a_block", count}, figure(&ProgramFigures::longest)},
          {{"channels", count}, figure(&ProgramFigures::channels)},
          {{"most_scratch_units", count}, figure(&ProgramFigures::scratch)},
          {{"lowering_seconds", effort, cost}, figure(&ProgramFigures::seconds)},
          {{"verified", truth, note}, [](const R&) { return true; }}};
}

void print_json(const Lowered& lowered, const Runtimes& runtimes,
                const std::vector<std::string>& warnings) {
  nlohmann::ordered_json details = {{"runtimes", names_of(runtimes, "@")},
                                    {"changes", lowered.fitted.changes},
                                    {"refusals", lowered.fitted.refusals},
                                    {"warnings", warnings}};
  print_text(answer_json("lower",
                         runs_json("lowering", records_of<Lowered>(lowered_fields(), {&lowered, 1}),
                                   nlohmann::ordered_json::array({std::move(details)}))));
}

void print(const Lowered& lowered, const Runtimes& runtimes) {
  const runtime::FittedProgram& fitted = lowered.fitted;
  const ProgramFigures& f = lowered.figures;
  print_text(fmt::format(
      "correct: {} by {} on {} ranks, {}: {} units, {} blocks (at most {} on a rank), {} "
      "steps (at most {} in a block), {} channel{}, scratch of at most {} units; {:.3f} s\n"
      "for {}{}{}\n",
      lowered.collective, fitted.program.name, fitted.program.ranks.size(),
      fitted.program.in_place ? "in place" : "out of place", f.units, f.blocks, f.most_blocks,
      f.steps, f.longest, f.channels, f.channels == 1 ? "" : "s", f.scratch, f.seconds,
      joined(names_of(runtimes, " "), ", "), fitted.changes.empty() ? "" : ": ",
      joined(fitted.changes, "; ")));
}

Time time_of(const Topology& topology, const Collective& collective, const Schedule& schedule,
             const TimeModel& model) {
  return run_native(topology, collective, schedule, model).completion;
}

/// What lowering and the runtimes' paths make of its time.
void add_times(const Topology& topology, Lowered& lowered) {
  lowered.not_taken = runtime::paths_not_taken(topology, lowered.fitted.program);
  const TimeModel& model = lowered.file.time_model;
  runtime::Program program = lowered.fitted.program;
  const runtime::ForeignSchedule kept = runtime::schedule_of(topology, program);
  lowered.kept = time_of(topology, kept.collective, kept.schedule, model);
  program.paths.clear();
  const runtime::ForeignSchedule taken = runtime::schedule_of(topology, program);
  lowered.taken = time_of(topology, taken.collective, taken.schedule, model);
  lowered.planned = time_of(topology, lowered.file.collective, lowered.file.schedule, model);
}

std::vector<std::string> warnings_of(const Topology& topology, const Lowered& lowered,
                                     const runtime::MscclOptions& options,
                                     const Runtimes& runtimes) {
  std::vector<std::string> warnings = runtime::msccl_selection_warnings(
      lowered.fitted.program, lowered.file.collective.size(), options, runtimes);
  if (lowered.not_taken.empty()) {
    if (lowered.kept.ps > lowered.planned.ps + lowered.planned.ps / 100) // more than 1 %
      warnings.push_back(fmt::format("the schedule takes {}, the program {}",
                                     short_text(lowered.planned), short_text(lowered.kept)));
    return warnings;
  }
  const runtime::ConnectionPath& one = lowered.not_taken.front();
  warnings.push_back(fmt::format(
      "{} of {} connections are planned on paths that the XML can't name and runtimes don't take "
      "({} on channel {}, where they take {}): the schedule takes {}, the program {} on the "
      "planned paths and {} on theirs",
      lowered.not_taken.size(), lowered.fitted.program.paths.size(), path_text(topology, one.links),
      one.channel, path_text(topology, runtime::runtime_path(topology, one)),
      short_text(lowered.planned), short_text(lowered.kept), short_text(lowered.taken)));
  return warnings;
}

/// Nothing where the schedule or the program has a fault, which is printed.
std::optional<Lowered> lowered_of(const LowerArguments& arguments, const Topology& topology,
                                  const std::string& name, const Runtimes& runtimes) {
  Lowered made{name, read_schedule(name, topology), {}, {}, {}, {}, {}, {}, {}};
  made.collective = collective_text(topology, made.file.collective);
  make_list(name, topology, made.file);
  if (const Verdict verdict = verify(topology, made.file.collective, made.file.schedule);
      !verdict.correct()) {
    print_message(fmt::format("{}: fault: {}", name, verdict.fault->text));
    return std::nullopt;
  }
  const double start = cpu_seconds();
  made.fitted = runtime::lower_for(runtimes, topology, made.file.collective, made.file.schedule,
                                   lowering_of(arguments, made.file.algorithm));
  if (made.fitted.fault) {
    print_message(
        fmt::format("a defect of Tutti: the program has a fault: {}", made.fitted.fault->text));
    return std::nullopt;
  }
  made.figures = figures_of(made.fitted.program, cpu_seconds() - start);
  for (const std::string& refusal : made.fitted.refusals)
    print_message(fmt::format("{}: refused: {}", name, refusal));
  return made;
}

/// Writes and prints what runtimes take.
void report(const LowerArguments& arguments, const Topology& topology, const Lowered& lowered,
            const Runtimes& runtimes) {
  runtime::MscclOptions options = msccl_of(arguments);
  options.limits = runtime::common_limits(runtimes);
  options.collective =
      runtime::common_msccl_word(lowered.file.collective.parts.front().kind, runtimes);
  const std::string xml = runtime::msccl_xml(lowered.fitted.program, options);
  const auto warnings = warnings_of(topology, lowered, options, runtimes);
  for (const std::string& warning : warnings) print_message(fmt::format("warning: {}", warning));
  if (arguments.json)
    print_json(lowered, runtimes, warnings);
  else
    print(lowered, runtimes);
  if (arguments.output.empty()) return;
  write_file(arguments.output, xml);
  write_file(paths_file_of(arguments.output),
             connection_paths_json(topology, lowered.fitted.program.paths, xml));
}

} // namespace

// Writes the program of the fastest of several schedules. They are compared on the paths that
// runtimes take, which need not be those that they were planned on.
int lower_command(const LowerArguments& arguments) {
  const Topology topology = make_topology_and_report(arguments.topology);
  const Runtimes runtimes =
      of_option("--runtime", [&] { return runtime::find_msccl_runtimes(arguments.runtime); });
  if (!arguments.output.empty())
    require_outputs(arguments.files, {arguments.output, paths_file_of(arguments.output)});
  std::optional<Lowered> best;
  for (const std::string& name : arguments.files) {
    std::optional<Lowered> lowered = lowered_of(arguments, topology, name, runtimes);
    if (!lowered) return 1;
    const Collective& collective = lowered->file.collective;
    if (best && collective.name() != best->file.collective.name())
      throw InputError(fmt::format("{} is a schedule of {}, but {} of {}", name, collective.name(),
                                   best->name, best->file.collective.name()));
    const bool taken = lowered->fitted.refusals.empty();
    if (taken) add_times(topology, *lowered);
    if (taken && arguments.files.size() > 1)
      print_message(fmt::format("{}: {} as planned, {} on the paths that runtimes take", name,
                                short_text(lowered->planned), short_text(lowered->taken)));
    const bool better =
        !best || (taken && (!best->fitted.refusals.empty() || lowered->taken < best->taken));
    if (better) best = std::move(lowered);
  }
  if (best->fitted.refusals.empty()) {
    report(arguments, topology, *best, runtimes);
    return 0;
  }
  if (arguments.json) print_json(*best, runtimes, {});
  return 1;
}

} // namespace tutti
