// A planned run may come from a file. require_sound() therefore checks every index and address that
// an executor follows, before memory is allocated; what it doesn't check, wrong results and
// hanging, the executor reports.

#include "runtime/plans/planned_run.hpp"

#include "sim/error.hpp"

#include <string>
#include <utility>

namespace tutti::runtime {

std::vector<InputChunk> input_chunks(const Program& program, std::uint32_t npu, ElementType type,
                                     std::size_t unit_bytes) {
  std::vector<InputChunk> chunks;
  const std::uint64_t unit_elements = unit_bytes / element_size(type);
  for (const ChunkPlace& at : program.inputs[npu]) {
    const bool reduces = program.collective.chunks[at.chunk.value].reduces;
    chunks.push_back(
        {at.chunk.value, reduces ? npu : program.collective.sources(at.chunk).front().value,
         std::uint64_t{at.unit} * unit_bytes, program.chunk_units[at.chunk.value] * unit_elements});
  }
  return chunks;
}

Expected expected_output(const Program& program, std::uint32_t npu, ElementType type,
                         std::size_t unit_bytes) {
  Expected expected;
  const std::uint64_t unit_elements = unit_bytes / element_size(type);
  for (const ChunkPlace& at : program.outputs[npu]) {
    const auto sources = program.collective.sources(at.chunk);
    const bool reduces = program.collective.chunks[at.chunk.value].reduces;
    const auto contributors = sources.first(reduces ? sources.size() : 1);
    expected.chunks.push_back(
        {at.chunk.value, static_cast<std::uint32_t>(expected.contributors.size()),
         static_cast<std::uint32_t>(contributors.size()), std::uint64_t{at.unit} * unit_bytes,
         program.chunk_units[at.chunk.value] * unit_elements});
    for (const NodeId source : contributors) expected.contributors.push_back(source.value);
  }
  return expected;
}

PlannedRun with_data(const Program& program, Plan plan, ElementType type, Combine combine) {
  PlannedRun run{std::move(plan), {}, type, combine};
  const std::size_t unit_bytes = run.plan.unit_bytes;
  for (std::uint32_t npu = 0; npu < program.ranks.size(); ++npu)
    run.data.push_back({program.ranks[npu].input * unit_bytes,
                        program.ranks[npu].output * unit_bytes,
                        input_chunks(program, npu, type, unit_bytes),
                        expected_output(program, npu, type, unit_bytes)});
  return run;
}

namespace {

/// Whether first .. first + count lie in 0 .. all, wherever sums wrap.
bool is_within(std::uint64_t first, std::uint64_t count, std::uint64_t all) {
  return first <= all && count <= all - first;
}

/// What has been found is reported with the place in its array: "step 17".
class SoundnessCheck {
public:
  explicit SoundnessCheck(const PlannedRun& run) : run_(run), plan_(run.plan) {}

  void check() {
    check_ranks();
    check_network();
    check_connections();
    check_blocks();
    for (std::uint32_t rank = 0; rank < run_.data.size(); ++rank) check_data(rank);
  }

private:
  static void require(bool holds, const char* what, std::size_t index, const char* why) {
    if (!holds) throw InputError(std::string(what) + " " + std::to_string(index) + " " + why);
  }

  void check_ranks() const {
    if (plan_.arenas.empty() || plan_.arenas.size() != run_.data.size())
      throw InputError("a run has one arena for each of its ranks, and one rank at least");
    if (plan_.unit_bytes == 0 || plan_.unit_bytes % element_size(run_.type) != 0)
      throw InputError("a unit isn't whole elements");
    std::uint64_t left = std::uint64_t{1} << 48; // bytes: more than any machine has
    for (std::size_t r = 0; r < plan_.arenas.size(); ++r) {
      const Arena& arena = plan_.arenas[r];
      require(arena.size <= left, "rank", r, "and those before it have arenas of over 256 TiB");
      left -= arena.size;
      require(arena.input % alignment() == 0 && arena.output % alignment() == 0 &&
                  is_within(arena.input, run_.data[r].input_bytes, arena.size) &&
                  is_within(arena.output, run_.data[r].output_bytes, arena.size),
              "rank", r, "has buffers outside of its arena");
    }
  }

  void check_network() const {
    for (std::size_t l = 0; l < plan_.links.size(); ++l) {
      const EmulatedLink& link = plan_.links[l];
      require(is_time(link.latency_seconds) && is_time(link.seconds_per_byte), "link", l,
              "has times that are none");
      require(is_within(link.first_group, link.groups, plan_.link_groups.size()), "link", l,
              "has groups that aren't there");
    }
    for (std::size_t i = 0; i < plan_.groups.size(); ++i)
      require(is_time(plan_.groups[i].seconds_per_byte), "group", i, "has a time that is none");
    for (std::size_t i = 0; i < plan_.link_groups.size(); ++i)
      require(plan_.link_groups[i] < plan_.groups.size(), "a link's group", i, "isn't there");
    for (std::size_t i = 0; i < plan_.path_links.size(); ++i)
      require(plan_.path_links[i] < plan_.links.size(), "a path's link", i, "isn't there");
  }

