// Builds the chains of dependencies.hpp: a counting sort brings the transfers of a chunk together
// in list order; walking them once, the last element of the chain of each node is all that has to
// be known. Transfers of one part with one path are then joined into connections.

#include "sim/engines/dependencies.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace tutti {

namespace {

/// The end of the chain of one node, while the chains of one chunk are being built.
struct ChainEnd {
  std::uint32_t last_step = UINT32_MAX;
  std::uint32_t first_unwatched_send = UINT32_MAX; // since the last arrival
  std::uint32_t chunk = UINT32_MAX;                // whose chain this is; else out of date
  bool has_send = false, has_arrival = false;
};

} // namespace

Dependencies::Dependencies(const Topology& topology, const Collective& collective,
                           const Schedule& schedule, Parts parts, const Watch& watch)
    : Dependencies(ends_of(topology, schedule.paths()), collective, schedule, parts, watch) {}

Dependencies::Dependencies(std::span<const PathEnds> paths, const Collective& collective,
                           const Schedule& schedule, Parts parts, const Watch& watch)
    : schedule_(&schedule), shares_sends_(schedule.has_contiguous()), chains_(schedule.size()),
      next_(schedule.paths().size(), none), undelivered_(schedule.size()) {
  if (schedule.size() > none / 2)
    throw InputError(
        fmt::format("{} transfers are more than an engine can number", schedule.size()));
  auto fixed = std::make_shared<Fixed>();
  for (const PathEnds& ends : paths) fixed->stores.push_back(ends.stores);
  if (parts == Parts::apart) keep_apart(collective, *fixed);
  take_names(*fixed);
  if (parts == Parts::apart) connections_ = fixed->connections.data();
  fixed_ = std::move(fixed);
  join_connections();
  chain(paths, collective, watch);
}

void Dependencies::take_names(Fixed& fixed) {
  const std::span<const std::uint32_t> waiting = schedule_->waiting();
  if (waiting.empty()) return;
  names_.resize(chains_.size());
  fixed.follower_begin.resize(chains_.size() + 1);
  fixed.followers.resize(waiting.size());
  for (const Dependency& dependency : schedule_->all_dependencies())
    ++fixed.follower_begin[dependency.transfer + 1];
  for (std::size_t i = 1; i < fixed.follower_begin.size(); ++i)
    fixed.follower_begin[i] += fixed.follower_begin[i - 1];
  std::vector<std::uint32_t> next(fixed.follower_begin.begin(), fixed.follower_begin.end() - 1);
  for (std::size_t k = 0; k < waiting.size(); ++k) {
    const auto [transfer, milestone] = schedule_->all_dependencies()[k];
    const bool arrival = milestone == Milestone::arrived;
    fixed.followers[next[transfer]++] = 2 * waiting[k] + (arrival ? 1 : 0);
    ++names_[waiting[k]];
    if (!arrival) set(transfer, is_watched);
  }
}

std::optional<Dependency> Dependencies::awaited(std::uint32_t i) const {
  if (names_.empty() || names_[i] == 0) return std::nullopt;
  for (const Dependency& dependency : schedule_->dependencies(i)) {
    const bool has_come = dependency.milestone == Milestone::left
                              ? (chains_[dependency.transfer].flags & has_left) != 0
                              : is_delivered(dependency.transfer);
    if (!has_come) return dependency;
  }
  return std::nullopt;
}

