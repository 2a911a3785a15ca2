// Lays out each rank's arena (input, output, scratch, then slots), numbers blocks, connections and
// messages, and turns places into byte addresses, so that an executor computes none.
//
// Which messages may be written directly into their target: a push can come as early as its sender
// likes, so it lands directly only where nothing at the receiver has touched that place before the
// receive; all others take a slot. One walk through the steps in an order that the waits allow
// decides this.

#include "runtime/plans/plan.hpp"

#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <numeric>
#include <tuple>

namespace tutti::runtime {

namespace {

/// Connection ids, and which steps of which block are its messages.
struct MessageEnds {
  std::uint32_t sender = nobody, receiver = nobody; ///< blocks, through all ranks
  std::vector<std::uint32_t> sent, received;        ///< [message]: steps, through all blocks
};

/// Performs the program in one order that its waits allow. Where nothing races, what touches a
/// place before a receive does so in every order.
class LandingWalk {
public:
  /// The plan has its blocks and connections. All must outlive this.
  LandingWalk(const Program& program, const Plan& plan, const std::vector<MessageEnds>& ends)
      : program_(program), plan_(plan), ends_(ends), done_(plan.blocks.size()),
        sent_(plan.connections.size()), got_(plan.connections.size()), waiting_(plan.blocks.size()),
        direct_(plan.steps.size()) {
    for (const RankProgram& rank : program.ranks)
      touched_.push_back({std::vector<bool>(rank.input), std::vector<bool>(rank.output),
                          std::vector<bool>(rank.scratch)});
    for (std::uint32_t b = 0; b < plan.blocks.size(); ++b) runnable_.push_back(b);
  }

  /// For each step, through all ranks and blocks: whether it receives into a target that nothing at
  /// its rank touches before, in any run, so that what is sent can land there. Steps that a hung
  /// program doesn't reach: false.
  std::vector<bool> direct_landings() {
    while (!runnable_.empty()) {
      const std::uint32_t block = runnable_.back();
      runnable_.pop_back();
      advance(block);
    }
    return std::move(direct_);
  }

private:
  /// As far as it gets; wakes those that waited for it.
  void advance(std::uint32_t b) {
    const PlannedBlock& block = plan_.blocks[b];
    const std::vector<Step>& steps = program_.ranks[block.rank].blocks[b - block.first_block].steps;
    while (done_[b] < steps.size()) {
      const Step& step = steps[done_[b]];
      if (step.after) {
        const std::uint32_t other = block.first_block + step.after->block;
        if (done_[other] <= step.after->step) return wait_for(other, b);
      }
      if (receives(step.kind)) {
        const std::uint32_t c = block.receives;
        if (got_[c] == sent_[c]) return; // its sender wakes it
        ++got_[c];
      }
      perform(block.rank, step, block.first_step + done_[b]);
      ++done_[b];
      if (sends(step.kind)) {
        ++sent_[block.sends];
        const std::uint32_t receiver = ends_[block.sends].receiver;
        if (receiver != nobody) runnable_.push_back(receiver);
      }
      wake(b);
    }
  }

  void wait_for(std::uint32_t other, std::uint32_t block) { waiting_[other].push_back(block); }

  void wake(std::uint32_t block) {
    runnable_.insert(runnable_.end(), waiting_[block].begin(), waiting_[block].end());
    waiting_[block].clear();
  }

  void perform(std::uint32_t rank, const Step& step, std::size_t index) {
    const bool reads = reads_source(step.kind), writes = writes_target(step.kind);
    // A place that a step doesn't use may be one that its rank doesn't have.
    const Place source = reads ? alias(program_, rank, step.source) : step.source;
    const Place target = writes ? alias(program_, rank, step.target) : step.target;
    if (receives(step.kind) && writes)
      direct_[index] =
          untouched(rank, target, step.count) && !(reads && overlap(source, target, step.count));
    if (reads) touch(rank, source, step.count);
    if (writes) touch(rank, target, step.count);
  }

  static bool overlap(Place a, Place b, std::uint32_t count) {
    return a.buffer == b.buffer && a.unit < b.unit + count && b.unit < a.unit + count;
  }

