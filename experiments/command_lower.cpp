// `tutti lower`: a schedule as a program for each rank, checked, and as XML for MSCCL's runtime.
#include "experiments/attempt.hpp"
#include "experiments/backend_request.hpp"
#include "experiments/collective_request.hpp"
#include "experiments/commands.hpp"
#include "experiments/evaluation_json.hpp"
#include "experiments/output.hpp"
#include "runtime/lowering.hpp"
#include "runtime/msccl_xml.hpp"
#include "runtime/verify_program.hpp"
#include "sim/error.hpp"
#include "sim/files.hpp"
#include "sim/schedule_file.hpp"
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

void print(const runtime::Program& program, const ProgramFigures& f, const Topology& topology,
           bool json) {
  const std::string collective = collective_text(topology, program.collective);
  if (json) {
    print_text(json_text({{"algorithm", program.name},
                          {"collective", collective},
                          {"ranks", program.ranks.size()},
                          {"in_place", program.in_place},
                          {"units", f.units},
                          {"blocks", f.blocks},
                          {"most_blocks_of_a_rank", f.most_blocks},
                          {"steps", f.steps},
                          {"most_steps_of_a_block", f.longest},
                          {"channels", f.channels},
                          {"most_scratch_units", f.scratch},
                          {"lowering_seconds", f.seconds},
                          {"verified", true}}));
    return;
  }
  print_text(fmt::format(
      "correct: {} by {} on {} ranks, {}: {} units, {} blocks (at most {} on a rank), {} "
      "steps (at most {} in a block), {} channels, scratch of at most {} units; {:.3f} s\n",
      collective, program.name, program.ranks.size(),
      program.in_place ? "in place" : "out of place", f.units, f.blocks, f.most_blocks, f.steps,
      f.longest, f.channels, f.scratch, f.seconds));
}

/// How many chunks per shard MSCCL's runtimes hold, going by the longest block, which grows with
/// them; nothing where that isn't what is too much, or one chunk is.
std::optional<std::uint32_t> most_chunks_held(const runtime::Program& program,
                                              const Collective& collective,
                                              const runtime::MscclLimits& limits) {
  const std::size_t longest = figures_of(program, 0).longest;
  const std::uint32_t chunks = collective.parts.empty() ? 1 : collective.parts.front().pieces;
  if (longest <= limits.steps) return std::nullopt;
  const auto held = static_cast<std::uint32_t>(std::uint64_t{chunks} * limits.steps / longest);
  return held == 0 ? std::nullopt : std::optional(held);
}

std::string xml_of(const runtime::Program& program, const Collective& collective,
                   const runtime::MscclOptions& options) {
  try {
    return runtime::msccl_xml(program, options);
  } catch (const InputError& error) {
    const auto held = most_chunks_held(program, collective, options.limits);
    if (!held) throw;
    throw InputError(fmt::format("{}; of the {} chunks per shard that this schedule has, they hold "
                                 "{} at most",
                                 error.what(), collective.parts.front().pieces, *held));
  }
}

} // namespace

int lower_command(const LowerArguments& arguments) {
  const Topology topology = make_topology(arguments.topology);
  const ScheduleFile file = read_schedule(arguments.file, topology);
  if (file.compact)
    throw InputError(fmt::format("{}: {} transfers are too many", arguments.file, file.size()));
  if (!arguments.output.empty()) require_writable(arguments.output);
  if (const Verdict verdict = verify(topology, file.collective, file.schedule);
      !verdict.correct()) {
    print_message(fmt::format("{}: fault: {}", arguments.file, verdict.fault->text));
    return 1;
  }
  const double start = cpu_seconds();
  const runtime::Program program = runtime::lower(topology, file.collective, file.schedule,
                                                  lowering_of(arguments, file.algorithm));
  const runtime::ProgramVerdict verdict = runtime::verify_program(program);
  if (!verdict.correct()) {
    print_message(
        fmt::format("a defect of Tutti: the program has a fault: {}", verdict.fault->text));
    return 1;
  }
  print(program, figures_of(program, cpu_seconds() - start), topology, arguments.json);
  if (!arguments.output.empty())
    write_file(arguments.output, xml_of(program, file.collective, msccl_of(arguments)));
  return 0;
}

} // namespace tutti
