// From checked elements to a Program that verify_program() accepts. Files in the field break the
// runtimes' rules in known ways (sources named in the sender's buffers, inputs that are
// overwritten); such a file is read as it must be meant, and a warning says how.
//
// What overwrites a caller's buffer becomes a program that works on a copy of it. ncclize lets
// ranks combine into their input; in place, custom collectives have one buffer. Both are programs
// over memory that starts as the input, which scratch can be, too.

#include "runtime/checking/verify_program.hpp"
#include "runtime/formats/msccl/elements.hpp"
#include "runtime/formats/msccl/form.hpp"
#include "runtime/formats/msccl/layout.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "sim/files/gzip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti::runtime {

namespace {

/// One rank, with scratch that plays the input and, with `both`, the output.
class CopiedRank {
public:
  CopiedRank(const RankProgram& rank, bool both) : made_(rank), both_(both), base_(rank.scratch) {
    made_.scratch += both ? std::max(rank.input, rank.output) : rank.input;
  }

  RankProgram copied() {
    const auto blocks = static_cast<std::uint32_t>(made_.blocks.size());
    const bool waits = made_.input > 0;
    for (Block& block : made_.blocks) move(block, waits ? 1 : 0);
    if (waits) {
      for (Block& block : made_.blocks)
        block.steps.insert(block.steps.begin(), {StepKind::wait, {}, {}, 0, StepAt{blocks, 0}});
      made_.blocks.push_back(
          {{},
           {},
           0,
           {{StepKind::copy, {Buffer::input, 0}, {Buffer::scratch, base_}, made_.input, {}}}});
    }
    if (both_ && made_.output > 0) copy_back();
    return std::move(made_);
  }

private:
  void move(Block& block, std::uint32_t later) const {
    for (Step& step : block.steps) {
      if (step.after) step.after->step += later;
      if (reads_source(step.kind)) move(step.source);
      if (writes_target(step.kind)) move(step.target);
    }
  }

  void move(Place& place) const {
    if (place.buffer == Buffer::scratch || (place.buffer == Buffer::output && !both_)) return;
    place = {Buffer::scratch, base_ + place.unit};
  }

  void copy_back() {
    Block back;
    for (std::uint32_t b = 0; b < made_.blocks.size(); ++b)
      if (const std::size_t steps = made_.blocks[b].steps.size(); steps > 0)
        back.steps.push_back(
            {StepKind::wait, {}, {}, 0, StepAt{b, static_cast<std::uint32_t>(steps - 1)}});
    back.steps.push_back(
        {StepKind::copy, {Buffer::scratch, base_}, {Buffer::output, 0}, made_.output, {}});
    made_.blocks.push_back(std::move(back));
  }

