// Block by block, as one would draw them. Layout numbers chunks and keeps their places in the
// buffers.

#include "gpu/hand_programs.hpp"

#include "runtime/plans/plan.hpp"

#include <utility>
#include <vector>

namespace tutti::gpu {

using namespace tutti::runtime;

namespace {

constexpr auto in = Buffer::input, out = Buffer::output;

/// Ranks, and chunks of some units each, whose buffers hold them by id.
class Layout {
public:
  Layout(std::uint32_t ranks, std::uint32_t chunk_units) : chunk_units_(chunk_units) {
    program_.ranks.resize(ranks);
    program_.inputs.resize(ranks);
    program_.outputs.resize(ranks);
  }

  [[nodiscard]] std::vector<NodeId> all() const {
    std::vector<NodeId> ranks;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) ranks.push_back(NodeId{r});
    return ranks;
  }

  void add(const std::vector<NodeId>& from, const std::vector<NodeId>& to, bool reduces = false) {
    Collective& collective = program_.collective;
    const ChunkId chunk{static_cast<std::uint32_t>(collective.chunks.size())};
    const auto set = static_cast<SetId>(collective.sets.size());
    collective.sets.push_back(from);
    collective.sets.push_back(to);
    collective.chunks.push_back({Bytes{1}, set, set + 1, reduces}); // units have the sizes
    program_.chunk_units.push_back(chunk_units_);
    for (const NodeId rank : from) {
      program_.inputs[rank.value].push_back({chunk, program_.ranks[rank.value].input});
      program_.ranks[rank.value].input += chunk_units_;
    }
    for (const NodeId rank : to) {
      program_.outputs[rank.value].push_back({chunk, program_.ranks[rank.value].output});
      program_.ranks[rank.value].output += chunk_units_;
    }
  }

  [[nodiscard]] Program program() && { return std::move(program_); }

private:
  Program program_;
  std::uint32_t chunk_units_;
};

Block ring_block(std::uint32_t rank, std::uint32_t ranks) {
  Block block;
  block.sends_to = (rank + 1) % ranks;
  block.receives_from = (rank + ranks - 1) % ranks;
  return block;
}

Step send(Place source) { return {StepKind::send, source, {}, 1, {}}; }
Step receive(Place target) { return {StepKind::receive, {}, target, 1, {}}; }
Step copy(Place source, Place target) { return {StepKind::copy, source, target, 1, {}}; }

/// Receives, and sends on but at the ring's end.
Step pass_on(Place target, bool sends_on) {
  return {sends_on ? StepKind::receive_copy_send : StepKind::receive, {}, target, 1, {}};
}

} // namespace

Program ring_all_gather(std::uint32_t ranks) {
  Layout layout(ranks, 1);
  for (std::uint32_t r = 0; r < ranks; ++r) layout.add({NodeId{r}}, layout.all());
  Program program = std::move(layout).program();
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Block block = ring_block(r, ranks), own;
    block.steps.push_back(send({in, 0}));
    for (std::uint32_t i = 1; i < ranks; ++i)
      block.steps.push_back(pass_on({out, (r + ranks - i) % ranks}, i + 1 < ranks));
    own.steps.push_back(copy({in, 0}, {out, r}));
    program.ranks[r].blocks = {block, own};
  }
  return program;
}

Program ring_all_reduce(std::uint32_t ranks, bool in_place) {
  Layout layout(ranks, 1);
  for (std::uint32_t c = 0; c < ranks; ++c) layout.add(layout.all(), layout.all(), true);
  Program program = std::move(layout).program();
  program.in_place = in_place;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const auto before = [ranks](std::uint32_t from, std::uint32_t i) {
      return (from + ranks - i) % ranks;
    };
    const std::uint32_t own = (r + 1) % ranks;
    Block block = ring_block(r, ranks);
    block.steps.push_back(send({in, r}));
    for (std::uint32_t i = 1; i + 1 < ranks; ++i)
      block.steps.push_back({StepKind::receive_reduce_send, {in, before(r, i)}, {}, 1, {}});
    block.steps.push_back({StepKind::receive_reduce_copy_send, {in, own}, {out, own}, 1, {}});
    for (std::uint32_t i = 1; i < ranks; ++i)
      block.steps.push_back(pass_on({out, before(own, i)}, i + 1 < ranks));
    program.ranks[r].blocks = {block};
  }
  return program;
}