void Dependencies::chain(std::span<const PathEnds> paths, const Collective& collective,
                         const Watch& watch) {
  WatchedSteps steps(watch);
  const auto progress = [this] { return WorkProgress{0, chains_.size()}; };
  const Schedule& schedule = *schedule_;
  const auto count = static_cast<std::uint32_t>(schedule.size());
  std::uint32_t nodes = 0;
  for (const PathEnds& path : paths)
    nodes = std::max({nodes, path.sender.value + 1, path.receiver.value + 1});
  std::vector<ChainEnd> ends(nodes);
  const auto append = [&](std::uint32_t chunk, NodeId node, std::uint32_t step) {
    ChainEnd& end = ends[node.value];
    if (end.chunk != chunk) end = {none, none, chunk, false, false};
    if (end.last_step != none) {
      Chain& before = chains_[end.last_step / 2];
      (end.last_step % 2 == sends ? before.next_at_sender : before.next_at_receiver) = step;
    }
    end.last_step = step;
    const std::uint32_t i = step / 2;
    if (step % 2 == sends) {
      if (!end.has_arrival) set(i, is_ready), set(i, tails_in);
      if (!end.has_send) set(i, departure_token);
      if (end.first_unwatched_send == none) end.first_unwatched_send = i;
      end.has_send = true;
    } else {
      if (!end.has_send) set(i, may_deliver);
      if (!end.has_arrival) set(i, data_token), set(i, tail_token);
      for (std::uint32_t s = end.first_unwatched_send; s != none;) {
        set(s, is_watched);
        const std::uint32_t after = chains_[s].next_at_sender;
        s = after == none || after % 2 == arrives ? none : after / 2;
      }
      end.first_unwatched_send = none;
      end.has_arrival = true;
    }
  };

  // Transfers by chunk, in list order within each.
  std::vector<std::uint32_t> begin(collective.chunks.size() + 1), by_chunk(count);
  for (std::uint32_t i = 0; i < count; ++i) ++begin[schedule[i].chunk.value + 1];
  for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
  for (std::uint32_t i = 0; i < count; ++i) {
    by_chunk[begin[schedule[i].chunk.value]++] = i;
    steps.take(1, progress);
  }

  // In a block performed together (its transfers of this chunk: others don't matter) the sends come
  // first.
  std::vector<std::uint32_t> block_of;
  for (std::uint32_t i = 1; i < count; ++i) {
    if (!schedule[i].together) continue;
    if (block_of.empty())
      for (std::uint32_t j = 0; j < count; ++j) block_of.push_back(j);
    block_of[i] = block_of[i - 1];
  }
  for (std::uint32_t first = 0; first < count;) {
    const std::uint32_t chunk = schedule[by_chunk[first]].chunk.value;
    std::uint32_t end = first + 1;
    while (!block_of.empty() && end < count && schedule[by_chunk[end]].chunk.value == chunk &&
           block_of[by_chunk[end]] == block_of[by_chunk[first]])
      ++end;
    const auto block = std::span(by_chunk).subspan(first, end - first);
    for (const std::uint32_t i : block)
      append(chunk, paths[schedule.path_of(i).value].sender, 2 * i + sends);
    for (const std::uint32_t i : block)
      append(chunk, paths[schedule.path_of(i).value].receiver, 2 * i + arrives);
    steps.take(end - first, progress);
    first = end;
  }
}

void Dependencies::keep_apart(const Collective& collective, Fixed& fixed) {
  fixed.part_of_chunk.resize(collective.chunks.size());
  fixed.connections_of_part.resize(collective.parts.size());
  is_open_.resize(collective.parts.size());
  for (std::uint32_t p = 0; p < collective.parts.size(); ++p) {
    const CollectivePart& part = collective.parts[p];
    for (std::uint32_t c = 0; c < part.chunk_count; ++c)
      fixed.part_of_chunk[part.first.value + c] = p;
  }
  const Schedule& schedule = *schedule_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers; // by part and path
  fixed.connections.resize(chains_.size());
  for (std::uint32_t i = 0; i < chains_.size(); ++i) {
    const std::uint32_t part = fixed.part_of_chunk[schedule[i].chunk.value];
    const auto [known, is_new] =
        numbers.try_emplace(std::uint64_t{part} << 32 | schedule.path_of(i).value,
                            static_cast<std::uint32_t>(numbers.size()));
    fixed.connections[i] = known->second;
    if (is_new) fixed.connections_of_part[part].push_back(known->second);
  }
  next_.assign(numbers.size(), none);
}

void Dependencies::join_connections() {
  for (auto i = static_cast<std::uint32_t>(chains_.size()); i-- > 0;) {
    std::uint32_t& next = next_[connection(i)];
    chains_[i].next_in_connection = next;
    next = i;
  }
}

bool Dependencies::is_under_way(std::uint32_t i) const {
  bool is = true;
  for_each_of_send(first_of_send(i),
                   [&](std::uint32_t j) { is = is && (chains_[j].flags & is_ready) != 0; });
  return is;
}

std::string Dependencies::stuck_text(const Topology& topology, const Reason& reason) const {
  constexpr std::size_t most_named = 5;
  std::string text =
      fmt::format("{} of {} transfers were never delivered:", undelivered_, chains_.size());
  std::size_t named = 0;
  for (std::uint32_t i = 0; i < chains_.size() && named < most_named; ++i) {
    if (is_delivered(i)) continue;
    ++named;
    const std::uint16_t flags = chains_[i].flags;
    const Transfer transfer = (*schedule_)[i];
    std::string why = reason ? reason(i) : "";
    const std::optional<Dependency> awaits = awaited(i);
    if (why.empty())
      why = (flags & has_arrived) ? "waits for its receiver's sends"
            : awaits ? fmt::format("waits for transfer {}, which has not {}", awaits->transfer,
                                   to_text(awaits->milestone))
            : is_under_way(i) ? "is under way"
                              : "waits for data";
    text += fmt::format(
        "{} transfer {} (chunk {}, {} > {}) {}", named > 1 ? ";" : "", i, transfer.chunk.value,
        topology.node(topology.link(schedule_->paths().first(transfer.path)).from).name,
        topology.node(topology.link(schedule_->paths().last(transfer.path)).to).name, why);
  }
  return text;
}

} // namespace tutti
