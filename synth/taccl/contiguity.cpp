// Idea: chunks that share a send are neighbours in their connection's order (eq. 16 and 19), so
// what is to be decided is where each order is cut. A division is judged by timing it, in the
// orders of stage 2; cuts that matter lie on the critical path. Where there are few, all divisions
// are tried, which is exact for the orders given, as the paper's program is.
#include "synth/taccl/contiguity.hpp"

#include "sim/limit_watch.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>

namespace tutti {

namespace {

constexpr std::uint64_t most_timed = 2'000'000; ///< sends
constexpr std::size_t most_enumerated_cuts = 10;
constexpr std::uint32_t none = UINT32_MAX;

/// A division that was timed.
struct TimedDivision {
  std::vector<std::vector<SendId>> blocks;
  std::vector<std::int64_t> starts;
  std::vector<std::uint32_t>
      critical; ///< blocks of a chain that decides the makespan, from its end
  std::int64_t makespan = 0;
};

class Divisions {
public:
  Divisions(const Sends& sends, const OrderedSends& ordered, bool may_join, const WorkLimit& limit)
      : sends_(sends), watch_(limit), position_(sends.size()), previous_(sends.size(), none),
        is_joined_(sends.size()) {
    std::map<LinkId, SendId> last;
    for (std::uint32_t p = 0; p < ordered.order.size(); ++p) {
      const SendId id = ordered.order[p];
      position_[id] = p;
      if (!may_join || !sends.logical().connections[sends[id].link.value].between_machines)
        continue;
      if (const auto found = last.find(sends[id].link);
          found != last.end() && sends[found->second].op == sends[id].op &&
          sends[found->second].chunk != sends[id].chunk) {
        previous_[id] = found->second;
        cuts_.push_back(id);
      }
      last[sends[id].link] = id;
    }
    order_ = ordered.order;
    best_ = *time();
  }

  ContiguousSends best() {
    bool is_optimal = cuts_.empty();
    if (!cuts_.empty() && cuts_.size() <= most_enumerated_cuts) {
      is_optimal = try_all();
    } else if (!cuts_.empty()) {
      try_equal_blocks();
      move_boundaries();
    }
    return {std::move(best_.blocks), std::move(best_.starts), Time{best_.makespan}, is_optimal};
  }

private:
  /// The present division; nothing where blocks would wait for each other.
  std::optional<TimedDivision> time() {
    timed_ += sends_.size();
    TimedDivision made;
    std::vector<std::uint32_t> block_of(sends_.size());
    for (const SendId id : order_) {
      if (is_joined_[id]) {
        block_of[id] = block_of[previous_[id]];
        made.blocks[block_of[id]].push_back(id);
      } else {
        block_of[id] = static_cast<std::uint32_t>(made.blocks.size());
        made.blocks.push_back({id});
      }
    }
    const std::size_t count = made.blocks.size();
    std::vector<std::uint32_t> waiting(count);
    for (SendId id = 0; id < sends_.size(); ++id)
      waiting[block_of[id]] +=
          static_cast<std::uint32_t>(sends_.before(id).size() + sends_.earlier(id).size());
    using Entry = std::pair<std::uint32_t, std::uint32_t>; // position of the last send, block
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    const auto push = [&](std::uint32_t b) { ready.emplace(position_[made.blocks[b].back()], b); };
    for (std::uint32_t b = 0; b < count; ++b)
      if (waiting[b] == 0) push(b);
    std::vector<std::int64_t> available(count), starts(count);
    std::vector<std::uint32_t> awaited(count, none), decides(count, none);
    std::vector<std::int64_t> free(sends_.logical().parts.size());
    std::vector<std::uint32_t> user(free.size(), none);
    std::vector<std::uint32_t> order;
    std::uint32_t last = none;
    while (!ready.empty()) {
      const std::uint32_t b = ready.top().second;
      ready.pop();
      order.push_back(b);
      const std::vector<SendId>& block = made.blocks[b];
      const LinkId link = sends_[block.front()].link;
      std::int64_t start = available[b];
      decides[b] = awaited[b];
      for (const std::uint32_t part : sends_.parts(link))
        if (free[part] > start) start = free[part], decides[b] = user[part];
      Bytes size{};
      for (const SendId id : block) size += sends_.bytes(id);
      starts[b] = start;
      for (const std::uint32_t part : sends_.parts(link))
        free[part] = start + sends_.busy(part, size), user[part] = b;
      const std::int64_t there = start + sends_.flight(link, size);
      if (last == none || there > made.makespan) made.makespan = there, last = b;
      const auto release = [&](SendId next, std::int64_t at) {
        const std::uint32_t other = block_of[next];
        if (at > available[other]) available[other] = at, awaited[other] = b;
        if (--waiting[other] == 0) push(other);
      };
      for (const SendId id : block) {
        for (const SendId next : sends_.after(id)) release(next, there);
        for (const SendId next : sends_.later(id)) release(next, start);
      }
    }
    if (order.size() < count) return std::nullopt;
    for (std::uint32_t b = last; b != none; b = decides[b]) made.critical.push_back(b);
    // By start: blocks that begin at once stay in their order of placing.
    std::ranges::stable_sort(order, {}, [&](std::uint32_t b) { return starts[b]; });
    std::vector<std::uint32_t> place(count);
    std::vector<std::vector<SendId>> blocks(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      place[order[i]] = i;
      blocks[i] = std::move(made.blocks[order[i]]);
      made.starts.push_back(starts[order[i]]);
    }
    for (std::uint32_t& b : made.critical) b = place[b];
    made.blocks = std::move(blocks);
    return made;
  }

