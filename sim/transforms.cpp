// All transforms copy whole blocks of transfers that are performed together, or share a send, since
// a block that is torn apart means something else. Inversion follows TACOS, section IV.H: order and
// paths are reversed, copies become reductions.

#include "sim/transforms.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Whether the transfer belongs to the block of the one before: is performed together with it, or
/// shares its send.
bool goes_on(const Transfer& transfer) { return transfer.together || transfer.contiguous; }

/// One past the last transfer of the block that starts at `begin`.
std::size_t block_end(const Schedule& schedule, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < schedule.size() && goes_on(schedule[end])) ++end;
  return end;
}

/// Writes transfers of one schedule into another, whose path table has ids of its own.
class Importer {
public:
  Importer(const Schedule& from, Schedule& into)
      : from_(from), into_(into), paths_(from.paths().size()) {
    assert(from.paths().link_count() == into.paths().link_count());
  }

  /// Appends transfers begin .. end-1, whole blocks and all in turn, with chunk ids shifted.
  void append(std::size_t begin, std::size_t end, std::uint32_t chunk_shift = 0) {
    assert(begin == places_.size());
    for (std::size_t i = begin; i < end; ++i) {
      Transfer transfer = from_[i];
      PathId& path = paths_[transfer.path.value];
      if (!path.valid()) path = into_.paths().intern(from_.paths().links(transfer.path));
      transfer.path = path;
      transfer.chunk.value += chunk_shift;
      transfer.together = transfer.together && i > begin;
      transfer.contiguous = transfer.contiguous && i > begin;
      places_.push_back(static_cast<std::uint32_t>(into_.size()));
      into_.push(transfer);
      if (!from_.has_dependencies()) continue;
      for (const Dependency& dependency : from_.dependencies(i))
        into_.add_dependency(places_[i], {places_[dependency.transfer], dependency.milestone});
    }
  }

private:
  const Schedule& from_;
  Schedule& into_;
  std::vector<PathId> paths_;         // id in from_ -> id in into_, invalid until first used
  std::vector<std::uint32_t> places_; // position in from_ -> position in into_
};

/// "i after j" becomes "j' after i'". What i' has left when j' may set out is only known to be what
/// j had left before where each crosses one link, and both links have the same latency.
void add_inverted_dependencies(const Topology& topology, const Schedule& schedule, Schedule& made) {
  const PathTable& paths = schedule.paths();
  const auto crosses_one = [&](PathId path) { return path.value < paths.link_count(); };
  const auto latency = [&](PathId path) { return topology.link(paths.first(path)).latency; };
  const auto count = static_cast<std::uint32_t>(schedule.size());
  struct Inverted {
    std::uint32_t waits;
    Dependency dependency;
  };
  std::vector<Inverted> all;
  for (std::size_t k = 0; k < schedule.waiting().size(); ++k) {
    const std::uint32_t i = schedule.waiting()[k];
    const auto [j, milestone] = schedule.all_dependencies()[k];
    const PathId its = schedule.path_of(i), before = schedule.path_of(j);
    const bool stays = milestone == Milestone::left && crosses_one(its) && crosses_one(before) &&
                       latency(its) == latency(before);
    all.push_back({count - 1 - j, {count - 1 - i, stays ? Milestone::left : Milestone::arrived}});
  }
  std::ranges::sort(
      all, {}, [](const Inverted& one) { return std::pair(one.waits, one.dependency.transfer); });
  for (const auto& [waits, dependency] : all) made.add_dependency(waits, dependency);
}

} // namespace

Schedule inverted(const Topology& topology, const Schedule& schedule, Op becomes) {
  Schedule made(schedule.paths().link_count());
  made.reserve(schedule.size());
  std::vector<PathId> reversed_path(schedule.paths().size());
  std::vector<LinkId> links;
  for (std::size_t i = schedule.size(); i-- > 0;) {
    const Transfer transfer = schedule[i];
    PathId& path = reversed_path[transfer.path.value];
    if (!path.valid()) {
      const auto forward = schedule.paths().links(transfer.path);
      links.assign(forward.rbegin(), forward.rend());
      path = made.paths().intern(links);
    }
    // A block's last transfer now opens it; the one after it in the list tells whether it is alone.
    const bool has_next = i + 1 < schedule.size();
    made.push({transfer.chunk, path, transfer.op == Op::reduce ? Op::copy : becomes,
               has_next && schedule[i + 1].together, has_next && schedule[i + 1].contiguous});
  }
  add_inverted_dependencies(topology, schedule, made);
  return made;
}

Schedule concatenated(const Schedule& first, const Schedule& second) {
  Schedule both = first;
  both.reserve(first.size() + second.size());
  Importer(second, both).append(0, second.size());
  return both;
}