  RankProgram made_;
  bool both_;
  std::uint32_t base_;
};

/// Copies each rank's input into scratch before anything else happens there, and does there all
/// that was done to the input. What it sends and when is the same. `both`: the same for input and
/// output as one buffer, in which a unit of the input and the unit of the output with its index are
/// the same, copied back to the output when all else is over; else pre: not in place. Result: not
/// in place.
Program on_copies(const Program& program, bool both) {
  Program made = program;
  made.in_place = false;
  for (RankProgram& rank : made.ranks) rank = CopiedRank(rank, both).copied();
  return made;
}

constexpr std::uint64_t most_scratch = 1U << 20; ///< units of a rank

/// Offsets and counts in the program's units.
Step scaled(Step step, std::uint32_t scale) {
  step.source.unit *= scale;
  step.target.unit *= scale;
  step.count *= scale;
  return step;
}

/// Buffers may be declared smaller than the collective's (0, or what is used), never larger; but
/// for a root's collectives, whose other ranks may name a buffer that they never use.
void check_declared(const MscclElements& file, std::uint32_t rank, const MscclSkeleton& skeleton,
                    std::vector<std::string>& warnings) {
  const RankProgram& declared = file.layout.declared[rank];
  const RankProgram& real = skeleton.program.ranks[rank];
  const bool rooted = has_root(skeleton.program.collective.parts.front().kind);
  const auto check = [&](std::string_view name, std::uint32_t found, std::uint32_t wanted) {
    const std::uint64_t units = std::uint64_t{found} * skeleton.scale;
    if (units == wanted || found == 0) return;
    const std::string text =
        fmt::format("{}=\"{}\" of gpu {}, where {} of {} chunks has {}", name, found, rank,
                    file.layout.coll, file.layout.chunks_per_loop, wanted / skeleton.scale);
    if (units > wanted && !rooted) file.source.refuse(file.gpu_at[rank], text);
    warnings.push_back(text);
  };
  check("i_chunks", declared.input, real.input);
  check("o_chunks", declared.output, real.output);
}

/// Places that the kind touches are inside the declared buffers and the collective's.
void check_places(const MscclElements& file, std::uint32_t rank, const RankProgram& real,
                  std::uint32_t scale) {
  const RankProgram& declared = file.layout.declared[rank];
  const auto inside = [&](Place place, std::uint32_t count) {
    const std::uint64_t end = std::uint64_t{place.unit} + count;
    switch (place.buffer) {
    case Buffer::input: return end <= declared.input && end * scale <= real.input;
    case Buffer::output: return end <= declared.output && end * scale <= real.output;
    case Buffer::scratch: break;
    }
    return end <= declared.scratch;
  };
  for (std::uint32_t b = 0; b < file.ranks[rank].blocks.size(); ++b) {
    const std::vector<Step>& steps = file.ranks[rank].blocks[b].steps;
    for (std::uint32_t s = 0; s < steps.size(); ++s) {
      const Step& step = steps[s];
      if (reads_source(step.kind) && !inside(step.source, step.count))
        file.source.refuse(file.step_at[rank][b][s], "the source is outside its buffer");
      if (writes_target(step.kind) && !inside(step.target, step.count))
        file.source.refuse(file.step_at[rank][b][s], "the target is outside its buffer");
    }
  }
}

/// The runtimes take a step's waits to be announced, and a chain of waits to end in a step that
/// has one of its own.
void warn_of_waits(const MscclElements& file, std::uint32_t rank,
                   std::vector<std::string>& warnings) {
  const std::vector<Block>& blocks = file.ranks[rank].blocks;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    const std::vector<Step>& steps = blocks[b].steps;
    for (std::uint32_t s = 0; s < steps.size(); ++s) {
      const auto& after = steps[s].after;
      if (after && !file.announced[rank].contains({after->block, after->step}))
        warnings.push_back(fmt::format("gpu {}, block {}, step {} is waited for, but has "
                                       "hasdep=\"0\": a runtime wouldn't announce it",
                                       rank, after->block, after->step));
      if (s > 0 && steps[s - 1].kind == StepKind::wait && steps[s].kind != StepKind::wait && !after)
        warnings.push_back(fmt::format("gpu {}, block {}, step {} follows a wait, but has no "
                                       "dependency of its own: runtimes refuse that",
                                       rank, b, s));
    }
  }
}

/// msccl-tools writes the sender's place as the source of what is received; the runtimes read it in
/// the receiver's buffers. Where that gives nothing right, but reducing into the target does, that
/// is what was meant.
bool reduces_into_target(Program& program) {
  Program meant = program;
  bool differs = false;
  for (RankProgram& rank : meant.ranks)
    for (Block& block : rank.blocks)
      for (Step& step : block.steps) {
        if (step.kind != StepKind::receive_reduce_copy || step.source == step.target) continue;
        step.source = step.target;
        differs = true;
      }
  if (!differs || !verify_program(meant, msccl_slots).correct()) return false;
  program = std::move(meant);
  return true;
}