Program chain_broadcast(std::uint32_t ranks, std::uint32_t parts) {
  Layout layout(ranks, parts);
  layout.add({NodeId{0}}, layout.all());
  Program program = std::move(layout).program();
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Block sender, receiver;
    if (r + 1 < ranks) sender.sends_to = r + 1;
    if (r > 0) receiver.receives_from = r - 1;
    for (std::uint32_t i = 0; i < parts; ++i) {
      const Place place{r == 0 ? in : out, i};
      if (r + 1 < ranks) sender.steps.push_back(send(place));
      if (r > 0 && r + 1 < ranks) sender.steps.back().after = StepAt{1, i};
      receiver.steps.push_back(r > 0 ? receive(place) : copy({in, i}, {out, i}));
    }
    program.ranks[r].blocks = {sender, receiver};
  }
  return program;
}

Program direct_all_to_all(std::uint32_t ranks) {
  Layout layout(ranks, 1);
  for (std::uint32_t from = 0; from < ranks; ++from)
    for (std::uint32_t to = 0; to < ranks; ++to) layout.add({NodeId{from}}, {NodeId{to}});
  Program program = std::move(layout).program();
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (std::uint32_t peer = 0; peer < ranks; ++peer) {
      Block sender, receiver;
      if (peer == r) {
        sender.steps.push_back(copy({in, r}, {out, r}));
      } else {
        sender.sends_to = receiver.receives_from = peer;
        sender.steps.push_back(send({in, peer}));
        receiver.steps.push_back(receive({out, peer}));
        program.ranks[r].blocks.push_back(receiver);
      }
      program.ranks[r].blocks.push_back(sender);
    }
  return program;
}

Program ping_pong(std::uint32_t ranks, std::uint32_t times) {
  Layout layout(ranks, 1);
  layout.add({NodeId{0}}, {NodeId{0}, NodeId{1}});
  Program program = std::move(layout).program();
  for (const std::uint32_t r : {0U, 1U}) {
    Block block;
    block.sends_to = block.receives_from = 1 - r;
    for (std::uint32_t i = 0; i < times; ++i) {
      const Step to = send({i == 0 && r == 0 ? in : out, 0}), from = receive({out, 0});
      block.steps.push_back(r == 0 ? to : from);
      block.steps.push_back(r == 0 ? from : to);
    }
    program.ranks[r].blocks = {block};
  }
  return program;
}

Program one_message(std::uint32_t ranks) {
  Layout layout(ranks, 1);
  layout.add({NodeId{0}}, {NodeId{1}});
  Program program = std::move(layout).program();
  Block sender, receiver;
  sender.sends_to = 1;
  receiver.receives_from = 0;
  sender.steps = {send({in, 0})};
  receiver.steps = {receive({out, 0})};
  program.ranks[0].blocks = {sender};
  program.ranks[1].blocks = {receiver};
  return program;
}

PlannedRun planned(const Program& program, std::size_t unit_bytes, ElementType type,
                   Combine combine, std::uint32_t slots) {
  return with_data(program, plan_program(program, unit_bytes, {.slots = slots}), type, combine);
}

void emulate_links(PlannedRun& run, double latency_seconds, double bytes_per_second) {
  for (Connection& connection : run.plan.connections) {
    connection.first_link = static_cast<std::uint32_t>(run.plan.path_links.size());
    connection.links = 1;
    run.plan.path_links.push_back(connection.first_link);
    run.plan.links.push_back({latency_seconds, 1 / bytes_per_second, true, 0, 0});
  }
}

} // namespace tutti::gpu
