// FAST: an All-to-All whose shares differ, on servers with a NIC a GPU. Within the sending server
// chunks move over its own links until all NICs have as much for each other server; NIC r sends to
// NIC r of the other server, one server to one at a time; within the receiving server chunks move
// on to their GPUs. All of it overlaps.
// Idea: chunks of a pair of servers are dealt to rails, the largest first, each to a rail with the
// least, within a chunk; of these to one that saves a hop, and where other pairs have put less.
// Birkhoff's stages between servers say when each byte of a pair would leave. Transfers are listed
// by these moments, without barriers: in queues that serve in order this is the stages' order, and
// links never wait for the end of a stage.
// Source: Lei et al. 2025, "FAST: An Efficient Scheduler for All-to-All GPU Communication" (arXiv
// 2505.09764). Cost: O(chunks (log chunks + rails)), and birkhoff_stages() of servers.

#include "algorithms/birkhoff.hpp"
#include "algorithms/list.hpp"
#include "algorithms/server_rails.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// A chunk with the rail that it takes, and the moment at which it is to leave its server, in bytes
/// that the busiest server has sent by then.
struct PlacedChunk {
  UnicastChunk unicast;
  std::uint32_t rail = 0;
  double moment = 0;
};

class FastPlan {
public:
  FastPlan(const ServerRails& rails, const Unicast& unicast)
      : rails_(rails), pair_begin_(std::size_t{rails.servers} * rails.servers + 1),
        out_(rails.members.size()), in_(rails.members.size()) {
    for (const UnicastChunk& c : unicast.chunks) ++pair_begin_[pair_of(c) + 1];
    for (std::size_t p = 1; p < pair_begin_.size(); ++p) pair_begin_[p] += pair_begin_[p - 1];
    chunks_.resize(unicast.chunks.size());
    std::vector<std::uint32_t> next = pair_begin_;
    for (const UnicastChunk& c : unicast.chunks) chunks_[next[pair_of(c)]++].unicast = c;
  }

  [[nodiscard]] std::vector<std::int64_t> bytes_between_servers() const {
    std::vector<std::int64_t> bytes(pair_begin_.size() - 1);
    for (const PlacedChunk& c : chunks_)
      if (!stays(c)) bytes[pair_of(c.unicast)] += c.unicast.bytes;
    return bytes;
  }

  void deal_to_rails() {
    for (std::uint32_t a = 0; a < rails_.servers; ++a)
      for (std::uint32_t b = 0; b < rails_.servers; ++b)
        if (a != b) deal(a, b);
  }

  /// By the stages at whose moments bytes of a pair leave, in the order of its chunks on a rail.
  void set_moments(const std::vector<BirkhoffStage>& stages) {
    struct Slot {
      double begin, bytes;
    };
    std::vector<std::vector<Slot>> slots(pair_begin_.size() - 1);
    std::vector<std::int64_t> left = bytes_between_servers();
    double now = 0;
    for (const BirkhoffStage& stage : stages) {
      for (std::uint32_t a = 0; a < rails_.servers; ++a) {
        const std::size_t pair = std::size_t{a} * rails_.servers + stage.to[a];
        const std::int64_t bytes = std::min(left[pair], stage.amount);
        if (bytes > 0) slots[pair].push_back({now, static_cast<double>(bytes)});
        left[pair] -= bytes;
      }
      now += static_cast<double>(stage.amount);
    }
    for (std::size_t pair = 0; pair < slots.size(); ++pair) {
      if (slots[pair].empty()) continue;
      double total = 0;
      for (const Slot& slot : slots[pair]) total += slot.bytes;
      std::vector<double> on_rail(rails_.rails), sent(rails_.rails);
      for (const PlacedChunk& c : chunks_of(pair))
        on_rail[c.rail] += static_cast<double>(c.unicast.bytes);
      std::ranges::sort(chunks_of(pair), {}, [&](const PlacedChunk& c) {
        return std::tuple(c.rail, stretch(c), -c.unicast.bytes, c.unicast.chunk);
      });
      std::size_t slot = 0;
      double before = 0; // bytes of earlier slots
      std::uint32_t rail = no_index;
      for (PlacedChunk& c : chunks_of(pair)) {
        if (std::exchange(rail, c.rail) != c.rail) slot = 0, before = 0;
        const double at = sent[c.rail] / on_rail[c.rail] * total;
        while (slot + 1 < slots[pair].size() && at >= before + slots[pair][slot].bytes)
          before += slots[pair][slot++].bytes;
        c.moment = slots[pair][slot].begin + (at - before);
        sent[c.rail] += static_cast<double>(c.unicast.bytes);
      }
    }
  }

