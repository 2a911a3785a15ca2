// How NCCL finds its channels: a search at a high speed, then again with less asked of them (other
// orders for other channels, a simpler tree, worse paths, other NICs at both ends, less speed),
// until a GPU's wires are full or nothing is left to try.
// Source: NCCL 2.30, graph/search.cc (ncclTopoCompute), read and written anew.

#include "algorithms/nccl/channels.hpp"

#include "algorithms/nccl/channel_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace tutti::nccl {

namespace {

constexpr std::int64_t all_steps = 1 << 19, steps_of_search = 1 << 14, steps_of_same = 1 << 8;

PathType next_type(PathType type) { return static_cast<PathType>(static_cast<int>(type) + 1); }

/// What is left where no path was found, or there are too many GPUs to search.
Channels by_number(const System& system, Pattern asked) {
  Channels simple;
  simple.pattern = asked;
  simple.all.resize(1);
  simple.all[0].gpus.resize(system.gpus);
  std::iota(simple.all[0].gpus.begin(), simple.all[0].gpus.end(), 0);
  simple.inside = simple.between = 0.1;
  simple.type_inside = simple.type_between = PathType::system;
  return simple;
}

/// All of the searches for one pattern, until nothing is left to ask less of.
class Searches {
public:
  Searches(const System& system, Pattern pattern, const ChannelLimits& limits)
      : system_(system), speeds_(system.nodes > 1 ? speeds_between(system.gpu->generation)
                                                  : speeds_inside(system.gpu->generation)),
        demand_{pattern, 0, 0, PathType::none, PathType::none, true, 0, limits.least, limits.most} {
    const bool has_orders = pattern == Pattern::ring || pattern == Pattern::balanced_tree;
    may_cross_ = system.nics.size() > 1 && has_orders ? limits.cross_nic : 0;
    best_.pattern = pattern;
    find_types();
  }

  Channels run() && {
    const bool is_nvls = demand_.pattern == Pattern::nvls;
    if (is_nvls && (!system_.has_switch || system_.reducing_switches.empty())) return best_;
    if (is_nvls) demand_.most = std::min(demand_.most, system_.gpus);
    if (demand_.pattern == Pattern::collnet_direct)
      demand_.most = std::min(demand_.most, std::min(system_.gpus, 9U)); // arity 8, and itself
    if (system_.gpus == 1 && demand_.pattern != Pattern::ring) demand_.pattern = Pattern::tree;
    if (is_nvls && system_.nodes == 1) demand_.least = demand_.most; // it pulls evenly from all
    const Pattern asked = best_.pattern = demand_.pattern;
    demand_.same = !is_nvls;
    demand_.cross_nic = may_cross_ == 1 ? 1 : 0;
    double total = system_.total;
    if (system_.gpus > 1 && asked != Pattern::ring)
      total *= static_cast<double>(system_.gpus) / (system_.gpus - 1);
    const double fastest = fastest_path();
    std::size_t speed = 0;
    while (speed + 1 < speeds_.size() &&
           (speeds_[speed] > fastest || speeds_[speed] * demand_.least > total))
      ++speed;
    set_speed(speed);
    relax(asked, speed);
    if (!is_nvls) duplicate();
    raise();
    return best_.all.empty() && !is_nvls ? by_number(system_, asked) : std::move(best_);
  }

private:
  void find_types() {
    least_inside_ = PathType::none;
    worst_inside_ = PathType::nvlink;
    for (std::uint32_t a = 0; a < system_.gpus; ++a)
      for (std::uint32_t b = 0; b < system_.gpus; ++b) {
        if (a == b) continue;
        least_inside_ = std::min(least_inside_, system_.path(a, b).type);
        worst_inside_ = std::max(worst_inside_, system_.path(a, b).type);
      }
    worst_inside_ = std::min(worst_inside_, PathType::system); // what is apart stays apart
    if (system_.gpus == 1) least_inside_ = PathType::nvlink;
    least_between_ = PathType::none;
    worst_between_ = PathType::nic_near;
    for (const Path& path : system_.out) {
      least_between_ = std::min(least_between_, path.type);
      worst_between_ = std::max(worst_between_, path.type);
    }
    if (system_.nodes > 1) worst_inside_ = worst_between_;
    if (system_.gpu->generation < Generation::hopper) worst_between_ = PathType::system;
    demand_.type_inside = least_inside_;
    demand_.type_between = least_between_;
  }
  [[nodiscard]] double fastest_path() const {
    double fastest = 0;
    for (const Path& path : system_.nodes > 1 ? system_.out : system_.paths)
      fastest = std::max(fastest, path.speed);
    return fastest;
  }
  void set_speed(std::size_t index) { demand_.inside = demand_.between = speeds_[index]; }
  /// Enough to fill a GPU's own wires.
  [[nodiscard]] bool is_enough() const {
    return !best_.all.empty() && best_.size() * best_.between >= system_.total;
  }
  std::int64_t search() {
    const std::int64_t steps = demand_.same ? steps_of_same : steps_of_search;
    return search_once(system_, demand_, best_, steps);
  }

