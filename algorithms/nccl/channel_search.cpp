// At a given speed, depth-first: each hop takes the speed off its wires, as many channels as there
// is room for. The order of what is tried decides what is found within the limit of steps, and so
// it is NCCL's own.
// Source: NCCL 2.30, graph/search.cc (ncclTopoSearchRec and below), read and written anew.

#include "algorithms/nccl/channel_search.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace tutti::nccl {

namespace {

/// One depth-first search for the best channels that meet a demand.
class Search {
public:
  Search(const System& system, const Demand& demand, Channels& best, std::int64_t steps)
      : system_(system), demand_(demand), best_(best), steps_(steps), free_(system.wires),
        taken_(system.gpus, false), nic_free_(system.nics.size()) {
    for (std::size_t n = 0; n < nic_free_.size(); ++n) nic_free_[n] = system.nics[n].speed;
    const auto gpus = static_cast<int>(system.gpus);
    const bool is_ring = demand.pattern == Pattern::ring;
    if (system.nodes > 1) {
      nics_ = sorted_nics(-1);
      for (int g = 0; g < gpus; ++g) nics_of_.push_back(sorted_nics(g));
    }
    if (system.nodes > 1)
      to_nic_ = is_ring ? gpus - 1 : 0;
    else if (is_ring)
      to_first_ = gpus - 1;
  }

  /// Steps that are left; 0: out of steps, -1: no better channels are possible.
  std::int64_t run() {
    next_channel();
    return steps_;
  }

private:
  enum class Order : std::uint8_t { by_number, as_last, any };

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(made_.size()); }
  [[nodiscard]] bool is_tree() const {
    return demand_.pattern == Pattern::balanced_tree || demand_.pattern == Pattern::tree;
  }

  void next_channel() {
    if (system_.nodes > 1) return from_nics();
    if (demand_.pattern == Pattern::nvls) {
      if (count() < system_.gpus) begin_at(count(), Order::any);
      return;
    }
    if (made_.empty())
      begin_at(0, Order::by_number);
    else
      begin_at(made_.back().gpus.front(), Order::as_last);
    if (demand_.same && !made_.empty()) return;
    for (std::uint32_t g = 0; g < system_.gpus; ++g) begin_at(g, Order::any);
  }
  void begin_at(std::uint32_t g, Order order) {
    current_.gpus.assign(1, g);
    taken_[g] = true;
    go_on(g, 0, to_nic_, to_first_, order);
    taken_[g] = false;
  }

  // Between nodes a channel begins at a NIC.

  /// The NICs of one GPU or of all (-1), the nearest first.
  [[nodiscard]] std::vector<std::uint32_t> sorted_nics(int gpu) const {
    std::vector<std::uint32_t> nics;
    std::vector<bool> is_there(system_.nics.size(), false);
    const auto add = [&](std::uint32_t n) {
      if (!is_there[n]) nics.push_back(n);
      is_there[n] = true;
    };
    const std::uint32_t first = gpu < 0 ? 0 : static_cast<std::uint32_t>(gpu),
                        end = gpu < 0 ? system_.gpus : first + 1;
    for (std::uint32_t g = first; g < end; ++g) {
      for (std::uint32_t n = 0; n < system_.nics.size(); ++n)
        if (system_.nics[n].gpu == g) add(n);
      for (std::uint32_t n = 0; n < system_.nics.size(); ++n)
        if (out(g, n).type == PathType::nic_near) {
          add(n);
          break;
        }
    }
    for (auto type = PathType::nvlink; type <= demand_.type_between;
         type = static_cast<PathType>(static_cast<int>(type) + 1))
      for (std::uint32_t g = first; g < end; ++g)
        for (std::uint32_t n = 0; n < system_.nics.size(); ++n)
          if (out(g, n).type == type) add(n);
    return nics;
  }
  [[nodiscard]] const Path& out(std::uint32_t g, std::uint32_t n) const {
    return system_.out[g * system_.nics.size() + n];
  }
  [[nodiscard]] const Path& in(std::uint32_t g, std::uint32_t n) const {
    return system_.in[g * system_.nics.size() + n];
  }

