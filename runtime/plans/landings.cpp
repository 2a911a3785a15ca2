// Which messages may be written directly into their target. A push can come as early as its sender
// likes, so it lands directly only where nothing at the receiver has touched that place before the
// receive; all others take a slot. One walk through the steps in an order that the waits allow
// decides this.

#include "runtime/plans/landings.hpp"

#include <array>

namespace tutti::runtime {

namespace {

/// Performs the program in one order that its waits allow. Where nothing races, what touches a
/// place before a receive does so in every order.
class LandingWalk {
public:
  LandingWalk(const Program& program, const Plan& plan, const std::vector<MessageEnds>& ends)
      : program_(program), plan_(plan), ends_(ends), done_(plan.blocks.size()),
        sent_(plan.connections.size()), got_(plan.connections.size()), waiting_(plan.blocks.size()),
        direct_(plan.steps.size()) {
    for (const RankProgram& rank : program.ranks)
      touched_.push_back({std::vector<bool>(rank.input), std::vector<bool>(rank.output),
                          std::vector<bool>(rank.scratch)});
    for (std::uint32_t b = 0; b < plan.blocks.size(); ++b) runnable_.push_back(b);
  }

  std::vector<bool> walk() {
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

} // namespace

std::vector<bool> direct_landings(const Program& program, const Plan& plan,
                                  const std::vector<MessageEnds>& ends) {
  return LandingWalk(program, plan, ends).walk();
}

} // namespace tutti::runtime