  /// Leg by leg: connections keep their order, and a chunk on its way to a NIC mustn't wait for one
  /// that arrives. Chunks within servers follow what goes to NICs.
  void list(RoutedSchedule& schedule) {
    const auto middle = std::stable_partition(chunks_.begin(), chunks_.end(),
                                              [&](const PlacedChunk& c) { return !stays(c); });
    const std::span<PlacedChunk> between(chunks_.begin(), middle), inside(middle, chunks_.end());
    const auto by_moment = [](const PlacedChunk& c) {
      return std::pair(c.moment, c.unicast.chunk);
    };
    std::ranges::sort(between, {}, by_moment);
    std::ranges::stable_sort(inside, {}, [&](const PlacedChunk& c) {
      return std::pair(rotation(c.unicast.from, c.unicast.to, schedule.size()), c.unicast.from);
    });
    const auto list_leg = [&](std::span<const PlacedChunk> chunks, std::size_t leg) {
      for (const PlacedChunk& c : chunks)
        if (const std::array<Rank, 4> at = stops(c); at[leg] != at[leg + 1])
          schedule.send_chunk(at[leg], at[leg + 1], c.unicast.chunk, Op::copy);
    };
    list_leg(between, 0);
    list_leg(inside, 1);
    list_between(schedule, between);
    std::ranges::sort(between, {}, by_moment);
    list_leg(between, 2);
  }

private:
  [[nodiscard]] std::size_t pair_of(const UnicastChunk& c) const {
    return std::size_t{rails_.server[c.from]} * rails_.servers + rails_.server[c.to];
  }
  [[nodiscard]] bool stays(const PlacedChunk& c) const {
    return rails_.server[c.unicast.from] == rails_.server[c.unicast.to];
  }
  [[nodiscard]] std::span<PlacedChunk> chunks_of(std::size_t pair) {
    return std::span(chunks_).subspan(pair_begin_[pair], pair_begin_[pair + 1] - pair_begin_[pair]);
  }
  /// What is at its NIC from the start goes first, what still has a hop to go there after it, and
  /// what arrives where it is to be last.
  [[nodiscard]] int stretch(const PlacedChunk& c) const {
    const bool starts_here = rails_.rail[c.unicast.from] == c.rail;
    const bool ends_here = rails_.rail[c.unicast.to] == c.rail;
    return starts_here == ends_here ? 1 : starts_here ? 0 : 2;
  }

  void deal(std::uint32_t a, std::uint32_t b) {
    const std::span<PlacedChunk> chunks = chunks_of(std::size_t{a} * rails_.servers + b);
    if (chunks.empty()) return;
    std::vector<std::uint32_t> common;
    for (std::uint32_t r = 0; r < rails_.rails; ++r)
      if (rails_.at(a, r) != ServerRails::nobody && rails_.at(b, r) != ServerRails::nobody)
        common.push_back(r);
    if (common.empty()) common.push_back(no_index); // directly, by whatever path there is
    std::ranges::sort(chunks, {}, [](const PlacedChunk& c) {
      return std::pair(-c.unicast.bytes, c.unicast.chunk);
    });
    const std::int64_t largest = chunks.front().unicast.bytes;
    std::vector<std::int64_t> load(rails_.rails);
    for (PlacedChunk& c : chunks) {
      if (common.front() == no_index) {
        c.rail = 0;
        continue;
      }
      std::int64_t least = load[common.front()];
      for (const std::uint32_t r : common) least = std::min(least, load[r]);
      std::tuple<std::int64_t, std::int64_t> best_cost;
      std::uint32_t best = no_index;
      for (const std::uint32_t r : common) {
        if (load[r] + c.unicast.bytes > least + largest) continue;
        const std::int64_t hops =
            (r != rails_.rail[c.unicast.from] ? 1 : 0) + (r != rails_.rail[c.unicast.to] ? 1 : 0);
        const std::int64_t busy =
            std::max(out_[a * rails_.rails + r], in_[b * rails_.rails + r]) + c.unicast.bytes;
        const std::tuple cost(busy + hops * c.unicast.bytes / 4, load[r]);
        if (best == no_index || cost < best_cost) {
          best = r;
          best_cost = cost;
        }
      }
      c.rail = best;
      load[best] += c.unicast.bytes;
      out_[a * rails_.rails + best] += c.unicast.bytes;
      in_[b * rails_.rails + best] += c.unicast.bytes;
    }
  }

