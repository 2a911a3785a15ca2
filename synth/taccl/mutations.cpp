// Idea: sketches are small, so that what can be changed in one can be listed, and judging one is a
// synthesis of milliseconds. The search itself (taccl.cpp) climbs from the best sketch so far.
#include "synth/taccl/mutations.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace tutti {

std::optional<SketchTrial> SketchMutations::next(const SketchTrial& from) {
  constexpr unsigned most_attempts = 1000;
  known_.insert(sketch_toml(from.sketch, "") + fmt::format("{}", from.slack.value_or(-1)));
  for (unsigned attempt = 0; attempt < most_attempts; ++attempt) {
    SketchTrial trial = from;
    // One change, at times several: what no single one improves.
    for (std::uint64_t changes = 1 + (random_.below(4) == 0 ? random_.below(3) : 0); changes > 0;
         --changes)
      change(trial);
    try {
      sketch_format::finish(trial.sketch);
      require_fitting(trial.sketch, network_);
    } catch (const InputError&) {
      continue;
    }
    trial.sketch.name = from.sketch.name;
    if (!known_.insert(sketch_toml(trial.sketch, "") + fmt::format("{}", trial.slack.value_or(-1)))
             .second)
      continue;
    const std::size_t dash = trial.sketch.name.rfind(" changed");
    trial.sketch.name = fmt::format("{} changed {}", trial.sketch.name.substr(0, dash), ++count_);
    return trial;
  }
  return std::nullopt;
}

void SketchMutations::change(SketchTrial& trial) {
  Sketch& sketch = trial.sketch;
  switch (random_.below(8)) {
  case 0:
  case 1:
    if (may_cut_)
      sketch.partitions = random_.below(2) == 0 ? std::max(1U, sketch.partitions / 2)
                                                : std::min(16U, sketch.partitions * 2);
    break;
  case 2:
    if (!sketch.hyperedges.empty()) {
      const auto policy = static_cast<ConnectionPolicy>(random_.below(3));
      for (Sketch::Hyperedge& edge : sketch.hyperedges) edge.policy = policy;
    }
    break;
  case 3: {
    static constexpr std::array slacks{0.0, 0.1, 0.5, 1.0, 3.0};
    trial.slack = slacks[random_.below(slacks.size())];
    break;
  }
  case 4:
    if (sketch.machines > 1)
      sketch.beta_split = sketch.beta_split ? std::nullopt : std::optional(1.0);
    break;
  case 5: sketch.balance = static_cast<LinkBalance>(random_.below(3)); break;
  default:
    if (sketch.machines > 1) change_connections(sketch);
  }
}

void SketchMutations::change_connections(Sketch& sketch) {
  const std::uint32_t each = network_.npu_count() / sketch.machines;
  const auto any = [&] { return static_cast<LocalRank>(random_.below(each)); };
  switch (random_.below(5)) {
  case 0:
    sketch.between = random_.below(2) == 0 ? Sketch::Between::direct : Sketch::Between::full;
    sketch.connections.clear();
    sketch.leaves_through.clear();
    break;
  case 1: { // so many senders, evenly spread, each to its neighbour
    const std::uint32_t senders = std::max(1U, each >> random_.below(5));
    sketch.between = Sketch::Between::mapped;
    sketch.connections.clear();
    sketch.leaves_through.clear();
    const std::uint32_t step = std::max(1U, each / senders);
    for (LocalRank rank = 0; rank < each; rank += step)
      sketch.connections[std::min(each - 1, rank + step / 2)] = {rank};
    break;
  }
  case 2: // another receiver for each, at the same distance
    if (!sketch.connections.empty()) {
      const LocalRank shift = any();
      for (auto& [sender, receivers] : sketch.connections) {
        const LocalRank more = (receivers.front() + shift) % each;
        if (std::ranges::find(receivers, more) == receivers.end())
          receivers.push_back(more);
        else if (receivers.size() > 1)
          receivers.pop_back();
      }
    }
    break;
  case 3: { // all roles move on by some ranks
    const LocalRank shift = any();
    std::map<LocalRank, std::vector<LocalRank>> moved;
    for (auto& [sender, receivers] : sketch.connections) {
      for (LocalRank& receiver : receivers) receiver = (receiver + shift) % each;
      moved[(sender + shift) % each] = std::move(receivers);
    }
    sketch.connections = std::move(moved);
    sketch.leaves_through.clear();
    break;
  }
  default: sketch.leaves_through.clear();
  }
  if (sketch.leaves_through.empty()) sketch.own_chunks_first = false;
}

} // namespace tutti
