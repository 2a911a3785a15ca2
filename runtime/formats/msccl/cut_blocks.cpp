// A runtime's block has room for some number of steps, but a GPU has room for more blocks than most
// programs have, and two ranks for more channels. So a long block goes on in another one, on
// another channel, whose first step waits for the last of the one before.

#include "runtime/formats/msccl/cut_blocks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti::runtime {

namespace {

/// Steps of a block that must stay together: what a message's step waits for, that step, and local
/// steps up to the next message. In a block without a connection each step is one.
struct StepRun {
  std::uint32_t begin = 0, end = 0;
  bool waits = false; ///< its first step of work has a dependency
};

std::vector<StepRun> runs_of(const Block& block) {
  std::vector<StepRun> runs;
  const bool local = !block.sends_to && !block.receives_from;
  std::uint32_t waits_from = 0; // where the waits begin that stand before the step
  bool waits = false;
  for (std::uint32_t s = 0; s < block.steps.size(); ++s) {
    const Step& step = block.steps[s];
    waits = waits || step.after.has_value();
    if (step.kind == StepKind::wait) continue;
    if (runs.empty() || local || sends(step.kind) || receives(step.kind))
      runs.push_back({runs.empty() ? 0 : waits_from, s + 1, waits});
    runs.back().end = s + 1;
    waits_from = s + 1;
    waits = false;
  }
  return runs;
}

/// Where a block is, and where its part after a cut begins: [part]: the first of its runs.
using PartStarts = std::vector<std::uint32_t>;

/// Greedily as many runs a part as all ends have room for; nothing where one alone is too long.
std::optional<PartStarts> part_starts(const std::vector<const std::vector<StepRun>*>& ends,
                                      std::uint32_t most) {
  PartStarts starts{0};
  std::vector<std::uint32_t> used(ends.size(), 0);
  const std::size_t count = ends.front()->size();
  for (std::uint32_t k = 0; k < count; ++k) {
    bool fits = true;
    for (std::size_t e = 0; e < ends.size(); ++e) {
      const StepRun& run = (*ends[e])[k];
      fits = fits && used[e] + (run.end - run.begin) <= most;
    }
    if (!fits) {
      if (starts.back() == k) return std::nullopt;
      starts.push_back(k);
      std::ranges::fill(used, 0U);
    }
    for (std::size_t e = 0; e < ends.size(); ++e) {
      const StepRun& run = (*ends[e])[k];
      const bool extra = run.waits && starts.size() > 1 && starts.back() == k;
      used[e] += run.end - run.begin + (extra ? 1 : 0);
      if (used[e] > most) return std::nullopt;
    }
  }
  return starts;
}

class BlockCutter {
public:
  BlockCutter(const Program& program, const MscclLimits& limits)
      : program_(program), limits_(limits) {}

  Program cut() {
    plan();
    Program made = program_;
    for (std::uint32_t r = 0; r < made.ranks.size(); ++r) made.ranks[r].blocks = rewritten(r);
    add_paths(made);
    return made;
  }

private:
  using Connection = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // from, to, channel
  struct BlockAt {
    std::uint32_t rank = 0, block = 0;
  };
  struct BlockPlan {
    std::vector<StepRun> runs;
    PartStarts starts{0};
    std::vector<std::uint32_t> channels; ///< [part]
  };

  [[nodiscard]] const Block& block(BlockAt at) const {
    return program_.ranks[at.rank].blocks[at.block];
  }
  [[nodiscard]] BlockPlan& plan_of(BlockAt at) { return plans_[at.rank][at.block]; }
  [[nodiscard]] bool is_long(BlockAt at) const { return block(at).steps.size() > limits_.steps; }
  [[nodiscard]] bool shares(BlockAt at) const {
    return block(at).sends_to && block(at).receives_from;
  }