  /// What starts at its NIC is there from the start, and would overtake all that has a hop to go
  /// there: each NIC takes a transfer when the one `window` before it has left. Moments are those
  /// at which chunks leave then, by NICs that have no virtual traffic and rest only at the end.
  void list_between(RoutedSchedule& schedule, std::span<PlacedChunk> chunks) {
    constexpr std::uint32_t window = 4;
    struct Nic {
      std::array<std::uint32_t, window> transfers{}; // the last ones
      std::uint32_t count = 0;
      double bytes = 0;
    };
    std::vector<Nic> nics(schedule.size());
    for (PlacedChunk& c : chunks) {
      const std::array<Rank, 4> at = stops(c);
      Nic& nic = nics[at[1]];
      schedule.send_chunk(at[1], at[2], c.unicast.chunk, Op::copy);
      std::uint32_t& before = nic.transfers[nic.count % window];
      if (nic.count++ >= window) schedule.wait_for(before, Milestone::left);
      before = static_cast<std::uint32_t>(schedule.transfers() - 1);
      c.moment = std::exchange(nic.bytes, nic.bytes + static_cast<double>(c.unicast.bytes));
    }
  }

  /// Where a chunk stops on its way, source and destination included, some of them twice: before
  /// and behind its leg of number 0 (to its NIC), 1 (between servers) and 2 (from the NIC).
  [[nodiscard]] std::array<Rank, 4> stops(const PlacedChunk& c) const {
    const UnicastChunk& chunk = c.unicast;
    const Rank out = rails_.at(rails_.server[chunk.from], c.rail),
               in = rails_.at(rails_.server[chunk.to], c.rail);
    if (stays(c) || out == ServerRails::nobody || in == ServerRails::nobody)
      return {chunk.from, chunk.from, chunk.to, chunk.to};
    return {chunk.from, out, in, chunk.to};
  }

  const ServerRails& rails_;
  std::vector<PlacedChunk> chunks_;       // by pair of servers
  std::vector<std::uint32_t> pair_begin_; // and one more
  std::vector<std::int64_t> out_, in_;    // [server * rails + rail]: bytes dealt so far
};

} // namespace

Outcome fast(const Topology& topology, const Collective& collective,
             const SynthesisOptions& options) {
  const ServerRails rails = find_server_rails(topology, collective.parts.front().group);
  if (!rails.obstacle.empty()) return unsupported(rails.obstacle);
  Unicast unicast = find_unicast(topology, collective);
  if (!unicast.obstacle.empty()) return unsupported(std::move(unicast.obstacle));
  RoutedSchedule schedule(topology, collective, options);
  FastPlan plan(rails, unicast);
  const BirkhoffStages stages =
      birkhoff_stages(plan.bytes_between_servers(), rails.servers, WorkLimit(options));
  plan.deal_to_rails();
  plan.set_moments(stages.stages);
  plan.list(schedule);
  Outcome outcome = std::move(schedule).outcome();
  outcome.facts["stages"] = static_cast<double>(stages.stages.size());
  return outcome;
}

} // namespace tutti
