// Instances are alike whose shape is the same and whose links have the same rates, latencies and
// shared groups: such an appearance is looked up before a replay is made.
#include "sim/iteration/lone_replays.hpp"

#include <algorithm>
#include <unordered_map>

namespace tutti {

const LoneReplay& LoneReplays::of(std::uint32_t plan) {
  if (of_plan_[plan]) return *of_plan_[plan];
  const auto [known, is_new] =
      replays_.try_emplace({shapes_[plan].shape, appearance(plan)}, LoneReplay{});
  if (is_new) known->second = replay(plan);
  of_plan_[plan] = &known->second;
  return known->second;
}

LoneReplays::Network& LoneReplays::network() {
  constexpr std::int64_t most = INT64_MAX / 8; // of the clock: it goes on from replay to replay
  if (network_ && network_->now < most) return *network_;
  network_ = std::make_unique<Network>();
  network_->core = std::make_unique<Core>(topology_, PlanInstances(shapes_, waiting_, 1), model_,
                                          options_, network_->events);
  network_->now = network_->core->begin();
  return *network_;
}

/// All that decides how a shape goes at its place.
std::vector<std::int64_t> LoneReplays::appearance(std::uint32_t plan) {
  const Core& core = *network().core;
  std::vector<std::int64_t> looks;
  std::unordered_map<std::uint32_t, std::int64_t> groups; // numbered by first use
  for (const LinkId link : shapes_[plan].links) {
    looks.insert(looks.end(), {core.rate(link).bytes_per_second, core.latency(link).ps,
                               topology_.node(topology_.link(link).from).can.store ? 1 : 0,
                               topology_.node(topology_.link(link).to).can.store ? 1 : 0});
    for (const std::uint32_t group : topology_.groups_of(link)) {
      const auto number = static_cast<std::int64_t>(groups.size());
      looks.push_back(-1 - groups.try_emplace(group, number).first->second);
      looks.push_back(topology_.groups()[group].bandwidth.bytes_per_second);
    }
  }
  for (const PathId path : shapes_[plan].paths) {
    const NodeId receiver = topology_.link(shapes_.paths().last(path)).to;
    looks.push_back(reduction_rate(topology_.node(receiver), model_).bytes_per_second);
  }
  return looks;
}

LoneReplay LoneReplays::replay(std::uint32_t plan) {
  Network& here = network();
  Core& core = *here.core;
  PlanInstances<Dependencies>& instances = core.transfers();
  const std::int64_t begin = here.now;
  std::vector<LinkUse> before;
  for (const LinkId link : shapes_[plan].links) before.push_back(core.report().links[link.value]);

  LoneReplay replay;
  const std::uint32_t slot = instances.add(plan, 0);
  instances.prepare(slot);
  core.start_part(slot, begin);
  core.serve(begin);
  WatchedSteps steps(options_.watch);
  while (here.events.next_time() != EventQueue::never) {
    here.now = here.events.next_time();
    std::uint64_t handled = 0;
    for (; here.events.next_time() == here.now; ++handled) core.handle(here.events.pop());
    steps.take(handled, [] { return WorkProgress{}; });
    for (const InstanceMember& over : instances.members_over())
      replay.over.push_back({here.now - begin, over.member});
    if (!instances.finished().empty()) replay.finished = here.now - begin;
    instances.clear_news();
    core.serve(here.now);
  }
  if (replay.finished == 0) { // something of it stays on this network
    network_.reset();
    replay = {};
    replay.halts = true;
    return replay;
  }
  instances.remove(slot);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const LinkUse& after = core.report().links[shapes_[plan].links[i].value];
    replay.link_use.push_back({after.bytes - before[i].bytes, after.busy - before[i].busy,
                               after.transfers - before[i].transfers});
    replay.crossings += replay.link_use.back().transfers;
  }
  replayed_ += replay.crossings;
  return replay;
}

} // namespace tutti