  void plan() {
    std::map<Connection, std::vector<BlockAt>> ends;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> channels;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      std::vector<BlockPlan>& plans = plans_.emplace_back();
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b) {
        const BlockAt at{r, b};
        plans.push_back({runs_of(block(at)), {0}, {block(at).channel}});
        if (block(at).sends_to) ends[{r, *block(at).sends_to, block(at).channel}].push_back(at);
        if (block(at).receives_from)
          ends[{*block(at).receives_from, r, block(at).channel}].push_back(at);
      }
    }
    for (const auto& [connection, blocks] : ends) {
      const auto& [from, to, channel] = connection;
      channels[{from, to}].insert(channel);
    }
    for (const auto& [connection, blocks] : ends) {
      const auto& [from, to, channel] = connection;
      plan_connection(blocks, channels[{from, to}]);
    }
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (std::uint32_t b = 0; b < program_.ranks[r].blocks.size(); ++b) plan_local({r, b});
  }

  void plan_connection(const std::vector<BlockAt>& ends, std::set<std::uint32_t>& taken) {
    std::vector<const std::vector<StepRun>*> runs;
    bool needed = false;
    for (const BlockAt at : ends) {
      if (shares(at)) return;
      needed = needed || is_long(at);
      runs.push_back(&plan_of(at).runs);
    }
    if (!needed) return;
    const auto starts = part_starts(runs, limits_.steps);
    if (!starts) return;
    for (std::size_t part = 1; part < starts->size(); ++part) {
      std::uint32_t free = 0;
      while (taken.contains(free)) ++free;
      taken.insert(free);
      for (const BlockAt at : ends) plan_of(at).channels.push_back(free);
    }
    for (const BlockAt at : ends) plan_of(at).starts = *starts;
  }

  void plan_local(BlockAt at) {
    if (block(at).sends_to || block(at).receives_from || !is_long(at)) return;
    BlockPlan& plan = plan_of(at);
    const auto starts = part_starts({&plan.runs}, limits_.steps);
    if (!starts) return;
    plan.starts = *starts;
    plan.channels.resize(starts->size(), block(at).channel);
  }

  /// A rank's blocks, each followed by its other parts.
  [[nodiscard]] std::vector<Block> rewritten(std::uint32_t rank) {
    const std::vector<Block>& blocks = program_.ranks[rank].blocks;
    std::vector<std::vector<StepAt>> now; // [block][step]
    std::vector<std::vector<std::vector<Step>>> parts;
    std::uint32_t next = 0;
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      now.emplace_back(blocks[b].steps.size());
      parts.push_back(parts_of({rank, b}, next, now.back()));
      next += static_cast<std::uint32_t>(parts.back().size());
    }
    std::vector<Block> made;
    for (std::uint32_t b = 0; b < blocks.size(); ++b)
      for (std::size_t part = 0; part < parts[b].size(); ++part) {
        Block& block =
            made.emplace_back(Block{blocks[b].sends_to, blocks[b].receives_from,
                                    plans_[rank][b].channels[part], std::move(parts[b][part])});
        for (Step& step : block.steps)
          if (step.after) step.after = now[step.after->block][step.after->step];
        if (part > 0) wait_for(made.size() - 2, made);
      }
    return made;
  }

  /// The block's steps by part, and where each will stand; dependencies are still the old ones.
  [[nodiscard]] std::vector<std::vector<Step>> parts_of(BlockAt at, std::uint32_t first,
                                                        std::vector<StepAt>& now) {
    const BlockPlan& plan = plan_of(at);
    const std::vector<Step>& steps = block(at).steps;
    std::vector<std::vector<Step>> parts;
    for (std::size_t part = 0; part < plan.starts.size(); ++part) {
      const bool last = part + 1 == plan.starts.size();
      const std::uint32_t begin = part == 0 ? 0 : plan.runs[plan.starts[part]].begin;
      const std::uint32_t end =
          last ? static_cast<std::uint32_t>(steps.size()) : plan.runs[plan.starts[part + 1]].begin;
      const std::uint32_t extra = part > 0 && plan.runs[plan.starts[part]].waits ? 1 : 0;
      const auto index = first + static_cast<std::uint32_t>(part);
      for (std::uint32_t s = begin; s < end; ++s) now[s] = {index, extra + s - begin};
      parts.emplace_back(steps.begin() + begin, steps.begin() + end);
    }
    return parts;
  }

  /// The last block starts with waiting for the end of the one at `before`.
  static void wait_for(std::size_t before, std::vector<Block>& blocks) {
    std::vector<Step>& steps = blocks.back().steps;
    const StepAt end{static_cast<std::uint32_t>(before),
                     static_cast<std::uint32_t>(blocks[before].steps.size() - 1)};
    if (steps.front().after)
      steps.insert(steps.begin(), {StepKind::wait, {}, {}, 0, end});
    else
      steps.front().after = end;
  }

  void add_paths(Program& made) {
    const std::vector<ConnectionPath> paths = made.paths;
    for (const ConnectionPath& path : paths) {
      const std::vector<Block>& blocks = program_.ranks[path.from].blocks;
      for (std::uint32_t b = 0; b < blocks.size(); ++b) {
        if (blocks[b].sends_to != path.to || blocks[b].channel != path.channel) continue;
        const std::vector<std::uint32_t>& channels = plans_[path.from][b].channels;
        for (std::size_t part = 1; part < channels.size(); ++part)
          made.paths.push_back({path.from, path.to, channels[part], path.links});
      }
    }
    std::ranges::sort(made.paths, {}, [](const ConnectionPath& path) {
      return std::tuple(path.from, path.to, path.channel);
    });
  }

  const Program& program_;
  const MscclLimits& limits_;
  std::vector<std::vector<BlockPlan>> plans_; // [rank][block]
};

} // namespace

Program cut_long_blocks(const Program& program, const MscclLimits& limits) {
  return BlockCutter(program, limits).cut();
}

} // namespace tutti::runtime