  bool untouched(std::uint32_t rank, Place place, std::uint32_t count) const {
    const std::vector<bool>& units = touched_[rank][static_cast<std::size_t>(place.buffer)];
    for (std::uint32_t i = 0; i < count; ++i)
      if (units[place.unit + i]) return false;
    return true;
  }

  void touch(std::uint32_t rank, Place place, std::uint32_t count) {
    std::vector<bool>& units = touched_[rank][static_cast<std::size_t>(place.buffer)];
    for (std::uint32_t i = 0; i < count; ++i) units[place.unit + i] = true;
  }

  const Program& program_;
  const Plan& plan_;
  const std::vector<MessageEnds>& ends_;
  std::vector<std::uint32_t> done_;                 // [block]: steps
  std::vector<std::uint32_t> sent_, got_;           // [connection]: messages
  std::vector<std::vector<std::uint32_t>> waiting_; // [block]: for a step of it
  std::vector<std::uint32_t> runnable_;
  std::vector<std::array<std::vector<bool>, 3>> touched_; // [rank][buffer][unit]
  std::vector<bool> direct_;
};

/// Buffers and slots start at multiples of it: a cache line, more than any vector.
constexpr std::uint64_t arena_alignment = 128;

constexpr std::uint64_t aligned_up(std::uint64_t bytes) {
  return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

/// Input, output and scratch one after another, or two of them as one memory; then the slots.
Arena arena_of(const Program& program, std::uint32_t rank, std::size_t unit_bytes) {
  const RankProgram& own = program.ranks[rank];
  const auto base_in = [&](Buffer ruled, Buffer ruling, std::uint64_t ruling_base) {
    const Place at = alias(program, rank, {ruled, 0});
    assert(at.buffer == ruling);
    (void)ruling;
    return ruling_base + at.unit * unit_bytes;
  };
  Arena arena;
  if (!program.in_place) {
    arena.output = aligned_up(own.input * unit_bytes);
    arena.scratch = aligned_up(arena.output + own.output * unit_bytes);
  } else if (own.input > own.output) {
    if (own.output > 0) arena.output = base_in(Buffer::output, Buffer::input, 0);
    arena.scratch = aligned_up(own.input * unit_bytes);
  } else {
    if (own.input > 0) arena.input = base_in(Buffer::input, Buffer::output, 0);
    arena.scratch = aligned_up(own.output * unit_bytes);
  }
  arena.slots = arena.size = aligned_up(arena.scratch + own.scratch * unit_bytes);
  return arena;
}

class Planner {
public:
  Planner(const Program& program, std::size_t unit_bytes, const PlanOptions& options)
      : program_(program), options_(options) {
    plan_.unit_bytes = unit_bytes;
  }

  Plan make() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      plan_.arenas.push_back(arena_of(program_, r, plan_.unit_bytes));
    number_connections();
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) add_blocks(r);
    const std::vector<bool> direct = LandingWalk(program_, plan_, ends_).direct_landings();
    for (std::uint32_t c = 0; c < plan_.connections.size(); ++c) place_messages(c, direct);
    return std::move(plan_);
  }

private:
  /// In order of sender, receiver and channel.
  void number_connections() {
    const auto add = [&](std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
      ids_.emplace(std::tuple(from, to, channel), 0U);
    };
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (const Block& block : program_.ranks[r].blocks) {
        if (block.sends_to) add(r, *block.sends_to, block.channel);
        if (block.receives_from) add(*block.receives_from, r, block.channel);
      }
    for (auto& [key, id] : ids_) {
      id = static_cast<std::uint32_t>(plan_.connections.size());
      Connection connection;
      std::tie(connection.from, connection.to, connection.channel) = key;
      plan_.connections.push_back(connection);
    }
    ends_.resize(plan_.connections.size());
  }