  void relax(Pattern asked, std::size_t speed) {
    const bool tries_same = demand_.same;
    std::int64_t left = all_steps;
    while (true) {
      left -= demand_.same ? steps_of_same : steps_of_search;
      const std::int64_t rest = search();
      if (rest == -1 || is_enough()) return;
      const bool is_slow_amd =
          system_.gpu->processor == Processor::amd && demand_.type_inside == PathType::system;
      if (demand_.same && !is_slow_amd) {
        demand_.same = false;
        continue;
      }
      demand_.same = tries_same;
      left += rest;
      if (left < 0 && !best_.all.empty()) return;
      if (system_.gpu->generation >= Generation::hopper &&
          demand_.pattern == Pattern::balanced_tree) {
        demand_.pattern = Pattern::tree;
        continue;
      }
      demand_.pattern = asked;
      const PathType worst_inside = system_.nodes > 1 ? demand_.type_between : worst_inside_;
      if (demand_.type_inside < worst_inside &&
          (best_.all.empty() || demand_.type_inside < best_.type_inside)) {
        demand_.type_inside = next_type(demand_.type_inside);
        continue;
      }
      demand_.type_inside = least_inside_;
      if (system_.nodes > 1 && demand_.type_between < worst_between_ &&
          (best_.all.empty() || demand_.type_between < best_.type_between ||
           demand_.type_between < PathType::via_rail)) {
        demand_.type_between = next_type(demand_.type_between);
        continue;
      }
      demand_.type_between = least_between_;
      if (may_cross_ == 2 && demand_.cross_nic == 0) {
        demand_.cross_nic = 2;
        continue;
      }
      demand_.cross_nic = may_cross_ == 1 ? 1 : 0;
      constexpr double too_slow = 0.49; // of what was found
      if (speed + 1 == speeds_.size() ||
          (!best_.all.empty() && speeds_[speed + 1] / best_.between <= too_slow))
        return;
      set_speed(++speed);
    }
  }

  /// Fast channels are two of half the speed each.
  void duplicate() {
    constexpr double fast = 25, fast_from_hopper = 50;
    constexpr std::uint32_t few = 4;
    if (best_.all.empty() || best_.inside < fast) return;
    if (system_.gpu->generation >= Generation::hopper && best_.inside < fast_from_hopper &&
        best_.size() > few)
      return;
    const std::uint32_t before = best_.size(), after = std::min(2 * before, demand_.most);
    for (std::uint32_t c = before; c < after; ++c) best_.all.push_back(best_.all[c - before]);
    const double parts = std::ceil(static_cast<double>(after) / before);
    best_.inside /= parts;
    best_.between /= parts;
  }

  /// With as many channels, a higher speed: of rings; inside, of trees; between, of NVLS.
  void raise() {
    if (best_.all.empty()) return;
    std::size_t speed = 0;
    while (speed + 1 < speeds_.size() && speeds_[speed] > best_.between) ++speed;
    demand_ = {best_.pattern,     best_.inside,       best_.between,
               best_.type_inside, best_.type_between, best_.are_same,
               best_.cross_nic,   best_.size(),       demand_.most};
    set_speed(speed);
    std::int64_t rest = -1;
    while (rest != 0 && speed > 0) {
      if (best_.pattern == Pattern::ring) {
        set_speed(--speed);
      } else if (best_.pattern == Pattern::nvls && demand_.between == best_.between &&
                 demand_.between < demand_.inside * 2) {
        demand_.most = demand_.least;
        demand_.between = speeds_[--speed];
      } else if (demand_.inside == best_.inside && demand_.inside < demand_.between * 2) {
        demand_.inside = speeds_[--speed];
      } else {
        return;
      }
      rest = search();
    }
  }

  const System& system_;
  std::span<const double> speeds_;
  Demand demand_;
  Channels best_;
  std::uint32_t may_cross_ = 0;
  PathType least_inside_{}, worst_inside_{}, least_between_{}, worst_between_{};
};

} // namespace

Channels search_channels(const System& system, Pattern pattern, const ChannelLimits& limits) {
  if (system.gpus <= most_searched) return Searches(system, pattern, limits).run();
  return pattern == Pattern::nvls ? Channels() : by_number(system, pattern);
}

} // namespace tutti::nccl