/// Whether the program is right as it is, or as it must be meant; a warning says how.
std::optional<std::string> fault_of(Program& program, bool one_buffer,
                                    std::vector<std::string>& warnings) {
  const Program written = program;
  if (one_buffer) program = on_copies(written, true);
  ProgramVerdict verdict = verify_program(program, msccl_slots);
  if (verdict.correct()) return std::nullopt;
  if (one_buffer && can_be_in_place(written.collective)) {
    Program by_chunk = written;
    by_chunk.in_place = true;
    if (verify_program(by_chunk, msccl_slots).correct()) {
      warnings.emplace_back("coll=\"custom\" in place is right only where the call's buffers lie "
                            "as those of the named collective do; for custom, runtimes take them "
                            "to be one");
      program = std::move(by_chunk);
      return std::nullopt;
    }
  }
  if (reduces_into_target(program)) {
    warnings.emplace_back("rrc steps name the sender's place as their source: taken as reducing "
                          "into the target, but the runtimes read that place at the receiver");
    return std::nullopt;
  }
  if (verdict.fault->kind != ProgramFault::Kind::overwritten_input) return verdict.fault->text;
  const std::string overwrites = verdict.fault->text;
  program = on_copies(written, false);
  verdict = verify_program(program, msccl_slots);
  const bool meant = !verdict.correct() && reduces_into_target(program);
  if (!verdict.correct() && !meant) return verdict.fault->text;
  warnings.push_back(fmt::format("{}: the result is right, but a call that isn't in place finds "
                                 "its input changed{}",
                                 overwrites,
                                 meant ? "; rrc steps name the sender's place as their source: "
                                         "taken as reducing into the target"
                                       : ""));
  return std::nullopt;
}

MscclFile file_of(const MscclElements& file, const std::string& file_name, Bytes size,
                  const Collective* custom) {
  MscclFile made{{}, file.protocol, file.min_bytes, file.max_bytes, file.warnings};
  MscclSkeleton skeleton;
  try {
    skeleton = msccl_skeleton(file.layout, file.ranks, size, custom);
  } catch (const InputError& e) {
    file.source.refuse(file.algo_at, e.what());
  }
  for (std::uint32_t r = 0; r < file.ranks.size(); ++r) {
    check_declared(file, r, skeleton, made.warnings);
    check_places(file, r, skeleton.program.ranks[r], skeleton.scale);
    warn_of_waits(file, r, made.warnings);
    RankProgram& rank = skeleton.program.ranks[r];
    const std::uint64_t scratch = std::uint64_t{file.layout.declared[r].scratch} * skeleton.scale;
    if (scratch > most_scratch)
      file.source.refuse(file.gpu_at[r],
                         fmt::format("{} units of scratch, more than {}", scratch, most_scratch));
    rank.scratch = static_cast<std::uint32_t>(scratch);
    rank.blocks = file.ranks[r].blocks;
    for (Block& block : rank.blocks)
      for (Step& step : block.steps) step = scaled(step, skeleton.scale);
  }
  made.program = std::move(skeleton.program);
  made.program.name = file.name;
  const bool one_buffer = file.layout.in_place && file.layout.coll == "custom";
  if (const auto fault = fault_of(made.program, one_buffer, made.warnings))
    throw InputError(fmt::format("{}: {}", file_name, *fault));
  return made;
}

} // namespace

std::vector<MscclFile> read_msccl_files(std::string_view text, const std::string& file_name,
                                        Bytes size, const Collective* custom,
                                        const MscclLimits& limits) {
  std::vector<MscclFile> made;
  for (const MscclElements& file : read_msccl_elements(text, file_name, limits, true))
    made.push_back(file_of(file, file_name, size, custom));
  return made;
}

MscclFile read_msccl(std::string_view text, const std::string& file_name, Bytes size,
                     const Collective* custom, const MscclLimits& limits) {
  return file_of(read_msccl_elements(text, file_name, limits, false).front(), file_name, size,
                 custom);
}

MscclFile load_msccl(const std::filesystem::path& file, Bytes size, const Collective* custom) {
  return read_msccl(read_input_file(file.string()), file.string(), size, custom);
}

std::vector<MscclFile> load_msccl_files(const std::filesystem::path& file, Bytes size,
                                        const Collective* custom) {
  return read_msccl_files(read_input_file(file.string()), file.string(), size, custom);
}

} // namespace tutti::runtime
