// Tries settings of lowering, from the one that changes least, until the runtimes take what
// comes out.

#include "runtime/formats/msccl/fit.hpp"

#include "runtime/formats/msccl/cut_blocks.hpp"
#include "runtime/formats/msccl/form.hpp"
#include "runtime/formats/msccl/split_reductions.hpp"
#include "runtime/formats/msccl/spread_channels.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::runtime {

namespace {

constexpr StepKinds fused_kinds = kinds_bit(StepKind::receive_copy_send) |
                                  kinds_bit(StepKind::receive_reduce_send) |
                                  kinds_bit(StepKind::receive_reduce_copy_send);

std::size_t longest_block(const Program& program) {
  std::size_t longest = 0;
  for (const RankProgram& rank : program.ranks)
    for (const Block& block : rank.blocks) longest = std::max(longest, block.steps.size());
  return longest;
}

std::size_t block_count(const Program& program) {
  std::size_t count = 0;
  for (const RankProgram& rank : program.ranks) count += rank.blocks.size();
  return count;
}

class ProgramFitter {
public:
  ProgramFitter(std::span<const MscclRuntime* const> runtimes, const Topology& topology,
                const Collective& collective, const Schedule& schedule,
                const LoweringOptions& options)
      : runtimes_(runtimes), topology_(topology), collective_(collective), schedule_(schedule),
        options_(options), limits_(common_limits(runtimes)) {
    if ((limits_.kinds & fused_kinds) != fused_kinds) options_.fuse = false;
  }

  FittedProgram fit() {
    FittedProgram plain = made(options_, false);
    if (plain.fault || plain.refusals.empty() || unknown_collective(plain.program)) return plain;
    steps_ = longest_block(plain.program);
    if (try_more(options_)) return std::move(found_);
    LoweringOptions sharing = options_;
    sharing.share_blocks = true;
    if (!options_.share_blocks && (try_out(sharing, false) || try_more(sharing)))
      return std::move(found_);
    return plain;
  }

private:
  /// Why no lowering helps: the collective isn't known to all, by one word.
  [[nodiscard]] std::optional<std::string> unknown_collective(const Program& program) const {
    try {
      static_cast<void>(msccl_collective_word(program));
      static_cast<void>(common_msccl_word(collective_.parts.front().kind, runtimes_));
    } catch (const InputError& error) {
      return error.what();
    }
    return std::nullopt;
  }

  /// Whether all take it; it is kept.
  bool try_out(const LoweringOptions& options, bool cut) {
    found_ = made(options, cut);
    steps_ = longest_block(found_.program);
    return found_.refusals.empty() && !found_.fault;
  }

  /// Fewer steps, or more blocks, or both.
  bool try_more(LoweringOptions options) {
    if (try_rolled(options) || try_out(options, true)) return true;
    options.rolled_chunks = 0;
    return try_out(options, true);
  }

  /// As few chunks at once as suffice.
  bool try_rolled(LoweringOptions options) {
    const std::uint32_t longest = longest_roll(collective_, schedule_);
    for (std::uint64_t chunks = 1; chunks < longest;) {
      chunks =
          std::min<std::uint64_t>(std::max(chunks + 1, chunks * steps_ / limits_.steps), longest);
      options.rolled_chunks = static_cast<std::uint32_t>(chunks);
      if (try_out(options, false)) return true;
    }
    return false;
  }

  [[nodiscard]] FittedProgram made(const LoweringOptions& options, bool cut) const {
    FittedProgram fitted{lower(topology_, collective_, schedule_, options), {}, {}, {}};
    fitted.fault = verify_program(fitted.program).fault;
    if (fitted.fault) return fitted;
    note_options(options, fitted.changes);
    split_steps(fitted);
    fitted.program = msccl_form(fitted.program, limits_.count);
    adapt(cut, fitted);
    if (const auto unknown = unknown_collective(fitted.program)) {
      fitted.refusals.push_back(*unknown);
      return fitted;
    }
    for (const MscclRuntime* runtime : runtimes_)
      if (const auto reason = msccl_refusal(fitted.program, *runtime))
        fitted.refusals.push_back(
            fmt::format("{} {}: {}", runtime->name, runtime->version, *reason));
    if (fitted.refusals.empty()) verify_form(fitted);
    return fitted;
  }

  void note_options(const LoweringOptions& options, std::vector<std::string>& changes) const {
    if (options.rolled_chunks == 0)
      changes.emplace_back("adjacent chunks move together, all that move alike");
    else if (options.rolled_chunks != options_.rolled_chunks)
      changes.push_back(
          fmt::format("adjacent chunks move together, {} at most", options.rolled_chunks));
    if (options.share_blocks != options_.share_blocks)
      changes.emplace_back("blocks that receive send, too");
  }

  void split_steps(FittedProgram& fitted) const {
    if ((limits_.kinds & kinds_bit(StepKind::receive_reduce_copy)) != 0) return;
    const std::size_t steps = fitted.program.step_count();
    fitted.program = split_reductions(std::move(fitted.program));
    if (fitted.program.step_count() != steps)
      fitted.changes.emplace_back("what receives and combines does so in two steps");
  }

  void adapt(bool cut, FittedProgram& fitted) const {
    const std::uint32_t channels = fitted.program.channel_count();
    fitted.program = spread_channels(std::move(fitted.program), limits_);
    if (fitted.program.channel_count() != channels)
      fitted.changes.push_back(
          fmt::format("peers are on {} channels", fitted.program.channel_count()));
    if (!cut) return;
    const std::size_t blocks = block_count(fitted.program);
    fitted.program = spread_channels(cut_long_blocks(fitted.program, limits_), limits_);
    if (const std::size_t more = block_count(fitted.program) - blocks; more > 0)
      fitted.changes.push_back(fmt::format("blocks of more than {} steps go on in others, on "
                                           "channels of their own ({} more)",
                                           limits_.steps, more));
  }

  /// An order in which all steps end: messages that are cut into several need as many slots.
  void verify_form(FittedProgram& fitted) const {
    ProgramVerdict verdict = verify_program(fitted.program);
    if (!verdict.correct()) verdict = verify_program(fitted.program, msccl_slots);
    if (!verdict.correct())
      fitted.refusals.push_back(fmt::format("with steps of at most {} units: {} (larger chunks, or "
                                            "fewer instances, would help)",
                                            limits_.count, verdict.fault->text));
  }

  std::span<const MscclRuntime* const> runtimes_;
  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  LoweringOptions options_;
  MscclLimits limits_;
  FittedProgram found_;
  std::size_t steps_ = 0; ///< of the longest block that was tried last
};

} // namespace

FittedProgram lower_for(std::span<const MscclRuntime* const> runtimes, const Topology& topology,
                        const Collective& collective, const Schedule& schedule,
                        const LoweringOptions& options) {
  return ProgramFitter(runtimes, topology, collective, schedule, options).fit();
}

} // namespace tutti::runtime
