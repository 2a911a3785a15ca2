// Routes are asked for again and again by the same pairs of ranks, so each path is interned once
// per pair, or per pair and channel where there are several equally short ones. A flow is placed
// when its first transfer is listed, so those that come first know nothing of the others. Once all
// are known, each is placed again beside all others: a best response in a congestion game
// (Rosenthal 1973), whose potential, the sum of powers that Router has, never rises.

#include "algorithms/routed_schedule.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace tutti {

namespace {

std::uint64_t pair_key(Rank from, Rank to) { return (std::uint64_t{from} << 32) | to; }

} // namespace

RoutedSchedule::RoutedSchedule(const Topology& topology, const Collective& collective,
                               const SynthesisOptions& options)
    : topology_(topology), part_(collective.parts.front()), limit_(options),
      routing_(options.routing), largest_chunk_(collective.largest_chunk()),
      schedule_(topology.link_count()) {
  assert(collective.parts.size() == 1);
  if (has_shares(part_.kind)) offsets_ = block_offsets(collective, part_);
}

void RoutedSchedule::send(Rank from, Rank to, std::uint32_t block, Op op) {
  send(from, to, block, op, 0, 1);
}

void RoutedSchedule::send(Rank from, Rank to, std::uint32_t block, Op op, std::uint32_t first_chunk,
                          std::uint32_t stride) {
  const auto [first, count] = chunks_of(block);
  for (std::uint32_t k = first_chunk; k < count; k += stride)
    send_chunk(from, to, ChunkId{first.value + k}, op);
}

std::pair<ChunkId, std::uint32_t> RoutedSchedule::chunks_of(std::uint32_t block) const {
  if (offsets_.empty())
    return {ChunkId{part_.first.value + block * part_.chunks_per_shard}, part_.chunks_per_shard};
  return {ChunkId{part_.first.value + offsets_[block]}, offsets_[block + 1] - offsets_[block]};
}

void RoutedSchedule::send_chunk(Rank from, Rank to, ChunkId chunk, Op op) {
  const std::uint32_t number = chunk.value - part_.first.value;
  send_along(path(from, to, number % part_.chunks_per_shard), chunk, op);
}

void RoutedSchedule::send_along(PathId path, ChunkId chunk, Op op) {
  constexpr std::size_t between_questions = 4096; // what is small is complete sooner
  if ((schedule_.size() + 1) % between_questions == 0) limit_.require();
  schedule_.push({chunk, path, op, false});
}

void RoutedSchedule::wait_for(std::uint32_t transfer, Milestone milestone) {
  schedule_.add_dependency(schedule_.size() - 1, {transfer, milestone});
}

Router& RoutedSchedule::router() {
  if (!router_) router_.emplace(topology_, routing_, largest_chunk_);
  return *router_;
}

std::size_t RoutedSchedule::hops(Rank from, Rank to) {
  if (const auto known = paths_.find(pair_key(from, to));
      known != paths_.end() && known->second.any.valid())
    return schedule_.paths().links(known->second.any).size();
  return router().first_route(part_.group[from], part_.group[to]).size();
}

void RoutedSchedule::use_link(Rank from, Rank to, LinkId link) {
  paths_[pair_key(from, to)].any = PathId{link.value};
}

PathId RoutedSchedule::path(Rank from, Rank to, std::uint32_t channel) {
  PathsOfPair& known = paths_[pair_key(from, to)];
  if (known.any.valid()) return known.any;
  if (channel < known.by_channel.size() && known.by_channel[channel].valid())
    return known.by_channel[channel];
  const PathId path =
      schedule_.paths().intern(router().route({part_.group[from], part_.group[to], channel}));
  if (!router().had_choice()) return known.any = path;
  flows_.push_back({{part_.group[from], part_.group[to], channel}, path});
  if (channel >= known.by_channel.size()) known.by_channel.resize(channel + 1);
  return known.by_channel[channel] = path;
}

void RoutedSchedule::balance() {
  // A third round moved no flow on six networks of seven, and 23 of 55,552 on the other.
  constexpr int rounds = 2;
  std::vector<std::uint32_t> flows_of(schedule_.paths().size());
  for (const PlacedFlow& placed : flows_) ++flows_of[placed.path.value];
  // Channels on one path stay together, as transfers only know their path.
  std::erase_if(flows_, [&](const PlacedFlow& placed) { return flows_of[placed.path.value] > 1; });
  std::vector<PathId> first;
  for (const PlacedFlow& placed : flows_) first.push_back(placed.path);
  bool has_moved = true;
  for (int round = 0; round < rounds && std::exchange(has_moved, false); ++round)
    for (PlacedFlow& placed : flows_) {
      const std::span<const LinkId> route = schedule_.paths().links(placed.path);
      if (!router_->could_move(placed.flow, route)) continue;
      if (limit_.reached()) break;
      router_->withdraw(route);
      const PathId path = schedule_.paths().intern(router_->route(placed.flow));
      has_moved = has_moved || path != placed.path;
      placed.path = path;
    }
  std::vector<PathId> now(schedule_.paths().size());
  for (std::uint32_t path = 0; path < now.size(); ++path) now[path] = PathId{path};
  for (std::size_t f = 0; f < flows_.size(); ++f) now[first[f].value] = flows_[f].path;
  schedule_.replace_paths(now);
}

Outcome RoutedSchedule::outcome() && {
  if (!flows_.empty() && router_->balances()) balance();
  Outcome outcome;
  outcome.status = Status::feasible;
  outcome.schedule = std::move(schedule_);
  if (router_) outcome.routing = to_text(router_->routing());
  return outcome;
}

} // namespace tutti