  /// Keeps the present division where it is faster.
  bool keep_if_faster() {
    std::optional<TimedDivision> made = time();
    if (!made || made->makespan >= best_.makespan) return false;
    best_ = *std::move(made);
    best_joined_ = is_joined_;
    return true;
  }

  [[nodiscard]] bool is_spent() { return timed_ > most_timed || watch_.reached(); }

  bool try_all() {
    for (std::uint32_t mask = 1; mask < 1U << cuts_.size(); ++mask) {
      if (is_spent()) return false;
      for (std::size_t i = 0; i < cuts_.size(); ++i) is_joined_[cuts_[i]] = (mask >> i & 1U) != 0;
      keep_if_faster();
    }
    return true;
  }

  void try_equal_blocks() {
    std::map<LinkId, std::uint32_t> lengths;
    std::uint32_t longest = 1;
    for (const SendId id : cuts_) longest = std::max(longest, ++lengths[sends_[id].link] + 1);
    for (std::uint32_t size = 2;; size *= 2) {
      if (is_spent()) break;
      std::map<LinkId, std::uint32_t> counts;
      for (const SendId id : cuts_) is_joined_[id] = ++counts[sends_[id].link] % size != 0;
      keep_if_faster();
      if (size >= longest) break;
    }
    restore();
  }

  void restore() {
    is_joined_ = best_joined_.empty() ? std::vector<bool>(sends_.size()) : best_joined_;
  }

  /// Cuts next to blocks of the critical path are closed or opened, while that is faster.
  void move_boundaries() {
    for (bool again = true; again;) {
      again = false;
      std::vector<SendId> near;
      for (const std::uint32_t b : best_.critical) {
        const std::vector<SendId>& block = best_.blocks[b];
        for (const SendId id : block)
          if (previous_[id] != none) near.push_back(id);
        if (const SendId next = following(block.back()); next != none) near.push_back(next);
      }
      for (const SendId id : near) {
        if (is_spent()) return;
        is_joined_[id] = !is_joined_[id];
        if (keep_if_faster()) {
          again = true;
          break; // the critical path is another one
        }
        is_joined_[id] = !is_joined_[id];
      }
    }
  }
  [[nodiscard]] SendId following(SendId id) {
    if (next_.empty()) {
      next_.assign(sends_.size(), none);
      for (const SendId cut : cuts_) next_[previous_[cut]] = cut;
    }
    return next_[id];
  }

  const Sends& sends_;
  LimitWatch watch_;
  std::vector<SendId> order_, cuts_;    ///< cuts_: sends that may be joined to the one before
  std::vector<std::uint32_t> position_; ///< [send]
  std::vector<SendId> previous_, next_; ///< [send]: on its connection, where both may be joined
  std::vector<bool> is_joined_, best_joined_;
  TimedDivision best_;
  std::uint64_t timed_ = 0;
};

} // namespace

ContiguousSends contiguous(const Sends& sends, const OrderedSends& ordered, bool may_join,
                           const WorkLimit& limit) {
  return Divisions(sends, ordered, may_join, limit).best();
}

Time contiguity_bound(const Sends& sends) {
  std::vector<std::int64_t> bytes(sends.logical().parts.size());
  for (SendId id = 0; id < sends.size(); ++id)
    for (const std::uint32_t part : sends.parts(sends[id].link))
      bytes[part] += sends.bytes(id).count;
  Time longest = longest_chain(sends);
  for (std::uint32_t part = 0; part < bytes.size(); ++part)
    if (bytes[part] > 0) longest = std::max(longest, Time{sends.busy(part, Bytes{bytes[part]})});
  return longest;
}

} // namespace tutti