  void add_blocks(std::uint32_t rank) {
    const auto first = static_cast<std::uint32_t>(plan_.blocks.size());
    for (const Block& block : program_.ranks[rank].blocks) {
      const auto index = static_cast<std::uint32_t>(plan_.blocks.size());
      PlannedBlock planned{rank,
                           static_cast<std::uint32_t>(plan_.steps.size()),
                           static_cast<std::uint32_t>(block.steps.size()),
                           first,
                           nobody,
                           nobody};
      if (block.sends_to) {
        planned.sends = ids_.at({rank, *block.sends_to, block.channel});
        ends_[planned.sends].sender = index;
      }
      if (block.receives_from) {
        planned.receives = ids_.at({*block.receives_from, rank, block.channel});
        ends_[planned.receives].receiver = index;
      }
      for (const Step& step : block.steps) add_step(planned, step);
      plan_.blocks.push_back(planned);
    }
  }

  void add_step(const PlannedBlock& block, const Step& step) {
    const auto index = static_cast<std::uint32_t>(plan_.steps.size());
    PlannedStep planned;
    planned.kind = step.kind;
    planned.bytes = step.count * plan_.unit_bytes;
    if (reads_source(step.kind)) planned.source = address(block.rank, step.source);
    if (writes_target(step.kind)) planned.target = address(block.rank, step.target);
    if (step.after) {
      planned.after_block = step.after->block;
      planned.after_step = step.after->step;
    }
    if (sends(step.kind)) ends_[block.sends].sent.push_back(index);
    if (receives(step.kind)) ends_[block.receives].received.push_back(index);
    plan_.steps.push_back(planned);
  }

  std::uint64_t address(std::uint32_t rank, Place place) const {
    const Arena& arena = plan_.arenas[rank];
    const std::uint64_t base = place.buffer == Buffer::input    ? arena.input
                               : place.buffer == Buffer::output ? arena.output
                                                                : arena.scratch;
    return base + place.unit * plan_.unit_bytes;
  }

  /// Where each message of the connection lands. One that is never received takes a slot.
  void place_messages(std::uint32_t c, const std::vector<bool>& direct) {
    Connection& connection = plan_.connections[c];
    const MessageEnds& ends = ends_[c];
    connection.messages = static_cast<std::uint32_t>(ends.sent.size());
    const std::size_t messages = std::max(ends.sent.size(), ends.received.size());
    const auto lands_direct = [&](std::size_t m) {
      return m < ends.received.size() && direct[ends.received[m]];
    };
    std::uint64_t slot_bytes = 0;
    std::uint32_t in_slots = 0;
    for (std::size_t m = 0; m < messages; ++m) {
      if (lands_direct(m)) continue;
      ++in_slots;
      if (m < ends.sent.size()) slot_bytes = std::max(slot_bytes, plan_.steps[ends.sent[m]].bytes);
    }
    connection.slots = options_.one_by_one ? 1 : std::min(options_.slots, in_slots);
    Arena& arena = plan_.arenas[connection.to];
    const std::uint64_t first_slot = arena.size, stride = aligned_up(slot_bytes);
    arena.size += connection.slots * stride;
    std::uint32_t& taken = connection.slot_messages;
    for (std::size_t m = 0; m < messages; ++m) {
      const bool lands = lands_direct(m), takes = !lands || options_.one_by_one;
      const std::uint64_t at = lands ? plan_.steps[ends.received[m]].target
                                     : first_slot + taken % connection.slots * stride;
      if (m < ends.sent.size()) {
        PlannedStep& send = plan_.steps[ends.sent[m]];
        send.landing = at;
        send.takes_slot = takes;
        send.slot_messages = taken;
      }
      if (m < ends.received.size()) {
        PlannedStep& receive = plan_.steps[ends.received[m]];
        receive.got = at;
        receive.got_in_place = lands;
        receive.frees_slot = takes;
      }
      if (takes) ++taken;
    }
  }

  const Program& program_;
  const PlanOptions& options_;
  Plan plan_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> ids_;
  std::vector<MessageEnds> ends_; // [connection]
};

} // namespace

Plan plan_program(const Program& program, std::size_t unit_bytes, const PlanOptions& options) {
  if (options.slots == 0) throw InputError("a connection needs at least one slot");
  return Planner(program, unit_bytes, options).make();
}

} // namespace tutti::runtime