Schedule interleaved(const Schedule& a, const Schedule& b, std::uint32_t chunk_shift) {
  Schedule both(a.paths().link_count());
  both.reserve(a.size() + b.size());
  Importer from_a(a, both), from_b(b, both);
  std::size_t done_a = 0, done_b = 0; // of each, always whole blocks
  while (done_a < a.size() || done_b < b.size()) {
    const bool a_is_next =
        done_b == b.size() || (done_a < a.size() && done_a * b.size() <= done_b * a.size());
    if (a_is_next) {
      const std::size_t end = block_end(a, done_a);
      from_a.append(done_a, end);
      done_a = end;
    } else {
      const std::size_t end = block_end(b, done_b);
      from_b.append(done_b, end, chunk_shift);
      done_b = end;
    }
  }
  return both;
}

// By halves, so that each transfer is copied log(schedules) times.
Schedule interleaved(std::span<const Schedule> schedules,
                     std::span<const std::uint32_t> chunk_shifts) {
  assert(!schedules.empty() && schedules.size() == chunk_shifts.size());
  if (schedules.size() == 1) return schedules.front();
  const std::size_t half = schedules.size() / 2;
  return interleaved(interleaved(schedules.first(half), chunk_shifts.first(half)),
                     interleaved(schedules.subspan(half), chunk_shifts.subspan(half)),
                     chunk_shifts[half] - chunk_shifts.front());
}

void carry_dependencies(const Schedule& schedule, std::span<const std::uint32_t> place,
                        Schedule& made) {
  if (!schedule.has_dependencies()) return;
  constexpr std::uint32_t dropped = UINT32_MAX;
  std::map<std::uint32_t, std::vector<Dependency>> inherited; // by dropped transfer
  std::vector<Dependency> names;
  const std::span<const std::uint32_t> waiting = schedule.waiting();
  for (std::size_t first = 0, end = 0; first < waiting.size(); first = end) {
    const std::uint32_t i = waiting[first];
    while (end < waiting.size() && waiting[end] == i) ++end;
    names.clear();
    for (const Dependency& dependency : schedule.all_dependencies().subspan(first, end - first)) {
      const std::uint32_t its_place = place[dependency.transfer];
      if (its_place != dropped)
        names.push_back({its_place, dependency.milestone});
      else if (const auto found = inherited.find(dependency.transfer); found != inherited.end())
        names.insert(names.end(), found->second.begin(), found->second.end());
    }
    const auto order = [](const Dependency& d) { return std::pair(d.transfer, d.milestone); };
    std::ranges::sort(names, {}, order);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (place[i] == dropped) {
      inherited[i] = names;
      continue;
    }
    for (const Dependency& dependency : names) made.add_dependency(place[i], dependency);
  }
}

Schedule split_chunks(const Schedule& schedule, std::uint32_t k) {
  assert(k >= 1);
  Schedule split(schedule.paths().link_count());
  split.paths() = schedule.paths();
  split.reserve(schedule.size() * k);
  // Where subchunk j of transfer i is: those of a send are listed subchunk by subchunk.
  const auto place = [&](std::size_t i, std::uint32_t j) {
    if (!schedule.has_contiguous()) return static_cast<std::uint32_t>(i * k + j);
    const std::size_t first = schedule.send_begin(i), size = schedule.send_end(i) - first;
    return static_cast<std::uint32_t>(first * k + j * size + (i - first));
  };
  const auto add = [&](std::size_t i, std::uint32_t j, bool together, bool contiguous) {
    Transfer transfer = schedule[i];
    transfer.chunk.value = transfer.chunk.value * k + j;
    transfer.together = together;
    transfer.contiguous = contiguous;
    split.push(transfer);
    for (const Dependency& dependency : schedule.dependencies(i))
      split.add_dependency(place(i, j), {place(dependency.transfer, j), dependency.milestone});
  };
  for (std::size_t begin = 0; begin < schedule.size();) {
    const std::size_t end = block_end(schedule, begin);
    if (end > begin + 1 && schedule[begin + 1].contiguous) {
      for (std::uint32_t j = 0; j < k; ++j)
        for (std::size_t i = begin; i < end; ++i) add(i, j, false, i > begin);
    } else {
      // Subchunks don't touch each other: one block of all of them means the same as k blocks.
      const bool alone = end == begin + 1;
      for (std::size_t i = begin; i < end; ++i)
        for (std::uint32_t j = 0; j < k; ++j) add(i, j, !alone && (i > begin || j > 0), false);
    }
    begin = end;
  }
  return split;
}

} // namespace tutti