  void from_nics() {
    const bool has_heads =
        demand_.pattern == Pattern::nvls || demand_.pattern == Pattern::collnet_direct;
    const std::vector<std::uint32_t>& nics = nics_;
    bool is_found = false;
    for (std::size_t i = 0; i < nics.size(); ++i) {
      if (has_heads && is_found) break;
      const std::uint32_t n = nics[(count() + i) % nics.size()];
      const double speed = std::floor(demand_.between);
      if (nic_free_[n] < speed) continue;
      if (crosses() && n != made_.back().nic_out) continue;
      nic_free_[n] -= speed;
      current_.nic_in = n;
      if (has_heads) {
        const std::uint32_t g = system_.nics[n].gpu;
        const bool is_head = std::ranges::any_of(
            made_, [&](const Channel& channel) { return channel.gpus.front() == g; });
        if (count() < nics.size() && !is_head) {
          enter(n, g, Order::any);
          is_found = true;
        }
      } else if (!made_.empty() && demand_.same) {
        enter(n, made_.back().gpus.front(), Order::as_last);
      } else {
        if (made_.empty() && !system_.has_switch) {
          const std::int64_t kept = std::exchange(steps_, 1 << 10); // not counted
          enter(n, 0, Order::by_number);
          steps_ = steps_ == -1 ? -1 : kept;
        }
        enter(n, system_.nics[n].gpu, Order::any);
        for (std::uint32_t g = 0; g < system_.gpus; ++g)
          if (g != system_.nics[n].gpu && in(g, n).type == PathType::nic_near)
            enter(n, g, Order::any);
      }
      nic_free_[n] += speed;
    }
  }
  /// The channel runs back between the NICs of the one before.
  [[nodiscard]] bool crosses() const {
    return demand_.pattern == Pattern::ring && demand_.cross_nic == 2 && count() % 2 == 1;
  }
  void enter(std::uint32_t n, std::uint32_t g, Order order) {
    if (!takes(in(g, n), out(g, n), demand_.between, demand_.type_between)) return;
    begin_at(g, order);
    give_back(in(g, n), demand_.between);
  }

  [[nodiscard]] bool may_end_at(std::uint32_t n, int step) const {
    const std::uint32_t begin = current_.nic_in;
    if (demand_.pattern == Pattern::tree && n != begin) return false;
    if (demand_.pattern == Pattern::ring && demand_.cross_nic == 2) {
      if (count() % 2 == 1 && n != made_.back().nic_in) return false;
    } else if (demand_.cross_nic == 0 && n != begin) {
      return false;
    }
    return demand_.pattern != Pattern::balanced_tree || step == 0 || n == current_.nic_out;
  }

  // Wires.

  /// Whether there is room for `speed`, which is then taken.
  bool takes(const Path& path, const Path& back, double speed, PathType worst) {
    if (path.type == PathType::none || path.type > worst || (is_tree() && back.type > worst))
      return false;
    std::size_t hop = 0;
    while (hop < path.wires.size() && free_[path.wires[hop]] >= speed)
      take(path.wires[hop++], speed);
    if (hop == path.wires.size()) {
      hops_ += static_cast<std::uint32_t>(hop);
      return true;
    }
    while (hop > 0) take(path.wires[--hop], -speed);
    return false;
  }
  void give_back(const Path& path, double speed) {
    for (const std::uint32_t wire : path.wires) take(wire, -speed);
    hops_ -= static_cast<std::uint32_t>(path.wires.size());
  }
  void take(std::uint32_t wire, double speed) {
    free_[wire] = std::round((free_[wire] - speed) * 1000) / 1000; // sums of decimals stay decimal
  }

  // From GPU to GPU.

