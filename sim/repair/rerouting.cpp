// The schedule keeps its order and its chunks; only paths change. At each instant with events every
// path that the schedule uses is looked at, and shortest paths are searched on the network as it is
// then; the change takes effect after the delay of the reaction.

#include "sim/repair/rerouting.hpp"

#include "sim/repair/reach.hpp"
#include "sim/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

namespace tutti {

namespace {

class RouteKeeper {
public:
  RouteKeeper(const RecoveryCase& asked, Schedule& schedule) : asked_(asked), schedule_(schedule) {
    std::vector<bool> used(schedule.paths().size());
    for (std::size_t i = 0; i < schedule.size(); ++i) used[schedule.path_of(i).value] = true;
    for (std::uint32_t p = 0; p < used.size(); ++p)
      if (used[p]) routes_.push_back({PathId{p}, PathId{p}, {}});
    for (const Chunk& chunk : asked.collective.chunks) largest_ = std::max(largest_, chunk.size);
  }

  Rerouting run() {
    NetworkState network(asked_.topology);
    for (std::size_t next = 0; next < asked_.events.size();) {
      const Time cause = asked_.events[next].at;
      const NetworkState before = network;
      for (const std::size_t end = asked_.events_by(cause); next < end; ++next)
        network.apply(asked_.events[next]);
      answer(cause, before, network);
    }
    return std::move(made_);
  }

private:
  struct Route {
    PathId original, present;
    std::vector<PathId> earlier = {}; ///< what set out then may be on the way still
  };

  void answer(Time cause, const NetworkState& before, const NetworkState& network) {
    const std::clock_t started = std::clock();
    RouteChange change{cause + asked_.delay(), {}};
    std::size_t back = 0;
    std::optional<Detours> detours;
    for (Route& route : routes_) {
      if (is_whole(route.original, network)) {
        if (route.present != route.original) {
          take(route, route.original);
          ++back;
        } else if (!breaks_earlier(route, before, network)) {
          continue;
        }
      } else if (is_whole(route.present, network)) {
        if (!breaks_earlier(route, before, network)) continue;
      } else {
        if (!detours) detours.emplace(asked_.topology, network, largest_);
        const std::vector<LinkId> links = detours->between(ends(route.original));
        if (links.empty()) continue;
        take(route, schedule_.paths().intern(links));
      }
      change.paths.emplace_back(route.original, route.present);
    }
    if (change.paths.empty()) return;
    Decision decision{change.at, change.at, {cause}, {}, true, 0};
    const std::size_t away = change.paths.size() - back;
    if (away > 0 || back == 0)
      decision.what = fmt::format("{} path{} rerouted", away, away == 1 ? "" : "s");
    if (back > 0)
      decision.what += fmt::format("{}{} back on {}", away > 0 ? ", " : "",
                                   away > 0    ? std::to_string(back)
                                   : back == 1 ? "1 path"
                                               : fmt::format("{} paths", back),
                                   back == 1 ? "its own path" : "their own paths");
    decision.planning_seconds =
        static_cast<double>(std::clock() - started) / static_cast<double>(CLOCKS_PER_SEC);
    made_.changes.push_back(std::move(change));
    made_.decisions.push_back(std::move(decision));
  }

  static void take(Route& route, PathId path) {
    route.earlier.push_back(route.present);
    route.present = path;
  }
  /// Whether what is on the way over an earlier route may be stuck now: it is taken back. It may
  /// have been beyond what broke that route.
  [[nodiscard]] bool breaks_earlier(const Route& route, const NetworkState& before,
                                    const NetworkState& network) const {
    return std::ranges::any_of(route.earlier, [&](PathId path) {
      return std::ranges::any_of(schedule_.paths().links(path), [&](LinkId link) {
        return before.is_up(link) && !network.is_up(link);
      });
    });
  }

  /// Shortest paths on the network as it is.
  class Detours {
  public:
    Detours(const Topology& topology, const NetworkState& network, Bytes size)
        : present_(present_network(topology, network)), reach_(topology, network),
          router_(present_.topology, Routing::shortest, size) {}

    /// Empty where there is none.
    std::vector<LinkId> between(const std::pair<NodeId, NodeId>& ends) {
      std::vector<LinkId> links;
      if (!reach_.can_reach(ends.first, ends.second)) return links;
      for (const LinkId link : router_.route({ends.first, ends.second}))
        links.push_back(present_.original[link.value]);
      return links;
    }

  private:
    PresentNetwork present_;
    Reach reach_;
    Router router_;
  };

  [[nodiscard]] bool is_whole(PathId path, const NetworkState& network) const {
    return std::ranges::all_of(schedule_.paths().links(path),
                               [&](LinkId link) { return network.is_up(link); });
  }
  [[nodiscard]] std::pair<NodeId, NodeId> ends(PathId path) const {
    return {asked_.topology.link(schedule_.paths().first(path)).from,
            asked_.topology.link(schedule_.paths().last(path)).to};
  }

  const RecoveryCase& asked_;
  Schedule& schedule_;
  std::vector<Route> routes_;
  Bytes largest_;
  Rerouting made_;
};

} // namespace

Rerouting rerouted(const RecoveryCase& asked, Schedule& schedule) {
  return RouteKeeper(asked, schedule).run();
}

} // namespace tutti
