// A bound or an integer program needs no variable for each chunk: chunks with one destination that
// start at the same sources are alike until they part, so they are one flow; a chunk that several
// want is one flow for each of them in a common carrier, whose lanes count the most of its flows.
#include "synth/sccl/flows.hpp"

#include <algorithm>
#include <tuple>

namespace tutti {

namespace {

using FlowKey = std::tuple<std::vector<std::uint32_t>, std::vector<Sink>, bool>;

/// What distinguishes flows: carriers of several flows also by their other sinks, but these
/// go where the flow goes.
FlowKey key_of(const StepFlow& flow, bool shared) { return {flow.sources, flow.sinks, shared}; }

std::vector<std::uint32_t> images(const std::vector<std::uint32_t>& nodes,
                                  const Permutation& permutation) {
  std::vector<std::uint32_t> moved;
  for (const std::uint32_t n : nodes) moved.push_back(permutation[n]);
  std::ranges::sort(moved);
  return moved;
}

} // namespace

StepFlows step_flows(const StepProblem& problem) {
  StepFlows all;
  all.flow_of.assign(problem.chunks.size(), StepFlows::none);
  std::map<std::vector<std::uint32_t>, std::uint32_t> together; // sources to flow
  std::map<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>, std::uint32_t> shared;
  const auto new_carrier = [&] {
    all.carriers.emplace_back();
    return static_cast<std::uint32_t>(all.carriers.size() - 1);
  };
  const auto new_flow = [&](const TimedChunk& chunk, std::uint32_t carrier) {
    all.carriers[carrier].push_back(static_cast<std::uint32_t>(all.flows.size()));
    all.flows.push_back({chunk.sources, {}, 0, carrier});
    return static_cast<std::uint32_t>(all.flows.size() - 1);
  };
  for (std::uint32_t c = 0; c < problem.chunks.size(); ++c) {
    const TimedChunk& chunk = problem.chunks[c];
    if (chunk.destinations.empty()) continue;
    if (chunk.destinations.size() == 1) {
      const auto [at, fresh] = together.try_emplace(chunk.sources, 0U);
      if (fresh) at->second = new_flow(chunk, new_carrier());
      all.flow_of[c] = at->second;
      StepFlow& flow = all.flows[at->second];
      const auto sink = std::ranges::find(flow.sinks, chunk.destinations.front(), &Sink::node);
      if (sink == flow.sinks.end())
        flow.sinks.push_back({chunk.destinations.front(), 1});
      else
        ++sink->amount;
      ++flow.amount;
      continue;
    }
    const auto [at, fresh] = shared.try_emplace({chunk.sources, chunk.destinations}, 0U);
    if (fresh) {
      at->second = static_cast<std::uint32_t>(all.flows.size());
      const std::uint32_t carrier = new_carrier();
      for (const std::uint32_t destination : chunk.destinations)
        all.flows[new_flow(chunk, carrier)].sinks = {{destination, 0}};
    }
    all.flow_of[c] = at->second;
    for (std::uint32_t f = at->second; f < at->second + chunk.destinations.size(); ++f) {
      ++all.flows[f].amount;
      ++all.flows[f].sinks.front().amount;
    }
  }
  for (StepFlow& flow : all.flows) std::ranges::sort(flow.sinks);
  return all;
}

std::vector<std::uint32_t> StepFlows::image(const StepAutomorphism& automorphism) const {
  // The destinations of the whole carrier tell flows with equal ends apart.
  const auto destinations = [&](const StepFlow& flow) {
    std::vector<std::uint32_t> found;
    for (const std::uint32_t f : carriers[flow.carrier])
      for (const Sink& sink : flows[f].sinks) found.push_back(sink.node);
    std::ranges::sort(found);
    return found;
  };
  std::map<std::pair<FlowKey, std::vector<std::uint32_t>>, std::uint32_t> index;
  const auto is_shared = [&](const StepFlow& flow) { return carriers[flow.carrier].size() > 1; };
  for (std::uint32_t f = 0; f < flows.size(); ++f)
    index[{key_of(flows[f], is_shared(flows[f])), destinations(flows[f])}] = f;
  std::vector<std::uint32_t> image;
  for (const StepFlow& flow : flows) {
    StepFlow moved = flow;
    moved.sources = images(flow.sources, automorphism.nodes);
    for (Sink& sink : moved.sinks) sink.node = automorphism.nodes[sink.node];
    std::ranges::sort(moved.sinks);
    image.push_back(
        index.at({key_of(moved, is_shared(flow)), images(destinations(flow), automorphism.nodes)}));
  }
  return image;
}

FlowWindows::FlowWindows(const StepProblem& problem, const StepFlow& flow)
    : from_(problem.network.distances_from(flow.sources)),
      to_(problem.network.node_count(), unreachable), single_sink_(flow.sinks.size() == 1) {
  for (const Sink& sink : flow.sinks) {
    const std::vector<std::uint32_t> to = problem.network.distances_to({sink.node});
    for (std::uint32_t n = 0; n < to.size(); ++n) to_[n] = std::min(to_[n], to[n]);
  }
}

bool FlowWindows::usable(const Lane& lane) const {
  return from_[lane.from] != unreachable && to_[lane.to] != unreachable && from_[lane.to] > 0 &&
         !(single_sink_ && to_[lane.from] == 0);
}

bool FlowWindows::open(const Lane& lane, std::uint32_t step, std::uint32_t steps) const {
  return usable(lane) && from_[lane.from] <= step && to_[lane.to] <= steps - 1 - step;
}

std::uint32_t fewest_steps(const StepProblem& problem) {
  std::uint32_t fewest = 0;
  for (const TimedChunk& chunk : problem.chunks) {
    if (chunk.destinations.empty()) continue;
    const std::vector<std::uint32_t> from = problem.network.distances_from(chunk.sources);
    for (const std::uint32_t n : chunk.destinations) fewest = std::max(fewest, from[n]);
  }
  return fewest;
}

} // namespace tutti