  void go_on(std::uint32_t g, int step, int to_nic, int to_first, Order order) {
    if (steps_ <= 0) return;
    --steps_;
    const auto gpus = static_cast<int>(system_.gpus);
    if (step == gpus) return complete();
    if (step == to_nic) {
      back_to_nic(g, step, to_first, order);
    } else if (demand_.pattern == Pattern::nvls) {
      pull(g);
    } else if (demand_.pattern == Pattern::collnet_direct) {
      gather(g);
    } else if (step < gpus - 1) {
      for (const std::uint32_t next : candidates(g, step, to_nic, order)) {
        if (taken_[next] || !takes(system_.path(g, next), system_.path(next, g), demand_.inside,
                                   demand_.type_inside))
          continue;
        current_.gpus.push_back(next);
        taken_[next] = true;
        go_on(next, step + 1, to_nic, to_first, order);
        taken_[next] = false;
        current_.gpus.pop_back();
        give_back(system_.path(g, next), demand_.inside);
      }
    } else if (step == to_first) {
      const std::uint32_t first = current_.gpus.front();
      const Path& path = system_.path(g, first);
      if (g != first && takes(path, system_.path(first, g), demand_.inside, demand_.type_inside)) {
        go_on(first, step + 1, to_nic, -1, order);
        give_back(path, demand_.inside);
      }
    } else {
      go_on(g, gpus, -1, -1, order);
    }
  }