  void check_connections() const {
    for (std::size_t c = 0; c < plan_.connections.size(); ++c) {
      const Connection& connection = plan_.connections[c];
      require(connection.from < plan_.arenas.size() && connection.to < plan_.arenas.size(),
              "connection", c, "has ends that aren't there");
      require(connection.messages <= plan_.steps.size(), "connection", c,
              "has more messages than there are steps");
      require(is_within(connection.first_link, connection.links, plan_.path_links.size()) &&
                  (plan_.links.empty() || connection.links > 0),
              "connection", c, "has a path that isn't there");
    }
  }

  void check_blocks() const {
    std::size_t steps = 0;
    std::uint32_t first_block = 0; // of the rank
    for (std::uint32_t b = 0; b < plan_.blocks.size(); ++b) {
      const PlannedBlock& block = plan_.blocks[b];
      require(block.rank < plan_.arenas.size() &&
                  (b == 0 || plan_.blocks[b - 1].rank <= block.rank),
              "block", b, "isn't of a rank in order");
      if (b > 0 && plan_.blocks[b - 1].rank != block.rank) first_block = b;
      require(block.first_block == first_block, "block", b, "has another first of its rank");
      require(block.first_step == steps && is_within(steps, block.steps, plan_.steps.size()),
              "block", b, "has other steps than those after the one before");
      check_end(b, block.sends, &Connection::from);
      check_end(b, block.receives, &Connection::to);
      steps += block.steps;
    }
    require(steps == plan_.steps.size(), "step", steps, "is of no block");
    for (std::uint32_t b = 0; b < plan_.blocks.size(); ++b) check_steps(b);
  }

  void check_end(std::uint32_t b, std::uint32_t connection, std::uint32_t Connection::*end) const {
    require(connection == nobody || (connection < plan_.connections.size() &&
                                     plan_.connections[connection].*end == plan_.blocks[b].rank),
            "block", b, "has a connection that isn't its rank's");
  }

  void check_steps(std::uint32_t b) const {
    const PlannedBlock& block = plan_.blocks[b];
    std::uint32_t sent = 0;
    for (std::uint32_t i = 0; i < block.steps; ++i) {
      const std::size_t index = std::size_t{block.first_step} + i;
      const PlannedStep& step = plan_.steps[index];
      check_places(block, step, index);
      check_waits(block, step, index);
      sent += sends(step.kind) ? 1U : 0U;
    }
    // Who receives more waits for the flag beyond them, which nobody raises.
    require(block.sends == nobody || sent <= plan_.connections[block.sends].messages, "block", b,
            "sends more than its connection has messages");
  }

  void check_places(const PlannedBlock& block, const PlannedStep& step, std::size_t index) const {
    const std::uint64_t own = plan_.arenas[block.rank].size;
    require(step.bytes % element_size(run_.type) == 0, "step", index, "moves broken elements");
    const auto lies = [&](std::uint64_t at, std::uint64_t size) {
      return at % alignment() == 0 && is_within(at, step.bytes, size);
    };
    require(!sends(step.kind) || block.sends != nobody, "step", index, "sends to nobody");
    require(!receives(step.kind) || block.receives != nobody, "step", index,
            "receives from nobody");
    require((!step.takes_slot || sends(step.kind)) && (!step.frees_slot || receives(step.kind)),
            "step", index, "has slots of messages that it doesn't move");
    require((!reads_source(step.kind) || lies(step.source, own)) &&
                (!writes_target(step.kind) || lies(step.target, own)) &&
                (!receives(step.kind) || lies(step.got, own)),
            "step", index, "reaches outside of its rank's arena");
    if (!sends(step.kind)) return;
    const std::uint32_t to = plan_.connections[block.sends].to;
    require(lies(step.landing, plan_.arenas[to].size), "step", index,
            "lands outside of its receiver's arena");
  }

  void check_waits(const PlannedBlock& block, const PlannedStep& step, std::size_t index) const {
    if (step.after_block == nobody) return;
    const std::uint64_t other = std::uint64_t{block.first_block} + step.after_block;
    require(other < plan_.blocks.size() && plan_.blocks[other].rank == block.rank &&
                step.after_step < plan_.blocks[other].steps,
            "step", index, "waits for a step that isn't there");
  }

  void check_data(std::uint32_t rank) const {
    const RankData& data = run_.data[rank];
    for (const InputChunk& chunk : data.input)
      require(lies(chunk, data.input_bytes), "rank", rank, "has a chunk outside of its input");
    for (const ExpectedChunk& chunk : data.output.chunks)
      require(lies(chunk, data.output_bytes) && chunk.contributors > 0 &&
                  is_within(chunk.first_contributor, chunk.contributors,
                            data.output.contributors.size()),
              "rank", rank, "has a chunk outside of its output");
  }

  template <typename Chunk> [[nodiscard]] bool lies(const Chunk& chunk, std::uint64_t size) const {
    return chunk.first_byte % alignment() == 0 &&
           chunk.elements <= size / element_size(run_.type) &&
           is_within(chunk.first_byte, chunk.elements * element_size(run_.type), size);
  }

  [[nodiscard]] std::uint64_t alignment() const { return element_size(run_.type); }
  static bool is_time(double seconds) { return seconds >= 0 && seconds < 1e6; }

  const PlannedRun& run_;
  const Plan& plan_;
};

} // namespace

void require_sound(const PlannedRun& run) { SoundnessCheck(run).check(); }

} // namespace tutti::runtime
