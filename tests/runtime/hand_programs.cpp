// Block by block, over a line of ranks with the buffers of the named collective.

#include "tests/runtime/hand_programs.hpp"

#include "sim/collective.hpp"

#include <string>
#include <utility>

namespace tutti::runtime {

namespace {

constexpr auto in = Buffer::input, out = Buffer::output;

Program empty_on_line(CollectiveKind kind, std::uint32_t ranks, std::uint32_t instances,
                      bool in_place) {
  const Topology network = line_network(ranks, Time{0}, Bandwidth{1'000'000'000});
  const Collective collective = make_collective(network, {kind, Bytes{1 << 20}, {}, 0, 1});
  return empty_program(collective, ranks, instances, in_place);
}

Block ring_block(std::uint32_t rank, std::uint32_t ranks) {
  Block block;
  block.sends_to = (rank + 1) % ranks;
  block.receives_from = (rank + ranks - 1) % ranks;
  return block;
}

} // namespace

Topology line_network(std::uint32_t npus, Time latency, Bandwidth bandwidth) {
  TopologyParts parts;
  parts.name = "line";
  for (std::uint32_t n = 0; n < npus; ++n)
    parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  for (std::uint32_t n = 0; n + 1 < npus; ++n)
    parts.add_duplex({NodeId{n}, NodeId{n + 1}, latency, bandwidth, -1});
  return Topology(std::move(parts));
}

Program ring_all_gather(std::uint32_t ranks, bool in_place) {
  Program program = empty_on_line(CollectiveKind::all_gather, ranks, 1, in_place);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Block block = ring_block(r, ranks);
    block.steps.push_back({StepKind::send, {in, 0}, {}, 1, {}});
    for (std::uint32_t i = 1; i < ranks; ++i)
      block.steps.push_back({i + 1 < ranks ? StepKind::receive_copy_send : StepKind::receive,
                             {},
                             {out, (r + ranks - i) % ranks},
                             1,
                             {}});
    program.ranks[r].blocks.push_back(block);
    if (in_place) continue;
    Block own;
    own.steps.push_back({StepKind::copy, {in, 0}, {out, r}, 1, {}});
    program.ranks[r].blocks.push_back(own);
  }
  return program;
}

Program ring_all_reduce(std::uint32_t ranks, bool in_place) {
  Program program = empty_on_line(CollectiveKind::all_reduce, ranks, 1, in_place);
  const std::uint32_t n = ranks;
  for (std::uint32_t r = 0; r < n; ++r) {
    Block block = ring_block(r, n);
    block.steps.push_back({StepKind::send, {in, r}, {}, 1, {}});
    for (std::uint32_t i = 1; i + 1 < n; ++i)
      block.steps.push_back({StepKind::receive_reduce_send, {in, (r + n - i) % n}, {}, 1, {}});
    const std::uint32_t own = (r + 1) % n;
    block.steps.push_back({StepKind::receive_reduce_copy_send, {in, own}, {out, own}, 1, {}});
    for (std::uint32_t i = 1; i < n; ++i)
      block.steps.push_back({i + 1 < n ? StepKind::receive_copy_send : StepKind::receive,
                             {},
                             {out, (own + n - i) % n},
                             1,
                             {}});
    program.ranks[r].blocks.push_back(block);
  }
  return program;
}

Program chain_broadcast(std::uint32_t ranks, std::uint32_t parts) {
  Program program = empty_on_line(CollectiveKind::broadcast, ranks, parts, false);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    Block sender, receiver;
    if (r + 1 < ranks) sender.sends_to = r + 1;
    if (r > 0) receiver.receives_from = r - 1;
    for (std::uint32_t i = 0; i < parts; ++i) {
      const Place place{r == 0 ? in : out, i};
      if (r + 1 < ranks) {
        Step send{StepKind::send, place, {}, 1, {}};
        if (r > 0) send.after = StepAt{1, i};
        sender.steps.push_back(send);
      }
      if (r > 0)
        receiver.steps.push_back({StepKind::receive, {}, place, 1, {}});
      else
        receiver.steps.push_back({StepKind::copy, {in, i}, {out, i}, 1, {}});
    }
    program.ranks[r].blocks = {sender, receiver};
  }
  return program;
}

} // namespace tutti::runtime
