// Events in one order, what becomes of each value, connections and blocks, then each rank's steps.
//
// Why no program waits for ever: every step stands at one place of the order of events, and
// whatever it waits for stands before it: steps before it in its block, those that it depends on,
// the sending of what it receives, and the receipt of its connection's message before the one that
// it sends.

#include "runtime/lowering/lowering.hpp"

#include "runtime/lowering/chunk_rolls.hpp"
#include "runtime/lowering/rank_steps.hpp"
#include "runtime/lowering/shared_steps.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

namespace tutti::runtime {

namespace {

/// The blocks of the first instance, for another one.
Block for_instance(Block block, std::uint32_t instance, std::uint32_t scratch,
                   std::uint32_t blocks) {
  const auto shift = [&](Place& place, std::uint32_t count) {
    place.unit += instance * (place.buffer == Buffer::scratch ? scratch : count);
  };
  block.channel += instance;
  for (Step& step : block.steps) {
    if (reads_source(step.kind)) shift(step.source, step.count);
    if (writes_target(step.kind)) shift(step.target, step.count);
    if (step.after) step.after->block += instance * blocks;
  }
  return block;
}

void repeat_blocks(RankProgram& rank, std::uint32_t instances) {
  const auto blocks = static_cast<std::uint32_t>(rank.blocks.size());
  for (Block& block : rank.blocks) block.channel *= instances;
  rank.blocks.reserve(std::size_t{blocks} * instances);
  for (std::uint32_t instance = 1; instance < instances; ++instance)
    for (std::uint32_t b = 0; b < blocks; ++b)
      rank.blocks.push_back(for_instance(rank.blocks[b], instance, rank.scratch, blocks));
  rank.scratch *= instances;
}

void check_members(const Topology& topology, const Collective& collective) {
  for (const auto& set : collective.sets)
    for (const NodeId node : set)
      if (node.value >= topology.npu_count())
        throw InputError(fmt::format("{} holds or wants a chunk, but only NPUs have programs",
                                     topology.node(node).name));
}

void add_paths(Program& program, const LoweredSchedule& lowered, const PathTable& paths,
               std::uint32_t instances) {
  for (const MessageConnection& connection : lowered.connections.all)
    for (std::uint32_t i = 0; i < instances; ++i)
      program.paths.push_back({connection.from, connection.to, connection.channel * instances + i,
                               lowered.messages.links_of(connection.route, paths)});
  std::ranges::sort(program.paths, {}, [](const ConnectionPath& path) {
    return std::tuple(path.from, path.to, path.channel);
  });
}

} // namespace

std::uint32_t longest_roll(const Collective& collective, const Schedule& schedule) {
  return chunk_rolls(collective, schedule, 1).longest;
}

Program lower(const Topology& topology, const Collective& collective, const Schedule& schedule,
              const LoweringOptions& options) {
  check_members(topology, collective);
  Program program =
      empty_program(collective, topology.npu_count(), options.instances, options.in_place);
  program.name = options.name;
  LoweredSchedule lowered;
  lowered.rolls = chunk_rolls(collective, schedule, options.rolled_chunks);
  const std::optional<Schedule> rolled =
      options.rolled_chunks == 1 ? std::nullopt
                                 : std::optional(transfers_of_leaders(schedule, lowered.rolls));
  const Schedule& moves = rolled ? *rolled : schedule;
  lowered.messages = messages_of(topology, moves);
  lowered.values = values_of(topology, program, lowered.messages);
  // A part of one chunk doesn't lie beside the same part of the next one.
  if (moves.has_contiguous() && options.instances == 1)
    share_steps(program, moves, lowered.values, units_moved(program, lowered.rolls),
                lowered.messages);
  const std::uint32_t most = std::max(1U, options.most_channels / options.instances);
  lowered.connections =
      connections_of(lowered.messages, lowered.values, {most, options.share_blocks});
  const bool fuse = options.fuse && lowered.messages.first_in_step.empty();
  lowered.fusions = order_events(lowered.messages, lowered.values, lowered.connections, fuse);
  add_steps(program, lowered, options.instances);
  for (RankProgram& rank : program.ranks) repeat_blocks(rank, options.instances);
  add_local_copies(program, lowered, options.instances);
  add_paths(program, lowered, schedule.paths(), options.instances);
  return program;
}

} // namespace tutti::runtime