  void back_to_nic(std::uint32_t g, int step, int to_first, Order order) {
    const bool is_balanced = demand_.pattern == Pattern::balanced_tree;
    const double speed = is_balanced ? demand_.between / 2 : demand_.between;
    // The first two GPUs of a balanced tree share it.
    const int next_to_nic = is_balanced && step == 0 && system_.gpus > 1 ? 1 : -1;
    for (const std::uint32_t n : nics_of_[g]) {
      if (!may_end_at(n, step) || !takes(out(g, n), in(g, n), speed, demand_.type_between))
        continue;
      const std::uint32_t before = std::exchange(current_.nic_out, n);
      go_on(g, step, next_to_nic, to_first, order);
      current_.nic_out = before;
      give_back(out(g, n), speed);
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> candidates(std::uint32_t g, int step, int to_nic,
                                                      Order order) const {
    const auto at = static_cast<std::size_t>(step) + 1;
    if (order == Order::by_number) return {static_cast<std::uint32_t>(at)};
    if (order == Order::as_last) return {made_.back().gpus[at]};
    if (system_.has_switch) return neighbours(g);
    struct Score {
      int nic_speed, nic_hops, speed, hops;
      std::uint32_t distance, gpu;
    };
    std::vector<Score> scores;
    for (std::uint32_t i = 1; i < system_.gpus; ++i) {
      const std::uint32_t next = (g + i) % system_.gpus;
      if (taken_[next]) continue;
      const Path& path = system_.path(g, next);
      Score score{0, 0, static_cast<int>(path.speed), static_cast<int>(path.wires.size()), i, next};
      if (to_nic >= 0 && to_nic == step + 1) {
        const Path& from = in(next, current_.nic_in);
        score.nic_speed = static_cast<int>(from.speed);
        score.nic_hops = static_cast<int>(from.wires.size());
      }
      scores.push_back(score);
    }
    std::ranges::sort(scores, [](const Score& a, const Score& b) {
      return std::tuple(-a.nic_speed, a.nic_hops, -a.speed, a.hops, a.distance) <
             std::tuple(-b.nic_speed, b.nic_hops, -b.speed, b.hops, b.distance);
    });
    // On the way to a NIC, where all are alike, those behind come first.
    const bool are_alike = std::ranges::all_of(scores, [&](const Score& score) {
      return score.speed == scores.front().speed && score.hops == scores.front().hops;
    });
    if (to_nic >= 0 && to_nic != step + 1 && are_alike) std::ranges::reverse(scores);
    std::vector<std::uint32_t> next;
    for (const Score& score : scores) next.push_back(score.gpu);
    return next;
  }
  /// Behind an NVSwitch only those before and after by number are tried.
  [[nodiscard]] std::vector<std::uint32_t> neighbours(std::uint32_t g) const {
    const std::uint32_t after = (g + 1) % system_.gpus,
                        before = (g + system_.gpus - 1) % system_.gpus;
    std::vector<std::uint32_t> wanted;
    if (demand_.pattern == Pattern::ring)
      wanted = {before, after};
    else if (demand_.pattern == Pattern::balanced_tree)
      wanted = {after, before};
    else
      wanted = {after};
    if (before == after) wanted.resize(1);
    std::erase_if(wanted, [&](std::uint32_t w) { return taken_[w]; });
    return wanted;
  }

  /// NVLS: the head takes twice as much of its own port as of everybody's.
  void pull(std::uint32_t head) {
    const auto port = [&](bool up, std::uint32_t g) -> std::uint32_t {
      const Path& path =
          up ? system_.path(g, (g + 1) % system_.gpus) : system_.path((g + 1) % system_.gpus, g);
      return up ? path.wires.front() : path.wires.back();
    };
    if (system_.gpus < 2 || !system_.has_switch) return;
    std::vector<std::pair<std::uint32_t, double>> taken;
    for (const bool up : {false, true})
      for (std::uint32_t g = 0; g < system_.gpus; ++g) {
        const double speed = demand_.inside * (g == head ? 2 : 1);
        if (free_[port(up, g)] < speed) {
          for (const auto& [wire, amount] : taken) take(wire, -amount);
          return;
        }
        take(port(up, g), speed);
        taken.emplace_back(port(up, g), speed);
      }
    list_others(head);
    for (const auto& [wire, amount] : taken) take(wire, -amount);
  }
  void gather(std::uint32_t head) {
    const double speed = demand_.inside / static_cast<double>(system_.gpus - 1);
    std::vector<const Path*> taken;
    for (const bool up : {false, true})
      for (std::uint32_t g = 0; g < system_.gpus; ++g) {
        if (g == head) continue;
        const Path& path = up ? system_.path(g, head) : system_.path(head, g);
        if (!takes(path, path, speed, demand_.type_inside)) {
          for (const Path* each : taken) give_back(*each, speed);
          return;
        }
        taken.push_back(&path);
      }
    list_others(head);
    for (const Path* each : taken) give_back(*each, speed);
  }
  void list_others(std::uint32_t head) {
    for (std::uint32_t g = 0; g < system_.gpus; ++g)
      if (g != head) current_.gpus.push_back(g);
    go_on(head, static_cast<int>(system_.gpus), -1, -1, Order::any);
    current_.gpus.resize(1);
  }

  void complete() {
    const Channel kept = current_;
    made_.push_back(current_);
    if (is_better()) {
      best_ = {demand_.pattern,
               made_,
               demand_.inside,
               demand_.between,
               demand_.type_inside,
               demand_.type_between,
               demand_.same,
               demand_.cross_nic,
               hops_};
      if (count() == demand_.most) steps_ = -1;
    }
    if (count() < demand_.most) {
      const std::vector<bool> taken = std::exchange(taken_, std::vector<bool>(system_.gpus, false));
      next_channel();
      taken_ = taken;
    }
    made_.pop_back();
    current_ = kept;
  }
  [[nodiscard]] bool is_better() const {
    if (count() < demand_.least) return false;
    if (demand_.pattern == Pattern::nvls)
      return (count() > best_.size() && count() <= system_.gpus) ||
             count() * demand_.between > best_.size() * best_.between;
    const double speed = count() * demand_.inside, reached = best_.size() * best_.inside;
    if (speed != reached) return speed > reached;
    return demand_.pattern == best_.pattern && demand_.cross_nic == best_.cross_nic &&
           hops_ < best_.hops;
  }

  const System& system_;
  const Demand demand_;
  Channels& best_;
  std::int64_t steps_;
  std::vector<double> free_; // per wire
  std::vector<bool> taken_;  // per GPU, by this channel
  std::vector<double> nic_free_;
  std::vector<std::uint32_t> nics_;                 // in the order in which they are tried
  std::vector<std::vector<std::uint32_t>> nics_of_; // the same from each GPU
  int to_nic_ = -1, to_first_ = -1;                 // the step at which a channel goes there
  std::vector<Channel> made_;
  Channel current_;
  std::uint32_t hops_ = 0;
};

} // namespace

std::int64_t search_once(const System& system, const Demand& demand, Channels& best,
                         std::int64_t steps) {
  return Search(system, demand, best, steps).run();
}

} // namespace tutti::nccl
